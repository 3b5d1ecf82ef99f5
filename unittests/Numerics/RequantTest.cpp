//===- RequantTest.cpp - Tests of multiplier-and-shift scaling -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Requant.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace tpuc;

namespace {

MultiplierShift quantized(double scale, const MultiplierLimits &limits = {}) {
  Expected<MultiplierShift> result = quantizeMultiplier(scale, limits);
  EXPECT_TRUE(result) << scale;
  return result ? *result : MultiplierShift{};
}

TEST(Requant, TheManualsExample) {
  const MultiplierShift factor = quantized(0.1234);
  EXPECT_EQ(factor, (MultiplierShift{2119995857, 34}));
  EXPECT_NEAR(factor.scale(), 0.1234, 0.1234 * 0x1p-31);
  EXPECT_EQ(multiplyShift32(1000, factor.multiplier, factor.rshift, RoundingMode::HalfUp), 123);
  EXPECT_EQ(factor.afterShiftBy31(), (MultiplierShift{2119995857, 3}));
}

TEST(Requant, MultipliersUseAllTheirBits) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const int exponent = static_cast<int>(random() % 60) - 30;
    const double mantissa = 0.5 + std::ldexp(static_cast<double>(random() >> 11), -54);
    const double scale = std::ldexp(i % 2 == 0 ? mantissa : -mantissa, exponent);
    const MultiplierShift factor = quantized(scale);
    const int64_t magnitude = std::abs(static_cast<int64_t>(factor.multiplier));
    ASSERT_GE(magnitude, int64_t(1) << 30) << scale;
    ASSERT_LE(std::fabs(factor.scale() - scale), std::fabs(scale) * 0x1p-31) << scale;
    ASSERT_EQ(factor.multiplier < 0, scale < 0);
  }
}

// No multiplier and shift within the limits come nearer to the scale.
TEST(Requant, SmallMultipliersAreTheBestOnes) {
  for (const MultiplierLimits &limits :
       {MultiplierLimits::ofBits(8), MultiplierLimits::ofUnsignedBits(8),
        MultiplierLimits::ofUnsignedBits(4)})
    for (double scale = 0.001; scale < 300; scale *= 1.0123) {
      const MultiplierShift factor = quantized(scale, limits);
      ASSERT_LE(factor.multiplier, limits.maxMultiplier);
      double best = INFINITY;
      for (int multiplier = 1; multiplier <= limits.maxMultiplier; ++multiplier)
        for (int shift = -10; shift <= 20; ++shift)
          best = std::min(best, std::fabs(std::ldexp(multiplier, -shift) - scale));
      ASSERT_EQ(std::fabs(factor.scale() - scale), best) << scale;
    }
}

TEST(Requant, MultipliersAtTheEdges) {
  EXPECT_EQ(quantized(1.0), (MultiplierShift{1 << 30, 30}));
  EXPECT_EQ(quantized(0.5), (MultiplierShift{1 << 30, 31}));
  EXPECT_EQ(quantized(0.0), (MultiplierShift{0, 0}));
  EXPECT_EQ(quantized(-0.0), (MultiplierShift{0, 0}));
  // Rounds up to 2^31, which has one bit too many.
  EXPECT_EQ(quantized(std::nextafter(1.0, 0.0)), (MultiplierShift{1 << 30, 30}));
  EXPECT_EQ(quantized(127.6, MultiplierLimits::ofBits(8)), (MultiplierShift{64, -1}));
  EXPECT_EQ(quantized(0.9999, MultiplierLimits::ofBits(2)), (MultiplierShift{1, 0}));
  // Too small for all bits, then for any.
  EXPECT_EQ(quantized(0x1p-40), (MultiplierShift{1 << 23, 63}));
  EXPECT_EQ(quantized(0x1.8p-64), (MultiplierShift{1, 63}));
  EXPECT_EQ(quantized(0x1p-200), (MultiplierShift{0, 63}));
  EXPECT_EQ(quantized(5e-324), (MultiplierShift{0, 63}));
  // The largest scale: 2^31 - 1 shifted left by 31.
  EXPECT_EQ(quantized(0x1.FFFFFFFCp61), (MultiplierShift{INT32_MAX, -31}));
  MultiplierLimits truncating = MultiplierLimits::ofBits(8);
  truncating.rounding = RoundingMode::TowardZero;
  EXPECT_EQ(quantized(127.6, truncating), (MultiplierShift{127, 0}));
}

