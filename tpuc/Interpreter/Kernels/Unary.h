//===- Unary.h - Element by element, one operand ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_UNARY_H
#define TPUC_INTERPRETER_KERNELS_UNARY_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

namespace tpuc::kernels {

/// Formulas stand in UnaryOps.td under the same names.
enum class UnaryOp : uint8_t {
  // Any number.
  Abs,
  Neg,
  Sign,
  Relu,   ///< a: upper limit, negative: none
  Shrink, ///< a: bias, b: lambd
  // Integers and bool.
  BitwiseNot,
  LogicalNot,
  // Floats.
  Arccos,
  Arccosh,
  Arcsin,
  Arcsinh,
  Arctan,
  Arctanh,
  Ceil,
  Cos,
  Cosh,
  Erf,
  Exp,
  Floor,
  HardSwish,
  Log,
  Mish,
  Reciprocal,
  Round,
  Rsqrt,
  Sin,
  Sinh,
  Softplus,
  Softsign,
  Sqrt,
  Tan,
  Tanh,
  LeakyRelu,       ///< a: alpha
  Elu,             ///< a: alpha
  Celu,            ///< a: alpha
  Selu,            ///< a: alpha, b: gamma
  ThresholdedRelu, ///< a: alpha
  HardSigmoid,     ///< a: alpha, b: beta
  Sigmoid,         ///< a: scale, b: bias
  LogSigmoid,      ///< a: scale, b: bias
  Swish,           ///< a: beta
  GeluErf,
  GeluTanh,
  RoundF16,  ///< To what f16 can hold.
  RoundBF16, ///< To what bf16 can hold.
};

struct UnaryParams {
  double a = 0;
  double b = 0;
};

/// output[i] = op(input[i]). Both have the same shape and element type. Integers wrap around.
void unary(UnaryOp op, const UnaryParams &params, const Tensor &input, Tensor &output,
           ThreadPool &threads);

/// output[i] = min(max(input[i], low), high), so `high` where low > high. NaN stays. A bound of
/// null is none; others are tensors of one element of the input's type.
void clip(const Tensor &input, const Tensor *low, const Tensor *high, Tensor &output,
          ThreadPool &threads);
/// The same with numbers: for integers, the first integer within each bound.
void clip(const Tensor &input, double low, double high, Tensor &output, ThreadPool &threads);

/// output (bool) = whether an element is not a number.
void isNaN(const Tensor &input, Tensor &output, ThreadPool &threads);
/// output (bool) = whether an element is an infinity of one of the wanted signs.
void isInf(const Tensor &input, bool negative, bool positive, Tensor &output, ThreadPool &threads);

/// The elements in the type of `output`: floats are rounded to nearest even; what is too large
/// becomes an infinity or NaN, or the largest number if the target is an 8-bit float and
/// `saturate`. Floats become integers by truncation, saturated, NaN 0 (4-bit ones: the low bits of
/// the truncated value); integers lose high bits.
void cast(const Tensor &input, bool saturate, Tensor &output, ThreadPool &threads);
/// The bits from `firstBit` on of integers, as integers of fewer bits. Both have whole bytes, and
/// so has what is skipped; none of the bits lies behind those of `input`.
void integerPart(const Tensor &input, int64_t firstBit, Tensor &output);

/// The determinants of the matrices input[..., n, n], by elimination with partial pivoting in f64.
void determinant(const Tensor &input, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_UNARY_H
