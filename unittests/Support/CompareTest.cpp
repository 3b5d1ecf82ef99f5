//===- CompareTest.cpp - Tests of the comparison of tensors ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Compare.h"

#include "tpuc/Support/Convert.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace tpuc;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor floats(std::initializer_list<float> values) {
  return Tensor::of<float>({static_cast<int64_t>(values.size())}, values);
}

Tensor randomTensor(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  Tensor tensor(DataType::F32, {count});
  for (float &value : tensor.mutableData<float>())
    value = normal(generator);
  return tensor;
}

TEST(Compare, FollowsTheFormulas) {
  // |x| = 5, |y| = sqrt(20), <x,y> = 20, |x-y| = sqrt(5), |(x+y)/2| = sqrt(85)/2.
  TensorComparison c = compareTensors(floats({3, 4}), floats({4, 2}));
  EXPECT_DOUBLE_EQ(c.cosine, 20 / (5 * std::sqrt(20.0)));
  EXPECT_DOUBLE_EQ(c.euclid, 1 - std::sqrt(5.0) / (std::sqrt(85.0) / 2));
  EXPECT_DOUBLE_EQ(c.snr, 10 * std::log10(20.0 / 5));
  EXPECT_EQ(c.maxDifference, 2);
  EXPECT_EQ(c.maxIndex, 1);
  EXPECT_EQ(c.targetText, "4");
  EXPECT_EQ(c.referenceText, "2");
  EXPECT_FALSE(c.isEqual);
}

TEST(Compare, EqualTensors) {
  TensorComparison c = compareTensors(floats({1, -2, 0}), floats({1, -2, -0.0F}));
  EXPECT_TRUE(c.isEqual);
  EXPECT_EQ(c.cosine, 1);
  EXPECT_EQ(c.euclid, 1);
  EXPECT_EQ(c.snr, kInfinity);
  EXPECT_EQ(c.maxIndex, -1);
  EXPECT_TRUE(c.passes({1, 1}));
}

TEST(Compare, ZerosAndNothing) {
  EXPECT_TRUE(compareTensors(floats({0, 0}), floats({0, 0})).isEqual);
  EXPECT_TRUE(compareTensors(floats({}), floats({})).passes({1, 1}));

  TensorComparison one = compareTensors(floats({0, 0}), floats({1, 2}));
  EXPECT_EQ(one.cosine, 0);
  EXPECT_DOUBLE_EQ(one.euclid, -1);
  EXPECT_DOUBLE_EQ(one.snr, 0);
  EXPECT_EQ(compareTensors(floats({1, 2}), floats({0, 0})).snr, -kInfinity);

  TensorComparison opposite = compareTensors(floats({1, 2}), floats({-1, -2}));
  EXPECT_DOUBLE_EQ(opposite.cosine, -1);
  EXPECT_EQ(opposite.euclid, -kInfinity);
}

TEST(Compare, NansAndInfinitiesInTheSamePlacesAreEqual) {
  TensorComparison c =
      compareTensors(floats({kNan, kInf, -kInf, 1}), floats({kNan, kInf, -kInf, 1}));
  EXPECT_TRUE(c.isEqual);
  EXPECT_TRUE(c.passes({1, 1}));
  // They do not hide what differs elsewhere.
  TensorComparison other = compareTensors(floats({kNan, 3, 4}), floats({kNan, 4, 2}));
  EXPECT_DOUBLE_EQ(other.cosine, 20 / (5 * std::sqrt(20.0)));
  EXPECT_EQ(other.maxIndex, 2);
}

TEST(Compare, OtherNansAndInfinitiesFail) {
  for (auto [x, y] : {std::pair{kNan, 1.0F},
                      {1.0F, kNan},
                      {kInf, -kInf},
                      {kInf, 1.0F},
                      {1.0F, kInf},
                      {kNan, kInf}}) {
    TensorComparison c = compareTensors(floats({2, x, 3, x}), floats({2, y, 3, y}));
    EXPECT_FALSE(c.isEqual);
    EXPECT_EQ(c.nonFiniteMismatches, 2);
    EXPECT_EQ(c.firstNonFinite, 1);
    EXPECT_FALSE(c.passes({-1, -100}));
  }
  TensorComparison c = compareTensors(floats({2, kNan}), floats({2, 1}));
  EXPECT_EQ(c.failure({0.9, 0.9}), "nan against 1 at [1], 1 such element");
}

