//===- FixedPointTest.cpp - Ops on integers with a scale --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers are worked out by hand, or in doubles where one integer of distance is allowed.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/FixedPoint.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

constexpr IntegerRange kBytes = integerRange<int8_t>();

Tensor bytes(std::initializer_list<int64_t> dims, std::vector<int8_t> values) {
  Tensor tensor(DataType::I8, Shape(dims));
  std::ranges::copy(values, tensor.mutableData<int8_t>().begin());
  return tensor;
}

/// Every integer of a byte.
Tensor allBytes(std::initializer_list<int64_t> dims) {
  std::vector<int8_t> values(256);
  for (int value = -128; value < 128; ++value)
    values[static_cast<size_t>(value + 128)] = static_cast<int8_t>(value);
  return bytes(dims, values);
}

std::vector<int8_t> valuesOf(const Tensor &tensor) {
  const auto values = tensor.data<int8_t>();
  return {values.begin(), values.end()};
}

} // namespace

TEST(FixedPoint, MultipliersHave31Bits) {
  EXPECT_EQ(fixedPoint(0.1234), (MultiplierShift{2119995857, 3}));
  EXPECT_EQ(fixedPoint(1), (MultiplierShift{1 << 30, -1}));
  EXPECT_EQ(fixedPoint(0), (MultiplierShift{0, 0}));
  EXPECT_EQ(fixedPoint(0x1p-40), (MultiplierShift{0, 0}));
  // Rounding reaches the next power of two.
  EXPECT_EQ(fixedPoint(1 - 0x1p-40), (MultiplierShift{1 << 30, -1}));
}

TEST(FixedPoint, SumsAndDifferencesAreThoseOfTheNumbers) {
  ThreadPool threads(2);
  const Tensor left = allBytes({256, 1});
  const Tensor right = allBytes({1, 256});
  const QuantParams a{0.05, -5};
  const QuantParams b{0.03, 4};
  const FixedResult result{{0.08, 3}, kBytes};
  for (bool subtracts : {false, true}) {
    Tensor output(DataType::I8, Shape({256, 256}));
    fixedAdd({left, a}, {right, b}, subtracts, result, output, threads);
    const auto found = output.data<int8_t>();
    for (int x = -128; x < 128; ++x)
      for (int y = -128; y < 128; ++y) {
        const double number = 0.05 * (x + 5) + (subtracts ? -0.03 : 0.03) * (y - 4);
        const double wanted = std::clamp(std::round(number / 0.08) + 3, -128.0, 127.0);
        const double distance = number / 0.08 - std::floor(number / 0.08);
        // Only ties are a matter of how it is rounded.
        const double allowed = std::abs(distance - 0.5) < 1e-4 ? 1 : 0;
        ASSERT_LE(std::abs(found[static_cast<size_t>((x + 128) * 256 + y + 128)] - wanted), allowed)
            << x << " " << y;
      }
  }
}

TEST(FixedPoint, ProductsAreRoundedTwice) {
  ThreadPool threads(1);
  // 7 * 7 / 98 = 1/2: rounded to 2^-31, then away from zero. 5 * 7 / 98 is below.
  const Tensor left = bytes({4}, {7, -7, 5, -5});
  const Tensor right = bytes({1}, {7});
  Tensor output(DataType::I8, Shape({4}));
  fixedMul({left, {1, 0}}, {right, {1, 0}}, {{98, 10}, kBytes}, output, threads);
  EXPECT_EQ(valuesOf(output), (std::vector<int8_t>{11, 9, 10, 10}));
}

TEST(FixedPoint, QuotientsAreThoseOfTheNumbers) {
  ThreadPool threads(1);
  Tensor left(DataType::I8, Shape({256, 1}));
  Tensor right(DataType::I8, Shape({256}));
  for (int i = -128; i < 128; ++i)
    left.mutableData<int8_t>()[static_cast<size_t>(i + 128)] =
        right.mutableData<int8_t>()[static_cast<size_t>(i + 128)] = static_cast<int8_t>(i);
  Tensor output(DataType::I8, Shape({256, 256}));
  fixedDiv({left, {0.05, -5}}, {right, {0.03, 4}}, {{0.08, 3}, kBytes}, output, threads);
  for (int x = -128; x < 128; ++x)
    for (int y = -128; y < 128; ++y) {
      const int found = output.data<int8_t>()[static_cast<size_t>((x + 128) * 256 + y + 128)];
      const double number = y == 4 ? (x + 5) * 1e6 : 0.05 * (x + 5) / (0.03 * (y - 4)) / 0.08;
      const double distance = number - std::floor(number);
      const double allowed = std::abs(distance - 0.5) < 1e-4 ? 1 : 0;
      ASSERT_LE(std::abs(found - std::clamp(std::round(number) + 3, -128.0, 127.0)), allowed)
          << x << " " << y;
    }
}

