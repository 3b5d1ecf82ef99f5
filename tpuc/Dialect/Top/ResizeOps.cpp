//===- ResizeOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult InterpOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t InterpOp::flops() { return 0; }
LogicalResult UpsampleOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t UpsampleOp::flops() { return 0; }
LogicalResult GridSamplerOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t GridSamplerOp::flops() { return 0; }
LogicalResult AffineGridOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t AffineGridOp::flops() { return 0; }
