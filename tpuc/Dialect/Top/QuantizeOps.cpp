//===- QuantizeOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult QuantizeLinearOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t QuantizeLinearOp::flops() { return 0; }
LogicalResult DequantizeLinearOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t DequantizeLinearOp::flops() { return 0; }
LogicalResult DynamicQuantizeLinearOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t DynamicQuantizeLinearOp::flops() { return 0; }
LogicalResult QLinearConvOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t QLinearConvOp::flops() { return 0; }
LogicalResult QLinearMatMulOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t QLinearMatMulOp::flops() { return 0; }
LogicalResult ConvIntegerOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ConvIntegerOp::flops() { return 0; }
LogicalResult MatMulIntegerOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MatMulIntegerOp::flops() { return 0; }
