//===- Arith.cpp - Element-wise arithmetic (AR) ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Rounding.h"
#include "tpuc/Target/BM1684X/Machine/Exec.h"

#include <bit>
#include <cstring>

namespace tpuc::bm1684x {

namespace {

// Sub-opcodes.
constexpr unsigned kMul = 0, kNot = 1, kAdd = 2, kSub = 3, kMax = 4, kMin = 5, kLogicShift = 6,
                   kAnd = 7, kOr = 8, kXor = 9, kSelectGt = 10, kSelectEq = 11, kDiv = 12,
                   kSelectLt = 13, kCast = 14, kAddSat = 15, kSubSat = 16, kMultiplyAdd = 18,
                   kCopy = 19, kMulSat = 20, kArithShift = 21, kRotate = 22, kMulDhr = 23,
                   kAbs = 26, kAbsDiff = 27, kCopyBroadcastN = 28, kFirstOne = 29, kFirstZero = 30;

struct ArithPlan {
  unsigned sub;
  View result;
  Source a, b, c;
  bool hasC;
  bool resultSigned;
  unsigned mode;
  /// 32 bits hold the exact result, unless there is a shift to the left.
  bool isNarrow;
};

std::optional<RowOp> rowOp(unsigned sub) {
  switch (sub) {
  case kMul:
  case kMulSat:
    return RowOp::Mul;
  case kAdd:
  case kAddSat:
    return RowOp::Add;
  case kSub:
  case kSubSat:
    return RowOp::Sub;
  case kMax:
    return RowOp::Max;
  case kMin:
    return RowOp::Min;
  case kAnd:
    return RowOp::And;
  case kOr:
    return RowOp::Or;
  case kXor:
    return RowOp::Xor;
  case kAbsDiff:
    return RowOp::AbsDiff;
  default:
    return std::nullopt;
  }
}

bool saturates(unsigned sub) { return sub == kAddSat || sub == kSubSat || sub == kMulSat; }

/// Runs `body` over rows of {result, a, b, c}; operands that the operation lacks are immediates.
template <typename Body> void overRows(Exec &exec, const ArithPlan &plan, const Body &body) {
  Snapshot snapshots[3];
  std::array<Located, 4> tensors = {
      locateLocal(exec, plan.result),
      snapshots[0].take(exec, plan.a, mustCopyFor(plan.result, plan.a)),
      snapshots[1].take(exec, plan.b, mustCopyFor(plan.result, plan.b)),
      snapshots[2].take(exec, plan.c, mustCopyFor(plan.result, plan.c)),
  };
  forEachRow(exec, plan.result.shape, tensors, body);
}

int shiftAt(const uint8_t *at) { return static_cast<int8_t>(*at); }

template <typename T> struct IntKernels;
template <> struct IntKernels<int32_t> {
  static constexpr auto load = &Kernels::loadInt32;
  static constexpr auto store = &Kernels::storeInt32;
  static constexpr auto arith = &Kernels::arithInt32;
  static constexpr auto shift = &Kernels::shiftInt32;
};
template <> struct IntKernels<int64_t> {
  static constexpr auto load = &Kernels::loadInt64;
  static constexpr auto store = &Kernels::storeInt64;
  static constexpr auto arith = &Kernels::arithInt64;
  static constexpr auto shift = &Kernels::shiftInt64;
};

template <typename T>
void intRow(const Kernels &k, const ArithPlan &plan, RowOp op, int shift, const Rows<4> &row) {
  using K = IntKernels<T>;
  alignas(64) T a[kRow], b[kRow];
  (k.*K::load)(plan.a.prec, plan.a.isSigned, row.at[1], row.stride[1], row.count, a);
  (k.*K::load)(plan.b.prec, plan.b.isSigned, row.at[2], row.stride[2], row.count, b);
  (k.*K::arith)(op, row.count, a, b, a);
  if (shift > 0 && saturates(plan.sub))
    for (int64_t i = 0; i < row.count; ++i)
      a[i] = shiftLeftSaturating(a[i], static_cast<unsigned>(shift));
  else if (shift != 0)
    (k.*K::shift)(row.count, a, shift, plan.mode);
  (k.*K::store)(plan.result.prec, plan.resultSigned, saturates(plan.sub), row.at[0], row.stride[0],
                row.count, a);
}

Step intStep(ArithPlan plan, RowOp op) {
  return [plan, op](Exec &exec) -> std::optional<Error> {
    overRows(exec, plan, [&](const Rows<4> &row) {
      int shift = plan.hasC ? shiftAt(row.at[3]) : 0;
      if (plan.isNarrow && shift <= 0)
        intRow<int32_t>(exec.kernels, plan, op, shift, row);
      else
        intRow<int64_t>(exec.kernels, plan, op, shift, row);
    });
    return std::nullopt;
  };
}

/// Maximum and minimum copy the bits of one operand: NaNs stay as they are, unlike in arithmetic.
void chooseBits(const ArithPlan &plan, const float *a, const float *b, const Rows<4> &row) {
  unsigned bytes = plan.result.bytes();
  for (int64_t i = 0; i < row.count; ++i) {
    if (a[i] == a[i] && b[i] == b[i])
      continue;
    bool takesFirst = plan.sub == kMax ? a[i] > b[i] : !(a[i] >= b[i]);
    const uint8_t *from =
        takesFirst ? row.at[1] + i * row.stride[1] * bytes : row.at[2] + i * row.stride[2] * bytes;
    uint32_t bits = 0;
    std::memcpy(&bits, from, bytes);
    uint32_t exponent = plan.a.prec == Prec::F32 ? 0x7f800000 : 0x7f80;
    if (plan.a.prec != Prec::F16 && (bits & exponent) == 0)
      bits &= plan.a.prec == Prec::F32 ? 0x80000000 : 0x8000;
    std::memcpy(row.at[0] + i * row.stride[0] * bytes, &bits, bytes);
  }
}

/// Copies the operands of a row aside, as the result may take their place.
void keepBits(const ArithPlan &plan, Rows<4> &row, uint8_t (&bits)[2][kRow * 4]) {
  unsigned bytes = plan.result.bytes();
  for (size_t operand = 0; operand < 2; ++operand) {
    for (int64_t i = 0; i < row.count; ++i)
      std::memcpy(bits[operand] + i * bytes,
                  row.at[operand + 1] + i * row.stride[operand + 1] * bytes, bytes);
    row.at[operand + 1] = bits[operand];
    row.stride[operand + 1] = 1;
  }
}

bool hasNan(const float *values, int64_t count) {
  int found = 0;
  for (int64_t i = 0; i < count; ++i)
    found |= static_cast<int>(values[i] != values[i]);
  return found != 0;
}

Step floatStep(ArithPlan plan, RowOp op) {
  return [plan, op](Exec &exec) -> std::optional<Error> {
    overRows(exec, plan, [&](const Rows<4> &row) {
      alignas(64) float a[kRow], b[kRow];
      exec.kernels.loadFloat(plan.a.prec, row.at[1], row.stride[1], row.count, a);
      exec.kernels.loadFloat(plan.b.prec, row.at[2], row.stride[2], row.count, b);
      if ((op == RowOp::Max || op == RowOp::Min) &&
          (hasNan(a, row.count) || hasNan(b, row.count))) {
        alignas(64) float chosen[kRow];
        exec.kernels.arithFloat(op, row.count, a, b, chosen);
        Rows<4> copy = row;
        alignas(64) uint8_t bits[2][kRow * 4];
        keepBits(plan, copy, bits);
        exec.kernels.storeFloat(plan.result.prec, row.at[0], row.stride[0], row.count, chosen);
        chooseBits(plan, a, b, copy);
        return;
      }
      exec.kernels.arithFloat(op, row.count, a, b, a);
      exec.kernels.storeFloat(plan.result.prec, row.at[0], row.stride[0], row.count, a);
    });
    return std::nullopt;
  };
}

/// a / b by Newton's iteration for 1 / sqrt|b|, every step rounded to f32.
Step divideStep(ArithPlan plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    overRows(exec, plan, [&](const Rows<4> &row) {
      alignas(64) float a[kRow], b[kRow];
      exec.kernels.loadFloat(plan.a.prec, row.at[1], row.stride[1], row.count, a);
      exec.kernels.loadFloat(plan.b.prec, row.at[2], row.stride[2], row.count, b);
      for (int64_t i = 0; i < row.count; ++i) {
        auto bits = std::bit_cast<uint32_t>(b[i]);
        float x = std::bit_cast<float>(bits & 0x7fffffffu);
        auto y = std::bit_cast<float>(0x5f3759dfu - ((bits & 0x7fffffffu) >> 1));
        float half = x * 0.5f;
        for (unsigned step = 0; step <= plan.mode; ++step)
          y = y * (1.5f - half * y * y);
        float sign = bits >> 31 != 0 ? -1.0f : 1.0f;
        a[i] = a[i] * sign * (y * y);
      }
      exec.kernels.storeFloat(plan.result.prec, row.at[0], row.stride[0], row.count, a);
    });
    return std::nullopt;
  };
}

/// Operations on the bits of single elements.
template <typename F> Step bitStep(ArithPlan plan, F operation) {
  return [plan, operation](Exec &exec) -> std::optional<Error> {
    unsigned bytes = plan.result.bytes();
    overRows(exec, plan, [&](const Rows<4> &row) {
      for (int64_t i = 0; i < row.count; ++i) {
        uint32_t bits = 0;
        std::memcpy(&bits, row.at[1] + i * row.stride[1] * bytes, bytes);
        bits = operation(bits);
        std::memcpy(row.at[0] + i * row.stride[0] * bytes, &bits, bytes);
      }
    });
    return std::nullopt;
  };
}

Step copyStep(ArithPlan plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    unsigned bytes = plan.result.bytes();
    overRows(exec, plan, [&](const Rows<4> &row) {
      if (row.stride[0] == 1 && row.stride[1] == 1) {
        std::memmove(row.at[0], row.at[1], static_cast<size_t>(row.count) * bytes);
        return;
      }
      for (int64_t i = 0; i < row.count; ++i)
        std::memcpy(row.at[0] + i * row.stride[0] * bytes, row.at[1] + i * row.stride[1] * bytes,
                    bytes);
    });
    return std::nullopt;
  };
}

