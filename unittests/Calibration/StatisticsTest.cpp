//===- StatisticsTest.cpp -------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/Statistics.h"

#include <gmock/gmock.h>
#include <numeric>
#include <random>

using namespace tpuc;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> normal(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = static_cast<float>(int64_t(generator() % 2000001) - 1000000) / 1e5F;
  return values;
}

TEST(TensorRange, FindsTheEndsInEveryPlace) {
  for (size_t size : {1, 2, 7, 1023, 1024, 1025, 3000})
    for (size_t at : {size_t(0), size / 2, size - 1}) {
      std::vector<float> values(size, 0.25F);
      values[at] = -3;
      TensorRange range;
      range.add(values);
      EXPECT_EQ(range.min(), -3) << size << " " << at;
      EXPECT_EQ(range.max(), size == 1 ? -3 : 0.25F) << size << " " << at;
      EXPECT_EQ(range.absMax(), 3);
      EXPECT_EQ(range.numFinite(), int64_t(size));
    }
}

TEST(TensorRange, LeavesOutWhatIsNotFinite) {
  TensorRange range;
  range.add(std::vector<float>{1, kInfinity, -2, kNan, -kInfinity, -kNan});
  EXPECT_EQ(range.min(), -2);
  EXPECT_EQ(range.max(), 1);
  EXPECT_EQ(range.numFinite(), 2);
  EXPECT_EQ(range.numInfinite(), 2);
  EXPECT_EQ(range.numNan(), 2);
}

TEST(TensorRange, IsZeroWithoutValuesAndNeverMinusZero) {
  TensorRange none;
  EXPECT_EQ(none.min(), 0);
  EXPECT_EQ(none.absMax(), 0);
  TensorRange zero;
  zero.add(std::vector<float>{-0.0F});
  EXPECT_FALSE(std::signbit(zero.min()));
  EXPECT_FALSE(std::signbit(zero.max()));
}

TEST(Histogram, CountsMagnitudesAndZerosApart) {
  Histogram histogram(4, 8);
  histogram.add(std::vector<float>{0, -0.0F, 0.1F, -0.6F, 4, -4, 3.4F, kNan, kInfinity});
  EXPECT_THAT(histogram.counts(), testing::ElementsAre(1, 1, 0, 0, 0, 0, 1, 2));
  EXPECT_EQ(histogram.numZeros(), 2);
  EXPECT_EQ(histogram.numValues(), 7);
}

TEST(Histogram, KnowsTheMeans) {
  const std::vector<float> values = normal(5000, 3);
  double sum = 0;
  double squares = 0;
  float absMax = 0;
  for (float value : values) {
    sum += std::abs(double(value));
    squares += double(value) * double(value);
    absMax = std::max(absMax, std::abs(value));
  }
  Histogram histogram(absMax, 128);
  histogram.add(values);
  EXPECT_NEAR(histogram.meanMagnitude(), sum / 5000, 2e-6 * absMax);
  EXPECT_NEAR(histogram.meanSquare(), squares / 5000, 4e-6 * absMax * absMax);
}

TEST(Histogram, HoldsTheSmallestAndLargestRanges) {
  for (float absMax : {1e-44F, 1e-38F, 3e38F}) {
    Histogram histogram(absMax, 2048);
    histogram.add(std::vector<float>{absMax, -absMax, 0});
    EXPECT_EQ(histogram.numValues(), 3) << absMax;
    EXPECT_EQ(histogram.numZeros(), 1) << absMax;
  }
  Histogram empty(0, 128);
  empty.add(std::vector<float>{0, 0});
  EXPECT_EQ(empty.numZeros(), 2);
}

/// Parts of the values, added in several orders, and all at once.
TEST(Statistics, AreTheSameInWhicheverOrderPartsAreMerged) {
  const std::vector<float> values = normal(10007, 5);
  TensorRange allRange;
  allRange.add(values);
  Histogram all(allRange.absMax(), 256);
  all.add(values);
  std::vector<size_t> order(7);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 generator(1);
  for (int round = 0; round < 10; ++round) {
    TensorRange range;
    Histogram histogram(allRange.absMax(), 256);
    for (size_t part : order) {
      const size_t begin = values.size() * part / order.size();
      const size_t end = values.size() * (part + 1) / order.size();
      const std::span<const float> piece = std::span(values).subspan(begin, end - begin);
      TensorRange partRange;
      partRange.add(piece);
      range.merge(partRange);
      Histogram partHistogram(allRange.absMax(), 256);
      partHistogram.add(piece);
      histogram.merge(partHistogram);
    }
    EXPECT_EQ(range, allRange);
    EXPECT_EQ(histogram, all);
    std::shuffle(order.begin(), order.end(), generator);
  }
}

} // namespace
