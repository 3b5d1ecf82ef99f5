//===- Series.cpp - Functions as sequences of commands on the BM1684 ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/Functions.h"

#include <numbers>

namespace tpuc::bm1684 {

namespace {

/// exp(x) for |x| <= log(2) / 2, 8e-8 of it wrong at most.
constexpr double kExpTerms[] = {1.0000000716546558,  0.9999996919902662,  0.4999889485139867,
                                0.16667574733002374, 0.04191538197648282, 0.008297654793799254};
/// 1 / (1 + x) from 0 to 1, 5e-8 of it wrong at most.
constexpr double kLogisticTerms[] = {0.9999999557901128,   -0.9999911138274298, 0.9996993294499942,
                                     -0.995964493593726,   0.9716880835030824,  -0.8810562260387947,
                                     0.6750746766682148,   -0.385343047055978,  0.13907112559413182,
                                     -0.023178512594169934};
/// log(1 + x) / x for |x| <= 1/3, 4e-09 of it wrong at most: interpolated at Chebyshev's points.
constexpr double kLogTerms[] = {1.00000000394,  -0.500000020339, 0.333331579675, -0.249996381204,
                                0.200124268618, -0.166845930626, 0.139807094169, -0.121416295933,
                                0.140873286337, -0.130461035858};
/// erf(x) / x for |x| <= kErfEnd as a polynomial of 2 (x / kErfEnd)^2 - 1; beyond, erf is 1.
constexpr double kErfEnd = 3.8;
constexpr double kErfTerms[] = {0.372107481,  -0.18563577,    0.137749438,   -0.111352438,
                                0.0907336939, -0.0710628369,  0.0552935834,  -0.0443216059,
                                0.027031518,  -0.00869848283, 0.00797076132, -0.011535765,
                                0.00487858231};
/// sin(r) / r by powers of r^2: Taylor's, of which 11 are enough from -pi to pi.
constexpr double kSinTerms[] = {1.0,
                                -1.0 / 6,
                                1.0 / 120,
                                -1.0 / 5040,
                                1.0 / 362880,
                                -1.0 / 39916800,
                                1.0 / 6227020800,
                                -1.0 / 1307674368000,
                                1.0 / 355687428096000,
                                -1.0 / 121645100408832000,
                                1.0 / 51090942171709440000.0};

/// exp does not change below this.
constexpr double kLeast = -87.3;
/// Up to here powers of two are finite.
constexpr double kMostPlain = 88;
constexpr int kMantissaBits = 23;
constexpr int kBias = 127;
constexpr uint32_t kSignBit = 0x80000000, kAllExponentBits = 0x7F800000;
/// What is added to this is rounded to a whole number, which the lowest bits of the sum are.
constexpr double kWhole = 3 << 22;

LocalTensor asBits(const LocalTensor &tensor) { return tensor.as(DataType::I32); }
Immediate bits(uint32_t value) { return {DataType::I32, value}; }

} // namespace

std::vector<LocalTensor> flatParts(const LocalTensor &tensor, int64_t mostElements) {
  const Extents strides = tensor.strides();
  const int64_t start = tensor.startLane;
  const int64_t end = start + tensor.shape[1];
  const int64_t slots = ceilDiv(end, kLanes);
  std::vector<LocalTensor> parts;
  const auto add = [&](int64_t offset, int64_t length, int64_t firstLane, int64_t lastLane) {
    for (int64_t first = 0; first < length; first += mostElements)
      parts.push_back(localTensor(
          tensor.type, {1, lastLane - firstLane, 1, std::min(mostElements, length - first)},
          tensor.address + static_cast<uint32_t>((offset + first) * 4), Layout::Aligned,
          static_cast<uint32_t>(firstLane)));
  };
  // Where all lanes are used, or one slot only, all batches are one part.
  if (slots == 1 || (start == 0 && end % kLanes == 0)) {
    add(0, tensor.shape[0] * slots * strides[1], slots == 1 ? start : 0,
        slots == 1 ? end : int64_t{kLanes});
    return parts;
  }
  for (int64_t n = 0; n < tensor.shape[0]; ++n)
    for (int64_t slot = 0; slot < slots;) {
      const int64_t firstLane = slot == 0 ? start : 0;
      const int64_t lastLane = std::min<int64_t>(end - slot * kLanes, kLanes);
      const bool isFull = firstLane == 0 && lastLane == kLanes;
      const int64_t count = isFull ? end / kLanes - slot : 1;
      add(n * strides[0] + slot * strides[1], count * strides[1], firstLane, lastLane);
      slot += count;
    }
  return parts;
}

void Series::polynomial(const LocalTensor &to, const LocalTensor &x,
                        std::span<const double> terms) {
  addArith(builder, ArithOp::Mul, to, x, number(terms.back()));
  for (size_t i = terms.size() - 1; i > 0; --i) {
    if (i < terms.size() - 1)
      addArith(builder, ArithOp::Mul, to, to, x);
    addArith(builder, ArithOp::Add, to, to, number(terms[i - 1]));
  }
}

// exp(x) is 2^n times exp(x - n log 2). The sum of n, the bias and a number whose lowest bits are 0
// has the exponent's bits of 2^n at its end.

void Series::power(const LocalTensor &to, bool isLarge) {
  const auto &[r0, r1, r2, r3] = registers;
  // The largest ones are twice the half of them.
  const int bias = isLarge ? kBias - 1 : kBias;
  addArith(builder, ArithOp::Mul, r1, r0, number(std::numbers::log2e));
  addArith(builder, ArithOp::Add, r1, r1, number(kWhole + bias));
  addArith(builder, ArithOp::Sub, r2, r1, number(kWhole + bias));
  addArith(builder, ArithOp::Mul, r2, r2, number(std::numbers::ln2));
  addArith(builder, ArithOp::Sub, r0, r0, r2);
  addArith(builder, ArithOp::Shift, asBits(r1), asBits(r1), bits(kMantissaBits));
  polynomial(r2, r0, kExpTerms);
  addArith(builder, ArithOp::Mul, to, r2, r1);
  if (isLarge)
    addArith(builder, ArithOp::Mul, to, to, number(2));
}

void Series::exp(const LocalTensor &x, double most) {
  const auto &[r0, r1, r2, r3] = registers;
  addArith(builder, ArithOp::Max, r0, x, number(kLeast));
  addArith(builder, ArithOp::Min, r0, r0, number(most));
  power(r3, most > kMostPlain);
}

void Series::decay(const LocalTensor &x) {
  const auto &[r0, r1, r2, r3] = registers;
  // -|x| has the sign's bit set.
  addArith(builder, ArithOp::Or, asBits(r0), asBits(x), bits(kSignBit));
  addArith(builder, ArithOp::Max, r0, r0, number(kLeast));
  power(r3);
}

void Series::log(const LocalTensor &x) {
  const auto &[r0, r1, r2, r3] = registers;
  // x = 2^n m with m from 2/3 to 4/3: the exponent's bits of 2 / 2^n are those of 2^n turned over.
  addSfu(builder, SfuOp::PowerOfTwo, r0, x);
  addArith(builder, ArithOp::Xor, asBits(r0), asBits(r0), bits(kAllExponentBits));
  addArith(builder, ArithOp::Mul, r0, r0, x);
  addArith(builder, ArithOp::Mul, r0, r0, number(0.5));
  addArith(builder, ArithOp::Sub, r0, r0, number(1));
  // n, as the lowest bits of a number that is a power of two without them.
  addSfu(builder, SfuOp::Exponent, asBits(r1), x);
  addArith(builder, ArithOp::Or, asBits(r1), asBits(r1), number(1 << kMantissaBits));
  addArith(builder, ArithOp::Sub, r1, r1, number((1 << kMantissaBits) + kBias));
  polynomial(r2, r0, kLogTerms);
  addArith(builder, ArithOp::Mul, r2, r2, r0);
  addArith(builder, ArithOp::Mul, r1, r1, number(std::numbers::ln2));
  addArith(builder, ArithOp::Add, r3, r2, r1);
}

// 1 / (1 + exp(-x)) is 1 / (1 + e) with e = exp(-|x|), times e where x is negative: a polynomial of
// e takes less time than a division.

void Series::sigmoid(const LocalTensor &x, const LocalTensor &to) {
  const auto &[r0, r1, r2, r3] = registers;
  decay(x);
  polynomial(r1, r3, kLogisticTerms);
  addCompareSelect(builder, r2, number(0), x, r3, number(1));
  addArith(builder, ArithOp::Mul, to, r1, r2);
}

void Series::erf(const LocalTensor &x, double a) {
  const auto &[r0, r1, r2, r3] = registers;
  addArith(builder, ArithOp::Mul, r0, x, number(a));
  addArith(builder, ArithOp::Max, r0, r0, number(-kErfEnd));
  addArith(builder, ArithOp::Min, r0, r0, number(kErfEnd));
  addArith(builder, ArithOp::Mul, r1, r0, r0);
  addLinear(builder, r1, r1, 2 / (kErfEnd * kErfEnd), -1);
  polynomial(r2, r1, kErfTerms);
  addArith(builder, ArithOp::Mul, r3, r2, r0);
}

void Series::sin(const LocalTensor &x, double phase) {
  const auto &[r0, r1, r2, r3] = registers;
  // x + phase = 2 pi n + r; 2 pi in two numbers, n times the first of which is exact.
  constexpr double kTurnHigh = 6.28125;
  constexpr double kTurnLow = 2 * std::numbers::pi - kTurnHigh;
  addLinear(builder, r1, x, 0.5 / std::numbers::pi, 0.5 * phase / std::numbers::pi);
  addArith(builder, ArithOp::Add, r1, r1, number(kWhole));
  addArith(builder, ArithOp::Sub, r1, r1, number(kWhole));
  addArith(builder, ArithOp::Mul, r0, r1, number(kTurnHigh));
  addArith(builder, ArithOp::Sub, r2, x, r0);
  addLinear(builder, r0, r1, kTurnLow, -phase);
  addArith(builder, ArithOp::Sub, r2, r2, r0);
  addArith(builder, ArithOp::Mul, r0, r2, r2);
  polynomial(r1, r0, kSinTerms);
  addArith(builder, ArithOp::Mul, r3, r1, r2);
}

void Series::round(const LocalTensor &x) {
  const auto &[r0, r1, r2, r3] = registers;
  // Sums with 2^23 of the same sign are whole; what is larger is whole already.
  constexpr double kFirstWhole = 1 << kMantissaBits;
  addArith(builder, ArithOp::And, asBits(r0), asBits(x), bits(kSignBit));
  addArith(builder, ArithOp::Or, asBits(r0), asBits(r0), number(kFirstWhole));
  addArith(builder, ArithOp::Add, r1, x, r0);
  addArith(builder, ArithOp::Sub, r1, r1, r0);
  addArith(builder, ArithOp::And, asBits(r0), asBits(x), bits(~kSignBit));
  addCompareSelect(builder, r3, number(kFirstWhole), r0, r1, x);
}

} // namespace tpuc::bm1684
