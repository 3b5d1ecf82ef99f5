//===- QuantizedRows.h - Norms, softmaxes, attention on integers -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_QUANTIZEDROWS_H
#define TPUC_TARGET_BM1684X_KERNELS_QUANTIZEDROWS_H

#include "tpuc/Target/BM1684X/Kernels/AttentionHeads.h"
#include "tpuc/Target/BM1684X/Kernels/Builder.h"

#include <optional>

namespace tpuc::bm1684x {

// Sums are exact and every other step rounds as Support/BitExactMath.h states, so bits are those of
// the interpreter's integer kernels.

/// How a tensor is stored.
struct StoredAs {
  double scale = 1;
  int32_t zeroPoint = 0;
};

/// output = (x - mean) / sqrt(variance + epsilon) * gamma + beta over h and w of each n, c, where x
/// is `scale` times the input less any zero point. Input I8 or U8 of at most steps::kLongestNorm
/// elements in a row, output F32, both Aligned; gamma and beta F32 as for `Normalization`.
struct QuantizedNormalization {
  LocalTensor input;
  LocalTensor output;
  double scale = 1;
  double epsilon = 0;
  std::optional<LocalTensor> gamma;
  std::optional<LocalTensor> beta;
  Scratch scratch;
};
Expected<uint32_t> quantizedNormalizationScratch(const QuantizedNormalization &norm);
Expected<void> emitQuantizedNormalization(Builder &builder, const QuantizedNormalization &norm);

/// output = the softmax of beta * input over w, stored with a scale and a zero point. Input F32 of
/// at most steps::kLongestSoftmax elements in a row, output I8 or U8, both Aligned.
struct QuantizedSoftmax {
  LocalTensor input;
  LocalTensor output;
  double beta = 1;
  StoredAs outputAs;
  Scratch scratch;
};
Expected<uint32_t> quantizedSoftmaxScratch(const QuantizedSoftmax &softmax);
Expected<void> emitQuantizedSoftmax(Builder &builder, const QuantizedSoftmax &softmax);

/// output = softmax(scale q k^T) v for each sample and head. All I8 or U8, with a zero point of the
/// queries that I8 holds, and at most steps::kLongestSoftmax keys.
struct QuantizedAttention : AttentionOperands {
  StoredAs queryAs, keyAs, valueAs, outputAs;
  double scale = 1;
  Scratch scratch;
};
Expected<uint32_t> quantizedAttentionScratch(const QuantizedAttention &attention);
Expected<void> emitQuantizedAttention(Builder &builder, const QuantizedAttention &attention);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_QUANTIZEDROWS_H
