//===- Convolution.h - Convolutions of tensors ------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_CONVOLUTION_H
#define TPUC_INTERPRETER_KERNELS_CONVOLUTION_H

#include "tpuc/Interpreter/Kernels/KernelCache.h"
#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <vector>

namespace tpuc::kernels {

/// How a window moves, one entry for each of the 1 to 3 spatial dimensions.
struct WindowParams {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> padsBegin;
  std::vector<int64_t> padsEnd;
};

struct ConvParams {
  WindowParams window;
  int64_t group = 1;
  bool doRelu = false;
  double reluLimit = -1; ///< Negative: none.
};

// Inputs are [N, C, spatial...], all shapes must fit, as shape inference checks. Floats but f64 are
// computed in f32 and rounded once, integers modulo 2^n. `bias` may be null. `cache`: for a filter
// that is the same in every run, else null.

/// output[n, m, o] = bias[m] + sum over c, k of filter[m, c, k] * input[n, g*C/group + c,
/// o*stride + k*dilation - pad], where what lies outside of the input is 0.
void convolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
              const ConvParams &params, Tensor &output, ThreadPool &threads, KernelCache *cache);

/// The transposed convolution: input[n, c, i] * filter[c, m, k] is added to
/// output[n, g*M + m, i*stride + k*dilation - pad].
void deconvolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
                const ConvParams &params, Tensor &output, ThreadPool &threads, KernelCache *cache);

/// `input` with `inserts` zeros between neighbours along each spatial dimension.
Tensor insertZeros(const Tensor &input, const std::vector<int64_t> &inserts);

/// A 2-D convolution whose tap k at output o reads the bilinear interpolation of the input at
/// o*stride + k*dilation - pad + offset, times mask (null: 1); outside of the input is 0.
/// `offset` is [N, offsetGroup * kH * kW * 2 (y, x), oH, oW], `mask` [N, offsetGroup * kH * kW, oH,
/// oW].
void deformConvolve(const Tensor &input, const Tensor &filter, const Tensor &offset,
                    const Tensor *bias, const Tensor *mask, const ConvParams &params,
                    int64_t offsetGroup, Tensor &output, ThreadPool &threads);

/// Adds the columns of `input`, [N, C * product(kernel), blocks], to where the window took them.
/// Any number of spatial dimensions.
void col2Im(const Tensor &input, const WindowParams &window, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_CONVOLUTION_H
