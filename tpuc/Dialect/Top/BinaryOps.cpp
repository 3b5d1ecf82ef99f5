//===- BinaryOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult AddOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t AddOp::flops() { return 0; }
LogicalResult SubOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SubOp::flops() { return 0; }
LogicalResult MulOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MulOp::flops() { return 0; }
LogicalResult DivOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t DivOp::flops() { return 0; }
LogicalResult MinOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MinOp::flops() { return 0; }
LogicalResult MaxOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MaxOp::flops() { return 0; }
LogicalResult MeanOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MeanOp::flops() { return 0; }
LogicalResult PowOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t PowOp::flops() { return 0; }
LogicalResult ModOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ModOp::flops() { return 0; }
LogicalResult AddConstOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t AddConstOp::flops() { return 0; }
LogicalResult SubConstOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SubConstOp::flops() { return 0; }
LogicalResult MulConstOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MulConstOp::flops() { return 0; }
LogicalResult DivConstOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t DivConstOp::flops() { return 0; }
LogicalResult MinConstOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MinConstOp::flops() { return 0; }
LogicalResult MaxConstOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MaxConstOp::flops() { return 0; }
LogicalResult PowConstOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t PowConstOp::flops() { return 0; }
LogicalResult Pow2Op::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t Pow2Op::flops() { return 0; }
LogicalResult CompareOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t CompareOp::flops() { return 0; }
LogicalResult CompareConstOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t CompareConstOp::flops() { return 0; }
LogicalResult LogicalBinaryOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t LogicalBinaryOp::flops() { return 0; }
LogicalResult BitwiseBinaryOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t BitwiseBinaryOp::flops() { return 0; }
LogicalResult BitShiftOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t BitShiftOp::flops() { return 0; }
LogicalResult WhereOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t WhereOp::flops() { return 0; }
LogicalResult PReluOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t PReluOp::flops() { return 0; }
