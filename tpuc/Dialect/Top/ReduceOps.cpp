//===- ReduceOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult ReduceOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ReduceOp::flops() { return 0; }
LogicalResult ArgOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ArgOp::flops() { return 0; }
LogicalResult TopKOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t TopKOp::flops() { return 0; }
LogicalResult CumSumOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t CumSumOp::flops() { return 0; }
LogicalResult NonZeroOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t NonZeroOp::flops() { return 0; }
LogicalResult UniqueOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t UniqueOp::flops() { return 0; }
LogicalResult NmsOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t NmsOp::flops() { return 0; }