TEST(FixedPoint, DifferencesAreWholeBeforeTheyAreSquared) {
  ThreadPool threads(1);
  const Tensor left = bytes({1}, {48});
  const Tensor right = bytes({1}, {100});
  Tensor differences(DataType::I16, Shape({1}));
  const auto scale = [](float value) { return static_cast<double>(value); };
  const double unit = differenceUnit(scale(0.05F), scale(0.03F));
  EXPECT_DOUBLE_EQ(unit, 2 * scale(0.05F) / 128);
  // 53 * 128 / 2 - round(105 * 128 * 0.3) = 3392 - 4032 = -640, which are -0.5 of 0.1 / 128.
  fixedDifference({left, {scale(0.05F), -5}}, {right, {scale(0.03F), -5}}, differences, threads);
  EXPECT_EQ(differences.data<int16_t>()[0], -640);
  // 0.25 / 0.5 is half of an integer: LiteRT 2.3.0 has -4; in f32, it is a little less.
  Tensor output(DataType::I8, Shape({1}));
  fixedSquare(differences, unit, {{0.5, -5}, kBytes}, output, threads);
  EXPECT_EQ(valuesOf(output), (std::vector<int8_t>{-4}));
}

TEST(FixedPoint, QuotientsNearZeroAreZero) {
  ThreadPool threads(1);
  // From 0 to -40 / 130: what would be shifted by more than 31 bits.
  const Tensor left = bytes({4}, {0, 1, -1, -2});
  const Tensor right = bytes({1}, {127});
  Tensor output(DataType::I8, Shape({4}));
  fixedDiv({left, {0.05, 0}}, {right, {0.05, -3}}, {{0.05, 7}, kBytes}, output, threads);
  EXPECT_EQ(valuesOf(output), (std::vector<int8_t>{7, 7, 7, 7}));
}

TEST(FixedPoint, RootsAreCutOff) {
  ThreadPool threads(1);
  const Tensor input = bytes({5}, {-128, -127, -125, -120, 127});
  Tensor output(DataType::I8, Shape({5}));
  // Roots of 0, 1, 3, 8 and 255 in halves, from -100 on: 0, 2, 3.46, 5.66, 31.9.
  fixedSqrt({input, {1, -128}}, {{0.5, -100}, kBytes}, output, threads);
  EXPECT_EQ(valuesOf(output), (std::vector<int8_t>{-100, -98, -97, -95, -69}));
}

TEST(FixedPoint, ProductsOfDimensions) {
  const Tensor input = bytes({2, 3}, {3, 5, 2, 11, -3, 21});
  Tensor output(DataType::I8, Shape({2}));
  const std::vector<int64_t> axes = {1};
  // 2 * 4 * 1 / 2^3 / (1 / 8), and 10 * -4 * 20 / 8 / (1 / 8), which is cut off.
  fixedProd({input, {0.5, 1}}, axes, {{0.125, 0}, kBytes}, output);
  EXPECT_EQ(valuesOf(output), (std::vector<int8_t>{8, -128}));
}