TEST(Compare, Integers64KeepAllDigits) {
  constexpr int64_t kBig = int64_t(1) << 60;
  Tensor x = Tensor::of<int64_t>({3}, {kBig, kBig + 1, 0});
  Tensor y = Tensor::of<int64_t>({3}, {kBig, kBig, 0});
  TensorComparison c = compareTensors(x, y);
  EXPECT_FALSE(c.isEqual);
  EXPECT_EQ(c.maxDifferenceText, "1");
  EXPECT_EQ(c.maxIndex, 1);
  EXPECT_EQ(c.targetText, "1152921504606846977");
  EXPECT_EQ(c.referenceText, "1152921504606846976");
  EXPECT_LT(c.euclid, 1);
  EXPECT_FALSE(c.passes({1, 1}));
  EXPECT_TRUE(c.passes({0.99, 0.99}));

  TensorComparison far =
      compareTensors(Tensor::of<int64_t>({1}, {std::numeric_limits<int64_t>::min()}),
                     Tensor::of<uint64_t>({1}, {std::numeric_limits<uint64_t>::max()}));
  EXPECT_EQ(far.maxDifferenceText, "27670116110564327423");
}

TEST(Compare, TheFirstOfEqualDifferencesOfIntegers) {
  Tensor x = Tensor::of<int64_t>({4}, {5, 7, 9, 7});
  Tensor y = Tensor::of<int64_t>({4}, {5, 5, 9, 9});
  EXPECT_EQ(compareTensors(x, y).maxIndex, 1);
}

TEST(Compare, MixedTypes) {
  Tensor y = floats({1, -2, 3, 0.5});
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F64, DataType::F8E4M3FN}) {
    TensorComparison c = compareTensors(convert(y, type), y);
    EXPECT_TRUE(c.isEqual) << dataTypeName(type);
    EXPECT_EQ(c.targetType, type);
  }
  Tensor small = floats({1, -2, 3, -8, 7});
  EXPECT_TRUE(compareTensors(convert(small, DataType::I4), small).isEqual);
  EXPECT_TRUE(compareTensors(convert(small, DataType::I4), convert(small, DataType::I64)).isEqual);
  EXPECT_TRUE(compareTensors(Tensor::of<bool>({2}, {true, false}), floats({1, 0})).isEqual);
}

TEST(Compare, ShapesThatCanAndCannotBeCompared) {
  EXPECT_EQ(relateShapes({2, 3}, {2, 3}), ShapeRelation::Same);
  EXPECT_EQ(relateShapes({1, 2, 1, 3}, {2, 3, 1}), ShapeRelation::Squeezed);
  EXPECT_EQ(relateShapes({}, {1}), ShapeRelation::Squeezed);
  EXPECT_EQ(relateShapes({6}, {2, 3}), ShapeRelation::Reshaped);
  EXPECT_EQ(relateShapes({2, 3}, {2, 4}), ShapeRelation::Mismatch);
  EXPECT_EQ(relateShapes({0, 3}, {0}), ShapeRelation::Reshaped);

  TensorComparison c = compareTensors(Tensor(DataType::F32, {2, 3}), Tensor(DataType::F32, {7}));
  EXPECT_FALSE(c.isComparable());
  EXPECT_FALSE(c.isEqual);
  EXPECT_FALSE(c.passes({-1, -100}));
  EXPECT_EQ(c.failure({}), "shape [2, 3] against [7]");
}

TEST(Compare, NamesTheFigureThatFails) {
  TensorComparison c = compareTensors(floats({3, 4}), floats({4, 2}));
  EXPECT_EQ(c.failure({0.9, 0.9}), "cosine 0.894427 below 0.9, euclid 0.514928 below 0.9");
  EXPECT_EQ(c.failure({0.9, 0}), "cosine 0.894427 below 0.9");
  EXPECT_EQ(c.failure({0.5, 0.9}), "euclid 0.514928 below 0.9");
  EXPECT_EQ(c.failure({0.5, 0.5}), "");
}

TEST(Compare, SquaresMayLeaveTheRangeOfDoubles) {
  for (double scale : {1e200, 1e-200}) {
    Tensor x = Tensor::of<double>({2}, {3 * scale, 4 * scale});
    Tensor y = Tensor::of<double>({2}, {4 * scale, 2 * scale});
    TensorComparison c = compareTensors(x, y);
    EXPECT_NEAR(c.cosine, 20 / (5 * std::sqrt(20.0)), 1e-15);
    EXPECT_NEAR(c.euclid, 1 - std::sqrt(5.0) / (std::sqrt(85.0) / 2), 1e-15);
    EXPECT_EQ(c.maxIndex, 1);
  }
}

