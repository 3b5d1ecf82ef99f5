//===- FixedPoint16Test.cpp - Ops on 16-bit integers with a scale ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/FixedPoint16.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

template <typename T> Tensor random(DataType type, const Shape &shape, int low, int high) {
  static std::mt19937 engine(7);
  std::uniform_int_distribution<int> numbers(low, high);
  Tensor made(type, shape);
  for (T &value : made.mutableData<T>())
    value = static_cast<T>(numbers(engine));
  return made;
}

/// All integers of 16 bits.
Tensor everyInteger() {
  Tensor all(DataType::I16, Shape({1 << 16}));
  std::iota(all.mutableData<int16_t>().begin(), all.mutableData<int16_t>().end(), int16_t(-32768));
  return all;
}

WideRequant requantOf(double scale) {
  return {.factors = {fixedPoint(scale)}, .range = integerRange<int16_t>()};
}

} // namespace

TEST(FixedPoint16, MultipliersHaveFifteenBits) {
  // 0.3 is 19661 / 2^16 in 15 bits; 10^12 times that needs more than 32 bits.
  EXPECT_EQ(scaledWide(1'000'000'000'000, fixedPoint(0.3)),
            (1'000'000'000'000 * 19661 + (1 << 15)) >> 16);
  EXPECT_EQ(scaledWide(-5, fixedPoint(0.5)), -2);
  EXPECT_EQ(scaledWide(5, fixedPoint(0.5)), 3);
  EXPECT_EQ(scaledWide(3, fixedPoint(4)), 12);
}

TEST(FixedPoint16, ConvolutionsSumIn64Bits) {
  const Tensor input = random<int16_t>(DataType::I16, Shape({2, 4, 5, 6}), -32768, 32767);
  const Tensor filter = random<int8_t>(DataType::I8, Shape({6, 2, 3, 2}), -127, 127);
  const Tensor bias = Tensor::of<int64_t>({6}, {1LL << 40, -5, 0, 7, -(1LL << 36), 99});
  const WindowParams window{{3, 2}, {2, 1}, {1, 2}, {1, 0}, {1, 1}};
  Tensor output(DataType::I16, Shape({2, 6, 3, 5}));
  ThreadPool threads(2);
  const WideRequant requant = requantOf(0.0031);
  wideConvolve(input, filter, &bias, window, 2, requant, output, threads);
  const auto in = input.data<int16_t>();
  const auto weights = filter.data<int8_t>();
  size_t index = 0;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t m = 0; m < 6; ++m)
      for (int64_t y = 0; y < 3; ++y)
        for (int64_t x = 0; x < 5; ++x) {
          int64_t sum = bias.data<int64_t>()[static_cast<size_t>(m)];
          for (int64_t c = 0; c < 2; ++c)
            for (int64_t i = 0; i < 3; ++i)
              for (int64_t j = 0; j < 2; ++j) {
                const int64_t row = y * 2 + i - 1;
                const int64_t column = x + 2 * j;
                if (row >= 0 && row < 5 && column < 6)
                  sum += int64_t(in[static_cast<size_t>(((n * 4 + m / 3 * 2 + c) * 5 + row) * 6 +
                                                        column)]) *
                         weights[static_cast<size_t>(((m * 2 + c) * 3 + i) * 2 + j)];
              }
          const int64_t wanted =
              std::clamp<int64_t>(scaledWide(sum, requant.factors[0]), -32768, 32767);
          ASSERT_EQ(output.data<int16_t>()[index++], wanted) << n << m << y << x;
        }
}

TEST(FixedPoint16, ProductsOfTransposedMatrices) {
  const Tensor left = random<int16_t>(DataType::I16, Shape({2, 1, 5, 4}), -3000, 3000);
  const Tensor right = random<int16_t>(DataType::I16, Shape({3, 6, 5}), -3000, 3000);
  Tensor output(DataType::I16, Shape({2, 3, 4, 6}));
  ThreadPool threads(2);
  const WideRequant requant = requantOf(0.0002);
  wideMatMul({left, {}}, {right, {}}, nullptr, {true, true}, requant, output, threads);
  for (size_t n = 0; n < 2; ++n)
    for (size_t b = 0; b < 3; ++b)
      for (size_t row = 0; row < 4; ++row)
        for (size_t column = 0; column < 6; ++column) {
          int64_t sum = 0;
          for (size_t k = 0; k < 5; ++k)
            sum += int64_t(left.data<int16_t>()[(n * 5 + k) * 4 + row]) *
                   right.data<int16_t>()[(b * 6 + column) * 5 + k];
          ASSERT_EQ(output.data<int16_t>()[((n * 3 + b) * 4 + row) * 6 + column],
                    scaledWide(sum, requant.factors[0]));
        }
}

