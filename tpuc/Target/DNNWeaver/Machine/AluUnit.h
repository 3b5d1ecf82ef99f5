//===- AluUnit.h - One operation of the ALU ------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_MACHINE_ALUUNIT_H
#define TPUC_TARGET_DNNWEAVER_MACHINE_ALUUNIT_H

#include "tpuc/Target/DNNWeaver/Machine/Program.h"

namespace tpuc::dnnweaver {

/// What an operation gives for one lane. `in0` and `in1` are the 64 bits of the sources; all
/// functions but `Move` and `Shift` see the low `aluBits` of them, sign-extended. `Mul` gives the
/// low 64 bits of the product. `Shift` takes the low five bits of `in1`, and saturates to
/// `dataBits`.
int64_t computeAlu(const Parameters &machine, AluFunction function, int64_t in0, int64_t in1);

/// What the store writes of a result, as a number of `bits` bits: the public machine drops the
/// upper bits, the patent's saturates.
int64_t storedValue(const Parameters &machine, int64_t value, unsigned bits);

/// floor(value / 2^shift), or with a rounding shift the nearest number, ties away from zero. The
/// patent adds the bits {~sign, shift - 1 times sign} to get it.
int64_t shiftRight(int64_t value, unsigned shift, bool isRounding);

/// Two products of int8 by one multiplication: `packed` holds one factor in bits 16 to 23, signed,
/// and another in its lower 16 bits, sign-extended and added. The product is cut in halves; the
/// upper one is too small by one where the lower one is negative.
struct PairOfProducts {
  int32_t low, high;
};
constexpr PairOfProducts multiplyPair(int32_t packed, int32_t factor) {
  const int32_t product = packed * factor;
  const auto low = static_cast<int16_t>(product);
  return {low, (product >> 16) + (low < 0 ? 1 : 0)};
}
constexpr int32_t packPair(int8_t low, int8_t high) { return int32_t{high} * (1 << 16) + low; }

/// How often an operation takes a word of a source, of 0 or 1.
unsigned takesOf(const AluOp &op, unsigned source);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_MACHINE_ALUUNIT_H
