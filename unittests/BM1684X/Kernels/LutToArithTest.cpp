//===- TableStepsTest.cpp - Tables as sequences of arithmetic--------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/LutSynthesis.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <cmath>
#include <functional>
#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

/// How the numbers of a table are stored.
struct Stored {
  double inputScale = 1;
  int32_t inputZero = 0;
  double outputScale = 1;
  int32_t outputZero = 0;
};

TableBytes tableOf(const std::function<double(double)> &function, const Stored &stored,
                   DataType input = DataType::I8) {
  TableBytes table;
  for (size_t byte = 0; byte < table.size(); ++byte) {
    const int32_t q = isSigned(input) ? static_cast<int8_t>(byte) : static_cast<int32_t>(byte);
    const double number = function((q - stored.inputZero) * stored.inputScale);
    const double result = std::round(number / stored.outputScale) + stored.outputZero;
    table[byte] = static_cast<uint8_t>(static_cast<int8_t>(std::clamp(result, -128.0, 127.0)));
  }
  return table;
}

double hardSwish(double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }

/// What the machine makes of every byte, in a tensor of 70 channels that begins in lane 3.
void expectOnMachine(const std::vector<LutStep> &steps, DataType input, const TableBytes &wanted,
                     const Extents &shape = {2, 70, 8, 60}) {
  std::vector<uint8_t> bytes(static_cast<size_t>(shape[0] * shape[1] * shape[2] * shape[3]));
  std::vector<uint8_t> results(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(i * 37 + i / 256);
    results[i] = wanted[bytes[i]];
  }
  Bench bench;
  TableArithmetic table;
  table.input = bench.load(tensorOf(input, shape, bytes), Layout::Aligned, 3);
  table.output = bench.local(DataType::I8, shape, Layout::Aligned, 3);
  table.steps = steps;
  table.scratch = bench.scratch(tableArithmeticScratch(table));
  expectOk(emitTableArithmetic(bench.builder, table));
  GlobalTensor stored = bench.store(table.output);
  bench.run();
  expectSame(bench.get(stored), tensorOf(DataType::I8, shape, results));
}

/// That a table is found, at most `cycles` for 64 elements, and is the machine's.
void expectFit(const std::function<double(double)> &function, const Stored &stored, int64_t cycles,
               DataType input = DataType::I8) {
  const TableBytes table = tableOf(function, stored, input);
  const std::optional<std::vector<LutStep>> steps = synthesizeLut(table, input, stored.inputZero);
  ASSERT_TRUE(steps);
  EXPECT_LE(cyclesOfSteps(*steps, input), cycles) << stored.inputScale << " " << stored.inputZero;
  EXPECT_EQ(evaluateSteps(*steps, input), table);
  expectOnMachine(*steps, input, table);
}

TEST(LutSynthesis, LinesAreOneProduct) {
  expectFit([](double x) { return x; }, {1, 0, 1, 0}, 1);
  // Half of an odd number is rounded away from zero.
  expectFit([](double x) { return x / 2; }, {1, 0, 1, 0}, 1);
  expectFit([](double x) { return x; }, {0.0417, 0, 0.0533, 0}, 2);
  expectFit([](double x) { return -x; }, {0.0417, 0, 0.0533, 0}, 2);
}

TEST(LutSynthesis, LinesAreMovedAndCutOff) {
  expectFit([](double x) { return x; }, {0.0417, -5, 0.0533, 11}, 4);
  expectFit([](double x) { return std::clamp(x, 0.0, 6.0); }, {0.0617, 3, 0.0533, 11}, 6);
  expectFit([](double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }, {0.05, 3, 0.007, -60}, 6);
  expectFit([](double x) { return std::max(x, 0.0); }, {0.0617, 128, 0.0533, -128}, 6,
            DataType::U8);
}

TEST(LutSynthesis, TwoLines) {
  const auto leaky = [](double x) { return x < 0 ? 0.11 * x : x; };
  expectFit(leaky, {0.04, 0, 0.04, 0}, 3);
  expectFit([](double x) { return x < 0 ? x / 8 : x; }, {1, 0, 1, 0}, 2);
  expectFit(leaky, {0.0359, 0, 0.0349, 0}, 5);
  // The smaller one of both, and one that falls.
  expectFit([](double x) { return x < 0 ? 1.7321 * x : 0.9113 * x; }, {0.04, 0, 0.04, 0}, 5);
  expectFit([](double x) { return std::abs(x); }, {0.04, 0, 0.05, 0}, 5);
}

