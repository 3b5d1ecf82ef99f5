//===- SignalTest.cpp - Spectra of signals --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Signal.h"
#include "unittests/Kernels/TestTensors.h"

#include <cmath>
#include <complex>
#include <gmock/gmock.h>
#include <numbers>

using namespace tpuc;
using namespace tpuc::kernels;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

namespace {

/// The sum that defines the transform.
std::vector<double> byDefinition(const std::vector<double> &signal, bool isInverse) {
  size_t length = signal.size() / 2;
  double turn = (isInverse ? 2 : -2) * std::numbers::pi / static_cast<double>(length);
  std::vector<double> result;
  for (size_t k = 0; k < length; ++k) {
    std::complex<double> sum = 0;
    for (size_t n = 0; n < length; ++n)
      sum += std::complex(signal[2 * n], signal[2 * n + 1]) *
             std::polar(1.0, turn * static_cast<double>(k * n));
    if (isInverse)
      sum /= static_cast<double>(length);
    result.push_back(sum.real());
    result.push_back(sum.imag());
  }
  return result;
}

TEST(SignalTest, EveryLengthIsASumOverFrequencies) {
  ThreadPool threads(2);
  for (int64_t length : {1, 2, 3, 4, 5, 7, 8, 12, 30, 49, 64, 97}) {
    std::vector<double> signal(2 * length);
    for (size_t i = 0; i < signal.size(); ++i)
      signal[i] = std::sin(static_cast<double>(i * i));
    Tensor input = Tensor::of<double>({1, length, 2}, std::span<const double>(signal));
    for (bool isInverse : {false, true}) {
      Tensor output(DataType::F64, {1, length, 2});
      dft(input, {1, length, isInverse, false}, output, threads);
      EXPECT_THAT(doubles(output), Pointwise(DoubleNear(1e-10), byDefinition(signal, isInverse)))
          << length;
    }
  }
}

// Real signals along the first of two dimensions, cut to 3 elements and filled to 4.
TEST(SignalTest, CutsAndFills) {
  ThreadPool threads(1);
  Tensor input = Tensor::of<double>({4, 2, 1}, {1, 0, 0, 1, 2, 0, 5, 5});
  Tensor cut(DataType::F64, {2, 2, 2});
  dft(input, {0, 3, false, true}, cut, threads);
  double s = std::sqrt(0.75);
  EXPECT_THAT(doubles(cut),
              Pointwise(DoubleNear(1e-12), std::vector<double>{3, 0, 1, 0, 0, 2 * s, -0.5, -s}));
  Tensor filled(DataType::F64, {4, 1, 2});
  dft(Tensor::of<double>({2, 1, 1}, {1, 1}), {0, 4, false, false}, filled, threads);
  EXPECT_THAT(doubles(filled),
              Pointwise(DoubleNear(1e-12), std::vector<double>{2, 0, 1, -1, 0, 0, 1, 1}));
}

TEST(SignalTest, HalfASpectrumMakesARealSignal) {
  ThreadPool threads(1);
  for (int64_t length : {4, 5}) {
    std::vector<double> signal = {1, -2, 3, 0.5, 7};
    signal.resize(length);
    Tensor input = Tensor::of<double>({1, length, 1}, std::span<const double>(signal));
    Tensor half(DataType::F64, {1, length / 2 + 1, 2}), back(DataType::F64, {1, length, 1});
    dft(input, {1, length, false, true}, half, threads);
    dft(half, {1, length, true, true}, back, threads);
    EXPECT_THAT(doubles(back), Pointwise(DoubleNear(1e-12), signal));
  }
}

TEST(SignalTest, FramesAreWeighted) {
  ThreadPool threads(2);
  Tensor input = Tensor::of<double>({1, 5, 1}, {1, 2, 3, 4, 5});
  Tensor window = Tensor::of<double>({2}, {1, 10});
  Tensor output(DataType::F64, {1, 2, 2, 2});
  // 1 + 20 and 1 - 20, then 4 + 50 and 4 - 50.
  stft(input, 3, 2, &window, output, threads);
  EXPECT_THAT(doubles(output),
              Pointwise(DoubleNear(1e-12), std::vector<double>{21, 0, -19, 0, 54, 0, -46, 0}));
  stft(input, 3, 2, nullptr, output, threads);
  EXPECT_THAT(doubles(output),
              Pointwise(DoubleNear(1e-12), std::vector<double>{3, 0, -1, 0, 9, 0, -1, 0}));
}

TEST(SignalTest, WindowsArePeriodicOrSymmetric) {
  Tensor four(DataType::F64, {4}), five(DataType::F64, {5}), one(DataType::F64, {1});
  cosineWindow({0.5, 0.5}, true, four);
  EXPECT_THAT(doubles(four), Pointwise(DoubleNear(1e-12), std::vector<double>{0, 0.5, 1, 0.5}));
  cosineWindow({0.5, 0.5}, false, five);
  EXPECT_THAT(doubles(five), Pointwise(DoubleNear(1e-12), std::vector<double>{0, 0.5, 1, 0.5, 0}));
  cosineWindow({0.42, 0.5, 0.08}, true, four);
  EXPECT_THAT(doubles(four), Pointwise(DoubleNear(1e-12), std::vector<double>{0, 0.34, 1, 0.34}));
  cosineWindow({0.5, 0.5}, false, one);
  EXPECT_THAT(doubles(one), ElementsAre(0));
}

TEST(SignalTest, MelBandsAreTriangles) {
  // Points at rows 0, 1, 3 and 8 of the spectrum.
  Tensor output(DataType::F64, {9, 2});
  ASSERT_TRUE(melWeightMatrix({16, 8192, 0, 8192}, output));
  std::vector<double> columns[2];
  for (int64_t i = 0; i < 18; ++i)
    columns[i % 2].push_back(output.data<double>()[i]);
  EXPECT_THAT(columns[0], ElementsAre(0, 1, 0.5, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(columns[1], ElementsAre(0, 0, 0.5, 1, 0.8, 0.6, 0.4, 0.2, 0));
  Expected<void> beyond = melWeightMatrix({16, 1000, 0, 8192}, output);
  ASSERT_FALSE(beyond);
  EXPECT_THAT(beyond.error().message(), testing::HasSubstr("bands within the spectrum"));
}

} // namespace
