//===- AluUnit.cpp - One operation of the ALU -----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/AluUnit.h"

#include <algorithm>

namespace tpuc::dnnweaver {

namespace {

/// The low `bits` bits, sign-extended.
constexpr int64_t lowBits(int64_t value, unsigned bits) {
  const unsigned rest = 64 - bits;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << rest) >> rest;
}

constexpr int64_t saturate(int64_t value, unsigned bits) {
  const int64_t most = (int64_t{1} << (bits - 1)) - 1;
  return std::clamp(value, -most - 1, most);
}

} // namespace

int64_t shiftRight(int64_t value, unsigned shift, bool isRounding) {
  if (!isRounding || shift == 0)
    return value >> shift;
  // {~x[m], n copies of x[m]} is half of 2^shift for x >= 0, and one less for x < 0. Sums have
  // fewer than 63 bits; the addition wraps at the ends of the range, as an adder of 64 bits does.
  const int64_t half = (int64_t{1} << (shift - 1)) - (value < 0 ? 1 : 0);
  return static_cast<int64_t>(static_cast<uint64_t>(value) + static_cast<uint64_t>(half)) >> shift;
}

int64_t computeAlu(const Parameters &machine, AluFunction function, int64_t in0, int64_t in1) {
  const int64_t a = lowBits(in0, machine.aluBits);
  const int64_t b = lowBits(in1, machine.aluBits);
  switch (function) {
  case AluFunction::Move:
    return in0;
  case AluFunction::Add:
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  case AluFunction::Sub:
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  case AluFunction::Mul:
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  case AluFunction::MoveHigh:
    // A wire of `dataBits` carries it in the public machine, so that 16 bits lose all of it.
    return machine.isa == IsaKind::Public ? 0
                                          : static_cast<int64_t>(static_cast<uint64_t>(b) << 16);
  case AluFunction::Max:
    return std::max(a, b);
  case AluFunction::Min:
    return std::min(a, b);
  case AluFunction::Shift:
    return saturate(shiftRight(in0, static_cast<unsigned>(in1) & 31, machine.roundingShift),
                    machine.dataBits);
  }
  return 0;
}

int64_t storedValue(const Parameters &machine, int64_t value, unsigned bits) {
  return machine.isa == IsaKind::Public ? lowBits(value, bits) : saturate(value, bits);
}

unsigned takesOf(const AluOp &op, unsigned source) {
  return op.source0 == source || (!op.isImmediate && op.source1 == source) ? 1 : 0;
}

} // namespace tpuc::dnnweaver