/// Shifts whose amount is an operand: positive left, negative right and rounded; they wrap.
Step shiftStep(ArithPlan plan) {
  // A logic shift sees its operand as unsigned.
  if (plan.sub == kLogicShift)
    plan.a.isSigned = false;
  return [plan](Exec &exec) -> std::optional<Error> {
    overRows(exec, plan, [&](const Rows<4> &row) {
      alignas(64) int64_t a[kRow], b[kRow];
      exec.kernels.loadInt64(plan.a.prec, plan.a.isSigned, row.at[1], row.stride[1], row.count, a);
      exec.kernels.loadInt64(plan.b.prec, true, row.at[2], row.stride[2], row.count, b);
      for (int64_t i = 0; i < row.count; ++i)
        exec.kernels.shiftInt64(1, a + i, static_cast<int8_t>(b[i]), plan.mode);
      exec.kernels.storeInt64(plan.result.prec, true, false, row.at[0], row.stride[0], row.count,
                              a);
    });
    return std::nullopt;
  };
}

Step rotateStep(ArithPlan plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    overRows(exec, plan, [&](const Rows<4> &row) {
      alignas(64) int64_t a[kRow], b[kRow];
      exec.kernels.loadInt64(plan.a.prec, false, row.at[1], row.stride[1], row.count, a);
      exec.kernels.loadInt64(plan.b.prec, true, row.at[2], row.stride[2], row.count, b);
      int64_t bits = plan.result.bytes() * 8;
      for (int64_t i = 0; i < row.count; ++i) {
        int64_t left = ((static_cast<int8_t>(b[i]) % bits) + bits) % bits;
        a[i] = a[i] << left | a[i] >> (bits - left);
      }
      exec.kernels.storeInt64(plan.result.prec, false, false, row.at[0], row.stride[0], row.count,
                              a);
    });
    return std::nullopt;
  };
}

