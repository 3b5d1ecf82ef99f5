//===- Select.h - Comparing and choosing ------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_SELECT_H
#define TPUC_TARGET_BM1684X_KERNELS_SELECT_H

#include "tpuc/Target/BM1684X/Kernels/Elementwise.h"
#include "tpuc/Target/BM168x/CompareKind.h"

namespace tpuc::bm1684x {

using bm168x::CompareKind;

/// output = left compared with right ? ifTrue : ifFalse. Operands broadcast to the output, which is
/// Aligned; numbers have the type of what they stand beside. `left` and `right`, of which one is a
/// tensor, have one type, choices that of the output: any of at most 32 bits. With an output of
/// Bool and the choices 1 and 0 it is a comparison; with a left tensor of Bool that is NotEqual to
/// 0 it chooses by a condition. +0 equals -0; comparisons with NaN are not defined.
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

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_SELECT_H
