//===- IntegerNormTest.cpp - Norms, softmaxes and attention on integers ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the steps come to, against f64. That devices take the same steps is shown by their kernels'
// tests.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerNorm.h"
#include "tpuc/Support/BitExactMath.h"
#include "tpuc/Support/Convert.h"

#include <gmock/gmock.h>
#include <random>

using namespace tpuc;
using namespace tpuc::kernels;
using testing::FloatNear;

namespace {

Tensor randomIntegers(DataType type, const Shape &shape, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> number(type == DataType::I8 ? -128 : 0,
                                            type == DataType::I8 ? 127 : 255);
  Tensor wide(DataType::I32, shape);
  for (int32_t &value : wide.mutableData<int32_t>())
    value = number(generator);
  return convert(wide, type);
}

Tensor randomFloats(const Shape &shape, unsigned seed, float deviation) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> number(0, deviation);
  Tensor tensor(DataType::F32, shape);
  for (float &value : tensor.mutableData<float>())
    value = number(generator);
  return tensor;
}

std::vector<double> asDoubles(const Tensor &tensor) {
  const Tensor wide = convert(tensor, DataType::F64);
  return {wide.data<double>().begin(), wide.data<double>().end()};
}

TEST(BitExactMath, RootsAndWeights) {
  EXPECT_THAT(steps::reciprocalRoot(4), FloatNear(0.5, 1e-7));
  EXPECT_THAT(steps::reciprocal(3.7e5F) * 3.7e5F, FloatNear(1, 5e-7));
  EXPECT_EQ(steps::weightOf(0, 15), 32768);
  EXPECT_EQ(steps::weightOf(-1, 15), 16384);
  EXPECT_EQ(steps::weightOf(-16.5F, 15), 0);
  EXPECT_EQ(steps::weightOf(-1e30F, 15), 0);
  // Half of 2^15 less the polynomial's error.
  EXPECT_THAT(steps::weightOf(-0.5F, 15), FloatNear(23170, 1));
  for (int64_t count : {1, 2, 197, 257, 4096})
    EXPECT_LE(count << steps::weightBits(count), 1 << 23) << count;
  EXPECT_EQ(steps::weightBits(197), 15);
}

void expectNorm(DataType type, int64_t length, double offset) {
  ThreadPool threads(1);
  // A row whose deviation is small beside its mean, and one without any.
  Tensor wide = convert(randomIntegers(type, {3, length}, 1), DataType::I32).clone();
  for (int64_t i = 0; i < length; ++i) {
    wide.mutableData<int32_t>()[static_cast<size_t>(length + i)] =
        static_cast<int32_t>(100 + i % 2);
    wide.mutableData<int32_t>()[static_cast<size_t>(2 * length + i)] = 100;
  }
  const Tensor input = convert(wide, type);
  const Tensor weight = randomFloats({length}, 2, 1);
  const Tensor bias = randomFloats({length}, 3, 1);
  constexpr double kScale = 0.03;
  const double epsilon = 1e-5;
  Tensor output(DataType::F32, {3, length});
  integerLayerNorm(input, kScale, &weight, &bias, 1, epsilon, output, threads);
  const std::vector<double> values = asDoubles(input);
  const std::vector<double> weights = asDoubles(weight);
  const std::vector<double> biases = asDoubles(bias);
  for (int64_t row = 0; row < 3; ++row) {
    const double *x = values.data() + row * length;
    double mean = 0;
    double squares = 0;
    for (int64_t i = 0; i < length; ++i)
      mean += (x[i] - offset) * kScale / static_cast<double>(length);
    for (int64_t i = 0; i < length; ++i)
      squares += std::pow((x[i] - offset) * kScale - mean, 2) / static_cast<double>(length);
    for (int64_t i = 0; i < length; ++i) {
      const double wanted = ((x[i] - offset) * kScale - mean) / std::sqrt(squares + epsilon) *
                                weights[static_cast<size_t>(i)] +
                            biases[static_cast<size_t>(i)];
      EXPECT_NEAR(output.data<float>()[static_cast<size_t>(row * length + i)], wanted, 2e-6)
          << row << ", " << i;
    }
  }
}