/// res = compare(a, b) ? c : 0
Step selectStep(ArithPlan plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    const unsigned bytes = precBytes(plan.a.prec);
    const unsigned resultBytes = plan.result.bytes();
    auto choose = [&](const auto *a, const auto *b, const Rows<4> &row) {
      for (int64_t i = 0; i < row.count; ++i) {
        // Equality is that of the bits; "less" is "not greater or equal", unless they are equal.
        const bool isEqual = std::memcmp(row.at[1] + i * row.stride[1] * bytes,
                                         row.at[2] + i * row.stride[2] * bytes, bytes) == 0;
        const bool takes = plan.sub == kSelectGt   ? a[i] > b[i]
                           : plan.sub == kSelectEq ? isEqual
                                                   : !isEqual && !(a[i] >= b[i]);
        uint32_t chosen = 0;
        if (takes)
          std::memcpy(&chosen, row.at[3], resultBytes);
        std::memcpy(row.at[0] + i * row.stride[0] * resultBytes, &chosen, resultBytes);
      }
    };
    overRows(exec, plan, [&](const Rows<4> &row) {
      const Kernels &k = exec.kernels;
      if (isFloatPrec(plan.a.prec)) {
        alignas(64) float a[kRow], b[kRow];
        k.loadFloat(plan.a.prec, row.at[1], row.stride[1], row.count, a);
        k.loadFloat(plan.b.prec, row.at[2], row.stride[2], row.count, b);
        choose(a, b, row);
      } else {
        alignas(64) int64_t a[kRow], b[kRow];
        k.loadInt64(plan.a.prec, plan.a.isSigned, row.at[1], row.stride[1], row.count, a);
        k.loadInt64(plan.b.prec, plan.b.isSigned, row.at[2], row.stride[2], row.count, b);
        choose(a, b, row);
      }
    });
    return std::nullopt;
  };
}

