//===- Select.h - Comparing, choosing and converting on the BM1684 -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_SELECT_H
#define TPUC_TARGET_BM1684_KERNELS_SELECT_H

#include "tpuc/Target/BM1684/Kernels/Elementwise.h"
#include "tpuc/Target/BM168x/CompareKind.h"

namespace tpuc::bm1684 {

using bm168x::CompareKind;

/// output = left compared with right ? ifTrue : ifFalse. Operands broadcast to the output, which is
/// regular; numbers have the type of what they stand beside. `left` and `right`, of which one is a
/// tensor, have one type, choices that of the output: words of 32 bits, or bytes (I8 or U8). Truth
/// values are bytes of 0 and 1: a comparison gives the choices 1 and 0, and a condition is NotEqual
/// to 0. +0 equals -0; comparisons with NaN are not defined.
///
/// The machine compares floats. Bytes, and both halves of integers of 32 bits, become floats that
/// have the same order.
struct Select {
  CompareKind kind = CompareKind::Equal;
  BinaryOperand left;
  BinaryOperand right;
  BinaryOperand ifTrue = 1.0;
  BinaryOperand ifFalse = 0.0;
  LocalTensor output;
  Scratch scratch;
};
Expected<uint32_t> selectScratch(const Select &select);
Expected<void> emitSelect(Builder &builder, const Select &select);

enum class LogicalKind : uint8_t { Not, And, Or, Xor };

/// output = kind(left, right) of truth values, one command for four batch items: U8, regular, of
/// one shape. Not has no right operand.
struct Logical {
  LogicalKind kind = LogicalKind::Not;
  LocalTensor left;
  std::optional<LocalTensor> right;
  LocalTensor output;
  Scratch scratch;
};
Expected<uint32_t> logicalScratch(const Logical &logical);
Expected<void> emitLogical(Builder &builder, const Logical &logical);

/// output = input in another type, both regular and of one shape: from F32 to I32, I8 or U8, cut
/// off toward zero and at the ends of the type; from I32, U32, I8 or U8 to F32, rounded to nearest
/// even; from bytes to I32 or U32. NaN is not defined.
struct Conversion {
  LocalTensor input;
  LocalTensor output;
  Scratch scratch;
};
Expected<uint32_t> conversionScratch(const Conversion &conversion);
Expected<void> emitConversion(Builder &builder, const Conversion &conversion);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_SELECT_H
