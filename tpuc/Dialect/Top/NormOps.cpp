//===- NormOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult BatchNormOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t BatchNormOp::flops() { return 0; }
LogicalResult BatchNormTrainOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t BatchNormTrainOp::flops() { return 0; }
LogicalResult ScaleOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ScaleOp::flops() { return 0; }
LogicalResult LayerNormOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t LayerNormOp::flops() { return 0; }
LogicalResult InstanceNormOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t InstanceNormOp::flops() { return 0; }
LogicalResult GroupNormOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t GroupNormOp::flops() { return 0; }
LogicalResult RMSNormOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t RMSNormOp::flops() { return 0; }
LogicalResult PixelNormOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t PixelNormOp::flops() { return 0; }
LogicalResult NormalizeOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t NormalizeOp::flops() { return 0; }
LogicalResult MeanVarianceNormOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t MeanVarianceNormOp::flops() { return 0; }
LogicalResult LRNOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t LRNOp::flops() { return 0; }
LogicalResult SoftmaxOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SoftmaxOp::flops() { return 0; }
LogicalResult HardmaxOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t HardmaxOp::flops() { return 0; }
