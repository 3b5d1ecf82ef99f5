//===- IntegerLstmTest.cpp - LSTM cells of integers -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerLstm.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::kernels;
using testing::ElementsAre;

/// gemmlowp's functions err by up to a dozen units of the last place.
TEST(IntegerLstm, FunctionsAreNearTheirFormulas) {
  for (int value = -32768; value <= 32767; ++value) {
    const auto stored = static_cast<int16_t>(value);
    const double wanted = 1 / (1 + std::exp(-value / 4096.0));
    EXPECT_NEAR(fixedSigmoid(stored), 32768 * wanted, 7) << value;
    for (int bits : {0, 3, 4, 6}) {
      const double tangent = std::tanh(std::ldexp(value, bits - 15));
      EXPECT_NEAR(fixedTanh(stored, bits), 32768 * tangent, 16) << value << " of " << bits;
    }
  }
  EXPECT_EQ(fixedSigmoid(0), 16384);
  EXPECT_EQ(fixedTanh(0, 3), 0);
}

TEST(IntegerLstm, InverseRootsHaveNineteenBits) {
  for (int64_t value = 2; value < int64_t(1) << 31; value = value * 5 / 4 + 1) {
    const MultiplierShift factor = fixedInverseRoot(static_cast<int32_t>(value));
    const double root = std::ldexp(factor.multiplier, -31 - factor.rshift);
    EXPECT_NEAR(root * std::sqrt(static_cast<double>(value)), 1, 2e-6) << value;
  }
  EXPECT_EQ(fixedInverseRoot(1), (MultiplierShift{2147483647, 0}));
}

namespace {

/// One unit with one input of scale 1, whose filters are 1: gates are in units of 2^-12.
struct Unit {
  Tensor input = Tensor::of<int8_t>({2, 1, 1}, {16, -8});
  Tensor filter = Tensor::of<int8_t>({4, 1}, {1, 1, 1, 1});
  Tensor recurrence = Tensor::of<int8_t>({4, 1}, {0, 0, 0, 0});
  Tensor bias = Tensor::of<int32_t>({4}, {0, 0, 0, 0});
  IntegerLstmParams params;
  std::optional<Tensor> projection;

  Unit() {
    params.inputFactors = params.recurrentFactors = {256, 256, 256, 256};
    params.hiddenFactor = 0x1p-23; // Hidden states are in units of 2^-7.
    params.contentBits = 4;
  }

  std::vector<int> run() {
    ThreadPool threads(2);
    Tensor output(DataType::I8, input.shape());
    integerLstm({input, filter, recurrence, bias, nullptr, nullptr,
                 projection ? &*projection : nullptr, nullptr},
                params, output, threads);
    return {output.data<int8_t>().begin(), output.data<int8_t>().end()};
  }
};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

} // namespace

TEST(IntegerLstm, StepsFollowTheEquations) {
  // Gates see 1, then -1/2.
  const double first = logistic(1) * std::tanh(1);
  const double second = logistic(-.5) * first + logistic(-.5) * std::tanh(-.5);
  const double shown[] = {128 * logistic(1) * std::tanh(first),
                          128 * logistic(-.5) * std::tanh(second)};
  Unit unit;
  EXPECT_THAT(unit.run(), ElementsAre(std::lround(shown[0]), std::lround(shown[1])));
  // A zero point moves what is shown, and what the input means.
  unit.params.hiddenZeroPoint = 5;
  unit.params.inputZeroPoint = 16;
  EXPECT_EQ(unit.run()[0], 5);
}

TEST(IntegerLstm, CoupledGatesKeepWhatTheyDoNotTake) {
  Unit unit;
  unit.filter = Tensor::of<int8_t>({3, 1}, {1, 1, 1});
  unit.recurrence = Tensor::of<int8_t>({3, 1}, {0, 0, 0});
  unit.bias = Tensor::of<int32_t>({3}, {0, 0, 0});
  unit.params.inputFactors = unit.params.recurrentFactors = {256, 256, 256};
  const double content = (1 - logistic(1)) * std::tanh(1);
  EXPECT_EQ(unit.run()[0], std::lround(128 * logistic(1) * std::tanh(content)));
}

TEST(IntegerLstm, LimitsCutOffContentAndOutput) {
  Unit unit;
  unit.params.contentLimit = 205; // 0.1
  EXPECT_EQ(unit.run()[0], std::lround(128 * logistic(1) * std::tanh(205 / 2048.0)));
  unit.params.contentLimit = 0;
  unit.projection = Tensor::of<int8_t>({1, 1}, {2});
  EXPECT_EQ(unit.run()[0],
            2 * std::lround(128 * logistic(1) * std::tanh(logistic(1) * std::tanh(1))));
  unit.params.outputLimit = 33;
  EXPECT_EQ(unit.run()[0], 33);
}
