//===- Elementwise.h - Arithmetic of two operands ---------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_ELEMENTWISE_H
#define TPUC_TARGET_BM1684X_KERNELS_ELEMENTWISE_H

#include "tpuc/Target/BM1684X/Kernels/Convolution.h"

#include <variant>

namespace tpuc::bm1684x {

enum class BinaryKind : uint8_t { Add, Sub, Mul, Max, Min, Div };

/// A tensor that broadcasts to the output (extents equal or 1), or one number for all elements.
using BinaryOperand = std::variant<LocalTensor, double>;

/// output = left op right, then the activation. F32, F16, BF16; all of one type and any layout.
/// Sums, differences and products also of I32: modulo 2^32, of whole numbers, without activation.
/// Beside 16 bits an operand may be F32: then, and with a number that 16 bits do not hold, the
/// result is computed in F32 and rounded once (scratch). An operand that repeats over c (extent 1
/// of c, more in the output) is copied to all lanes (scratch). What the activation reads is in the
/// scratch, too, a piece at a time. The output may be one of the operands where shapes and layouts
/// are equal; that costs twice the time where no activation follows.
struct Binary {
  BinaryKind kind = BinaryKind::Add;
  BinaryOperand left;
  BinaryOperand right;
  LocalTensor output;
  Activation activation;
  Scratch scratch;
};

Expected<uint32_t> binaryScratch(const Binary &binary);
Expected<void> emitBinary(Builder &builder, const Binary &binary);

/// output = input where that is positive, else slope * input, rounded once. Input and output are
/// Aligned and of one type; the slope is F32 or of that type, and broadcasts to the input.
struct PRelu {
  LocalTensor input;
  BinaryOperand slope;
  LocalTensor output;
  Scratch scratch;
};
Expected<uint32_t> preluScratch(const PRelu &prelu);
Expected<void> emitPRelu(Builder &builder, const PRelu &prelu);

/// output = input in another type. Float to integer rounds to nearest even, or toward zero with
/// `truncates`, and saturates. Between F16 and BF16 through F32 (scratch).
struct CastOp {
  LocalTensor input;
  LocalTensor output;
  bool truncates = false;
  Scratch scratch;
};
Expected<uint32_t> castScratch(const CastOp &cast);
Expected<void> emitCast(Builder &builder, const CastOp &cast);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_ELEMENTWISE_H
