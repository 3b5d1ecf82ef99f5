//===- IndexOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult GatherOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t GatherOp::flops() { return 0; }
LogicalResult GatherElementsOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t GatherElementsOp::flops() { return 0; }
LogicalResult GatherNDOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t GatherNDOp::flops() { return 0; }
LogicalResult ScatterElementsOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ScatterElementsOp::flops() { return 0; }
LogicalResult ScatterNDOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ScatterNDOp::flops() { return 0; }
LogicalResult OneHotOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t OneHotOp::flops() { return 0; }
LogicalResult CompressOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t CompressOp::flops() { return 0; }