TEST(FixedPoint, AveragesCountWhatLiesInside) {
  ThreadPool threads(1);
  const Tensor input = bytes({1, 1, 2, 2}, {-3, -2, 4, 7});
  WindowParams window{{2, 2}, {1, 1}, {1, 1}, {0, 0}, {1, 1}};
  Tensor output(DataType::I8, Shape({1, 1, 2, 2}));
  fixedAveragePool(input, window, {{1, 5}, kBytes}, output, threads);
  // 6/4 and 5/2 are ties, away from zero; the last window has one element.
  EXPECT_EQ(valuesOf(output), (std::vector<int8_t>{2, 3, 6, 7}));
  const Tensor negative = bytes({1, 1, 1, 2}, {-3, -2});
  Tensor mean(DataType::I8, Shape({1, 1, 1, 1}));
  fixedAveragePool(negative, {{1, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, {{1, 5}, kBytes}, mean,
                   threads);
  EXPECT_EQ(valuesOf(mean), (std::vector<int8_t>{-3}));
}

TEST(FixedPoint, SumsAndMeansOfDimensions) {
  const Tensor input = bytes({2, 3}, {1, 2, 3, 10, 20, 30});
  Tensor mean(DataType::I8, Shape({2}));
  const std::vector<int64_t> axes = {1};
  fixedSum({input, {0.5, 1}}, axes, /*isMean=*/true, {{0.25, -1}, kBytes}, mean);
  EXPECT_EQ(valuesOf(mean), (std::vector<int8_t>{1, 37}));
  Tensor sum(DataType::I8, Shape({2}));
  fixedSum({input, {0.5, 1}}, axes, /*isMean=*/false, {{0.5, 0}, kBytes}, sum);
  EXPECT_EQ(valuesOf(sum), (std::vector<int8_t>{3, 57}));
}

TEST(FixedPoint, SumsDoNotWrapAround) {
  // 2^17 times 2^15 - 1: beyond 32 bits, where LiteRT's sums wrap around to another number.
  const int64_t count = int64_t(1) << 17;
  Tensor input(DataType::I16, Shape({1, count}));
  std::ranges::fill(input.mutableData<int16_t>(), int16_t(32767));
  Tensor output(DataType::I16, Shape({1}));
  const std::vector<int64_t> axes = {1};
  const IntegerRange words = integerRange<int16_t>();
  fixedSum({input, {0.5, 0}}, axes, /*isMean=*/true, {{1, 0}, words}, output);
  EXPECT_EQ(output.data<int16_t>()[0], 16384);
  fixedSum({input, {0x1p-17, 0}}, axes, /*isMean=*/false, {{4, 0}, words}, output);
  EXPECT_EQ(output.data<int16_t>()[0], 8192);
}

TEST(FixedPoint, SoftmaxAddsUpToOne) {
  ThreadPool threads(1);
  const Tensor input = bytes({2, 2}, {0, 0, 100, -100});
  Tensor output(DataType::I8, Shape({2, 2}));
  fixedSoftmax({input, {0.1, 0}}, 1, 1, {{1.0 / 256, -128}, kBytes}, output, threads);
  EXPECT_EQ(valuesOf(output), (std::vector<int8_t>{0, 0, 127, -128}));
}

TEST(FixedPoint, ResizesBetweenElements) {
  ThreadPool threads(1);
  const Tensor input = bytes({1, 1, 1, 2}, {-1, 2});
  Tensor output(DataType::I8, Shape({1, 1, 1, 4}));
  fixedResize(input, FixedResize::HalfPixel, output, threads);
  // -1, -1/4, 5/4, 2.
  EXPECT_EQ(valuesOf(output), (std::vector<int8_t>{-1, 0, 1, 2}));
  Tensor aligned(DataType::I8, Shape({1, 1, 1, 3}));
  fixedResize(input, FixedResize::AlignCorners, aligned, threads);
  EXPECT_EQ(valuesOf(aligned), (std::vector<int8_t>{-1, 1, 2}));
}

TEST(FixedPoint, ResizesNotBeyondTheLastElement) {
  ThreadPool threads(1);
  const Tensor input = bytes({1, 1, 1, 3}, {1, 2, 3});
  // The step is 1.5 / 1024 of an element and becomes 2 / 1024.
  Tensor output(DataType::I8, Shape({1, 1, 1, 2048}));
  fixedResize(input, FixedResize::Asymmetric, output, threads);
  EXPECT_TRUE(std::ranges::is_sorted(valuesOf(output)));
  EXPECT_EQ(valuesOf(output).front(), 1);
  EXPECT_EQ(valuesOf(output).back(), 3);
}

TEST(FixedPoint, HardSwishSaturatesAtAnyScale) {
  ThreadPool threads(1);
  Tensor output(DataType::I8, Shape({3}));
  fixedHardSwish({bytes({3}, {-7, 0, 7}), {1e30, 0}}, {{1e30, 0}, kBytes}, output, threads);
  EXPECT_EQ(valuesOf(output), (std::vector<int8_t>{0, 0, 7}));
}

TEST(FixedPoint, LeakyReluScalesBothSigns) {
  ThreadPool threads(1);
  const Tensor input = bytes({3}, {-20, 0, 20});
  Tensor output(DataType::I8, Shape({3}));
  fixedLeakyRelu({input, {1, 0}}, 0.25, {{2, 1}, kBytes}, output, threads);
  EXPECT_EQ(valuesOf(output), (std::vector<int8_t>{-2, 1, 11}));
}

TEST(FixedPoint, HardSwishIsThatOfTheNumbers) {
  ThreadPool threads(1);
  const Tensor input = allBytes({256});
  Tensor output(DataType::I8, Shape({256}));
  fixedHardSwish({input, {0.05, -5}}, {{0.04, 2}, kBytes}, output, threads);
  for (int value = -128; value < 128; ++value) {
    const double x = 0.05 * (value + 5);
    const double wanted = x * std::clamp(x + 3, 0.0, 6.0) / 6 / 0.04 + 2;
    EXPECT_NEAR(output.data<int8_t>()[static_cast<size_t>(value + 128)],
                std::clamp(wanted, -128.0, 127.0), 0.75)
        << value;
  }
}
