//===- Attention.h - Attention over rows ------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_ATTENTION_H
#define TPUC_TARGET_BM1684X_KERNELS_ATTENTION_H

#include "tpuc/Target/BM1684X/Kernels/AttentionHeads.h"
#include "tpuc/Target/BM1684X/Kernels/Builder.h"

namespace tpuc::bm1684x {

/// output = softmax(sqrt(scale) q * (sqrt(scale) k)^T + mask) v for each sample and head, 0 where
/// all of a query's scores are -inf. F32, F16, BF16, all of one type; every step is rounded to it.
struct Attention : AttentionOperands {
  double scale = 1;
  /// Of F16: weights are F16, too, and 0.12 % wrong at most (see `ShortWeights`).
  bool hasShortWeights = false;
  Scratch scratch;
};
Expected<uint32_t> attentionScratch(const Attention &attention);
Expected<void> emitAttention(Builder &builder, const Attention &attention);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_ATTENTION_H
