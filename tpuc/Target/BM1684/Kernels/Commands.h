//===- Commands.h - Commands of the BM1684 over tensors ------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_COMMANDS_H
#define TPUC_TARGET_BM1684_KERNELS_COMMANDS_H

#include "tpuc/Target/BM1684/Kernels/LocalTensor.h"
#include "tpuc/Target/BM168x/CommandBuilder.h"

#include <variant>

namespace tpuc::bm1684 {

using bm168x::CommandStreams;

/// Takes commands of both engines in program order and gives them ids and waits.
class Builder : public bm168x::CommandBuilder {
public:
  explicit Builder(bm168x::Waits waits = bm168x::Waits::Set);
};

// What kernels are made of: one function per command, over tensors instead of fields. Sizes and
// layouts are the kernels' business; a field that cannot hold what it is given makes the builder
// fail. Tensors of more channels than a command takes are cut here.

/// One number for all elements.
struct Immediate {
  DataType type = DataType::F32;
  uint32_t bits = 0;
};
inline Immediate immediate(DataType type, double value) {
  return {type, immediateBits(type, value)};
}
inline Immediate number(double value) { return immediate(DataType::F32, value); }
using Term = std::variant<LocalTensor, Immediate>;

/// Channels that one command takes: its fields have 12 bits, and slots stay whole.
inline constexpr int64_t kMostChannels = 63 * int64_t{kLanes};

/// Sub-opcodes of AR.
enum class ArithOp : uint8_t {
  Mul = sub::kMul,
  MultiplyAdd = sub::kMac,
  Add = sub::kAdd,
  Sub = sub::kSub,
  Max = sub::kMax,
  Min = sub::kMin,
  Shift = sub::kShift,
  And = sub::kAnd,
  Or = sub::kOr,
  Xor = sub::kXor,
  SelectGreater = sub::kSelectGt,
  SelectEqual = sub::kSelectEq,
  Div = sub::kDiv,
  Copy = sub::kCopy,
};

/// Sets a field or makes the builder fail.
void setField(Builder &builder, mc::Command &command, Field field, int64_t value);
void setFields(Builder &builder, mc::Command &command,
               std::initializer_list<std::pair<Field, int64_t>> values);
/// A command of the TIU with the values that unused fields have.
mc::Command tiuCommand(unsigned opcode, unsigned sub);
/// Extents, address and precision of the result.
void setResult(Builder &builder, mc::Command &command, const LocalTensor &output);
/// Address, precision, sign and layout of operand 0.
void setInput(Builder &builder, mc::Command &command, const LocalTensor &input);

/// output = a op b on words: floats, or bits for And, Or, Xor and Shift. Operands have the shape of
/// the output (`repeated`). Where floats lie regularly, sums and products take half the time.
void addArith(Builder &builder, ArithOp op, const LocalTensor &output, const Term &a,
              const Term &b);
/// What a sum or product of integers is shifted by: to the right, rounded half up; of MultiplyAdd
/// the old output to the left, before it is added to.
struct IntegerShifts {
  int64_t right = 0;
  int64_t left = 0;
};
/// output = a op b on integers of 8 or 16 bits, cut off at the ends of the output's type. What has
/// a signed operand is signed, whatever the output's type says. The machine knows products of
/// bytes, MultiplyAdd of bytes to 16 bits (output = output * 2^left + a * b), and Max, Min and And
/// of operands of one type. Shift moves 16 bits by a number, to the right where it is negative, and
/// keeps the sign.
void addIntegers(Builder &builder, ArithOp op, const LocalTensor &output, const Term &a,
                 const Term &b, const IntegerShifts &shifts = {});
/// Every batch item of `output` = the first one of the same word of `input`, both of 8 bits. Items
/// that the output has not stay in its words.
void addRepeatedItem(Builder &builder, const LocalTensor &output, const LocalTensor &input);
/// output = the word of the table of 256 words at byte `table` of L2 that the low byte of the input
/// names; both aligned words.
void addTableLookup(Builder &builder, const LocalTensor &output, const LocalTensor &input,
                    uint32_t table);
/// output = a > b (or a == b, bit by bit) ? chosen : 0
void addSelect(Builder &builder, ArithOp op, const LocalTensor &output, const Term &a,
               const Term &b, const Immediate &chosen);
/// output = input, any words.
void addCopy(Builder &builder, const LocalTensor &output, const Term &input);
/// output = a > b ? c : d; all F32 and regular.
void addCompareSelect(Builder &builder, const LocalTensor &output, const Term &a, const Term &b,
                      const Term &c, const Term &d);
/// output = input * factor + addend; F32.
void addLinear(Builder &builder, const LocalTensor &output, const LocalTensor &input, double factor,
               double addend);

/// Functions of one F32 operand; both regular. ToInt is toward zero, Exponent the biased exponent
/// that brings the mantissa closest to 1, both as integers; PowerOfTwo that power.
enum class SfuOp : uint8_t {
  ToInt = sub::kToInt,
  Exponent = sub::kExponent,
  PowerOfTwo = sub::kPowerOfTwo,
  Rsqrt = sub::kRsqrt,
};
void addSfu(Builder &builder, SfuOp op, const LocalTensor &output, const LocalTensor &input);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_COMMANDS_H
