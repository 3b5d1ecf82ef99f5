//===- Binary.h - Element by element, several operands ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_BINARY_H
#define TPUC_INTERPRETER_KERNELS_BINARY_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <optional>
#include <span>
#include <vector>

namespace tpuc::kernels {

/// Integers wrap around. A division of integers truncates; by zero it gives 0.
enum class BinaryOp : uint8_t {
  // Any number.
  Add,
  Sub,
  Mul,
  Div,
  Min,   ///< NaN if one operand is.
  Max,   ///< NaN if one operand is.
  Mod,   ///< The remainder has the sign of the divisor.
  FMod,  ///< The remainder has the sign of the dividend, as in C.
  PRelu, ///< x, or y * x where x is negative.
  // Integers and bool.
  And,
  Or,
  Xor,
  // A shift by the width or more, or by a negative amount, leaves 0, or -1 of a negative number
  // shifted right.
  ShiftLeft,
  ShiftRight,
};

/// What is done to the operands before, and to the result after an operation.
struct BinaryParams {
  /// One factor per operand; empty: all 1. For integers, their integral part.
  std::vector<double> coeff;
  double factor = 1;   ///< Multiplies the result of floats.
  int64_t divisor = 1; ///< Divides the result.
  bool doRelu = false;
  double reluLimit = -1; ///< Negative: none.
};

/// output = op(op(input 0, input 1), input 2)...: the inputs, of the output's type (or F32,
/// beside 16 bits) and at least one, are broadcast to the output. Results are rounded once, at the
/// end, if the type is narrower than f32.
void binary(BinaryOp op, std::span<const Tensor> inputs, const BinaryParams &params, Tensor &output,
            ThreadPool &threads);

/// output = base ^ exponent in the type of the base, broadcast. Exact modulo 2^n if both are
/// integers, where a negative exponent truncates: 1, -1 or 0. If the types differ, through f64.
void power(const Tensor &base, const Tensor &exponent, Tensor &output, ThreadPool &threads);

enum class CompareOp : uint8_t { Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual };

/// output (bool) = lhs op rhs, broadcast. Operands of different types are compared as doubles.
void compare(CompareOp op, const Tensor &lhs, const Tensor &rhs, Tensor &output,
             ThreadPool &threads);

/// output = condition ? x : y, broadcast; x, y and the output have one type, any.
void where(const Tensor &condition, const Tensor &x, const Tensor &y, Tensor &output,
           ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_BINARY_H