/// (2 a b) / 2^bits, rounded, saturated.
Step doublingHighStep(ArithPlan plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    overRows(exec, plan, [&](const Rows<4> &row) {
      alignas(64) int64_t a[kRow], b[kRow];
      const Kernels &k = exec.kernels;
      k.loadInt64(plan.a.prec, true, row.at[1], row.stride[1], row.count, a);
      k.loadInt64(plan.b.prec, true, row.at[2], row.stride[2], row.count, b);
      k.arithInt64(RowOp::Mul, row.count, a, b, a);
      k.shiftInt64(row.count, a, 1 - static_cast<int>(plan.result.bytes() * 8), plan.mode);
      k.storeInt64(plan.result.prec, true, true, row.at[0], row.stride[0], row.count, a);
    });
    return std::nullopt;
  };
}

/// 18: the old result, shifted left, plus the product, shifted right and rounded. Byte 0 of the
/// third operand shifts left (results of 32 bits ignore it), byte 1 shifts right.
Step multiplyAddStep(ArithPlan plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    const auto left = static_cast<int>(plan.c.immediate & 255);
    const auto right = static_cast<int>(plan.c.immediate >> 8 & 255);
    const Prec prec = plan.result.prec;
    const bool saturates = plan.a.prec == Prec::I8 && plan.b.prec == Prec::I8;
    overRows(exec, plan, [&](const Rows<4> &row) {
      alignas(64) int64_t a[kRow], b[kRow], old[kRow];
      const Kernels &k = exec.kernels;
      k.loadInt64(plan.a.prec, plan.a.isSigned, row.at[1], row.stride[1], row.count, a);
      k.loadInt64(plan.b.prec, plan.b.isSigned, row.at[2], row.stride[2], row.count, b);
      k.loadInt64(prec, plan.resultSigned, row.at[0], row.stride[0], row.count, old);
      if (prec != Prec::I32)
        k.shiftInt64(row.count, old, left, plan.mode);
      k.arithInt64(RowOp::Mul, row.count, a, b, a);
      k.arithInt64(RowOp::Add, row.count, a, old, a);
      k.shiftInt64(row.count, a, -right, plan.mode);
      k.storeInt64(prec, plan.resultSigned, saturates, row.at[0], row.stride[0], row.count, a);
    });
    return std::nullopt;
  };
}

