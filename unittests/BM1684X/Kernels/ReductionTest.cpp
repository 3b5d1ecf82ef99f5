//===- ReductionTest.cpp - Reductions, softmax, norms----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Reduction.h"
#include "tpuc/Support/Convert.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <numeric>

using namespace tpuc;
using namespace tpuc::bm1684x;

namespace {

double reduce(ReduceKind kind, std::span<const double> values) {
  switch (kind) {
  case ReduceKind::Sum:
    return std::accumulate(values.begin(), values.end(), 0.0);
  case ReduceKind::Mean:
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  case ReduceKind::Max:
    return *std::ranges::max_element(values);
  default:
    return *std::ranges::min_element(values);
  }
}

void expectReduction(ReduceKind kind, DataType type, const Extents &shape, bool overWidth) {
  SCOPED_TRACE(testing::Message() << dataTypeName(type) << " kind " << static_cast<int>(kind));
  Tensor input = randomNumbers(type, Shape(std::span(shape)), 1, 0.5, 2);
  Bench bench;
  Reduction reduction{kind,
                      overWidth,
                      bench.load(input),
                      bench.local(type, {shape[0], shape[1], overWidth ? shape[2] : 1, 1}),
                      {}};
  reduction.scratch = bench.scratch(reductionScratch(reduction));
  expectOk(emitReduction(bench.builder, reduction));
  GlobalTensor stored = bench.store(reduction.output);
  bench.run();
  Tensor wide = convert(input, DataType::F64);
  Tensor wanted(DataType::F64, Shape(std::span(reduction.output.shape)));
  auto length = static_cast<size_t>(overWidth ? shape[3] : shape[2] * shape[3]);
  for (size_t i = 0; i < static_cast<size_t>(wanted.numElements()); ++i)
    wanted.mutableData<double>()[i] = reduce(kind, wide.data<double>().subspan(i * length, length));
  expectClose(bench.get(stored), convert(wanted, type));
}

constexpr ReduceKind kReduceKinds[] = {ReduceKind::Sum, ReduceKind::Mean, ReduceKind::Max,
                                       ReduceKind::Min};

TEST(Reduction, MaximaOfInfinities) {
  for (DataType type : kFloatTypes)
    for (ReduceKind kind : {ReduceKind::Max, ReduceKind::Min}) {
      const float infinity = std::numeric_limits<float>::infinity();
      const float extreme = kind == ReduceKind::Max ? -infinity : infinity;
      const Tensor input = convert(
          tensorOf<float>(DataType::F32, {1, 2, 1, 2}, {extreme, extreme, extreme, 1}), type);
      Bench bench;
      Reduction reduction{kind, false, bench.load(input), bench.local(type, {1, 2, 1, 1}), {}};
      reduction.scratch = bench.scratch(reductionScratch(reduction));
      expectOk(emitReduction(bench.builder, reduction));
      const GlobalTensor stored = bench.store(reduction.output);
      bench.run();
      expectSame(bench.get(stored),
                 convert(tensorOf<float>(DataType::F32, {1, 2, 1, 1}, {extreme, 1}), type));
    }
}

/// Of rows of all lengths around powers of two, modulo 2^32.
TEST(RunningSum, Rows) {
  for (int64_t width : {1, 2, 3, 4, 5, 8, 9, 31, 64, 100}) {
    const Extents shape = {2, 70, 1, width};
    std::vector<int32_t> numbers, wanted;
    uint32_t sum = 0;
    for (int64_t i = 0; i < 2 * 70 * width; ++i) {
      numbers.push_back(static_cast<int32_t>(static_cast<uint32_t>(i) * 2654435761U));
      sum = (i % width == 0 ? 0 : sum) + static_cast<uint32_t>(numbers.back());
      wanted.push_back(static_cast<int32_t>(sum));
    }
    Bench bench;
    RunningSum running{
        bench.load(tensorOf(DataType::I32, shape, numbers)), bench.local(DataType::I32, shape), {}};
    running.scratch = bench.scratch(runningSumScratch(running));
    expectOk(emitRunningSum(bench.builder, running));
    const GlobalTensor stored = bench.store(running.output);
    bench.run();
    expectSame(bench.get(stored), tensorOf(DataType::I32, shape, wanted));
  }
}

TEST(RunningSum, RefusesByName) {
  const auto message = [](const RunningSum &sum) {
    Expected<uint32_t> needed = runningSumScratch(sum);
    return needed ? "accepted" : needed.error().message();
  };
  RunningSum sum{
      localTensor(DataType::F32, {1, 2, 1, 4}), localTensor(DataType::I32, {1, 2, 1, 4}), {}};
  EXPECT_THAT(message(sum), testing::HasSubstr("an input of f32"));
  sum.input = localTensor(DataType::I32, {1, 2, 1, 5});
  EXPECT_THAT(message(sum), testing::HasSubstr("other extents"));
}

TEST(Reduction, NormsByTheMeanSquare) {
  for (DataType type : kFloatTypes) {
    const Tensor input = randomNumbers(type, Shape({2, 70, 1, 40}), 1, 0.5, 2);
    Bench bench;
    Normalization norm{.input = bench.load(input),
                       .output = bench.local(type, {2, 70, 1, 40}),
                       .epsilon = 0.25,
                       .centers = false,
                       .overWidth = false,
                       .gamma = {},
                       .beta = {},
                       .scratch = {}};
    norm.scratch = bench.scratch(normalizationScratch(norm));
    expectOk(emitNormalization(bench.builder, norm));
    const GlobalTensor stored = bench.store(norm.output);
    bench.run();
    Tensor wanted = convert(input, DataType::F64).clone();
    const auto values = wanted.mutableData<double>();
    for (size_t row = 0; row < 140; ++row) {
      double sum = 0;
      for (double value : values.subspan(row * 40, 40))
        sum += value * value;
      for (double &value : values.subspan(row * 40, 40))
        value /= std::sqrt(sum / 40 + 0.25);
    }
    expectClose(bench.get(stored), convert(wanted, type));
  }
}

/// Three heads of 10 elements follow each other in each row; factors are the same for all rows.
TEST(Reduction, NormsHeadsByTheMeanSquare) {
  for (DataType type : kFloatTypes) {
    const Tensor input = randomNumbers(type, Shape({2, 70, 3, 10}), 1, 0.5, 2);
    const Tensor factors = randomNumbers(DataType::F32, Shape({1, 1, 3, 10}), 2, 0.5, 2);
    Bench bench;
    const LocalTensor gamma = bench.local(DataType::F32, {1, kLanes, 3, 10});
    expectOk(emitLoadToLanes(bench.builder, bench.put(factors), gamma));
    Normalization norm{.input = bench.load(input),
                       .output = bench.local(type, {2, 70, 3, 10}),
                       .epsilon = 0.25,
                       .centers = false,
                       .overWidth = true,
                       .gamma = gamma,
                       .beta = {},
                       .scratch = {}};
    norm.scratch = bench.scratch(normalizationScratch(norm));
    expectOk(emitNormalization(bench.builder, norm));
    const GlobalTensor stored = bench.store(norm.output);
    bench.run();
    Tensor wanted = convert(input, DataType::F64).clone();
    const auto values = wanted.mutableData<double>();
    const auto scale = factors.data<float>();
    for (size_t row = 0; row < 420; ++row) {
      const auto head = values.subspan(row * 10, 10);
      double sum = 0;
      for (double value : head)
        sum += value * value;
      for (size_t i = 0; i < 10; ++i)
        head[i] *= static_cast<double>(scale[row % 3 * 10 + i]) / std::sqrt(sum / 10 + 0.25);
    }
    expectClose(bench.get(stored), convert(wanted, type));
  }
}

TEST(Reduction, HeadsHaveNoMean) {
  Normalization norm;
  norm.input = norm.output = localTensor(DataType::F16, {1, 2, 3, 4});
  norm.overWidth = true;
  EXPECT_THAT(normalizationScratch(norm).error().message(), testing::HasSubstr("with a mean"));
}

TEST(Reduction, EveryKind) {
  for (ReduceKind kind : kReduceKinds)
    for (DataType type : kFloatTypes) {
      expectReduction(kind, type, {2, 70, 6, 50}, false);
      expectReduction(kind, type, {2, 70, 6, 50}, true);
      expectReduction(kind, type, {1, 130, 1, 48}, true);
      // A prime, of which nothing can be folded before its line is filled up.
      expectReduction(kind, type, {1, 9, 1, 197}, true);
    }
}

int64_t cyclesOfSums(const Extents &shape) {
  Bench bench;
  Reduction reduction{ReduceKind::Sum,
                      true,
                      bench.local(DataType::F32, shape),
                      bench.local(DataType::F32, {shape[0], shape[1], shape[2], 1}),
                      {}};
  reduction.scratch = bench.scratch(reductionScratch(reduction));
  expectOk(emitReduction(bench.builder, reduction));
  bench.run();
  return bench.computeCycles();
}

TEST(Reduction, WindowsOverWhatWindowsHaveMade) {
  // 8 rounds of lanes: 12 passes to a line of 16 elements, then 4 and 4.
  EXPECT_EQ(cyclesOfSums({1, 512, 1, 192}), 8 * (12 + 4 + 4));
  // Few rows are not worth another command.
  EXPECT_EQ(cyclesOfSums({1, 64, 1, 192}), 12 + 16);
  // Rows of pictures: 4 windows to 16 elements, then 4 and 4.
  EXPECT_EQ(cyclesOfSums({1, 64, 20, 64}), 20 * (4 + 4 + 4));
}

void expectSoftmax(DataType type, const Extents &shape, double beta, bool isLog, bool inPlace) {
  SCOPED_TRACE(testing::Message() << dataTypeName(type) << (isLog ? " log" : ""));
  Tensor input = randomNumbers(type, Shape(std::span(shape)), 1, -6, 6);
  Bench bench;
  Softmax softmax;
  softmax.input = bench.load(input);
  softmax.output = inPlace ? softmax.input : bench.local(type, shape);
  softmax.beta = beta;
  softmax.isLog = isLog;
  softmax.scratch = bench.scratch(softmaxScratch(softmax));
  expectOk(emitSoftmax(bench.builder, softmax));
  GlobalTensor stored = bench.store(softmax.output);
  bench.run();
  Tensor wanted = convert(input, DataType::F64).clone();
  std::span<double> values = wanted.mutableData<double>();
  auto width = static_cast<size_t>(shape[3]);
  for (size_t first = 0; first < values.size(); first += width) {
    double sum = 0;
    for (double value : values.subspan(first, width))
      sum += std::exp(beta * value);
    for (double &value : values.subspan(first, width))
      value = isLog ? beta * value - std::log(sum) : std::exp(beta * value) / sum;
  }
  expectClose(bench.get(stored), convert(wanted, type));
}

TEST(Softmax, RowsAndImages) {
  for (DataType type : kFloatTypes)
    for (bool isLog : {false, true})
      for (bool inPlace : {false, true}) {
        expectSoftmax(type, {1, 70, 1, 197}, 1, isLog, inPlace);
        expectSoftmax(type, {2, 5, 7, 30}, 0.25, isLog, inPlace);
      }
}

void expectNorm(DataType type, const Extents &shape, bool isRow, bool hasGamma, bool inPlace) {
  SCOPED_TRACE(testing::Message() << dataTypeName(type) << (isRow ? " row" : ""));
  Tensor input = randomNumbers(type, Shape(std::span(shape)), 1, -1, 3);
  Extents parameters = isRow ? Extents{1, 1, shape[2], shape[3]} : Extents{1, shape[1], 1, 1};
  Tensor gamma = randomNumbers(type, Shape(std::span(parameters)), 2, 0.5, 2);
  Tensor beta = randomNumbers(type, Shape(std::span(parameters)), 3);
  Bench bench;
  Normalization norm;
  norm.input = bench.load(input);
  norm.output = inPlace ? norm.input : bench.local(type, shape);
  norm.epsilon = 1e-3;
  auto load = [&](const Tensor &parameter) {
    if (!isRow)
      return bench.load(parameter);
    LocalTensor lanes = bench.local(type, {1, kLanes, shape[2], shape[3]});
    expectOk(emitLoadToLanes(bench.builder, bench.put(parameter), lanes));
    return lanes;
  };
  if (hasGamma) {
    norm.gamma = load(gamma);
    norm.beta = load(beta);
  }
  norm.scratch = bench.scratch(normalizationScratch(norm));
  expectOk(emitNormalization(bench.builder, norm));
  GlobalTensor stored = bench.store(norm.output);
  bench.run();
  Tensor wanted = convert(input, DataType::F64).clone();
  Tensor factors = convert(gamma, DataType::F64);
  Tensor addends = convert(beta, DataType::F64);
  auto length = static_cast<size_t>(shape[2] * shape[3]);
  for (size_t plane = 0; plane < static_cast<size_t>(shape[0] * shape[1]); ++plane) {
    std::span<double> values = wanted.mutableData<double>().subspan(plane * length, length);
    double mean = reduce(ReduceKind::Mean, values);
    double variance = 0;
    for (double value : values)
      variance += (value - mean) * (value - mean) / static_cast<double>(length);
    for (size_t i = 0; i < length; ++i) {
      size_t at = isRow ? i : plane % static_cast<size_t>(shape[1]);
      values[i] = (values[i] - mean) / std::sqrt(variance + norm.epsilon);
      if (hasGamma)
        values[i] = values[i] * factors.data<double>()[at] + addends.data<double>()[at];
    }
  }
  expectClose(bench.get(stored), convert(wanted, type));
}

TEST(Normalization, RowsAndChannels) {
  for (DataType type : kFloatTypes)
    for (bool inPlace : {false, true}) {
      expectNorm(type, {1, 70, 1, 192}, true, true, inPlace);
      expectNorm(type, {2, 20, 9, 10}, false, true, inPlace);
      expectNorm(type, {2, 66, 5, 5}, false, false, inPlace);
      // Commands of each image, or not.
      expectNorm(type, {2, 66, 32, 40}, false, true, inPlace);
      expectNorm(type, {8, 5, 3, 5}, false, true, inPlace);
      expectNorm(type, {8, 5, 1, 48}, true, true, inPlace);
      expectNorm(type, {3, 70, 1, 512}, true, true, inPlace);
    }
}

TEST(Normalization, OneCommandForFactorsAndAddendsOfChannels) {
  const auto cyclesOf = [](DataType type) {
    const Extents shape = {1, 64, 32, 32};
    Bench bench;
    Normalization norm{.input = bench.local(type, shape),
                       .output = bench.local(type, shape),
                       .gamma = bench.local(type, {1, 64, 1, 1}),
                       .beta = bench.local(type, {1, 64, 1, 1}),
                       .scratch = {}};
    norm.scratch = bench.scratch(normalizationScratch(norm));
    expectOk(emitNormalization(bench.builder, norm));
    bench.run();
    return bench.computeCycles();
  };
  // Passes of 64 cycles: two sums, the squares and the line. Of 16 bits, the first sum is a
  // product, and two passes convert.
  constexpr int64_t kPass = 64, kSmall = 80;
  EXPECT_LE(cyclesOf(DataType::F32), 4 * kPass + kSmall);
  EXPECT_LE(cyclesOf(DataType::F16), 5 * kPass + kPass / 2 + kSmall);
}

TEST(Normalization, RefusesByName) {
  Normalization norm;
  norm.input = norm.output = localTensor(DataType::F32, {1, 4, 1, 8});
  EXPECT_TRUE(normalizationScratch(norm));
  norm.gamma = localTensor(DataType::F32, {1, 4, 1, 8});
  Expected<uint32_t> needed = normalizationScratch(norm);
  ASSERT_FALSE(needed);
  EXPECT_THAT(needed.error().message(), testing::HasSubstr("a parameter [1,4,1,8] f32"));
}

} // namespace
