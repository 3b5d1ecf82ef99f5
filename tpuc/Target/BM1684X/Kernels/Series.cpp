//===- Series.cpp - Transcendental functions in F32------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Series.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"

#include <bit>
#include <numbers>

namespace tpuc::bm1684x {

namespace {

/// exp(x) for |x| <= log(2) / 2, 8e-8 of it wrong at most, and for results of 16 bits 3e-6.
constexpr double kExpTerms[] = {1.0000000716546558,  0.9999996919902662,  0.4999889485139867,
                                0.16667574733002374, 0.04191538197648282, 0.008297654793799254};
constexpr double kShortExpTerms[] = {0.9999992614421735, 0.9999634048626226, 0.5000435868575293,
                                     0.16790907204045663, 0.04145860613903823};
/// 1 / (1 + x) from 0 to 1, 5e-8 of it wrong at most, and for results of 16 bits 9e-6.
constexpr double kLogisticTerms[] = {0.9999999557901128,   -0.9999911138274298, 0.9996993294499942,
                                     -0.995964493593726,   0.9716880835030824,  -0.8810562260387947,
                                     0.6750746766682148,   -0.385343047055978,  0.13907112559413182,
                                     -0.023178512594169934};
constexpr double kShortLogisticTerms[] = {
    0.9999912467284653, -0.999133426117996,  0.9854082963505977, -0.903057517746715,
    0.6677695788793051, -0.3226806018744111, 0.07170680041652161};
/// log(1 + x) / x from 1 + x = sqrt(1/2) to sqrt(2).
constexpr double kLogTerms[] = {0.9999999742,  -0.4999998797, 0.3333418564,
                                -0.2500207365, 0.1995683282,  -0.1656240194,
                                0.1495228302,  -0.1436678817, 0.08722243258};
/// erf(x) / x for |x| <= kErfEnd as a polynomial of 2 (x / kErfEnd)^2 - 1; beyond, erf is 1.
constexpr double kErfEnd = 3.8;
constexpr double kErfTerms[] = {0.372107481,  -0.18563577,    0.137749438,   -0.111352438,
                                0.0907336939, -0.0710628369,  0.0552935834,  -0.0443216059,
                                0.027031518,  -0.00869848283, 0.00797076132, -0.011535765,
                                0.00487858231};

/// sin(r) / r by powers of r^2 from -pi to pi; r times that is wrong by 2e-9 at most, and for
/// results of 16 bits by 1e-7.
constexpr double kSinTerms[] = {
    0.9999999945,    -0.1666666458,    0.008333310392,  -0.0001984015535,
    2.752945429e-06, -2.467697046e-08, 1.345148012e-10,
};
constexpr double kShortSinTerms[] = {
    0.9999996039,     -0.1666655345,   0.008332407595,
    -0.0001980874005, 2.699822782e-06, -2.036623018e-08,
};

using Terms = std::span<const double>;
constexpr Terms kTables[] = {kExpTerms, kLogTerms, kErfTerms, kSinTerms, kLogisticTerms};
constexpr Terms kShortTables[] = {kShortExpTerms, kLogTerms, kErfTerms, kShortSinTerms,
                                  kShortLogisticTerms};
static_assert(std::size(kTables) == Series::kNumTables);

Terms termsOf(size_t table, bool isShort) { return isShort ? kShortTables[table] : kTables[table]; }

/// exp does not change below this.
constexpr double kLeast = -87.3;

constexpr int kMantissaBits = 23;
constexpr uint32_t kSignBit = 0x80000000;
/// What is added to this is rounded to a whole number, which the lowest bits of the sum are.
constexpr double kWhole = 3 << 22;
/// The bits of sqrt(1/2).
constexpr uint32_t kSqrtHalfBits = 0x3F3504F3;

LocalTensor asInt(LocalTensor tensor) {
  tensor.type = DataType::I32;
  return tensor;
}

} // namespace

std::vector<LocalTensor> flatParts(const LocalTensor &tensor, int64_t mostElements) {
  const Extents strides = tensor.strides();
  const auto bytes = static_cast<int64_t>(tensor.elementBytes());
  const int64_t start = tensor.startLane;
  const int64_t end = start + tensor.shape[1];
  const int64_t slots = ceilDiv(end, kLanes);
  std::vector<LocalTensor> parts;
  auto add = [&](int64_t offset, int64_t length, int64_t firstLane, int64_t lastLane) {
    for (int64_t first = 0; first < length; first += mostElements)
      parts.push_back(localTensor(
          tensor.type, {1, lastLane - firstLane, 1, std::min(mostElements, length - first)},
          tensor.address + static_cast<uint32_t>((offset + first) * bytes), Layout::Aligned,
          static_cast<uint32_t>(firstLane)));
  };
  // Where all lanes are used, or one slot only, all batches are one part.
  bool isWhole = slots == 1 || (start == 0 && end % kLanes == 0);
  if (isWhole) {
    add(0, tensor.shape[0] * slots * strides[1], slots == 1 ? start : 0,
        slots == 1 ? end : int64_t{kLanes});
    return parts;
  }
  for (int64_t n = 0; n < tensor.shape[0]; ++n)
    for (int64_t slot = 0; slot < slots;) {
      int64_t firstLane = slot == 0 ? start : 0;
      int64_t lastLane = std::min<int64_t>(end - slot * kLanes, kLanes);
      int64_t count = 1;
      if (firstLane == 0 && lastLane == kLanes)
        count = end / kLanes - slot;
      add(n * strides[0] + slot * strides[1], count * strides[1], firstLane, lastLane);
      slot += count;
    }
  return parts;
}

int64_t longestFlatPart(const LocalTensor &tensor) {
  int64_t longest = 0;
  for (const LocalTensor &part : flatParts(tensor, int64_t{1} << 30))
    longest = std::max(longest, part.shape[3]);
  return longest;
}

uint32_t Series::tableBytes(unsigned tables) {
  uint32_t count = 0;
  for (size_t i = 0; i < std::size(kTables); ++i)
    if ((tables >> i & 1) != 0)
      count +=
          static_cast<uint32_t>(alignUp(static_cast<int64_t>(kTables[i].size()) * 4, kEuBytes));
  return count;
}

Series::Series(Builder &builder, unsigned tables, uint32_t address, DataType result)
    : builder(builder), isShort(result != DataType::F32) {
  for (size_t i = 0; i < kNumTables; ++i)
    if ((tables >> i & 1) != 0) {
      addTable(builder, termsOf(i, isShort), address);
      addresses[i] = address;
      address += tableBytes(1u << i);
    }
}

void Series::polynomial(const LocalTensor &to, const LocalTensor &x, Table table) {
  const auto index = static_cast<size_t>(std::countr_zero<unsigned>(table));
  addTaylor(builder, to, x, addresses[index], static_cast<int64_t>(termsOf(index, isShort).size()));
}

// Commands whose result lies where an operand does take twice the time, but for LIN.

/// exp(register 1) to `to`: n is added to the bits of the exponent of exp(x - n log 2).
void Series::power(const LocalTensor &to) {
  const auto &[r0, r1, r2] = registers;
  addLinear(builder, r0, r1, std::numbers::log2e, kWhole);
  addLinear(builder, r2, r0, 1, -kWhole);
  addMultiplyAdd(builder, r1, r2, immediate(DataType::F32, -std::numbers::ln2));
  addShift(builder, ArithOp::ArithShift, asInt(r2), asInt(r0), kMantissaBits);
  polynomial(r0, r1, kExp);
  addArith(builder, ArithOp::Add, asInt(to), asInt(r0), asInt(r2));
}

void Series::exp(const LocalTensor &to, const LocalTensor &x, double most) {
  const auto &[r0, r1, r2] = registers;
  const bool isLimited = most != kUnlimited;
  addArith(builder, ArithOp::Max, isLimited ? r0 : r1, x, immediate(DataType::F32, kLeast));
  if (isLimited)
    addArith(builder, ArithOp::Min, r1, r0, immediate(DataType::F32, most));
  power(to);
}

void Series::decay(const LocalTensor &x) {
  const auto &[r0, r1, r2] = registers;
  // -|x| has the sign's bit set.
  addArith(builder, ArithOp::Or, asInt(r0), asInt(x), Immediate{DataType::I32, kSignBit});
  addArith(builder, ArithOp::Max, r1, r0, immediate(DataType::F32, kLeast));
  power(r1);
}

void Series::log(const LocalTensor &x) {
  const auto &[r0, r1, r2] = registers;
  // x = 2^n m with m from sqrt(1/2) to sqrt(2): n is what the exponent's bits say of x / sqrt(1/2).
  addArith(builder, ArithOp::Sub, asInt(r0), asInt(x), Immediate{DataType::I32, kSqrtHalfBits});
  addShift(builder, ArithOp::ArithShift, asInt(r1), asInt(r0), -kMantissaBits, Rounding::Down);
  addShift(builder, ArithOp::ArithShift, asInt(r0), asInt(r1), kMantissaBits);
  addArith(builder, ArithOp::Sub, asInt(r0), asInt(x), asInt(r0));
  addCast(builder, r2, asInt(r1));
  addLinear(builder, r0, r0, 1, -1);
  polynomial(r1, r0, kLog);
  addArith(builder, ArithOp::Mul, r1, r1, r0);
  addLinear(builder, r2, r2, std::numbers::ln2, 0);
  addArith(builder, ArithOp::Add, r0, r1, r2);
}

// 1 / (1 + exp(-y)) is 1 / (1 + e) with e = exp(-|y|), times e where y is negative: a polynomial of
// e, where a division takes as long as 31 other commands.

void Series::sigmoid(const LocalTensor &to, const LocalTensor &x, double a, double b) {
  const auto &[r0, r1, r2] = registers;
  if (a == 1 && b == 0) {
    decay(x);
  } else {
    addLinear(builder, r2, x, a, b);
    decay(r2);
    // The sign that decay has seen: a limit of x would be rounded in another way.
    addLinear(builder, r2, x, a, b);
  }
  polynomial(r0, r1, kLogistic);
  const LocalTensor &y = a == 1 && b == 0 ? x : r2;
  const Term one = immediate(DataType::F32, 1);
  const LocalTensor &factor = a == 1 && b == 0 ? r2 : r1;
  addCompareSelect(builder, CompareOp::Less, factor, y, immediate(DataType::F32, 0), r1, one);
  addArith(builder, ArithOp::Mul, to, r0, factor);
}

void Series::gated(const LocalTensor &to, const LocalTensor &x, const LocalTensor &y,
                   bool isTurned) {
  const auto &[r0, r1, r2] = registers;
  decay(y);
  // Of x and x e, e at most 1, the one with the factor.
  addArith(builder, ArithOp::Mul, r0, r1, x);
  addArith(builder, isTurned ? ArithOp::Min : ArithOp::Max, r2, r0, x);
  polynomial(r0, r1, kLogistic);
  addArith(builder, ArithOp::Mul, to, r0, r2);
}

void Series::erf(const LocalTensor &x, double a) {
  const auto &[r0, r1, r2] = registers;
  addLinear(builder, r2, x, a, 0);
  addArith(builder, ArithOp::Max, r1, r2, immediate(DataType::F32, -kErfEnd));
  addArith(builder, ArithOp::Min, r0, r1, immediate(DataType::F32, kErfEnd));
  addArith(builder, ArithOp::Mul, r1, r0, r0);
  addLinear(builder, r1, r1, 2 / (kErfEnd * kErfEnd), -1);
  polynomial(r2, r1, kErf);
  addArith(builder, ArithOp::Mul, r1, r2, r0);
}

void Series::sin(const LocalTensor &to, const LocalTensor &x, double phase) {
  const auto &[r0, r1, r2] = registers;
  // x + phase = 2 pi n + r; 2 pi in two numbers, n times the first of which is exact.
  constexpr double kTurnHigh = 6.28125;
  constexpr double kTurnLow = 2 * std::numbers::pi - kTurnHigh;
  addLinear(builder, r0, x, 0.5 / std::numbers::pi, 0.5 * phase / std::numbers::pi);
  addCast(builder, r1, r0, Rounding::HalfToEven);
  addLinear(builder, r0, r1, kTurnHigh, 0);
  addArith(builder, ArithOp::Sub, r2, x, r0);
  addLinear(builder, r0, r1, kTurnLow, -phase);
  addArith(builder, ArithOp::Sub, r1, r2, r0);
  addArith(builder, ArithOp::Mul, r0, r1, r1);
  polynomial(r2, r0, kSin);
  addArith(builder, ArithOp::Mul, to, r2, r1);
}

} // namespace tpuc::bm1684x
