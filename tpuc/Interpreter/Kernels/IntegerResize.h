//===- IntegerResize.h - Resampling of 8-bit tensors -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERRESIZE_H
#define TPUC_INTERPRETER_KERNELS_INTEGERRESIZE_H

#include "tpuc/Interpreter/Kernels/IntegerRequant.h"
#include "tpuc/Interpreter/Kernels/Resize.h"

namespace tpuc::kernels {

/// Bits of the weights of one axis: they are integers that add up to 2^11.
inline constexpr int kResizeWeightBits = 11;

/// The taps of one axis of a linear resize with integer weights.
struct IntegerTaps {
  int64_t perOutput = 1;
  std::vector<int64_t> positions; ///< [out, perOutput], within the input.
  std::vector<int32_t> weights;   ///< [out, perOutput], the sum of each row is 2^11.
  std::vector<bool> outside;      ///< [out]: takes the extrapolation; empty: none does.
};

/// The taps and weights of `resize` along `axis` from `in` to `out` elements, each weight times
/// 2^11 rounded half away from zero; what is then missing to 2^11 is added to the largest (the
/// first of several). With `fixedPoint` weights of 10 bits, which count twice; then coordinates are
/// HalfPixel, AlignCorners or Asymmetric.
IntegerTaps integerTaps(const ResizeParams &params, size_t axis, int64_t in, int64_t out);

/// Linear resize of the last two axes (or the last one); the others must stay as they are:
///   acc = sum over taps of weightY * weightX * (input - inputZero)
/// then `requant` with one factor, which contains 2^-22. An axis that stays has the weight 2^11.
/// `params.extrapolation` stands for input - inputZero where TfCropAndResize looks outside; it is
/// rounded half away from zero and must lie within -255 and 255. Input and output are i8 or u8.
void integerResizeLinear(const Tensor &input, const ResizeParams &params, int32_t inputZero,
                         const RequantParams &requant, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERRESIZE_H
