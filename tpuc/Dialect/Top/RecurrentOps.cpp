//===- RecurrentOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/RecurrentOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult LSTMOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t LSTMOp::flops() { return 0; }
LogicalResult GRUOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t GRUOp::flops() { return 0; }
LogicalResult RNNOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t RNNOp::flops() { return 0; }
