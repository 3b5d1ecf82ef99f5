//===- Activations.h - Functions of one operand -----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_ACTIVATIONS_H
#define TPUC_TARGET_BM1684X_KERNELS_ACTIVATIONS_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

namespace tpuc::bm1684x {

enum class UnaryKind : uint8_t {
  Relu,      ///< a: upper limit, negative: none
  Clip,      ///< a: low, b: high
  LeakyRelu, ///< a: alpha
  Abs,
  Neg,
  Square,
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
  Round,  ///< half to even
  Affine, ///< a * x + b
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

/// output = kind(input), both F32, F16 or BF16, Aligned, of one type and shape, and not overlapping
/// unless equal; the same place costs more time. 16-bit types are computed in F32 and rounded once,
/// except where each command is exact or the only one.
struct Unary {
  UnaryKind kind = UnaryKind::Relu;
  double a = 0;
  double b = 0;
  LocalTensor input;
  LocalTensor output;
  Scratch scratch;
};

/// The scratch with which the kernel takes whole tensors at a time. With less, but at least
/// kLeastUnaryScratch (or what this says, if that is less), it takes them in pieces.
inline constexpr uint32_t kLeastUnaryScratch = 8 << 10;
Expected<uint32_t> unaryScratch(const Unary &unary);
Expected<void> emitUnary(Builder &builder, const Unary &unary);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_ACTIVATIONS_H
