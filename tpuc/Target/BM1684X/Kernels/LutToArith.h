//===- LutToArith.h - Tables as sequences of arithmetic ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lookup gives each lane one element per cycle. Arithmetic on 16 bits gives it 32, so that a
// sequence of commands is faster wherever one is found that gives the same for all 256 inputs.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_LUTTOARITH_H
#define TPUC_TARGET_BM1684X_KERNELS_LUTTOARITH_H

#include "tpuc/Target/BM1684X/Kernels/Commands.h"

#include <array>
#include <vector>

namespace tpuc::bm1684x {

/// One command of a sequence. Values are numbered: 0 is the input, i + 1 the result of step i.
///   MulSat, AddSat, SubSat: saturate(round((left op right) / 2^shift)), I8 or I16
///   MultiplyAdd: (addend * 2^addendShift + left * right) / 2^shift rounded, the low bits of it,
///   I16;
///     takes the place of the addend, which nothing reads later
///   Max, Min: of two of one type
///   Abs: |left|; of I8 as U8, of I16 as I16
///   SelectEqual: left == right ? chosen : 0
struct LutStep {
  ArithOp op = ArithOp::MulSat;
  int32_t left = 0;
  /// A value, or kConstant.
  int32_t right = kConstant;
  int32_t constant = 0;
  int32_t chosen = 0;
  /// A value of I16, of MultiplyAdd alone.
  int32_t addend = kConstant;
  int32_t addendShift = 0;
  int32_t shift = 0; ///< To the right.
  Rounding rounding = Rounding::HalfUp;
  DataType type = DataType::I16;

  static constexpr int32_t kConstant = -1;
  /// How many numbers state one (`numbersOf`).
  static constexpr size_t kNumbers = 10;
  bool operator==(const LutStep &) const = default;
};

/// The low byte of what a sequence gives, by the byte of the input.
using TableBytes = std::array<uint8_t, 256>;

/// What the chip computes for each input of a type (I8 or U8).
TableBytes evaluateSteps(const std::vector<LutStep> &steps, DataType input);

/// Cycles of each lane for 64 elements.
int64_t cyclesOfSteps(const std::vector<LutStep> &steps, DataType input);

/// A sequence as plain numbers, and back. Errors: numbers that are none.
std::vector<int64_t> numbersOf(const std::vector<LutStep> &steps);
Expected<std::vector<LutStep>> stepsOf(std::span<const int64_t> numbers);

/// output = what the steps make of input; 8-bit types, Aligned.
struct TableArithmetic {
  LocalTensor input;
  LocalTensor output;
  std::vector<LutStep> steps;
  Scratch scratch;
};
Expected<uint32_t> tableArithmeticScratch(const TableArithmetic &table);
Expected<void> emitTableArithmetic(Builder &builder, const TableArithmetic &table);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_LUTTOARITH_H