/// 18 of floats: the old result plus the product, each rounded.
Step multiplyAddFloatStep(ArithPlan plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    overRows(exec, plan, [&](const Rows<4> &row) {
      alignas(64) float a[kRow], b[kRow], old[kRow];
      const Kernels &k = exec.kernels;
      k.loadFloat(plan.a.prec, row.at[1], row.stride[1], row.count, a);
      k.loadFloat(plan.b.prec, row.at[2], row.stride[2], row.count, b);
      k.loadFloat(plan.result.prec, row.at[0], row.stride[0], row.count, old);
      k.mulAddFloat(plan.result.prec, row.count, a, b, old, a);
      k.storeFloat(plan.result.prec, row.at[0], row.stride[0], row.count, a);
    });
    return std::nullopt;
  };
}

Expected<Step> prepareMultiplyAdd(const Decoded &decoded, ArithPlan plan) {
  if (isFloatPrec(plan.a.prec) && plan.b.prec == plan.a.prec && plan.result.prec == plan.a.prec)
    return multiplyAddFloatStep(plan);
  const auto isShort = [](Prec prec) { return prec == Prec::I8 || prec == Prec::I16; };
  const Prec to = plan.result.prec;
  if (!isShort(plan.a.prec) || !isShort(plan.b.prec) || (to != Prec::I16 && to != Prec::I32))
    return decoded.unsupported("other types than i8 and i16 to i16 or i32");
  if (decoded.get(Field::OpdNum) != 3 || plan.c.view || plan.mode > 6)
    return decoded.unsupported("shifts that are no constants, or rounding mode 7");
  // Beyond, the vendor's model leaves its 64 bits.
  constexpr uint32_t kMostLeft = 46;
  if (to == Prec::I16 && (plan.c.immediate & 255) > kMostLeft)
    return decoded.unsupported("a shift to the left by more than 46");
  return multiplyAddStep(plan);
}

Expected<Step> prepareFloat(const Decoded &decoded, const ArithPlan &plan) {
  Prec prec = plan.a.prec;
  if (plan.b.prec != prec || plan.result.prec != prec)
    return decoded.unsupported("floats of different types");
  if (plan.sub == kDiv) {
    if (prec != Prec::F32)
      return decoded.unsupported("a division in 16 bits");
    return divideStep(plan);
  }
  std::optional<RowOp> op = rowOp(plan.sub);
  bool isKnown = plan.sub == kMul || (plan.sub >= kAdd && plan.sub <= kMin) || plan.sub == kAbsDiff;
  if (!op || !isKnown)
    return decoded.unsupported("float operands");
  return floatStep(plan, *op);
}

Expected<Step> prepareInt(const Decoded &decoded, ArithPlan plan) {
  bool isFloatAnywhere = isFloatPrec(plan.b.prec) || isFloatPrec(plan.result.prec);
  if (isFloatAnywhere)
    return decoded.unsupported("integers and floats together");
  switch (plan.sub) {
  case kLogicShift:
  case kArithShift:
    return shiftStep(plan);
  case kRotate:
    return rotateStep(plan);
  case kMulDhr:
    if (plan.a.prec == Prec::I8 || plan.b.prec != plan.a.prec || plan.result.prec != plan.a.prec ||
        plan.mode > 6)
      return decoded.unsupported("other types than i16 or i32 throughout, or rounding mode 7");
    return doublingHighStep(plan);
  default:
    break;
  }
  std::optional<RowOp> op = rowOp(plan.sub);
  if (!op)
    return decoded.unsupported("integer operands");
  bool areWords = plan.a.prec == Prec::I32 && plan.b.prec == Prec::I32;
  if (*op == RowOp::Mul && areWords && !plan.a.isSigned && !plan.b.isSigned &&
      (plan.hasC || saturates(plan.sub)))
    return decoded.unsupported("a product of unsigned words that is shifted or saturated");
  if ((plan.sub == kMax || plan.sub == kMin) &&
      (plan.a.prec != plan.b.prec || plan.a.isSigned != plan.b.isSigned))
    return decoded.unsupported("operands of different types");
  return intStep(plan, *op);
}

