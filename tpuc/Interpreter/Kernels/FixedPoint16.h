//===- FixedPoint16.h - Ops on 16-bit integers with a scale -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What networks compute that a source has quantized to 16 bits with the zero point 0, beside
// weights of 8 bits. Sums of products have 64 bits; their multipliers are cut down to 15 bits, and
// the result is rounded once, half up. Functions are tables, between whose entries lines are drawn.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_FIXEDPOINT16_H
#define TPUC_INTERPRETER_KERNELS_FIXEDPOINT16_H

#include "tpuc/Interpreter/Kernels/FixedPoint.h"

namespace tpuc::kernels {

/// Where sums of products are rounded: `scaledWide`; once, half up, by the whole multiplier; or
/// twice, as other fixed-point ops.
enum class SumRounding : uint8_t { Wide, Once, Twice };

/// How sums become results: one factor for all, or one for each channel.
struct WideRequant {
  std::vector<MultiplierShift> factors;
  IntegerRange range;
  SumRounding rounding = SumRounding::Wide;
  int64_t zeroPoint = 0;
};

/// sum * factor, the multiplier rounded to 15 bits, the product rounded once.
int64_t scaledWide(int64_t sum, MultiplierShift factor);

/// output[n, m, o] of an i16 `input` and an i8 `filter` as `convolve` has it; `bias` of i64 may be
/// null.
void wideConvolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
                  const WindowParams &window, int64_t group, const WideRequant &requant,
                  Tensor &output, ThreadPool &threads);
/// The transposed convolution, of one group, as `deconvolve` has it.
void wideDeconvolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
                    const WindowParams &window, const WideRequant &requant, Tensor &output,
                    ThreadPool &threads);

/// How the matrices of a product are stored: whether the last two dimensions are swapped.
struct WideMatMul {
  bool leftTransposed = false, rightTransposed = false;
};
/// The product of the last two dimensions of `left` and `right`, of 8 or 16 bits; those in front
/// are broadcast. `bias` has one i64 for each column, or is null, as have the factors.
void wideMatMul(const FixedOperand &left, const FixedOperand &right, const Tensor *bias,
                const WideMatMul &params, const WideRequant &requant, Tensor &output,
                ThreadPool &threads);

/// The sigmoid, or the hyperbolic tangent, of an i16 input; the output has the scale 2^-15. A table
/// holds the sigmoid of multiples of 1/24 with 16 bits.
void wideSigmoid(const FixedOperand &input, Tensor &output, ThreadPool &threads);
void wideTanh(const FixedOperand &input, Tensor &output, ThreadPool &threads);

/// How many elements a row of `wideSoftmax` may have: as many as a sum of 31 bits holds.
inline constexpr int64_t kMostWideShares = 65536;

/// Softmax of beta * input along the last dimension; the output has the scale 2^-15. Tables hold
/// e^x from -10 to 0, and 1 / (1 + x) from 0 to 1.
void wideSoftmax(const FixedOperand &input, double beta, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_FIXEDPOINT16_H
