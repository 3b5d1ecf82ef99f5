//===- TensorTextTest.cpp - Tests of tensors as text ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/TensorText.h"

#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Elements.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tpuc;

namespace {

TEST(Elements, TextKeepsAllDigits) {
  EXPECT_EQ(elementText(Tensor::of<int64_t>({1}, {std::numeric_limits<int64_t>::min()}), 0),
            "-9223372036854775808");
  EXPECT_EQ(elementText(Tensor::of<uint64_t>({1}, {std::numeric_limits<uint64_t>::max()}), 0),
            "18446744073709551615");
  EXPECT_EQ(elementText(Tensor::of<float>({2}, {0.1F, -2}), 0), "0.1");
  EXPECT_EQ(elementText(Tensor::of<double>({1}, {0.1}), 0), "0.1");
  EXPECT_EQ(elementText(Tensor::of<bool>({2}, {false, true}), 1), "true");
}

TEST(Elements, FourBitTypesAtOddPlaces) {
  Tensor nibbles = convert(Tensor::of<int32_t>({5}, {1, -8, 7, -1, 3}), DataType::I4);
  std::string all;
  for (int64_t i = 0; i < 5; ++i)
    all += elementText(nibbles, i) + " ";
  EXPECT_EQ(all, "1 -8 7 -1 3 ");
}

TEST(TensorText, NestedBrackets) {
  EXPECT_EQ(tensorText(Tensor::of<float>({2, 2}, {1.5, 2.25, NAN, -3})),
            "[[ 1.50  2.25]\n [  nan -3.00]]");
  EXPECT_EQ(tensorText(Tensor::of<int32_t>({2, 1, 2}, {1, 20, 3, 4})), "[[[ 1 20]]\n\n [[ 3  4]]]");
  EXPECT_EQ(tensorText(Tensor::of<int64_t>({}, {7})), "7");
  EXPECT_EQ(tensorText(Tensor(DataType::F32, {0, 3})), "[]");
  EXPECT_EQ(tensorText(Tensor::of<float>({2}, {1, 2})), "[1 2]");
}

TEST(TensorText, Exponents) {
  EXPECT_EQ(tensorText(Tensor::of<float>({2}, {1e10F, 2})), "[1e+10 2e+00]");
  EXPECT_EQ(tensorText(Tensor::of<float>({2}, {1.5e-6F, 0})), "[1.5e-06 0.0e+00]");
}

TEST(TensorText, LargeTensorsAreSummarized) {
  Tensor tensor(DataType::I32, {2000});
  for (int32_t i = 0; i < 2000; ++i)
    tensor.mutableData<int32_t>()[static_cast<size_t>(i)] = i;
  EXPECT_EQ(tensorText(tensor), "[   0    1    2 ... 1997 1998 1999]");
  EXPECT_EQ(tensorText(tensor.reshaped({500, 4}), {.edgeItems = 1}),
            "[[   0 ...    3]\n ...\n [1996 ... 1999]]");
  TensorTextOptions full;
  full.threshold = 2000;
  std::string all = tensorText(tensor, full);
  EXPECT_EQ(all.find("..."), std::string::npos);
  EXPECT_NE(all.find(" 1000 "), std::string::npos);
  for (size_t start = 0, end = 0; end != std::string::npos; start = end + 1) {
    end = all.find('\n', start);
    EXPECT_LE(std::min(end, all.size()) - start, full.lineWidth + 1);
  }
}

TEST(TensorStatistics, CountsWhatIsNotFinite) {
  TensorStatistics figures = tensorStatistics(Tensor::of<float>({6}, {1, 3, 0, NAN, -INFINITY, 4}));
  EXPECT_EQ(figures.min, 0);
  EXPECT_EQ(figures.max, 4);
  EXPECT_EQ(figures.mean, 2);
  EXPECT_DOUBLE_EQ(figures.standardDeviation, std::sqrt(10.0 / 4));
  EXPECT_EQ(figures.zeros, 1);
  EXPECT_EQ(figures.nans, 1);
  EXPECT_EQ(figures.infinities, 1);
}

TEST(TensorStatistics, ManyBlocksFarFromZero) {
  constexpr int64_t kCount = 100'000;
  Tensor tensor(DataType::F64, {kCount});
  for (int64_t i = 0; i < kCount; ++i)
    tensor.mutableData<double>()[static_cast<size_t>(i)] = 1e9 + static_cast<double>(i % 2);
  TensorStatistics figures = tensorStatistics(tensor);
  EXPECT_DOUBLE_EQ(figures.mean, 1e9 + 0.5);
  EXPECT_NEAR(figures.standardDeviation, 0.5, 1e-9);
}

TEST(TensorStatistics, NothingFinite) {
  EXPECT_EQ(tensorStatistics(Tensor(DataType::F32, {0})).max, 0);
  EXPECT_EQ(tensorStatistics(Tensor::of<float>({1}, {NAN})).nans, 1);
}

} // namespace
