//===- PoolOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult AvgPoolOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t AvgPoolOp::flops() { return 0; }
LogicalResult MaxPoolOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MaxPoolOp::flops() { return 0; }
LogicalResult MaxPoolWithMaskOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MaxPoolWithMaskOp::flops() { return 0; }
LogicalResult MaxUnpoolOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MaxUnpoolOp::flops() { return 0; }
LogicalResult LpPoolOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t LpPoolOp::flops() { return 0; }
LogicalResult RoiAlignOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t RoiAlignOp::flops() { return 0; }
