//===- UnaryOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult AbsOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t AbsOp::flops() { return 0; }
LogicalResult ArccosOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ArccosOp::flops() { return 0; }
LogicalResult ArccoshOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ArccoshOp::flops() { return 0; }
LogicalResult ArcsinOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ArcsinOp::flops() { return 0; }
LogicalResult ArcsinhOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ArcsinhOp::flops() { return 0; }
LogicalResult ArctanOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ArctanOp::flops() { return 0; }
LogicalResult ArctanhOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ArctanhOp::flops() { return 0; }
LogicalResult BitwiseNotOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t BitwiseNotOp::flops() { return 0; }
LogicalResult CeilOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t CeilOp::flops() { return 0; }
LogicalResult CosOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t CosOp::flops() { return 0; }
LogicalResult CoshOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t CoshOp::flops() { return 0; }
LogicalResult DetOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t DetOp::flops() { return 0; }
LogicalResult ErfOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ErfOp::flops() { return 0; }
LogicalResult ExpOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ExpOp::flops() { return 0; }
LogicalResult FloorOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t FloorOp::flops() { return 0; }
LogicalResult HardSwishOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t HardSwishOp::flops() { return 0; }
LogicalResult IsNaNOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t IsNaNOp::flops() { return 0; }
LogicalResult LogOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t LogOp::flops() { return 0; }
LogicalResult LogicalNotOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t LogicalNotOp::flops() { return 0; }
LogicalResult MishOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MishOp::flops() { return 0; }
LogicalResult NegOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t NegOp::flops() { return 0; }
LogicalResult ReciprocalOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ReciprocalOp::flops() { return 0; }
LogicalResult RoundOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t RoundOp::flops() { return 0; }
LogicalResult RsqrtOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t RsqrtOp::flops() { return 0; }
LogicalResult SiLUOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SiLUOp::flops() { return 0; }
LogicalResult SignOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SignOp::flops() { return 0; }
LogicalResult SinOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SinOp::flops() { return 0; }
LogicalResult SinhOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SinhOp::flops() { return 0; }
LogicalResult SoftplusOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SoftplusOp::flops() { return 0; }
LogicalResult SoftsignOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SoftsignOp::flops() { return 0; }
LogicalResult SqrtOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SqrtOp::flops() { return 0; }
LogicalResult TanOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t TanOp::flops() { return 0; }
LogicalResult TanhOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t TanhOp::flops() { return 0; }
LogicalResult ReluOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ReluOp::flops() { return 0; }
LogicalResult LeakyReluOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t LeakyReluOp::flops() { return 0; }
LogicalResult EluOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t EluOp::flops() { return 0; }
LogicalResult CeluOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t CeluOp::flops() { return 0; }
LogicalResult SeluOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SeluOp::flops() { return 0; }
LogicalResult ThresholdedReluOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ThresholdedReluOp::flops() { return 0; }
LogicalResult ShrinkOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ShrinkOp::flops() { return 0; }
LogicalResult HardSigmoidOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t HardSigmoidOp::flops() { return 0; }
LogicalResult SigmoidOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SigmoidOp::flops() { return 0; }
LogicalResult SwishOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SwishOp::flops() { return 0; }
LogicalResult GELUOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t GELUOp::flops() { return 0; }
LogicalResult IsInfOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t IsInfOp::flops() { return 0; }
LogicalResult ClipOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ClipOp::flops() { return 0; }
LogicalResult CastOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t CastOp::flops() { return 0; }
LogicalResult CopyOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t CopyOp::flops() { return 0; }
LogicalResult ClipTensorOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ClipTensorOp::flops() { return 0; }