TEST(Requant, ScalesThatNoMultiplierHas) {
  for (double scale : {0x1p62, 1e300, static_cast<double>(INFINITY), std::nan("")}) {
    Expected<MultiplierShift> result = quantizeMultiplier(scale, {}, "conv1");
    ASSERT_FALSE(result) << scale;
    EXPECT_EQ(result.error().where, "conv1");
    EXPECT_FALSE(result.error().expected.empty());
  }
  EXPECT_FALSE(quantizeMultiplier(-0.5, MultiplierLimits::ofUnsignedBits(8)));
  MultiplierLimits onlyRight;
  onlyRight.minShift = 0;
  EXPECT_FALSE(quantizeMultiplier(0x1p31, onlyRight));
  EXPECT_TRUE(quantizeMultiplier(0x1p30, onlyRight));
  EXPECT_TRUE(quantizeMultiplier(2147483647.0, onlyRight));
}

TEST(Requant, ModesAreReadBack) {
  for (RequantMode mode : {RequantMode::MultiplierShift, RequantMode::OnlyShift,
                           RequantMode::TFLite, RequantMode::TFLite_LShift, RequantMode::QDM})
    EXPECT_EQ(parseRequantMode(requantModeName(mode)), mode);
  EXPECT_EQ(parseRequantMode("Tflite"), std::nullopt);
}

/// round(a / 2^shift) from the textbook formulas, for |a| < 2^95.
Int128 divideByPowerOfTwo(Int128 a, int shift, RoundingMode mode) {
  const Int128 divisor = Int128(1) << shift;
  const Int128 twice = 2 * a + divisor;
  const Int128 halfUp = twice / (2 * divisor) - (twice % (2 * divisor) < 0 ? Int128(1) : Int128(0));
  const bool isTie = a < 0 && twice % (2 * divisor) == 0;
  return mode == RoundingMode::HalfAwayFromZero && isTie ? halfUp - 1 : halfUp;
}

TEST(Requant, ExactProductsOfAnyWidth) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 200000; ++i) {
    const auto x = static_cast<int64_t>(random()) >> (random() % 64);
    const auto multiplier = static_cast<int32_t>(static_cast<int32_t>(random()) >> (random() % 32));
    const int shift = static_cast<int>(random() % 64);
    for (RoundingMode mode : {RoundingMode::HalfUp, RoundingMode::HalfAwayFromZero}) {
      const Int128 expected = divideByPowerOfTwo(Int128(x) * multiplier, shift, mode);
      ASSERT_TRUE(multiplyShift(x, multiplier, shift, mode) == expected) << x << " " << multiplier;
      const auto narrow = static_cast<int32_t>(x);
      ASSERT_TRUE(multiplyShift32(narrow, multiplier, shift, mode) ==
                  divideByPowerOfTwo(int64_t(narrow) * multiplier, shift, mode));
    }
    ASSERT_TRUE(multiplyShift(x >> 20, multiplier, -(shift % 32), RoundingMode::HalfUp) ==
                Int128(x >> 20) * multiplier * (Int128(1) << shift % 32));
  }
}

TEST(Requant, GemmlowpHighMultiplication) {
  EXPECT_EQ(multiplyHigh(INT32_MIN, INT32_MIN), INT32_MAX);
  EXPECT_EQ(multiplyHigh(INT32_MIN, INT32_MAX), -INT32_MAX);
  EXPECT_EQ(multiplyHigh(1 << 30, 3), 2);
  // A tie of a negative product, -3/2: gemmlowp goes up, CV18xx away from zero.
  EXPECT_EQ(multiplyHigh(-(1 << 30), 3), -1);
  EXPECT_EQ(multiplyHigh(-(1 << 30), 3, RoundingMode::HalfAwayFromZero), -2);
  std::mt19937_64 random(5);
  for (int i = 0; i < 200000; ++i) {
    const auto x = static_cast<int32_t>(static_cast<int32_t>(random()) >> (random() % 32));
    // Multipliers with few bits make ties likely.
    const auto multiplier = static_cast<int32_t>(random() << (random() % 31));
    for (RoundingMode mode : {RoundingMode::HalfUp, RoundingMode::HalfAwayFromZero})
      ASSERT_EQ(multiplyHigh(x, multiplier, mode),
                std::min<int64_t>(
                    static_cast<int64_t>(divideByPowerOfTwo(int64_t(x) * multiplier, 31, mode)),
                    INT32_MAX));
  }
}

