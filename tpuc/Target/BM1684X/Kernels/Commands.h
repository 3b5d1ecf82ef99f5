//===- Commands.h - Single commands over local tensors ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_COMMANDS_H
#define TPUC_TARGET_BM1684X_KERNELS_COMMANDS_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

#include <variant>

namespace tpuc::bm1684x {

// What kernels are made of: one function per command of the TIU, over tensors instead of fields.
// Sizes and layouts are the kernels' business; a field that cannot hold what it is given makes the
// builder fail.

/// One number for all elements.
struct Immediate {
  DataType type = DataType::F32;
  uint32_t bits = 0;
};
inline Immediate immediate(DataType type, double value) {
  return {type, immediateBits(type, value)};
}
using Term = std::variant<LocalTensor, Immediate>;

/// Sub-opcodes of AR.
enum class ArithOp : uint8_t {
  Mul = 0,
  Add = 2,
  Sub = 3,
  Max = 4,
  Min = 5,
  LogicShift = 6,
  And = 7,
  Or = 8,
  Xor = 9,
  SelectGreater = 10,
  SelectEqual = 11,
  Div = 12,
  SelectLess = 13,
  Cast = 14,
  AddSat = 15,
  SubSat = 16,
  MultiplyAdd = 18,
  Copy = 19,
  MulSat = 20,
  ArithShift = 21,
  MulDoublingHigh = 23,
  Abs = 26,
};

/// Rounding modes of casts and shifts.
enum class Rounding : uint8_t {
  HalfToEven = 0,
  HalfAway = 1,
  TowardZero = 2,
  Down = 3,
  Up = 4,
  HalfUp = 5,
};

/// Sets a field or makes the builder fail.
void setField(Builder &builder, Command &command, Field field, int64_t value);
void setFields(Builder &builder, Command &command,
               std::initializer_list<std::pair<Field, int64_t>> values);
/// Extents, address and precision of the result.
void setResult(Builder &builder, Command &command, const LocalTensor &output);

/// output = a op b. Div takes `iterations` steps of Newton's method for the reciprocal root.
void addArith(Builder &builder, ArithOp op, const LocalTensor &output, const Term &a, const Term &b,
              unsigned iterations = 3);
/// output = (a op b) shifted left by `shift`, or right with rounding where it is negative.
void addShiftedArith(Builder &builder, ArithOp op, const LocalTensor &output, const Term &a,
                     const Term &b, int shift, Rounding rounding);
/// sums = (sums * 2^left + a * b) / 2^right, rounded, the low bits of it. a and b of 8 or 16 bits
/// (not both of 8), sums of I16, or of I32 without `left`.
void addMultiplyAdd(Builder &builder, const LocalTensor &sums, const Term &a, const Term &b,
                    int left = 0, int right = 0, Rounding rounding = Rounding::HalfUp);
/// output = a * b / 2^31, rounded; all I32.
void addMultiplyHigh(Builder &builder, const LocalTensor &output, const Term &a, const Term &b,
                     Rounding rounding);
/// output = a compared with b ? chosen : 0
void addSelect(Builder &builder, ArithOp op, const LocalTensor &output, const Term &a,
               const Term &b, const Immediate &chosen);
void addShift(Builder &builder, ArithOp op, const LocalTensor &output, const LocalTensor &input,
              int left, Rounding rounding = Rounding::TowardZero);
/// Copy or Abs. The element sizes are equal.
void addUnaryArith(Builder &builder, ArithOp op, const LocalTensor &output, const Term &input);
void addCast(Builder &builder, const LocalTensor &output, const LocalTensor &input,
             Rounding rounding = Rounding::HalfToEven);

/// output = the polynomial of `terms` coefficients at `table` of every lane, lowest first.
void addTaylor(Builder &builder, const LocalTensor &output, const LocalTensor &input,
               uint32_t table, int64_t terms);
/// output = 1 / sqrt(input), F32.
void addRsqrt(Builder &builder, const LocalTensor &output, const LocalTensor &input,
              unsigned iterations = 4);
/// output = input * factor + addend, Aligned, floats.
void addLinear(Builder &builder, const LocalTensor &output, const LocalTensor &input, double factor,
               double addend);
/// output = input * factors + addends, with one of [1,c,1,1] Compact for each channel.
void addChannelLinear(Builder &builder, const LocalTensor &output, const LocalTensor &input,
                      const LocalTensor &factors, const Term &addends);
/// output = (input + addends)^2, with one of [1,c,1,1] Compact for each channel.
void addSquaredSum(Builder &builder, const LocalTensor &output, const LocalTensor &input,
                   const LocalTensor &addends);

/// output = a compared with b ? c : d, all Aligned.
enum class CompareOp : uint8_t { Greater = 23, Equal = 24, Less = 26 };
void addCompareSelect(Builder &builder, CompareOp op, const LocalTensor &output, const Term &a,
                      const Term &b, const Term &c, const Term &d);

/// input [n,1,h,w] to every channel of output [n,c,h,w], c <= 64 - the start lane; both Aligned.
void addLaneBroadcast(Builder &builder, const LocalTensor &output, const LocalTensor &input);

/// input [n,c,h,w] to other lanes; both Aligned, of one shape.
void addLaneCopy(Builder &builder, const LocalTensor &output, const LocalTensor &input);

/// output [n,c,1,w] = input [n,w,1,c], both Aligned from lane 0.
void addTurned(Builder &builder, const LocalTensor &output, const LocalTensor &input);

/// `values` as F32 to `address` of every lane, unless they stand there from before; or in a type of
/// 16 bits, an even number of them.
void addTable(Builder &builder, std::span<const double> values, uint32_t address);
void addShortTable(Builder &builder, DataType type, std::span<const double> values,
                   uint32_t address);

/// The tensor as `shape` with strides that repeat it where its extent is 1 and the shape's is not.
/// Not for c, where all lanes must hold it: see `repeatedOverLanes`.
LocalTensor repeated(const LocalTensor &tensor, const Extents &shape);
/// A tensor whose lanes all hold the same [n,1,h,w], as [n,c,h,w].
LocalTensor repeatedOverLanes(const LocalTensor &tensor, int64_t channels);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_COMMANDS_H
