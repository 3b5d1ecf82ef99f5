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
    Top_BatchNormOp, Top_BatchNormTrainOp, Top_ScaleOp, Top_InstanceNormOp, Top_GroupNormOp,
    Top_RMSNormOp, Top_PixelNormOp, Top_NormalizeOp, Top_MeanVarianceNormOp, Top_LRNOp,
    Top_HardmaxOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

def Tpu_LayerNormOp : Tpu_MirroredOp<Top_LayerNormOp, (ins), [{

    On integers q of a row of N <= 1024, of scale S, with f32 weights, biases and results, each step
    is rounded to f32; the sums are exact, and c = f32(1 / N):

        m = round(sum(q) * c), ties to even
        rest = sum(q) - N * m
        variance = (sum((q - m)^2) - rest * (rest * c)) * c + f32(eps / S^2)
        factor = root(variance)
        result = ((q - m) * factor - (rest * c) * factor) * weight + bias

    root(x), near 1 / sqrt(x), is y = y * (1.5 - (0.5 * x * y) * y), three times, from the number
    whose bits are 0x5f3759df less half of those of x.
  }]>;

def Tpu_SoftmaxOp : Tpu_MirroredOp<Top_SoftmaxOp, (ins), [{

    With integers as results and f32 operands, along the last axis of K <= 4096 elements, without
    `log`, each step is rounded to f32, and b = min(15, 23 - ceil(log2(K))):

        t = max((x - max(x)) * f32(beta * log2(e)), -32)
        n = round(t), ties to even
        weight = round(2^n * power(t - n) * 2^b), ties to even
        result = weight * root(sum(weight))^2, stored as a tpu.Cast would store it

    power(f) is 0.99999926 + f (0.69312182 + f (0.24024745 + f (0.055917808 + 0.009570069 f))), each
    sum and product rounded; root is that of LayerNorm.
  }]>;

#endif // TPUC_DIALECT_TPU_NORMOPS
