//===- NormOps.td - Normalizations -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_NORMOPS
#define TPUC_DIALECT_TPU_NORMOPS

include "tpuc/Dialect/Top/NormOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_BatchNormOp, Top_BatchNormTrainOp, Top_ScaleOp, Top_LayerNormOp, Top_InstanceNormOp,
    Top_GroupNormOp, Top_RMSNormOp, Top_PixelNormOp, Top_NormalizeOp, Top_MeanVarianceNormOp,
    Top_LRNOp, Top_SoftmaxOp, Top_HardmaxOp] in
  def Tpu_#top.opName#Op : Tpu_TwinOp<top>;

#endif // TPUC_DIALECT_TPU_NORMOPS