TEST(Requant, TwoStepModesDifferFromOneRounding) {
  // 0.5 exactly: 11 -> 5.5 in the first step, 6 rounded once or twice; 0.25: 5 -> 1.25.
  EXPECT_EQ(multiplyShiftTFLite(11, 1 << 30, 0), 6);
  EXPECT_EQ(multiplyShiftTFLite(-11, 1 << 30, 0), -5);
  EXPECT_EQ(multiplyShiftQDM(-11, 1 << 30, 0), -6);
  // 5/4 = 1.25 -> 1 in one step; 2.5 -> 3, 1.5 -> 2 in two.
  EXPECT_EQ(multiplyShift32(5, 1 << 30, 32, RoundingMode::HalfUp), 1);
  EXPECT_EQ(multiplyShiftTFLite(5, 1 << 30, 1), 2);
  EXPECT_EQ(multiplyShiftQDM(-5, 1 << 30, 1), -2);
  EXPECT_EQ(multiplyShiftTFLite(-5, 1 << 30, 1), -1);
  // Left shifts saturate before the multiplication.
  EXPECT_EQ(multiplyShiftTFLite(3, 1 << 30, -4), 24);
  EXPECT_EQ(multiplyShiftTFLite(1 << 29, 1 << 30, -4), 1 << 30);
  EXPECT_EQ(multiplyShiftTFLite(-(1 << 29), 1 << 30, -4), -(1 << 30));
}

TEST(Requant, WholeRequantization) {
  Requantization requantization;
  requantization.factor = {2119995857, 34};
  requantization.zeroPoint = -5;
  EXPECT_EQ(requantize(1000, requantization), 118);
  EXPECT_EQ(requantize(10000, requantization), 127);
  EXPECT_EQ(requantize(-10000, requantization), -128);
  requantization.range = integerRange<uint8_t>();
  EXPECT_EQ(requantize(-10000, requantization), 0);
  EXPECT_EQ(requantize(2000, requantization), 242);

  requantization = {.mode = RequantMode::OnlyShift,
                    .factor = {12345, 4},
                    .zeroPoint = 1,
                    .rounding = RoundingMode::Down,
                    .range = integerRange<int16_t>()};
  EXPECT_EQ(requantize(-17, requantization), -1);
  requantization.factor.rshift = -4;
  EXPECT_EQ(requantize(-17, requantization), -271);
  EXPECT_EQ(requantize(INT64_MAX, requantization), 32767);

  requantization = {.mode = RequantMode::TFLite, .factor = {1 << 30, 1}};
  EXPECT_EQ(requantize(-5, requantization), -1);
  requantization.mode = RequantMode::QDM;
  EXPECT_EQ(requantize(-5, requantization), -2);
  requantization = {.mode = RequantMode::TFLite_LShift, .factor = {1 << 30, -3}};
  EXPECT_EQ(requantize(7, requantization), 28);
}

TEST(Requant, InFloat) {
  const IntegerRange range = integerRange<int8_t>();
  EXPECT_EQ(requantizeFloat(25, 0.1F, 0, range), 2);
  EXPECT_EQ(requantizeFloat(5, 0.5F, 0, range), 2);
  EXPECT_EQ(requantizeFloat(5, 0.5F, 0, range, RoundingMode::HalfAwayFromZero), 3);
  EXPECT_EQ(requantizeFloat(100, 2, -20, range), 127);
  EXPECT_EQ(requantizeFloat(1, NAN, 0, range), 0);
  // 2^24 + 1 is not an f32: the way there counts.
  const IntegerRange wide = integerRange<int32_t>();
  EXPECT_EQ(requantizeFloat(16777217, 1, 0, wide), 16777216);
  EXPECT_EQ(requantizeFloat(16777217, 1, 0, wide, RoundingMode::HalfToEven, RoundingMode::Up),
            16777218);
}

} // namespace
