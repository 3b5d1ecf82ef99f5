//===- Reductions.h - Softmaxes, norms and reductions on the BM1684 ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_REDUCTIONS_H
#define TPUC_TARGET_BM1684_KERNELS_REDUCTIONS_H

#include "tpuc/Target/BM1684/Kernels/Functions.h"

namespace tpuc::bm1684 {

enum class ReduceKind : uint8_t { Sum, Mean, Max, Min };

/// output [n,c,1,1] = the reduction of input [n,c,h,w] over h and w. F32, regular.
struct Reduction {
  ReduceKind kind = ReduceKind::Sum;
  LocalTensor input;
  LocalTensor output;
  Scratch scratch;
};
Expected<uint32_t> reductionScratch(const Reduction &reduction);
Expected<void> emitReduction(Builder &builder, const Reduction &reduction);

/// output = exp(beta * (x - max)) / sum, or its logarithm, over w. F32, regular; the same place is
/// fine.
struct Softmax {
  LocalTensor input;
  LocalTensor output;
  double beta = 1;
  bool isLog = false;
  Scratch scratch;
};
Expected<uint32_t> softmaxScratch(const Softmax &softmax);
Expected<void> emitSoftmax(Builder &builder, const Softmax &softmax);

/// output = (x - mean) / sqrt(variance + epsilon) * gamma + beta over h and w of each n, c: with
/// rows in lanes a layer norm, with channels an instance norm. `gamma` and `beta` are F32 and
/// regular: [1,1,h,w] for all channels, or [1,c,1,1]. Without `centers` the mean counts as 0.
struct Normalization {
  LocalTensor input;
  LocalTensor output;
  double epsilon = 0;
  bool centers = true;
  std::optional<LocalTensor> gamma;
  std::optional<LocalTensor> beta;
  Scratch scratch;
};
Expected<uint32_t> normalizationScratch(const Normalization &norm);
Expected<void> emitNormalization(Builder &builder, const Normalization &norm);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_REDUCTIONS_H