Expected<Step> prepareUnary(const Decoded &decoded, const ArithPlan &plan) {
  if (plan.result.bytes() != precBytes(plan.a.prec))
    return decoded.unsupported("operand and result of different sizes");
  unsigned bits = plan.result.bytes() * 8;
  uint32_t all = bits == 32 ? ~0u : (1u << bits) - 1;
  uint32_t sign = 1u << (bits - 1);
  switch (plan.sub) {
  case kCopy:
    return copyStep(plan);
  case kCopyBroadcastN:
    if (!isFloatPrec(plan.a.prec))
      return decoded.unsupported("integers");
    return copyStep(plan);
  case kNot:
    return bitStep(plan, [](uint32_t x) { return ~x; });
  case kAbs:
    if (isFloatPrec(plan.a.prec))
      return bitStep(plan, [all, sign](uint32_t x) { return x & all & ~sign; });
    if (!plan.a.isSigned)
      return copyStep(plan);
    return bitStep(plan, [sign](uint32_t x) { return (x & sign) != 0 ? 0u - x : x; });
  case kFirstOne:
    return bitStep(plan, [bits](uint32_t x) {
      return static_cast<uint32_t>(std::countl_zero(x)) - (32 - bits);
    });
  default:
    return bitStep(plan, [bits](uint32_t x) {
      return static_cast<uint32_t>(std::countl_one(x << (32 - bits)));
    });
  }
}

} // namespace

Expected<Step> prepareArith(const Decoded &decoded) {
  unsigned sub = decoded.sub();
  if (sub == kCast)
    return prepareCast(decoded);
  auto source = [&](Role role, Field address, Field prec, Field sign) {
    return sourceOf(decoded, role, address, decoded.prec(prec), decoded.flag(sign));
  };
  ArithPlan plan{};
  plan.sub = sub;
  plan.result = decoded.result();
  plan.a = source(Role::Opd0, Field::Opd0Addr, Field::Opd0Prec, Field::Opd0Sign);
  plan.b = source(Role::Opd1, Field::Opd1Addr, Field::Opd1Prec, Field::Opd1Sign);
  plan.c = source(Role::Opd2, Field::Opd2Addr, Field::Opd2Prec, Field::Opd2Sign);
  if (sub == kCopyBroadcastN && plan.a.view)
    plan.a.view->stride[0] = 0;
  // Per channel: one element for all n, h, w.
  if (plan.c.view)
    plan.c.view->stride = {0, plan.c.view->stride[1], 0, 0};
  uint64_t numOperands = decoded.get(Field::OpdNum);
  plan.hasC = numOperands > 2;
  plan.mode = static_cast<unsigned>(decoded.get(Field::Round)) & 7;
  plan.resultSigned =
      sub == kSub || sub == kSubSat || plan.a.isSigned || (numOperands > 1 && plan.b.isSigned);
  bool bothShort = precBytes(plan.a.prec) <= 2 && precBytes(plan.b.prec) <= 2;
  bool isUnsignedProduct = (sub == kMul || sub == kMulSat) && !plan.a.isSigned &&
                           !plan.b.isSigned && precBytes(plan.a.prec) + precBytes(plan.b.prec) > 3;
  plan.isNarrow = bothShort && !isUnsignedProduct;
  switch (sub) {
  case kNot:
  case kCopy:
  case kAbs:
  case kCopyBroadcastN:
  case kFirstOne:
  case kFirstZero:
    return prepareUnary(decoded, plan);
  case kSelectGt:
  case kSelectEq:
  case kSelectLt:
    if (plan.a.prec != plan.b.prec || numOperands != 3 ||
        plan.result.bytes() > precBytes(plan.a.prec))
      return decoded.unsupported("operands of different types, or a wider result");
    // The third operand is its address itself, whether or not it is called a constant.
    plan.c.view.reset();
    plan.c.immediate = static_cast<uint32_t>(decoded.get(Field::Opd2Addr));
    return selectStep(plan);
  case kMultiplyAdd:
    return prepareMultiplyAdd(decoded, plan);
  default:
    break;
  }
  if (numOperands < 2)
    return decoded.unsupported("fewer than two operands");
  if (plan.mode > 6 && plan.hasC)
    return decoded.unsupported("rounding mode 7");
  return isFloatPrec(plan.a.prec) ? prepareFloat(decoded, plan) : prepareInt(decoded, plan);
}

} // namespace tpuc::bm1684x
