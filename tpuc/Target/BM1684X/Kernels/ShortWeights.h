//===- ShortWeights.h - Weights of a softmax in 16 bits ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_SHORTWEIGHTS_H
#define TPUC_TARGET_BM1684X_KERNELS_SHORTWEIGHTS_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

namespace tpuc::bm1684x {

/// weights = 2^15 exp(scale * (x - the largest x of the row)) over w: scores x F32 [n,c,1,w], which
/// are lost, weights F16. They are wrong by 0.12 % at most, and 0 below e^-20 of the largest; so
/// are all of a row of -inf. Both Aligned, the scale above 0.
struct ShortWeights {
  LocalTensor scores;
  LocalTensor weights;
  double scale = 1;
  Scratch scratch;
};
/// The weight of a row's largest score.
inline constexpr double kLargestShortWeight = 32768;

uint32_t shortWeightsScratch(const ShortWeights &weights);
void addShortWeights(Builder &builder, const ShortWeights &weights);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_SHORTWEIGHTS_H
