//===- MovementOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult ConcatOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ConcatOp::flops() { return 0; }
LogicalResult SplitOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SplitOp::flops() { return 0; }
LogicalResult SliceOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SliceOp::flops() { return 0; }
LogicalResult PermuteOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t PermuteOp::flops() { return 0; }
LogicalResult ReshapeOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ReshapeOp::flops() { return 0; }
LogicalResult FlattenOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t FlattenOp::flops() { return 0; }
LogicalResult FlattenTo2DOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t FlattenTo2DOp::flops() { return 0; }
LogicalResult SqueezeOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t SqueezeOp::flops() { return 0; }
LogicalResult UnsqueezeOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t UnsqueezeOp::flops() { return 0; }
LogicalResult ExpandOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ExpandOp::flops() { return 0; }
LogicalResult TileOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t TileOp::flops() { return 0; }
LogicalResult PadOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t PadOp::flops() { return 0; }
LogicalResult Depth2SpaceOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t Depth2SpaceOp::flops() { return 0; }
LogicalResult ReverseSequenceOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ReverseSequenceOp::flops() { return 0; }
LogicalResult TriluOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t TriluOp::flops() { return 0; }
LogicalResult CenterCropPadOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t CenterCropPadOp::flops() { return 0; }
