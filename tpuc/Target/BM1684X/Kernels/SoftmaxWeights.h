//===- SoftmaxWeights.h - Weights of softmaxes to integers ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_SOFTMAXWEIGHTS_H
#define TPUC_TARGET_BM1684X_KERNELS_SOFTMAXWEIGHTS_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"

namespace tpuc::bm1684x {

/// Scratch for the weights of scores [n,c,h,w], F32 and Aligned.
struct SoftmaxRegisters {
  uint32_t table = 0;
  std::array<LocalTensor, 4> full; ///< F32 [n,c,h,w]
  LocalTensor row;                 ///< F32 [n,c,h,1]
  LocalTensor folded;
};
SoftmaxRegisters takeSoftmaxRegisters(const Extents &shape, uint32_t startLane,
                                      ScratchAllocator &space);

/// The weights of a softmax of `scale * scores` over w, as the steps of Support/BitExactMath.h
/// state them, but for the last: to round them to whole numbers. The result is full[3]; the other
/// registers are free. `scores` may be full[1].
LocalTensor addSoftmaxWeights(Builder &builder, const LocalTensor &scores, double scale,
                              const SoftmaxRegisters &registers);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_SOFTMAXWEIGHTS_H
