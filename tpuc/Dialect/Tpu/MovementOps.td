//===- MovementOps.td - Data movement -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_MOVEMENTOPS
#define TPUC_DIALECT_TPU_MOVEMENTOPS

include "tpuc/Dialect/Top/MovementOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_ConcatOp, Top_SplitOp, Top_SliceOp, Top_FlattenOp, Top_FlattenTo2DOp, Top_SqueezeOp,
    Top_UnsqueezeOp, Top_ExpandOp, Top_TileOp, Top_Depth2SpaceOp, Top_ShuffleChannelOp,
    Top_ReverseSequenceOp, Top_TriluOp, Top_CenterCropPadOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

// Behind a convolution they happen while that is stored.
foreach top = [Top_PermuteOp, Top_ReshapeOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top, Tpu_StoredTurnedFacts, "", top.opName,
                                          [Tpu_StoredTurnedInterface]>;

def Tpu_PadOp : Tpu_MirroredOp<Top_PadOp, (ins), [{
    Integers: `val` is one of the stored integers, not what it stands for.
  }]>;

#endif // TPUC_DIALECT_TPU_MOVEMENTOPS