TEST(Compare, DoesNotDependOnTheNumberOfThreads) {
  constexpr int64_t kCount = 1'000'003;
  Tensor x = randomTensor(kCount, 1);
  Tensor y = randomTensor(kCount, 2);
  TensorComparison one = compareTensors(x, y);
  for (unsigned numThreads : {1, 2, 3, 8}) {
    ThreadPool threads(numThreads);
    TensorComparison many = compareTensors(x, y, &threads);
    EXPECT_EQ(one.cosine, many.cosine);
    EXPECT_EQ(one.euclid, many.euclid);
    EXPECT_EQ(one.snr, many.snr);
    EXPECT_EQ(one.maxIndex, many.maxIndex);
  }
}

TEST(Compare, LongSumsKeepTheirPrecision) {
  // A running f32 sum would stop growing at 2^24.
  constexpr int64_t kCount = 20'000'000;
  Tensor x(DataType::F32, {kCount});
  for (float &value : x.mutableData<float>())
    value = 0.1F;
  Tensor y = x.clone();
  y.mutableData<float>()[kCount - 1] = 0.2F;
  TensorComparison c = compareTensors(x, y);
  double a = 0.1F;
  double b = 0.2F;
  double n = kCount;
  EXPECT_NEAR(c.euclid, 1 - (b - a) / std::sqrt((n - 1) * a * a + (a + b) * (a + b) / 4), 1e-12);
  EXPECT_EQ(c.maxIndex, kCount - 1);
}

TEST(Compare, FindsWhatDiffersAnywhereInABlock) {
  for (int64_t at : {0, 7, 8, 4095, 4096, 8190, 8191}) {
    Tensor x(DataType::F32, {8192});
    Tensor y(DataType::F32, {8192});
    x.mutableData<float>()[static_cast<size_t>(at)] = -1;
    TensorComparison c = compareTensors(x, y);
    EXPECT_EQ(c.maxIndex, at);
    EXPECT_EQ(c.euclid, -1);
    x.mutableData<float>()[static_cast<size_t>(at)] = kNan;
    EXPECT_EQ(compareTensors(x, y).firstNonFinite, at);
  }
}

TEST(Compare, IndexText) {
  EXPECT_EQ(indexText({2, 3, 4}, 23), "[1, 2, 3]");
  EXPECT_EQ(indexText({2, 3, 4}, 4), "[0, 1, 0]");
  EXPECT_EQ(indexText({}, 0), "[]");
}

TEST(Compare, TakesTheLargestOfATypeForInfinity) {
  // What saturates, and the numbers of masks, beside infinities of the same sign.
  const Tensor half =
      convert(Tensor::of<float>({5}, {-65504, 65504, -kInf, kInf, 2}), DataType::F16);
  const Tensor mask = Tensor::of<float>({5}, {-kInf, kInf, -3.4e38F, 1e30F, 2});
  const TensorComparison alike = compareTensors(half, mask);
  EXPECT_EQ(alike.nonFiniteMismatches, 0);
  EXPECT_FALSE(alike.isEqual);
  EXPECT_TRUE(alike.passes({1, 0.999999}));
  EXPECT_FALSE(alike.passes({1, 1}));
  // Both finite, of different types: the mask does not hide the rest.
  const TensorComparison rest =
      compareTensors(convert(Tensor::of<float>({3}, {-65504, 1, 0}), DataType::F16),
                     Tensor::of<float>({3}, {-3.4e38F, 0, 1}));
  EXPECT_EQ(rest.cosine, 0);
  // Another sign, a number that F16 cannot hold, one that F32 does.
  EXPECT_EQ(compareTensors(Tensor::of<float>({1}, {kInf}), Tensor::of<float>({1}, {-3e38F}))
                .nonFiniteMismatches,
            1);
  EXPECT_EQ(compareTensors(convert(Tensor::of<float>({1}, {kInf}), DataType::F16),
                           Tensor::of<float>({1}, {70000}))
                .nonFiniteMismatches,
            1);
  EXPECT_EQ(compareTensors(Tensor::of<float>({1}, {65504}), Tensor::of<float>({1}, {kInf}))
                .nonFiniteMismatches,
            1);
  // Finite numbers of one type are compared as they are.
  EXPECT_FALSE(
      compareTensors(Tensor::of<float>({2}, {1e31F, 0}), Tensor::of<float>({2}, {0, 1e31F}))
          .passes({0.5, 0.5}));
}

} // namespace
