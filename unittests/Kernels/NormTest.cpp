//===- NormTest.cpp - Normalization ---------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Norm.h"
#include "tpuc/Support/Convert.h"
#include "unittests/Kernels/TestTensors.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::kernels;
using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::FloatEq;

namespace {

/// Two samples, two channels, two positions: mean 2 and variance 1 or 4 in each channel.
const std::vector<double> kInput = {1, 3, 0, 4, 3, 1, 4, 0};

Tensor input() { return Tensor::of<double>({2, 2, 2}, std::span<const double>(kInput)); }

TEST(NormTest, BatchStatisticsAndRunningOnes) {
  ThreadPool threads(2);
  Tensor mean = Tensor::of<double>({2}, {10, 20});
  Tensor variance = Tensor::of<double>({2}, {1, 1});
  Tensor gamma = Tensor::of<double>({2}, {1, 2});
  Tensor beta = Tensor::of<double>({2}, {0, 5});
  Tensor output(DataType::F64, {2, 2, 2}), meanOut(DataType::F64, {2}),
      varianceOut(DataType::F64, {2});
  batchNormTrain(input(), mean, variance, &gamma, &beta, 0, 0.5, output, meanOut, varianceOut,
                 threads);
  EXPECT_THAT(doubles(output), ElementsAre(-1, 1, 3, 7, 1, -1, 7, 3));
  EXPECT_THAT(doubles(meanOut), ElementsAre(6, 11));
  EXPECT_THAT(doubles(varianceOut), ElementsAre(1, 2.5));
  // Inference with the batch's own statistics is the same.
  Tensor again(DataType::F64, {2, 2, 2});
  batchNorm(input(), Tensor::of<double>({2}, {2, 2}), Tensor::of<double>({2}, {1, 4}), &gamma,
            &beta, 0, false, -1, again, threads);
  EXPECT_EQ(doubles(again), doubles(output));
}

TEST(NormTest, GroupsInstancesAndPixels) {
  ThreadPool threads(1);
  Tensor output(DataType::F64, {2, 2, 2});
  groupNorm(input(), nullptr, nullptr, 2, 0, output, threads);
  EXPECT_THAT(doubles(output), ElementsAre(-1, 1, -1, 1, 1, -1, 1, -1));
  groupNorm(input(), nullptr, nullptr, 1, 0, output, threads);
  double s = std::sqrt(2.5);
  EXPECT_THAT(doubles(output),
              ElementsAre(-1 / s, 1 / s, -2 / s, 2 / s, 1 / s, -1 / s, 2 / s, -2 / s));
  Tensor weight = Tensor::of<double>({2}, {1, 3});
  pixelNorm(input(), &weight, nullptr, 0, output, threads);
  EXPECT_THAT(doubles(output), ElementsAre(1, -1, -3, 3, -1, 1, 3, -3));
}

// More pixels than are added side by side, the last of them alone.
TEST(NormTest, PixelsAreNormalizedOneByOne) {
  ThreadPool threads(2);
  constexpr int64_t kChannels = 5, kPixels = 65;
  Tensor input(DataType::F32, {2, kChannels, kPixels});
  for (int64_t i = 0; i < input.numElements(); ++i)
    input.mutableData<float>()[i] = std::sin(static_cast<float>(i) * 1.3F);
  Tensor output(DataType::F32, input.shape());
  pixelNorm(input, nullptr, nullptr, 1e-3, output, threads);
  for (int64_t sample = 0; sample < 2; ++sample)
    for (int64_t pixel = 0; pixel < kPixels; ++pixel) {
      auto at = [&](const Tensor &tensor, int64_t channel) {
        return static_cast<double>(
            tensor.data<float>()[(sample * kChannels + channel) * kPixels + pixel]);
      };
      double mean = 0, variance = 0;
      for (int64_t channel = 0; channel < kChannels; ++channel)
        mean += at(input, channel) / kChannels;
      for (int64_t channel = 0; channel < kChannels; ++channel)
        variance += std::pow(at(input, channel) - mean, 2) / kChannels;
      for (int64_t channel = 0; channel < kChannels; ++channel)
        EXPECT_NEAR(at(output, channel), (at(input, channel) - mean) / std::sqrt(variance + 1e-3),
                    1e-5);
    }
}

TEST(NormTest, LayersGiveTheirStatistics) {
  ThreadPool threads(2);
  Tensor output(DataType::F16, {2, 4});
  Tensor mean(DataType::F32, {2, 1}), rstd(DataType::F32, {2, 1});
  Tensor source = convert(Tensor::of<float>({2, 4}, {1, 3, 1, 3, 0, 4, 0, 4}), DataType::F16);
  Tensor weight = convert(Tensor::of<float>({4}, {1, 1, 2, 2}), DataType::F16);
  Tensor bias = convert(Tensor::of<float>({1}, {10}), DataType::F16);
  layerNorm(source, &weight, &bias, 1, 0, output, &mean, &rstd, threads);
  EXPECT_THAT(doubles(output), ElementsAre(9, 11, 8, 12, 9, 11, 8, 12));
  EXPECT_THAT(mean.data<float>(), ElementsAre(2, 2));
  EXPECT_THAT(rstd.data<float>(), ElementsAre(1, 0.5F));
}

TEST(NormTest, ParametersBroadcastToTheNormalizedAxes) {
  ThreadPool threads(1);
  Tensor source = Tensor::of<double>({2, 2}, {1, -1, 1, -1});
  Tensor column = Tensor::of<double>({2, 1}, {3, 5});
  Tensor output(DataType::F64, {2, 2});
  rmsNorm(source, &column, 0, 0, 1, output, threads);
  EXPECT_THAT(doubles(output), ElementsAre(3, -3, 5, -5));
}

TEST(NormTest, HeadsHaveAMeanSquareEach) {
  ThreadPool threads(1);
  Tensor source = Tensor::of<double>({1, 4}, {3, 3, -2, 2});
  Tensor factors = Tensor::of<double>({4}, {1, 2, 3, 4});
  Tensor output(DataType::F64, {1, 4});
  rmsNorm(source, &factors, 1, 0, 2, output, threads);
  EXPECT_THAT(doubles(output), ElementsAre(1, 2, -3, 4));
}

TEST(NormTest, MeanAndVarianceOverScatteredAxes) {
  ThreadPool threads(1);
  Tensor output(DataType::F64, {2, 2, 2});
  meanVarianceNorm(input(), {0, 2}, 1, output, threads);
  EXPECT_THAT(doubles(output),
              ElementsAre(-0.5, 0.5, DoubleNear(-2.0 / 3, 1e-15), DoubleNear(2.0 / 3, 1e-15), 0.5,
                          -0.5, DoubleNear(2.0 / 3, 1e-15), DoubleNear(-2.0 / 3, 1e-15)));
}

TEST(NormTest, NormsAlongAnAxis) {
  ThreadPool threads(1);
  Tensor source = Tensor::of<double>({2, 2}, {3, 1, -4, 1});
  Tensor output(DataType::F64, {2, 2});
  normalize(source, 0, 1, output, threads);
  EXPECT_THAT(doubles(output), ElementsAre(3.0 / 7, 0.5, -4.0 / 7, 0.5));
  normalize(source, 0, 2, output, threads);
  EXPECT_THAT(doubles(output), ElementsAre(0.6, 1 / std::sqrt(2.0), -0.8, 1 / std::sqrt(2.0)));
  Tensor nothing(DataType::F64, {2, 2});
  normalize(nothing, 0, 2, output, threads);
  EXPECT_THAT(doubles(output), ElementsAre(0, 0, 0, 0));
}

TEST(NormTest, NeighbouringChannels) {
  ThreadPool threads(1);
  Tensor source = Tensor::of<double>({1, 4, 1}, {1, 2, 3, 4});
  Tensor output(DataType::F64, {1, 4, 1});
  // Two channels: the own one and the next.
  localResponseNorm(source, 2, 2, 1, 1, output, threads);
  EXPECT_THAT(doubles(output), ElementsAre(1.0 / 6, 2.0 / 14, 3.0 / 26, 4.0 / 17));
}

TEST(NormTest, LocalResponseNormWithinAChannel) {
  ThreadPool threads(1);
  Tensor source = Tensor::of<double>({1, 2, 2, 2}, {1, 2, 3, 4, 1, 1, 1, 1});
  Tensor output(DataType::F64, {1, 2, 2, 2});
  // The own row and column and the next, divided by 2 x 2.
  localResponseNormWithin(source, 2, 4, 1, 1, output, threads);
  EXPECT_THAT(doubles(output), ElementsAre(1.0 / 31, 2.0 / 21, 3.0 / 26, 4.0 / 17, 1.0 / 5, 1.0 / 3,
                                           1.0 / 3, 1.0 / 2));
  // All of it, however large the window.
  localResponseNormWithin(source, 5, 25, 1, 1, output, threads);
  EXPECT_THAT(doubles(output), ElementsAre(1.0 / 31, 2.0 / 31, 3.0 / 31, 4.0 / 31, 1.0 / 5, 1.0 / 5,
                                           1.0 / 5, 1.0 / 5));
}

TEST(NormTest, SoftmaxOfLargeNumbersAndItsLogarithm) {
  ThreadPool threads(1);
  Tensor source = Tensor::of<float>({2, 2}, {10000, 10001, 10000, 10000});
  Tensor output(DataType::F32, {2, 2});
  softmax(source, 0, 1, false, output, threads);
  float e = std::exp(1.0F);
  EXPECT_THAT(output.data<float>(),
              ElementsAre(0.5F, FloatEq(e / (1 + e)), 0.5F, FloatEq(1 / (1 + e))));
  softmax(source, 1, 1, true, output, threads);
  EXPECT_THAT(output.data<float>()[3], FloatEq(-std::log(2.0F)));
  EXPECT_THAT(output.data<float>()[0], FloatEq(-std::log(1 + e)));
}

// exp(-6) is less than half of what 1 is apart from its neighbour in bf16, so 1 remains 1 in each
// addition. In f16 the sum of all four is rounded.
TEST(NormTest, SoftmaxOf16BitsRoundsEachStep) {
  ThreadPool threads(1);
  Tensor source = Tensor::of<float>({4, 1}, {0, -6, -6, -6});
  Tensor output(DataType::BF16, {4, 1});
  softmax(convert(source, DataType::BF16), 0, 1, false, output, threads);
  EXPECT_THAT(doubles(output), ElementsAre(1, 0x1.44p-9, 0x1.44p-9, 0x1.44p-9));
  output = Tensor(DataType::F16, {4, 1});
  softmax(convert(source, DataType::F16), 0, 1, false, output, threads);
  EXPECT_THAT(doubles(output), ElementsAre(0x1.FCp-1, 0x1.428p-9, 0x1.428p-9, 0x1.428p-9));
}

TEST(NormTest, SoftmaxOfALongRowInBf16AddsAllElements) {
  ThreadPool threads(1);
  Tensor source = convert(Tensor(DataType::F32, {2048}), DataType::BF16);
  Tensor output(DataType::BF16, {2048});
  softmax(source, 0, 1, false, output, threads);
  EXPECT_THAT(doubles(output), Each(1.0 / 2048));
}

TEST(NormTest, HardmaxTakesTheFirst) {
  ThreadPool threads(1);
  Tensor source = Tensor::of<float>({2, 3}, {1, 3, 3, 2, 0, 1});
  Tensor output(DataType::F32, {2, 3});
  hardmax(source, 1, output, threads);
  EXPECT_THAT(output.data<float>(), ElementsAre(0, 1, 0, 1, 0, 0));
}

} // namespace
