//===- AttentionOps.td - Attention and its relatives -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_ATTENTIONOPS
#define TPUC_DIALECT_TPU_ATTENTIONOPS

include "tpuc/Dialect/Top/AttentionOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_ScaleDotProductAttentionOp, Top_RopeOp, Top_LinearAttentionOp, Top_CausalConvOp] in
  def Tpu_#top.opName#Op : Tpu_TwinOp<top>;

#endif // TPUC_DIALECT_TPU_ATTENTIONOPS
