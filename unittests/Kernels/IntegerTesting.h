//===- IntegerTesting.h - What the tests of integer kernels share ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_KERNELS_INTEGERTESTING_H
#define UNITTESTS_KERNELS_INTEGERTESTING_H

#include "tpuc/Interpreter/Kernels/IntegerRequant.h"
#include "tpuc/Interpreter/Kernels/IntegerSimd.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace tpuc::kernels::integer {

using Random = std::mt19937;

inline int64_t pick(Random &random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

/// The levels that this processor has.
inline std::vector<SimdLevel> integerLevels() {
  std::vector<SimdLevel> result;
  for (SimdLevel level :
       {SimdLevel::Generic, SimdLevel::Avx2, SimdLevel::Avx512, SimdLevel::Avx512Vnni})
    if (level <= bestSimdLevel())
      result.push_back(level);
  return result;
}

/// Numbers of the whole range of an 8-bit type, its ends more often than others.
inline Tensor randomBytes(Random &random, DataType type, Shape shape) {
  const IntegerRange range = integerRange(type);
  const auto highest = static_cast<int64_t>(range.highest);
  Tensor tensor(type, shape);
  for (std::byte &byte : tensor.mutableBytes()) {
    const int64_t kind = pick(random, 0, 15);
    byte = static_cast<std::byte>(kind == 0   ? range.lowest
                                  : kind == 1 ? highest
                                              : pick(random, range.lowest, highest));
  }
  return tensor;
}

inline Tensor randomInts(Random &random, Shape shape, int64_t bound) {
  Tensor tensor(DataType::I32, shape);
  for (int32_t &value : tensor.mutableData<int32_t>())
    value = static_cast<int32_t>(pick(random, -bound, bound));
  return tensor;
}

/// The elements as numbers.
inline std::vector<int64_t> numbers(const Tensor &tensor) {
  const Tensor wide = convert(tensor, DataType::I64);
  return {wide.data<int64_t>().begin(), wide.data<int64_t>().end()};
}

inline DataType randomByteType(Random &random) {
  return pick(random, 0, 1) == 0 ? DataType::I8 : DataType::U8;
}

inline int32_t randomZero(Random &random, DataType type) {
  const IntegerRange range = integerRange(type);
  return static_cast<int32_t>(pick(random, range.lowest, static_cast<int64_t>(range.highest)));
}

/// A requantization of accumulators of about `bits` bits to about 8, or now and then one that
/// saturates, takes an extreme multiplier, another way of rounding or a narrower range.
inline RequantParams randomRequant(Random &random, DataType output, size_t count, int bits) {
  RequantParams params;
  const int64_t kind = pick(random, 0, 9);
  for (size_t i = 0; i < count; ++i) {
    const auto multiplier = static_cast<int32_t>(pick(random, int64_t(1) << 30, INT32_MAX));
    params.factors.push_back({multiplier, 31 + std::max(bits - 8, 0)});
    MultiplierShift &factor = params.factors.back();
    if (kind == 0)
      factor = {static_cast<int32_t>(pick(random, INT32_MIN, INT32_MAX)),
                static_cast<int32_t>(pick(random, 0, 62))};
    if (kind == 1)
      factor = {pick(random, 0, 1) == 0 ? INT32_MAX : INT32_MIN, pick(random, 0, 1) == 0 ? 0 : 62};
    if (kind == 2)
      factor.multiplier = -factor.multiplier;
  }
  if (kind == 3)
    params.rounding = RoundingMode::HalfToEven;
  if (kind == 4)
    params.mode = RequantMode::TFLite_LShift;
  if (kind == 4)
    for (MultiplierShift &factor : params.factors)
      factor = factor.afterShiftBy31();
  if (kind == 6) {
    params.mode = RequantMode::OnlyShift;
    for (MultiplierShift &factor : params.factors)
      factor.rshift -= 31;
  }
  params.zeroPoint = randomZero(random, output);
  params.range = integerRange(output);
  if (kind == 5)
    params.range.lowest = params.zeroPoint;
  return params;
}

/// floor(acc * M / 2^s + 1/2) + zero point, saturated: the definition. Other ways of rounding are
/// those of Requant.h.
inline int64_t requantized(Int128 acc, const RequantParams &params, size_t channel) {
  const Requantization own = params.at(channel);
  if (own.mode != RequantMode::MultiplierShift || own.rounding != RoundingMode::HalfUp)
    return tpuc::requantize(static_cast<int64_t>(acc), own);
  const Int128 divisor = Int128(1) << own.factor.rshift;
  const Int128 twice = acc * own.factor.multiplier * 2 + divisor;
  Int128 quotient = twice / (2 * divisor);
  if (twice % (2 * divisor) < 0)
    --quotient;
  quotient += own.zeroPoint;
  const auto low = Int128(own.range.lowest);
  const auto high = Int128(own.range.highest);
  return static_cast<int64_t>(quotient < low ? low : quotient > high ? high : quotient);
}

} // namespace tpuc::kernels::integer

#endif // UNITTESTS_KERNELS_INTEGERTESTING_H
