//===- IntegerConvolution.h - Convolutions of 8-bit tensors ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERCONVOLUTION_H
#define TPUC_INTERPRETER_KERNELS_INTEGERCONVOLUTION_H

#include "tpuc/Interpreter/Kernels/Convolution.h"
#include "tpuc/Interpreter/Kernels/IntegerRequant.h"
#include "tpuc/Interpreter/Kernels/IntegerSimd.h"

#include <optional>

namespace tpuc::kernels {

struct IntegerConvParams {
  WindowParams window;
  int64_t group = 1;
  /// The zero point of the input, 0 to 255 or -128 to 127 as its type.
  int32_t inputZero = 0;
  /// One factor, or one for each output channel. None: the output is i32 and holds accumulators.
  std::optional<RequantParams> requant;
  /// The instructions to use. The result is the same with all.
  SimdLevel level = bestSimdLevel();
};

// Input and filter are i8 or u8, shapes as for the float kernels, `bias` (i32, one element for each
// output channel) may be null. The output is i8 or u8, or i32 without requantization. Accumulators
// must fit in 32 bits. i8 filters are faster. `cache`: for a filter and bias that are the same in
// every run, else null.

/// acc[n, m, o] = bias[m] + sum over c, k of filter[m, c, k] * input[n, g*C/group + c,
/// o*stride + k*dilation - pad], where what lies outside of the input is `inputZero`. The zero
/// point is not subtracted: its part, inputZero * sum of filter[m], belongs into the bias.
void integerConvolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
                     const IntegerConvParams &params, Tensor &output, ThreadPool &threads,
                     KernelCache *cache);

/// The transposed convolution: (input[n, c, i] - inputZero) * filter[c, m, k] is added to
/// acc[n, g*M + m, i*stride + k*dilation - pad], which begins as bias[g*M + m]. Here the zero point
/// is subtracted, as the number of taps differs from output to output.
void integerDeconvolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
                       const IntegerConvParams &params, Tensor &output, ThreadPool &threads,
                       KernelCache *cache);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERCONVOLUTION_H
