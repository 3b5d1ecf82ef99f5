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

foreach top = [Top_RopeOp, Top_LinearAttentionOp, Top_CausalConvOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

def Tpu_ScaleDotProductAttentionOp : Tpu_MirroredOp<Top_ScaleDotProductAttentionOp, (ins), [{

    On integers (queries, keys, values and the result), over at most 4096 keys and with nothing
    hidden, capped or kept, sums are exact:

        x[j] = f32(sum over d of (query[d] - Zq) * (key[j, d] - Zk))
        weight = as in a softmax of x to integers, with scale * Sq * Sk for beta
        mean = f32(sum over j of weight[j] * value[j]) * root(sum(weight))^2
        result = saturate(round(mean * f32(Sv / S) + f32(Z - Zv * Sv / S))), ties away from zero
  }]>;

#endif // TPUC_DIALECT_TPU_ATTENTIONOPS
