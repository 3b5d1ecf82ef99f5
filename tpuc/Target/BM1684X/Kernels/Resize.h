//===- Resize.h - Changing the size of images -------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_RESIZE_H
#define TPUC_TARGET_BM1684X_KERNELS_RESIZE_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"
#include "tpuc/Target/BM1684X/Kernels/Quantized.h"

#include <vector>

namespace tpuc::bm1684x {

/// output[n,c,y,x] = input[n,c,y / scaleH, x / scaleW]: whole factors. Any type, both Aligned.
struct UpsampleNearest {
  LocalTensor input;
  LocalTensor output;
};
Expected<void> checkUpsampleNearest(const UpsampleNearest &upsample);
Expected<void> emitUpsampleNearest(Builder &builder, const UpsampleNearest &upsample);

/// One output row or column as a weighted sum of two input ones.
struct ResizeTap {
  int64_t first = 0;
  int64_t second = 0;
  double secondWeight = 0; ///< That of `first` is 1 - secondWeight.
};

/// output[n,c,y,x] = the sum over the taps of row y and column x of the input, counted in the given
/// tile. Nearest neighbours have weights of 0. F32, F16, BF16, Aligned. Interpolates columns, then
/// rows.
struct Resize {
  LocalTensor input;
  LocalTensor output;
  std::vector<ResizeTap> rows;
  std::vector<ResizeTap> columns;
  Scratch scratch;
};
Expected<uint32_t> resizeScratch(const Resize &resize);
Expected<void> emitResize(Builder &builder, const Resize &resize);

/// output = requantized sum over the taps of weight * weight * (input - inputZero). The two weights
/// of a tap are integers that add up to 2^kTapBits (see `tapWeights`), so the factor holds
/// 2^(-2 * kTapBits). Input and output I8 or U8, Aligned.
struct QuantizedResize {
  LocalTensor input;
  LocalTensor output;
  std::vector<ResizeTap> rows;
  std::vector<ResizeTap> columns;
  int32_t inputZero = 0;
  Requantize requantize;
  Scratch scratch;
};
Expected<uint32_t> quantizedResizeScratch(const QuantizedResize &resize);
Expected<void> emitQuantizedResize(Builder &builder, const QuantizedResize &resize);

/// output[n,c,y,x] = input[n,c,rows[y],columns[x]], of any type that is computed: pictures with
/// rows and columns from their edges around them. What follows each other in both is copied at
/// once.
struct Border {
  LocalTensor input;
  LocalTensor output;
  std::vector<int64_t> rows;
  std::vector<int64_t> columns;
};
Expected<void> emitBorder(Builder &builder, const Border &border);

inline constexpr int kTapBits = 11;
/// 2^kTapBits times the weights of the first and the second element, each rounded half away from
/// zero; the larger one, or the first of equal ones, takes up what their sum lacks.
std::array<int64_t, 2> tapWeights(double secondWeight);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_RESIZE_H