TEST(LutSynthesis, HardSwish) {
  expectFit(hardSwish, {0.0607, 0, 0.0607, 0}, 8);
  expectFit(hardSwish, {0.0147, 0, 0.0138, 0}, 8);
  expectFit(hardSwish, {0.2531, 0, 0.1966, 0}, 10);
  expectFit(hardSwish, {0.0607, -22, 0.0411, -117}, 12);
  expectFit([](double x) { return 0.7 * hardSwish(x) - 0.3; }, {0.0319, 0, 0.0201, 0}, 10);
  expectFit(hardSwish, {0.0607, 110, 0.0411, -117}, 14, DataType::U8);
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

TEST(LutSynthesis, Polynomials) {
  const auto elu = [](double x) { return x < 0 ? std::expm1(x) : x; };
  expectFit(elu, {0.0136, 0, 0.0127, 0}, 30);
  expectFit(elu, {0.0124, -1, 0.0089, -39}, 34);
  expectFit([](double x) { return std::tanh(x); }, {0.0047, 0, 0.0122, 0}, 24);
  const auto swish = [](double x) { return x * logistic(x); };
  expectFit(swish, {0.0103, 0, 0.0078, 0}, 30);
  expectFit(swish, {0.0736, 0, 0.0300, 0}, 40);
  expectFit(swish, {0.0411, -3, 0.0333, -110}, 44);
  const auto gelu = [](double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; };
  expectFit(gelu, {0.0411, 0, 0.0333, 0}, 40);
}

TEST(LutSynthesis, SingleEntriesAreCorrected) {
  TableBytes table = tableOf([](double x) { return x; }, {1, 0, 1, 0});
  table[7] += 1;
  table[200] -= 1;
  const std::optional<std::vector<LutStep>> steps = synthesizeLut(table, DataType::I8, 0);
  ASSERT_TRUE(steps);
  EXPECT_EQ(cyclesOfSteps(*steps, DataType::I8), 5);
  EXPECT_EQ(evaluateSteps(*steps, DataType::I8), table);
  expectOnMachine(*steps, DataType::I8, table);
}

TEST(LutSynthesis, UnsignedBytesStay) {
  TableBytes table;
  for (size_t byte = 0; byte < table.size(); ++byte)
    table[byte] = static_cast<uint8_t>(byte);
  const std::optional<std::vector<LutStep>> steps = synthesizeLut(table, DataType::U8, 0);
  ASSERT_TRUE(steps);
  EXPECT_EQ(cyclesOfSteps(*steps, DataType::U8), 1);
  expectOnMachine(*steps, DataType::U8, table);
  // Near the ends, corrected entries would be cut off.
  table[255] = 3;
  if (const std::optional<std::vector<LutStep>> other = synthesizeLut(table, DataType::U8, 0))
    EXPECT_EQ(evaluateSteps(*other, DataType::U8), table);
}

TEST(LutSynthesis, WhatHasNoFormIsLookedUp) {
  TableBytes table;
  for (size_t byte = 0; byte < table.size(); ++byte)
    table[byte] = static_cast<uint8_t>(byte * byte / 3 + byte);
  EXPECT_FALSE(synthesizeLut(table, DataType::I8, 0));
}

TEST(LutToArith, EveryOperation) {
  // max(|input|, 3) and its sum with 100 where the input is 5, as U8; then I8.
  const std::vector<LutStep> steps = {
      {.op = ArithOp::Abs, .left = 0, .type = DataType::U8},
      {.op = ArithOp::Max, .left = 1, .constant = 3, .type = DataType::U8},
      {.op = ArithOp::SubSat, .left = 2, .constant = 300, .type = DataType::I16},
      {.op = ArithOp::Min, .left = 3, .constant = -200, .type = DataType::I16},
      {.op = ArithOp::Add, .left = 4, .constant = -32768, .type = DataType::U16},
      {.op = ArithOp::MulSat, .left = 5, .constant = 1, .shift = 9, .type = DataType::I8},
      {.op = ArithOp::SelectEqual, .left = 0, .constant = 5, .chosen = 100, .type = DataType::I8},
      {.op = ArithOp::AddSat, .left = 6, .right = 7, .type = DataType::I8}};
  TableBytes wanted;
  for (size_t byte = 0; byte < wanted.size(); ++byte) {
    const int q = static_cast<int8_t>(byte);
    const int moved = std::min(std::max(std::abs(q), 3) - 300, -200) + 32768;
    wanted[byte] = static_cast<uint8_t>(std::min((moved + 256) >> 9, 127) + (q == 5 ? 100 : 0));
  }
  for (size_t byte = 0; byte < wanted.size(); ++byte)
    wanted[byte] = std::min<uint8_t>(wanted[byte], 127);
  EXPECT_EQ(evaluateSteps(steps, DataType::I8), wanted);
  expectOnMachine(steps, DataType::I8, wanted);
  // More than scratch holds at once.
  expectOnMachine(steps, DataType::I8, wanted, {1, 3, 150, 64});
  const Expected<std::vector<LutStep>> read = stepsOf(numbersOf(steps));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, steps);
}

TEST(LutToArith, Errors) {
  EXPECT_THAT(stepsOf(std::array<int64_t, 3>{}).error().message(), HasSubstr("3 numbers"));
  std::vector<int64_t> numbers = numbersOf({{.left = 1}});
  EXPECT_THAT(stepsOf(numbers).error().message(), HasSubstr("earlier values"));
  numbers = numbersOf({{.op = ArithOp::MultiplyAdd, .addend = 0}});
  EXPECT_THAT(stepsOf(numbers).error().message(), HasSubstr("added to 0"));
  numbers = numbersOf({{.op = ArithOp::AddSat, .type = DataType::I16}});
  EXPECT_THAT(stepsOf(numbers).error().message(), HasSubstr("more than 8 bits"));
  numbers[0] = 99;
  EXPECT_THAT(stepsOf(numbers).error().message(), HasSubstr("operation 99"));
}

} // namespace