TEST(FixedPoint16, ProductsOfBytesAreRoundedTwice) {
  const Tensor left = Tensor::of<int8_t>({1, 2}, {-100, 50});
  const Tensor right = Tensor::of<int8_t>({2, 1}, {7, -9});
  Tensor output(DataType::I8, Shape({1, 1}));
  ThreadPool threads(1);
  WideRequant requant{.factors = {fixedPoint(0.125)},
                      .range = integerRange<int8_t>(),
                      .rounding = SumRounding::Twice,
                      .zeroPoint = 3};
  wideMatMul({left, {1, 4}}, {right, {1, 1}}, nullptr, {}, requant, output, threads);
  // -104 * 6 + 46 * -10 = -1084; an eighth is -135.5, away from zero -136, and 3 more.
  EXPECT_EQ(output.data<int8_t>()[0], -128);
  requant.factors = {fixedPoint(0.0625)};
  wideMatMul({left, {1, 4}}, {right, {1, 1}}, nullptr, {}, requant, output, threads);
  EXPECT_EQ(output.data<int8_t>()[0], -68 + 3);
}

// The tables are off by less than two steps of the result, and never run backwards.
TEST(FixedPoint16, FunctionsAreNear) {
  const Tensor all = everyInteger();
  ThreadPool threads(2);
  for (double scale : {0x1p-12, 0x1p-11, 0.0004, 0.0011, 3.0, 1e9}) {
    Tensor sigmoid(DataType::I16, all.shape());
    Tensor tanh(DataType::I16, all.shape());
    wideSigmoid({all, {scale, 0}}, sigmoid, threads);
    wideTanh({all, {scale, 0}}, tanh, threads);
    for (size_t i = 0; i < 1 << 16; ++i) {
      const double x = scale * all.data<int16_t>()[i];
      ASSERT_NEAR(sigmoid.data<int16_t>()[i], 32768 / (1 + std::exp(-x)), 1.9) << x;
      ASSERT_NEAR(tanh.data<int16_t>()[i], 32768 * std::tanh(x), 3.5) << x;
      if (i > 0)
        ASSERT_GE(tanh.data<int16_t>()[i], tanh.data<int16_t>()[i - 1]);
    }
  }
}

TEST(FixedPoint16, SharesAddUp) {
  const Tensor input = random<int16_t>(DataType::I16, Shape({40, 11}), -32768, 32767);
  Tensor output(DataType::I16, input.shape());
  ThreadPool threads(2);
  wideSoftmax({input, {0.0003, 0}}, 0.5, output, threads);
  for (size_t row = 0; row < 40; ++row) {
    double sum = 0;
    for (size_t i = 0; i < 11; ++i)
      sum += std::exp(0.00015 * input.data<int16_t>()[row * 11 + i]);
    for (size_t i = 0; i < 11; ++i)
      ASSERT_NEAR(output.data<int16_t>()[row * 11 + i],
                  32768 * std::exp(0.00015 * input.data<int16_t>()[row * 11 + i]) / sum, 12);
  }
}

// The longest row whose sum has 31 bits: all elements are alike, so each has half a step.
TEST(FixedPoint16, LongestRowOfShares) {
  const Tensor input(DataType::I16, Shape({1, kMostWideShares}));
  Tensor output(DataType::I16, input.shape());
  ThreadPool threads(2);
  wideSoftmax({input, {0.0003, 0}}, 1, output, threads);
  for (int16_t share : output.data<int16_t>())
    ASSERT_EQ(share, output.data<int16_t>()[0]);
  EXPECT_LE(output.data<int16_t>()[0], 1);
  EXPECT_GE(output.data<int16_t>()[0], 0);
}
