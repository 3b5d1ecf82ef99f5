//===- Reduction.h - Reductions, softmax, norms over w ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_REDUCTION_H
#define TPUC_TARGET_BM1684X_KERNELS_REDUCTION_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

namespace tpuc::bm1684x {

enum class ReduceKind : uint8_t { Sum, Mean, Max, Min };

/// output [n,c,1,1] = the reduction of input [n,c,h,w] over h and w, or with `overWidth` output
/// [n,c,h,1] over w alone. F32, F16, BF16, Aligned; sums in F32.
struct Reduction {
  ReduceKind kind = ReduceKind::Sum;
  bool overWidth = false;
  LocalTensor input;
  LocalTensor output;
  Scratch scratch;
};
Expected<uint32_t> reductionScratch(const Reduction &reduction);
Expected<void> emitReduction(Builder &builder, const Reduction &reduction);

/// output = the sum of input[0] to input[w], for each w: I32, modulo 2^32. Input and output
/// Aligned, in two places; as many steps as the logarithm of w to the base 2.
struct RunningSum {
  LocalTensor input;
  LocalTensor output;
  Scratch scratch;
};
Expected<uint32_t> runningSumScratch(const RunningSum &sum);
Expected<void> emitRunningSum(Builder &builder, const RunningSum &sum);

/// output = exp(beta * (x - max)) / sum, or its logarithm, over w. Input and output Aligned, of one
/// type: F32, F16, BF16, computed in F32. The same place is fine.
struct Softmax {
  LocalTensor input;
  LocalTensor output;
  double beta = 1;
  bool isLog = false;
  /// Whether all of a row may be -inf, which gives 0. Not of a logarithm.
  bool mayBeHidden = false;
  /// Where given, F32 [n,c,h,1] Aligned: 1 / sum, by which the output is not multiplied. Not of a
  /// logarithm; input and output are F32.
  std::optional<LocalTensor> factors = std::nullopt;
  /// With factors, what results are rounded to later: those of 16 bits are wrong by 9e-6 at most.
  DataType result = DataType::F32;
  Scratch scratch;
};
Expected<uint32_t> softmaxScratch(const Softmax &softmax);
Expected<void> emitSoftmax(Builder &builder, const Softmax &softmax);

/// output = (x - mean) / sqrt(variance + epsilon) * gamma + beta over h and w of each n, c: with
/// rows in lanes a layer norm, with channels an instance norm. `gamma`, `beta` are F32, or of the
/// type of the input and broadcast to the input within a lane: [1,64,h,w] (the same in every lane)
/// or [1,c,1,1] Aligned. Computed in F32. Without `centers` the mean counts as 0: a norm by the
/// root of the mean square, which `overWidth` takes of each row over w alone; gamma is [1,64,h,w]
/// then.
struct Normalization {
  LocalTensor input;
  LocalTensor output;
  double epsilon = 0;
  bool centers = true;
  bool overWidth = false;
  std::optional<LocalTensor> gamma;
  std::optional<LocalTensor> beta;
  Scratch scratch;
};
Expected<uint32_t> normalizationScratch(const Normalization &norm);
Expected<void> emitNormalization(Builder &builder, const Normalization &norm);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_REDUCTION_H
