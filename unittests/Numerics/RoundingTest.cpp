//===- RoundingTest.cpp - Tests of rounding and saturation -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Rounding.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace tpuc;

namespace {

Int128 floorDiv(Int128 a, Int128 b) {
  const Int128 quotient = a / b;
  return quotient * b > a ? quotient - 1 : quotient;
}

/// a / b (b > 0) rounded, from the textbook formulas rather than from fractions.
Int128 divideRounded(Int128 a, Int128 b, RoundingMode mode) {
  switch (mode) {
  case RoundingMode::TowardZero:
    return a / b;
  case RoundingMode::Down:
    return floorDiv(a, b);
  case RoundingMode::Up:
    return -floorDiv(-a, b);
  case RoundingMode::HalfUp:
    return floorDiv(2 * a + b, 2 * b);
  case RoundingMode::HalfDown:
    return -floorDiv(-2 * a + b, 2 * b);
  case RoundingMode::HalfAwayFromZero:
    return a < 0 ? -floorDiv(-2 * a + b, 2 * b) : floorDiv(2 * a + b, 2 * b);
  case RoundingMode::HalfToEven: {
    const Int128 up = floorDiv(2 * a + b, 2 * b);
    const Int128 down = -floorDiv(-2 * a + b, 2 * b);
    return up % 2 == 0 ? up : down;
  }
  }
  return 0;
}

TEST(Rounding, ModesAreNumberedLikeTheBM1684X) {
  for (size_t code = 0; code < kAllRoundingModes.size(); ++code)
    EXPECT_EQ(static_cast<size_t>(kAllRoundingModes[code]), code);
  EXPECT_EQ(static_cast<int>(RoundingMode::HalfDown), 6);
}

TEST(Rounding, NamesAreReadBack) {
  for (RoundingMode mode : kAllRoundingModes)
    EXPECT_EQ(parseRoundingMode(roundingModeName(mode)), mode);
  EXPECT_EQ(parseRoundingMode("TowardZero"), RoundingMode::TowardZero);
  EXPECT_EQ(parseRoundingMode("HalfToOdd"), std::nullopt);
}

TEST(Rounding, MirroredModeRoundsTheNegatedNumber) {
  for (RoundingMode mode : kAllRoundingModes)
    for (int32_t value = -40; value <= 40; ++value)
      EXPECT_EQ(roundingShiftRight(-value, 3, mode), -roundingShiftRight(value, 3, mirrored(mode)));
}

TEST(Rounding, RightShiftOfEveryInt16ByEveryAmount) {
  for (unsigned amount : {0U,  1U,  2U,  3U,  4U,  5U,  6U,  7U,  8U,  9U,  10U, 11U,  12U,  13U,
                          14U, 15U, 16U, 17U, 18U, 31U, 32U, 33U, 63U, 64U, 65U, 127U, 128U, 255U})
    for (RoundingMode mode : kAllRoundingModes)
      for (int32_t value = -32768; value <= 32767; ++value) {
        // Beyond 2^17 every quotient is below a quarter, whatever the amount.
        const Int128 divisor = Int128(1) << std::min(amount, 24U);
        const auto expected = static_cast<int32_t>(divideRounded(value, divisor, mode));
        ASSERT_EQ(roundingShiftRight(value, amount, mode), expected)
            << value << " >> " << amount << ", " << roundingModeName(mode);
        ASSERT_EQ(roundingShiftRight(int64_t(value), amount, mode), expected);
        ASSERT_EQ(static_cast<int64_t>(roundingShiftRight(Int128(value), amount, mode)), expected);
        if (value >= 0) {
          ASSERT_EQ(roundingShiftRight(uint32_t(value), amount, mode), uint32_t(expected));
          ASSERT_EQ(roundingShiftRight(uint64_t(value), amount, mode), uint64_t(expected));
        }
      }
}

template <typename T> void checkExtremes() {
  constexpr unsigned kWidth = sizeof(T) * 8;
  for (RoundingMode mode : kAllRoundingModes)
    for (unsigned amount = 0; amount <= kWidth + 2; ++amount)
      for (T value : {std::numeric_limits<T>::min(), T(std::numeric_limits<T>::min() + 1),
                      std::numeric_limits<T>::max(), T(std::numeric_limits<T>::max() - 1),
                      T(T(1) << (kWidth - 2))}) {
        const Int128 expected = divideRounded(value, Int128(1) << amount, mode);
        ASSERT_TRUE(Int128(roundingShiftRight(value, amount, mode)) == expected)
            << value << " >> " << amount << ", " << roundingModeName(mode);
      }
}

TEST(Rounding, RightShiftOfTheExtremes) {
  checkExtremes<int32_t>();
  checkExtremes<uint32_t>();
  checkExtremes<int64_t>();
  checkExtremes<uint64_t>();
}

TEST(Rounding, RightShiftOf128BitExtremes) {
  const Int128 lowest = kLowest<Int128>;
  EXPECT_TRUE(roundingShiftRight(lowest, 127, RoundingMode::HalfToEven) == -1);
  EXPECT_TRUE(roundingShiftRight(lowest, 128, RoundingMode::HalfToEven) == 0);
  EXPECT_TRUE(roundingShiftRight(lowest, 128, RoundingMode::HalfAwayFromZero) == -1);
  EXPECT_TRUE(roundingShiftRight(lowest, 128, RoundingMode::HalfUp) == 0);
  EXPECT_TRUE(roundingShiftRight(lowest, 129, RoundingMode::HalfAwayFromZero) == 0);
  EXPECT_TRUE(roundingShiftRight(kHighest<Int128>, 127, RoundingMode::HalfToEven) == 1);
  EXPECT_TRUE(roundingShiftRight(kHighest<UInt128>, 128, RoundingMode::HalfToEven) == 1);
}

TEST(Rounding, LeftShiftSaturatesAndWraps) {
  for (unsigned amount = 0; amount <= 70; ++amount)
    for (int32_t value = -32768; value <= 32767; value += 7) {
      const Int128 exact = Int128(value) * (Int128(1) << amount);
      const auto range32 = integerRange<int32_t>();
      ASSERT_TRUE(Int128(shiftLeftSaturating(value, amount)) == saturate(exact, range32));
      ASSERT_TRUE(Int128(shiftLeftSaturating(int64_t(value), amount)) ==
                  saturate(exact, integerRange<int64_t>()));
      ASSERT_TRUE(roundingShift(value, -static_cast<int>(amount), RoundingMode::Up) ==
                  saturate(exact, range32));
      ASSERT_EQ(shiftLeftWrapping(value, amount), static_cast<int32_t>(exact));
    }
  EXPECT_EQ(shiftLeftSaturating(uint32_t(3), 31), 0xFFFFFFFFU);
  EXPECT_EQ(shiftLeftSaturating(int32_t(-1), 31), INT32_MIN);
  EXPECT_EQ(shiftLeftSaturating(int32_t(1), 31), INT32_MAX);
  EXPECT_EQ(shiftLeftSaturating(int32_t(0), 4000), 0);
}

TEST(Rounding, RangesOfIntegerTypes) {
  EXPECT_EQ(integerRange(DataType::I4), (IntegerRange{-8, 7}));
  EXPECT_EQ(integerRange(DataType::U4), (IntegerRange{0, 15}));
  EXPECT_EQ(integerRange(DataType::I8), (IntegerRange{-128, 127}));
  EXPECT_EQ(integerRange(DataType::U16), (IntegerRange{0, 65535}));
  EXPECT_EQ(integerRange(DataType::I64), (IntegerRange{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(integerRange(DataType::U64), (IntegerRange{0, UINT64_MAX}));
  EXPECT_EQ(integerRange(DataType::Bool), (IntegerRange{0, 1}));
  EXPECT_EQ(integerRange<int8_t>(), integerRange(DataType::I8));
}

template <typename To, typename From> void checkSaturateCast(From value) {
  const Int128 expected = std::clamp(Int128(value), Int128(std::numeric_limits<To>::min()),
                                     Int128(std::numeric_limits<To>::max()));
  ASSERT_TRUE(Int128(saturateCast<To>(value)) == expected) << static_cast<double>(value);
}

template <typename From> void checkSaturateCasts(From value) {
  checkSaturateCast<int8_t>(value);
  checkSaturateCast<uint8_t>(value);
  checkSaturateCast<int16_t>(value);
  checkSaturateCast<uint16_t>(value);
  checkSaturateCast<int32_t>(value);
  checkSaturateCast<uint32_t>(value);
  checkSaturateCast<int64_t>(value);
  checkSaturateCast<uint64_t>(value);
}

template <typename From> void checkSaturateCastsOfEdges() {
  for (int bit = 0; bit <= 64; ++bit)
    for (int sign : {-1, 1})
      for (int offset = -2; offset <= 2; ++offset) {
        const Int128 edge = sign * (Int128(1) << bit) + offset;
        checkSaturateCasts(static_cast<From>(edge));
      }
}

TEST(Rounding, SaturatingCastsBetweenAllWidths) {
  for (int32_t value = -32768; value <= 65535; ++value) {
    checkSaturateCasts(static_cast<int8_t>(value));
    checkSaturateCasts(static_cast<uint8_t>(value));
    checkSaturateCasts(static_cast<int16_t>(value));
    checkSaturateCasts(static_cast<uint16_t>(value));
    checkSaturateCasts(value);
  }
  checkSaturateCastsOfEdges<int32_t>();
  checkSaturateCastsOfEdges<uint32_t>();
  checkSaturateCastsOfEdges<int64_t>();
  checkSaturateCastsOfEdges<uint64_t>();
  checkSaturateCastsOfEdges<Int128>();
  for (int32_t value = -32768; value <= 32767; ++value) {
    ASSERT_EQ(static_cast<int>(saturate(value, integerRange(4, true))), std::clamp(value, -8, 7));
    ASSERT_EQ(static_cast<int>(saturate(value, integerRange(4, false))), std::clamp(value, 0, 15));
  }
}

/// The standard library's functions, and long double for what it does not have: x + 1/2 is exact
/// there wherever the sum matters.
double referenceRound(double value, RoundingMode mode) {
  switch (mode) {
  case RoundingMode::HalfToEven:
    return std::nearbyint(value);
  case RoundingMode::HalfAwayFromZero:
    return std::round(value);
  case RoundingMode::TowardZero:
    return std::trunc(value);
  case RoundingMode::Down:
    return std::floor(value);
  case RoundingMode::Up:
    return std::ceil(value);
  case RoundingMode::HalfUp:
    return std::fabs(value) >= 0x1p52
               ? value
               : static_cast<double>(std::floor(static_cast<long double>(value) + 0.5L));
  case RoundingMode::HalfDown:
    return std::fabs(value) >= 0x1p52
               ? value
               : static_cast<double>(std::ceil(static_cast<long double>(value) - 0.5L));
  }
  return 0;
}

std::vector<double> interestingDoubles() {
  std::vector<double> values = {0.0, -0.0, 0x1p-1074, 0x1p-1022, 1e308, INFINITY, -INFINITY};
  auto add = [&](double value) {
    for (double magnitude : {value, std::nextafter(value, 0.0), std::nextafter(value, INFINITY)}) {
      values.push_back(magnitude);
      values.push_back(-magnitude);
    }
  };
  for (int i = 0; i <= 4096; ++i)
    add(i / 8.0);
  for (int exponent = 4; exponent <= 66; ++exponent)
    for (double offset : {-1.5, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 1.5})
      add(std::ldexp(1.0, exponent) + offset);
  return values;
}

TEST(Rounding, RoundToIntegralAgainstTheStandardLibrary) {
  for (RoundingMode mode : kAllRoundingModes)
    for (double value : interestingDoubles()) {
      const double expected = referenceRound(value, mode);
      const double result = roundToIntegral(value, mode);
      ASSERT_EQ(result, expected) << value << ", " << roundingModeName(mode);
      ASSERT_EQ(std::signbit(result), std::signbit(value)) << value;
      const auto narrow = static_cast<float>(value);
      ASSERT_EQ(roundToIntegral(narrow, mode), static_cast<float>(referenceRound(narrow, mode)));
    }
  EXPECT_TRUE(std::isnan(roundToIntegral(std::nan(""), RoundingMode::HalfUp)));
  static_assert(roundToIntegral(2.5, RoundingMode::HalfToEven) == 2);
  static_assert(roundToIntegral(-2.5, RoundingMode::HalfUp) == -2);
}

template <typename T> void checkToInteger() {
  // As long doubles all ends of the ranges are exact.
  constexpr long double kMin = std::numeric_limits<T>::min();
  constexpr long double kMax = std::numeric_limits<T>::max();
  for (RoundingMode mode : kAllRoundingModes) {
    for (double value : interestingDoubles()) {
      const long double rounded = referenceRound(value, mode);
      const T expected = rounded <= kMin   ? std::numeric_limits<T>::min()
                         : rounded >= kMax ? std::numeric_limits<T>::max()
                                           : static_cast<T>(rounded);
      ASSERT_EQ(toInteger<T>(value, mode), expected) << value << ", " << roundingModeName(mode);
    }
    EXPECT_EQ(toInteger<T>(std::nan(""), mode), 0);
  }
}

TEST(Rounding, FloatToIntegerSaturates) {
  checkToInteger<int8_t>();
  checkToInteger<uint8_t>();
  checkToInteger<int16_t>();
  checkToInteger<uint16_t>();
  checkToInteger<int32_t>();
  checkToInteger<uint32_t>();
  checkToInteger<int64_t>();
  checkToInteger<uint64_t>();
  for (int eighths = -400; eighths <= 400; ++eighths) {
    const double rounded = std::round(eighths / 8.0);
    EXPECT_EQ(static_cast<int>(
                  toInteger(eighths / 8.0, integerRange(4, true), RoundingMode::HalfAwayFromZero)),
              std::clamp(rounded, -8.0, 7.0));
    EXPECT_EQ(static_cast<int>(
                  toInteger(eighths / 8.0, integerRange(4, false), RoundingMode::HalfAwayFromZero)),
              std::clamp(rounded, 0.0, 15.0));
  }
  EXPECT_TRUE(toInteger(1e30, integerRange(64, false), RoundingMode::Up) == Int128(UINT64_MAX));
}

} // namespace
