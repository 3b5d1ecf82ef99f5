//===- ShapeOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult ShapeOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ShapeOp::flops() { return 0; }
LogicalResult SizeOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SizeOp::flops() { return 0; }
LogicalResult ConstantFillOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ConstantFillOp::flops() { return 0; }
LogicalResult RangeOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t RangeOp::flops() { return 0; }
LogicalResult EyeLikeOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t EyeLikeOp::flops() { return 0; }
