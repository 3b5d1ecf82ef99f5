//===- Arith.cpp - Element-wise arithmetic (AR) ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Divide.h"
#include "tpuc/Target/BM1684/Machine/Exec.h"

#include <cstring>
#include <fmt/format.h>

namespace tpuc::bm1684 {

namespace {

struct ArithPlan {
  unsigned sub;
  Tensor result;
  Source a, b;
  uint32_t selected; ///< What a comparison gives where it holds.
  bool isArithmeticShift;
  bool hasRelu;
  bool resultSigned;
  int leftShift, rightShift;
};

/// Runs `body` over rows of {result, a, b}; operands that the operation lacks are immediates.
template <typename Body> void overRows(Exec &exec, const ArithPlan &plan, const Body &body) {
  Snapshot snapshots[2];
  const std::array<Located, 3> operands = {
      locate(exec, plan.result),
      snapshots[0].take(exec, plan.a, mustCopyFor(plan.result, plan.a)),
      snapshots[1].take(exec, plan.b, mustCopyFor(plan.result, plan.b)),
  };
  forEachRow(exec, plan.result.shape, operands, body);
}

//===--- 32 bits ----------------------------------------------------------===//

void floatRow(const Kernels &k, const ArithPlan &plan, const Rows<3> &row) {
  alignas(64) float a[kRow], b[kRow];
  k.loadFloat(Prec::F32, row.at[1], row.stride[1], row.count, a);
  k.loadFloat(Prec::F32, row.at[2], row.stride[2], row.count, b);
  switch (plan.sub) {
  case sub::kMul:
    k.arithFloat(RowOp::Mul, row.count, a, b, a);
    break;
  case sub::kAdd:
    k.arithFloat(RowOp::Add, row.count, a, b, a);
    break;
  case sub::kSub:
    k.arithFloat(RowOp::Sub, row.count, a, b, a);
    break;
  case sub::kMac: {
    alignas(64) float old[kRow];
    k.loadFloat(Prec::F32, row.at[0], row.stride[0], row.count, old);
    k.arithFloat(RowOp::Mul, row.count, a, b, a);
    k.arithFloat(RowOp::Add, row.count, a, old, a);
    break;
  }
  default:
    for (int64_t i = 0; i < row.count; ++i)
      a[i] = divide(a[i], b[i]);
    break;
  }
  k.storeFloat(Prec::F32, row.at[0], row.stride[0], row.count, a);
}

float asFloat(uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// The bits of an operand, shifted by six bits with a sign; the machine shifts by five of them.
uint32_t shiftedBits(uint32_t a, uint32_t b, bool isArithmetic) {
  const int amount = static_cast<int>(b << 26) >> 26;
  if (amount > 0)
    return a << amount;
  const unsigned right = static_cast<unsigned>(-amount) & 31;
  return isArithmetic ? static_cast<uint32_t>(static_cast<int32_t>(a) >> right) : a >> right;
}

/// Operations that copy the bits of an operand, or combine bits; each has a loop of its own.
void bitsRow(const ArithPlan &plan, const Rows<3> &row) {
  const auto each = [&](auto combine) {
    for (int64_t i = 0; i < row.count; ++i) {
      uint32_t a, b;
      std::memcpy(&a, row.at[1] + i * row.stride[1] * 4, 4);
      std::memcpy(&b, row.at[2] + i * row.stride[2] * 4, 4);
      a = combine(a, b);
      std::memcpy(row.at[0] + i * row.stride[0] * 4, &a, 4);
    }
  };
  switch (plan.sub) {
  case sub::kMax:
    return each([](uint32_t a, uint32_t b) {
      // Unlike the smaller one, the larger one of two numbers goes through the arithmetic unit.
      const uint32_t larger = asFloat(a) > asFloat(b) ? a : b;
      return (larger & 0x7f800000) == 0 ? larger & 0x80000000 : larger;
    });
  case sub::kMin:
    return each([](uint32_t a, uint32_t b) { return asFloat(a) <= asFloat(b) ? a : b; });
  case sub::kAnd:
    return each([](uint32_t a, uint32_t b) { return a & b; });
  case sub::kOr:
    return each([](uint32_t a, uint32_t b) { return a | b; });
  case sub::kXor:
    return each([](uint32_t a, uint32_t b) { return a ^ b; });
  case sub::kSelectGt:
    return each(
        [&](uint32_t a, uint32_t b) { return asFloat(a) > asFloat(b) ? plan.selected : 0; });
  case sub::kSelectEq:
    return each([&](uint32_t a, uint32_t b) { return a == b ? plan.selected : 0; });
  case sub::kShift:
    return each([&](uint32_t a, uint32_t b) { return shiftedBits(a, b, plan.isArithmeticShift); });
  default:
    return each([](uint32_t a, uint32_t) { return a; });
  }
}

//===--- 8 and 16 bits ----------------------------------------------------===//

/// floor(value / 2^shift + 1/2)
int64_t roundedShift(int64_t value, int shift) {
  return shift == 0 ? value : ((value >> (shift - 1)) + 1) >> 1;
}

/// a[i] becomes what the operation makes of a[i] and b[i], and of the result's old value where it
/// adds to it. Each operation has a loop of its own.
void combineInts(const ArithPlan &plan, int64_t count, const int64_t *old, int64_t *a,
                 const int64_t *b) {
  const auto each = [&](auto combine) {
    for (int64_t i = 0; i < count; ++i)
      a[i] = combine(a[i], b[i]);
  };
  switch (plan.sub) {
  case sub::kMul:
    return each([](int64_t x, int64_t y) { return x * y; });
  case sub::kMac:
    each([](int64_t x, int64_t y) { return x * y; });
    for (int64_t i = 0; i < count; ++i)
      a[i] += static_cast<int64_t>(static_cast<uint64_t>(old[i]) << plan.leftShift);
    return;
  case sub::kAdd:
    return each([](int64_t x, int64_t y) { return x + y; });
  case sub::kSub:
    return each([](int64_t x, int64_t y) { return x - y; });
  case sub::kMax:
    return each([](int64_t x, int64_t y) { return std::max(x, y); });
  case sub::kMin:
    return each([](int64_t x, int64_t y) { return std::min(x, y); });
  case sub::kAnd:
    return each([](int64_t x, int64_t y) { return x & y; });
  case sub::kOr:
    return each([](int64_t x, int64_t y) { return x | y; });
  case sub::kXor:
    return each([](int64_t x, int64_t y) { return x ^ y; });
  default:
    return each([&](int64_t x, int64_t y) {
      // The low byte, as far as it makes a difference.
      const int amount = std::clamp<int>(static_cast<int8_t>(y), -16, 16);
      if (amount > 0)
        return x * (int64_t{1} << amount);
      return (plan.isArithmeticShift ? x : x & 0xffff) >> -amount;
    });
  }
}

bool rounds(unsigned which) {
  return which == sub::kMul || which == sub::kMac || which == sub::kAdd || which == sub::kSub;
}

void intRow(const Kernels &k, const ArithPlan &plan, const Rows<3> &row) {
  alignas(64) int64_t a[kRow], b[kRow], old[kRow];
  k.loadInt64(plan.a.prec, plan.a.isSigned, row.at[1], row.stride[1], row.count, a);
  k.loadInt64(plan.b.prec, plan.b.isSigned, row.at[2], row.stride[2], row.count, b);
  const Prec prec = plan.result.prec;
  if (plan.sub == sub::kMac)
    k.loadInt64(prec, plan.resultSigned, row.at[0], row.stride[0], row.count, old);
  combineInts(plan, row.count, old, a, b);
  if (rounds(plan.sub) && plan.rightShift != 0)
    for (int64_t i = 0; i < row.count; ++i)
      a[i] = roundedShift(a[i], plan.rightShift);
  k.storeInt64(prec, plan.resultSigned, rounds(plan.sub), row.at[0], row.stride[0], row.count, a);
}

bool isOnFloats(unsigned which) {
  return which == sub::kMul || which == sub::kMac || which == sub::kAdd || which == sub::kSub ||
         which == sub::kDiv;
}
/// Whether the machine knows integers of 8 or 16 bits with these types: it multiplies bytes only,
/// and compares and combines operands of one type.
bool isKnown(const ArithPlan &plan, Prec first, Prec second) {
  const auto isInt = [](Prec prec) { return prec == Prec::I8 || prec == Prec::I16; };
  const Prec result = plan.result.prec;
  if (!isInt(first) || !isInt(second) || !isInt(result))
    return false;
  switch (plan.sub) {
  case sub::kMul:
    return first == Prec::I8 && second == Prec::I8;
  case sub::kMac:
    return first == Prec::I8 && second == Prec::I8 && result == Prec::I16;
  case sub::kAdd:
  case sub::kSub:
    return true;
  case sub::kMax:
  case sub::kMin:
    return first == second && first == result && plan.a.isSigned == plan.b.isSigned;
  case sub::kAnd:
  case sub::kOr:
  case sub::kXor:
    return first == second && first == result;
  case sub::kShift:
    return first == Prec::I16 && second == Prec::I16 && result == Prec::I16;
  default:
    return false;
  }
}
bool isOnBits(unsigned which) {
  return which == sub::kAnd || which == sub::kOr || which == sub::kXor || which == sub::kShift ||
         which == sub::kCopy || which == sub::kSelectEq;
}

} // namespace

Expected<Step> prepareArith(const Decoded &decoded) {
  ArithPlan plan{};
  plan.sub = decoded.sub();
  plan.result = decoded.result();
  const Prec first = decoded.prec(Field::Opd0Prec);
  const Prec second = decoded.prec(Field::Opd1Prec);
  plan.a = sourceOf(decoded, Role::Opd0, Field::Opd0Addr, first, decoded.flag(Field::Opd0Sign));
  plan.b = sourceOf(decoded, Role::Opd1, Field::Opd1Addr, second, decoded.flag(Field::Opd1Sign));
  plan.leftShift = static_cast<int>(decoded.get(Field::LeftShift));
  plan.rightShift = static_cast<int>(decoded.get(Field::RightShift));
  plan.resultSigned = plan.a.isSigned || plan.b.isSigned || plan.sub == sub::kSub;
  plan.isArithmeticShift = decoded.flag(Field::ShiftTyp);
  const bool isCopy = plan.sub == sub::kCopy;
  const auto isWord = [](Prec prec) { return prec == Prec::F32 || prec == Prec::I32; };
  if (isCopy) {
    plan.b = Source{};
    plan.b.prec = first;
    if (first != plan.result.prec)
      return decoded.unsupported("a copy to another type");
  }
  if (isWord(first) && isWord(plan.result.prec) && (isCopy || isWord(second))) {
    plan.selected = static_cast<uint32_t>(decoded.get(Field::Opd2Addr));
    if ((first == Prec::I32 || second == Prec::I32) && !isOnBits(plan.sub))
      return decoded.unsupported("integers of 32 bits");
    return Step([plan](Exec &exec) -> std::optional<Error> {
      overRows(exec, plan, [&](const Rows<3> &row) {
        if (isOnFloats(plan.sub))
          floatRow(exec.kernels, plan, row);
        else
          bitsRow(plan, row);
      });
      return std::nullopt;
    });
  }
  if (!isKnown(plan, first, second))
    return decoded.unsupported(fmt::format("{} and {} to {}", precName(first), precName(second),
                                           precName(plan.result.prec)));
  if (plan.sub == sub::kShift) {
    // All 16 bits, whatever the operand's sign; the shift's kind says what comes in.
    if (!plan.a.tensor)
      return decoded.unsupported("an immediate that is shifted");
    plan.a.isSigned = plan.b.isSigned = true;
  }
  return Step([plan](Exec &exec) -> std::optional<Error> {
    overRows(exec, plan, [&](const Rows<3> &row) { intRow(exec.kernels, plan, row); });
    return std::nullopt;
  });
}

} // namespace tpuc::bm1684
