//===- Pooling.h - Pooling --------------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_POOLING_H
#define TPUC_TARGET_BM1684X_KERNELS_POOLING_H

#include "tpuc/Target/BM1684X/Kernels/Convolution.h"

namespace tpuc::bm1684x {

/// Maxima or averages of windows. F32, F16, BF16, maxima also I8 and U8. `input` and `output` are
/// Aligned and of one type. Averages of many elements in 16 bits are taken in F32 (scratch).
struct Pooling {
  LocalTensor input;
  LocalTensor output;
  Window2d window;
  bool isAverage = false;
  /// Averages count the zeros of the padding.
  bool countsPadding = false;
  Activation activation;
  Scratch scratch;
};

Expected<uint32_t> poolingScratch(const Pooling &pool);
Expected<void> emitPooling(Builder &builder, const Pooling &pool);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_POOLING_H
