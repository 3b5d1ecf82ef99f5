//===- QuantizeLinear.h - Between floats and integers with a scale ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_QUANTIZELINEAR_H
#define TPUC_INTERPRETER_KERNELS_QUANTIZELINEAR_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <optional>

namespace tpuc::kernels {

/// How scales and zero points stand for the elements of a tensor: a tensor of one element for all,
/// one of rank 1 for the positions along `axis`, one of the tensor's rank, with `blockSize`, for
/// blocks of so many positions along `axis` (the last may be shorter).
struct QuantizeLayout {
  int64_t axis = 0;
  int64_t blockSize = 0; ///< 0: no blocks.
};

/// What does not fit about the shape of scales or zero points; none if it fits.
std::optional<Error> checkLayout(const Shape &input, const Shape &parameters,
                                 const QuantizeLayout &layout);

/// output = saturate(round(input / scale) + zeroPoint) in the output's type, ties to even; NaN
/// gives the zero point. An 8-bit float is input / scale rounded, with what is too large the
/// largest number if `saturate`. Computed in f32, in f64 for f64 and i32. `zeroPoint` may be null.
void quantizeLinear(const Tensor &input, const Tensor &scale, const Tensor *zeroPoint,
                    const QuantizeLayout &layout, bool saturate, Tensor &output,
                    ThreadPool &threads);

/// output = (input - zeroPoint) * scale; the difference is exact. `zeroPoint` may be null.
void dequantizeLinear(const Tensor &input, const Tensor &scale, const Tensor *zeroPoint,
                      const QuantizeLayout &layout, Tensor &output, ThreadPool &threads);

/// The range of the input and 0 onto 0 to 255: scale = range / 255 (1 if the range is empty),
/// zeroPoint = saturate(round(-min / scale)), output = saturate(round(input / scale) + zeroPoint).
/// The outputs: u8 like the input, and scalars f32 and u8.
void dynamicQuantizeLinear(const Tensor &input, Tensor &output, Tensor &scale, Tensor &zeroPoint,
                           ThreadPool &threads);

/// `input` of f32 as rows of i8, `scale.numElements()` of them, each with the scale (f32) and zero
/// point (i8) of its own range, as `top.DynamicQuantizeRows` says.
void dynamicQuantizeRows(const Tensor &input, bool symmetric, Tensor &output, Tensor &scale,
                         Tensor &zeroPoint, ThreadPool &threads);

/// input - zeroPoint as i32; the zero point (null: 0) is broadcast to the input.
Tensor subtractZeroPoint(const Tensor &input, const Tensor *zeroPoint, ThreadPool &threads);

/// output = saturate(round(sums * factor) + zeroPoint), ties to even: sums of i32, a factor of f32
/// that is broadcast to them, computed in f32.
void requantize(const Tensor &sums, const Tensor &factor, int64_t zeroPoint, Tensor &output,
                ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_QUANTIZELINEAR_H
