//===- MatrixOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult MatMulOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MatMulOp::flops() { return 0; }
LogicalResult EinsumOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t EinsumOp::flops() { return 0; }
