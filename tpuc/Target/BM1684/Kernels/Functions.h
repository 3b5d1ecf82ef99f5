//===- Functions.h - Functions of floats on the BM1684 -------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_FUNCTIONS_H
#define TPUC_TARGET_BM1684_KERNELS_FUNCTIONS_H

#include "tpuc/Target/BM1684/Kernels/Windows.h"

#include <span>
#include <vector>

namespace tpuc::bm1684 {

enum class UnaryKind : uint8_t {
  Relu,      ///< a: upper limit, negative: none
  Clip,      ///< a: low, b: high
  LeakyRelu, ///< a: alpha
  Abs,
  Neg,
  Sqrt,
  Rsqrt,
  Reciprocal,
  Exp,
  Log,
  Sigmoid, ///< of a * x + b
  Tanh,
  Swish, ///< x * sigmoid(a * x)
  GeluErf,
  GeluTanh,
  Erf,
  HardSigmoid, ///< min(max(a * x + b, 0), 1)
  HardSwish,   ///< x * min(max(x / 6 + 1/2, 0), 1)
  Elu,         ///< a: alpha
  Softplus,
  Mish,
  Floor,
  Ceil,
  Round, ///< half to even
  Sign,
  Threshold, ///< x above a, else 0
  Shrink,    ///< x - b above a, x + b below -a, else 0
  Softsign,
  Selu, ///< b * Elu(x) with a: alpha
  Celu, ///< a: alpha
  Sin,
  Cos,
  Sinh,
  Cosh,
};

/// output = kind(input), F32, regular, of one shape; the same place is fine. With less scratch than
/// `unaryScratch` says, but kLeastUnaryScratch, tensors are taken in pieces.
struct Unary {
  UnaryKind kind = UnaryKind::Relu;
  double a = 0;
  double b = 0;
  LocalTensor input;
  LocalTensor output;
  Scratch scratch;
};
inline constexpr uint32_t kLeastUnaryScratch = 8 << 10;
Expected<uint32_t> unaryScratch(const Unary &unary);
Expected<void> emitUnary(Builder &builder, const Unary &unary);

/// The parts of a regular tensor as [1, lanes, 1, length] of at most `mostElements` (a multiple of
/// 32) in a lane: fewer and longer than its rows, in its own lanes and bytes only.
std::vector<LocalTensor> flatParts(const LocalTensor &tensor, int64_t mostElements);
/// The longest part that a command can take.
inline constexpr int64_t kMostFlatPart = 65536 - 32;

/// Functions as sequences of commands over registers: regular tensors of one shape that overlap
/// nothing else. Operands are no registers but where stated. There are no tables: a term of a
/// polynomial takes two commands that are the cheapest of all.
struct Series {
  static constexpr size_t kNumRegisters = 4;
  Builder &builder;
  std::array<LocalTensor, kNumRegisters> registers = {};

  const LocalTensor &reg(size_t index) const { return registers[index]; }
  /// to = the sum of terms[i] * x^i by Horner's rule; `to` is not `x`.
  void polynomial(const LocalTensor &to, const LocalTensor &x, std::span<const double> terms);
  /// exp(register 0) to `to`, which is no register but 1 or 3; from -87 to 88, or with `isLarge`
  /// to 88.7. Takes registers 0 to 2.
  void power(const LocalTensor &to, bool isLarge = false);
  /// exp(x) to register 3, limited from above by `most`, and from below. `x` may be register 0.
  void exp(const LocalTensor &x, double most = 88.7);
  /// exp(-|x|) to register 3.
  void decay(const LocalTensor &x);
  /// log(x) to register 3 for x > 0; `x` may be register 3.
  void log(const LocalTensor &x);
  /// 1 / (1 + exp(-x)) to `to`, which may be register 0 or `x`; `x` may be none of the registers.
  void sigmoid(const LocalTensor &x, const LocalTensor &to);
  /// erf(a x) to register 3.
  void erf(const LocalTensor &x, double a);
  /// sin(x + phase) to register 3.
  void sin(const LocalTensor &x, double phase);
  /// The nearest whole number of `x` to register 3, half to even.
  void round(const LocalTensor &x);
};

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_FUNCTIONS_H