TEST(IntegerNorm, IsALayerNormOfWhatTheIntegersStandFor) {
  expectNorm(DataType::I8, 192, 7);
  expectNorm(DataType::U8, steps::kLongestNorm, 0);
}

TEST(IntegerNorm, WithoutParameters) {
  ThreadPool threads(1);
  const Tensor input = Tensor::of<int8_t>({1, 4}, {-1, 1, -1, 1});
  Tensor output(DataType::F32, {1, 4});
  integerLayerNorm(input, 1, nullptr, nullptr, 1, 0, output, threads);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_THAT(output.data<float>()[i], FloatNear(i % 2 == 0 ? -1 : 1, 1e-6));
}

/// The shares of a softmax in f64.
std::vector<double> shares(std::vector<double> scores) {
  const double most = *std::ranges::max_element(scores);
  double sum = 0;
  for (double &score : scores)
    sum += score = std::exp(score - most);
  for (double &score : scores)
    score /= sum;
  return scores;
}

TEST(IntegerSoftmax, IsWithinTheStepOfItsIntegers) {
  ThreadPool threads(2);
  for (int64_t length : {1, 40, 197, 4096}) {
    const Tensor input = randomFloats({5, length}, 4, 3);
    const QuantParams params{1.0 / 255, -128};
    Tensor output(DataType::I8, input.shape());
    integerSoftmax(input, 0.5, params, output, threads);
    for (int64_t row = 0; row < 5; ++row) {
      std::vector<double> scores = asDoubles(input.reshaped({5 * length}));
      scores = {scores.begin() + row * length, scores.begin() + (row + 1) * length};
      for (double &score : scores)
        score *= 0.5;
      scores = shares(scores);
      for (int64_t i = 0; i < length; ++i)
        EXPECT_NEAR(output.data<int8_t>()[static_cast<size_t>(row * length + i)],
                    scores[static_cast<size_t>(i)] * 255 - 128, 0.51);
    }
  }
}

TEST(IntegerAttention, IsWithinTheStepOfItsIntegers) {
  ThreadPool threads(2);
  // Rows of two heads of 8 elements; keys and values of one, which both share.
  const Tensor query = randomIntegers(DataType::I8, {2, 5, 16}, 1);
  const Tensor key = randomIntegers(DataType::U8, {2, 70, 8}, 2);
  const Tensor value = randomIntegers(DataType::I8, {2, 70, 6}, 3);
  const IntegerAttentionParams params{.query = {0.02, 3},
                                      .key = {0.01, 0},
                                      .value = {0.5, -20},
                                      .output = {0.4, 11},
                                      .queryHeads = 2,
                                      .keyHeads = 1,
                                      .scale = 0.3};
  Tensor output(DataType::I8, {2, 5, 12});
  integerAttention(query, key, value, params, output, threads);
  const auto numbers = [](const Tensor &tensor, const QuantParams &stored) {
    std::vector<double> all = asDoubles(tensor);
    for (double &number : all)
      number = (number - static_cast<double>(stored.zeroPoint)) * stored.scale;
    return all;
  };
  const std::vector<double> q = numbers(query, params.query);
  const std::vector<double> k = numbers(key, params.key);
  const std::vector<double> v = numbers(value, params.value);
  for (size_t row = 0; row < 20; ++row) {
    const size_t batch = row / 10;
    std::vector<double> scores(70);
    for (size_t j = 0; j < 70; ++j)
      for (size_t d = 0; d < 8; ++d)
        scores[j] += params.scale * q[row * 8 + d] * k[(batch * 70 + j) * 8 + d];
    scores = shares(scores);
    for (size_t e = 0; e < 6; ++e) {
      double mean = 0;
      for (size_t j = 0; j < 70; ++j)
        mean += scores[j] * v[(batch * 70 + j) * 6 + e];
      EXPECT_NEAR(output.data<int8_t>()[row * 6 + e], mean / 0.4 + 11, 0.51);
    }
  }
}

} // namespace
