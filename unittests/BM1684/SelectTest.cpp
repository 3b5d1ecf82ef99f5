//===- SelectTest.cpp - Comparing, choosing and converting ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/Select.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Target/BM1684/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684/Machine/Simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tpuc;
using namespace tpuc::bm1684;
using testing::HasSubstr;

namespace {

int64_t countOf(const Extents &shape) { return shape[0] * shape[1] * shape[2] * shape[3]; }

/// Tensors in local memory that come from global memory, and one that goes back there.
class Bench {
public:
  /// A tensor of these elements.
  LocalTensor load(DataType type, const Extents &shape, const std::vector<double> &elements) {
    const std::array dims = {shape[0], shape[1], shape[2], shape[3]};
    tpuc::Tensor numbers(DataType::F64, Shape(std::span(dims)));
    std::ranges::copy(elements, numbers.mutableData<double>().begin());
    const tpuc::Tensor stored = convert(numbers, type);
    const auto bytes = stored.rawBytes();
    const GlobalTensor from = globalTensor(type, shape, kGlobalBase + global.size());
    for (std::byte byte : bytes)
      global.push_back(static_cast<uint8_t>(byte));
    while (global.size() % 4 != 0)
      global.push_back(0);
    const LocalTensor to = take(type, shape);
    EXPECT_TRUE(emitLoad(builder, from, to));
    return to;
  }
  LocalTensor take(DataType type, const Extents &shape) { return space.take(type, shape); }
  Scratch scratch(const Expected<uint32_t> &bytes) {
    EXPECT_TRUE(bytes) << bytes.error().message();
    return {space.bytes(bytes ? *bytes : 0), bytes ? *bytes : 0};
  }
  /// What stands in a tensor when all is done.
  std::vector<double> result(const LocalTensor &tensor) {
    const auto at = static_cast<uint64_t>(global.size());
    const int64_t bytes = byteSize(tensor.type, countOf(tensor.shape));
    EXPECT_TRUE(
        emitStore(builder, tensor, globalTensor(tensor.type, tensor.shape, kGlobalBase + at)));
    const Expected<CommandStreams> streams = builder.finish();
    EXPECT_TRUE(streams) << streams.error().message();
    const Expected<Program> program = Program::create(streams->tiu, streams->gdma, "a choice");
    EXPECT_TRUE(program) << program.error().message();
    global.resize(at + static_cast<size_t>(bytes));
    Memory memory;
    EXPECT_TRUE(memory.mapGlobal(kGlobalBase, global));
    ThreadPool pool{1};
    EXPECT_TRUE(program->run(memory, pool));
    tpuc::Tensor stored(tensor.type, Shape({countOf(tensor.shape)}));
    std::ranges::copy(std::span(global).subspan(at),
                      reinterpret_cast<uint8_t *>(stored.mutableBytes().data()));
    const tpuc::Tensor numbers = convert(stored, DataType::F64);
    const auto all = numbers.data<double>();
    return {all.begin(), all.end()};
  }

  Builder builder;

private:
  ScratchAllocator space;
  std::vector<uint8_t> global;
};

/// Numbers of a type, of which many are equal to others.
std::vector<double> someNumbers(DataType type, const Extents &shape, unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  std::vector<double> numbers;
  for (int64_t i = 0; i < countOf(shape); ++i) {
    double number = 0;
    switch (type) {
    case DataType::F32:
      number = static_cast<double>(pick(-4, 4)) / 2;
      // Also -0.
      number = number == 0 && pick(0, 1) == 1 ? -number : number;
      break;
    case DataType::I8:
      number = static_cast<double>(pick(0, 1) == 0 ? pick(-2, 2) : pick(-128, 127));
      break;
    case DataType::U8:
      number = static_cast<double>(pick(0, 1) == 0 ? pick(0, 2) : pick(0, 255));
      break;
    default: {
      // Equal upper or lower halves, and both ends.
      constexpr int64_t kMost = 0x7fffffff;
      const bool isSigned = type == DataType::I32;
      const std::array<int64_t, 6> some = {0,
                                           pick(0, 3),
                                           0x10000 * pick(1, 2) + pick(0, 3),
                                           kMost - pick(0, 1),
                                           isSigned ? -pick(0, 0x20000) : kMost + pick(0, 2),
                                           isSigned ? -kMost - 1 : 0xffffffff};
      number = static_cast<double>(some[random() % some.size()]);
    }
    }
    numbers.push_back(number);
  }
  return numbers;
}

bool holds(CompareKind kind, double a, double b) {
  switch (kind) {
  case CompareKind::Equal:
    return a == b;
  case CompareKind::NotEqual:
    return a != b;
  case CompareKind::Greater:
    return a > b;
  case CompareKind::GreaterOrEqual:
    return a >= b;
  case CompareKind::Less:
    return a < b;
  default:
    return a <= b;
  }
}

/// A tensor that broadcasts to a shape.
struct Part {
  Extents shape;
  std::vector<double> numbers;
  double at(const Extents &whole, int64_t element) const {
    int64_t place = 0, stride = 1;
    for (size_t axis = 4; axis-- > 0;) {
      const int64_t index = element % whole[axis];
      element /= whole[axis];
      place += shape[axis] == 1 ? 0 : index * stride;
      stride *= shape[axis];
    }
    return numbers[static_cast<size_t>(place)];
  }
};

Extents without(Extents shape, std::initializer_list<size_t> axes) {
  for (size_t axis : axes)
    shape[axis] = 1;
  return shape;
}

constexpr CompareKind kKinds[] = {CompareKind::Equal,   CompareKind::NotEqual,
                                  CompareKind::Greater, CompareKind::GreaterOrEqual,
                                  CompareKind::Less,    CompareKind::LessOrEqual};

/// Compares tensors of a type, broadcast along `axes` at the right, and expects truth values.
void compareAll(DataType type, const Extents &shape, std::initializer_list<size_t> axes) {
  const Part left{shape, someNumbers(type, shape, 1)};
  const Part right{without(shape, axes), someNumbers(type, without(shape, axes), 2)};
  for (CompareKind kind : kKinds) {
    Bench bench;
    Select select;
    select.kind = kind;
    select.left = bench.load(type, left.shape, left.numbers);
    select.right = bench.load(type, right.shape, right.numbers);
    select.output = bench.take(DataType::U8, shape);
    select.scratch = bench.scratch(selectScratch(select));
    const Expected<void> done = emitSelect(bench.builder, select);
    ASSERT_TRUE(done) << done.error().message();
    const std::vector<double> given = bench.result(select.output);
    for (int64_t i = 0; i < countOf(shape); ++i) {
      const double a = left.at(shape, i), b = right.at(shape, i);
      ASSERT_EQ(given[static_cast<size_t>(i)], holds(kind, a, b) ? 1 : 0)
          << dataTypeName(type) << " " << a << " and " << b << ", kind " << static_cast<int>(kind)
          << ", element " << i;
    }
  }
}

TEST(Select, ComparesAllTypesWithRepetition) {
  for (DataType type : {DataType::F32, DataType::I8, DataType::U8, DataType::I32, DataType::U32}) {
    compareAll(type, {1, 70, 3, 5}, {});
    compareAll(type, {5, 3, 2, 7}, {2});
    compareAll(type, {5, 3, 2, 7}, {0, 3});
    compareAll(type, {2, 66, 1, 9}, {1});
  }
}

TEST(Select, ComparesWithNumbers) {
  const Extents shape{3, 65, 2, 4};
  for (auto [type, number] :
       {std::pair(DataType::F32, -0.5), std::pair(DataType::I8, -2.0), std::pair(DataType::U8, 2.0),
        std::pair(DataType::I32, -1.0), std::pair(DataType::U32, 2147483648.0),
        std::pair(DataType::F32, 0.0)})
    for (CompareKind kind : kKinds)
      for (bool isLeft : {true, false}) {
        const std::vector<double> numbers = someNumbers(type, shape, 3);
        Bench bench;
        Select select;
        select.kind = kind;
        select.left = bench.load(type, shape, numbers);
        select.right = number;
        if (isLeft)
          std::swap(select.left, select.right);
        // Choices that are no truth values.
        select.ifTrue = -3.0;
        select.ifFalse = 5.0;
        select.output = bench.take(DataType::I8, shape);
        select.scratch = bench.scratch(selectScratch(select));
        ASSERT_TRUE(emitSelect(bench.builder, select));
        const std::vector<double> given = bench.result(select.output);
        for (size_t i = 0; i < numbers.size(); ++i)
          ASSERT_EQ(given[i],
                    holds(kind, isLeft ? number : numbers[i], isLeft ? numbers[i] : number) ? -3
                                                                                            : 5)
              << dataTypeName(type) << " " << numbers[i] << ", kind " << static_cast<int>(kind);
      }
}

/// A choice by truth values, each of the three broadcast along axes.
void chooseAll(DataType type, const Extents &shape, std::initializer_list<size_t> byCondition,
               std::initializer_list<size_t> ifTrueAxes,
               std::initializer_list<size_t> ifFalseAxes) {
  Part condition{without(shape, byCondition), {}};
  condition.numbers = someNumbers(DataType::U8, condition.shape, 4);
  for (double &truth : condition.numbers)
    truth = truth > 2 ? 1 : 0;
  const Part ifTrue{without(shape, ifTrueAxes), someNumbers(type, without(shape, ifTrueAxes), 5)};
  const Part ifFalse{without(shape, ifFalseAxes),
                     someNumbers(type, without(shape, ifFalseAxes), 6)};
  Bench bench;
  Select select;
  select.kind = CompareKind::NotEqual;
  select.left = bench.load(DataType::U8, condition.shape, condition.numbers);
  select.right = 0.0;
  select.ifTrue = bench.load(type, ifTrue.shape, ifTrue.numbers);
  select.ifFalse = bench.load(type, ifFalse.shape, ifFalse.numbers);
  select.output = bench.take(type, shape);
  select.scratch = bench.scratch(selectScratch(select));
  const Expected<void> done = emitSelect(bench.builder, select);
  ASSERT_TRUE(done) << done.error().message();
  const std::vector<double> given = bench.result(select.output);
  for (int64_t i = 0; i < countOf(shape); ++i)
    ASSERT_EQ(given[static_cast<size_t>(i)],
              condition.at(shape, i) != 0 ? ifTrue.at(shape, i) : ifFalse.at(shape, i))
        << dataTypeName(type) << ", element " << i;
}

TEST(Select, ChoosesWordsAndBytes) {
  for (DataType type : {DataType::F32, DataType::I8, DataType::U8, DataType::I32}) {
    chooseAll(type, {1, 70, 3, 5}, {}, {}, {});
    chooseAll(type, {6, 3, 4, 5}, {0}, {2}, {0, 3});
    if (type != DataType::I32)
      chooseAll(type, {2, 66, 3, 5}, {1}, {1, 2}, {0, 1, 2, 3});
  }
}

TEST(Select, RefusesWhatItCannotCompare) {
  Select select;
  select.left = 1.0;
  select.right = 2.0;
  select.output = localTensor(DataType::U8, {1, 4, 1, 4});
  const auto message = [&] { return selectScratch(select).error().message(); };
  EXPECT_THAT(message(), HasSubstr("a comparison of two numbers"));
  select.left = localTensor(DataType::I16, {1, 4, 1, 4}, 0x1000);
  EXPECT_THAT(message(), HasSubstr("an operand of i16"));
  select.left = localTensor(DataType::F32, {1, 2, 1, 4}, 0x1000);
  EXPECT_THAT(message(), HasSubstr("extents that are equal or 1"));
  select.left = localTensor(DataType::F32, {1, 4, 1, 4}, 0x1000);
  select.right = localTensor(DataType::I32, {1, 4, 1, 4}, 0x2000);
  EXPECT_THAT(message(), HasSubstr("an operand [1,4,1,4] i32"));
  select.right = 0.0;
  select.output = localTensor(DataType::I32, {1, 4, 1, 4});
  select.ifTrue = localTensor(DataType::I32, {1, 1, 1, 4}, 0x3000);
  EXPECT_THAT(message(), HasSubstr("the same in all lanes"));
}

TEST(Logical, CombinesTruthValues) {
  const Extents shape{5, 66, 2, 3};
  // Every byte but 0 is true.
  std::vector<double> left = someNumbers(DataType::U8, shape, 7);
  std::vector<double> right = someNumbers(DataType::U8, shape, 8);
  for (LogicalKind kind : {LogicalKind::Not, LogicalKind::And, LogicalKind::Or, LogicalKind::Xor}) {
    Bench bench;
    Logical logical{.kind = kind,
                    .left = bench.load(DataType::U8, shape, left),
                    .right = std::nullopt,
                    .output = bench.take(DataType::U8, shape),
                    .scratch = {}};
    if (kind != LogicalKind::Not)
      logical.right = bench.load(DataType::U8, shape, right);
    logical.scratch = bench.scratch(logicalScratch(logical));
    ASSERT_TRUE(emitLogical(bench.builder, logical));
    const std::vector<double> given = bench.result(logical.output);
    for (size_t i = 0; i < given.size(); ++i) {
      const bool a = left[i] != 0, b = right[i] != 0;
      const bool wanted = kind == LogicalKind::Not   ? !a
                          : kind == LogicalKind::And ? a && b
                          : kind == LogicalKind::Or  ? a || b
                                                     : a != b;
      ASSERT_EQ(given[i], wanted ? 1 : 0) << left[i] << " and " << right[i];
    }
  }
}

TEST(Conversion, IsThatOfTheHost) {
  const Extents shape{5, 66, 2, 3};
  const auto dims = std::array{countOf(shape)};
  for (auto [from, to] :
       {std::pair(DataType::F32, DataType::I32), std::pair(DataType::F32, DataType::I8),
        std::pair(DataType::F32, DataType::U8), std::pair(DataType::I32, DataType::F32),
        std::pair(DataType::U32, DataType::F32), std::pair(DataType::I8, DataType::F32),
        std::pair(DataType::U8, DataType::F32), std::pair(DataType::I8, DataType::I32),
        std::pair(DataType::U8, DataType::I32), std::pair(DataType::U8, DataType::U32)}) {
    std::vector<double> numbers = someNumbers(from, shape, 9);
    if (from == DataType::F32)
      for (size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = i % 3 == 0 ? numbers[i] * 1e9 + 0.75 : numbers[i] * 70.3;
    tpuc::Tensor exact(DataType::F64, Shape(std::span(dims)));
    std::ranges::copy(numbers, exact.mutableData<double>().begin());
    const tpuc::Tensor wanted = convert(convert(convert(exact, from), to), DataType::F64);
    Bench bench;
    Conversion conversion{
        .input = bench.load(from, shape, numbers), .output = bench.take(to, shape), .scratch = {}};
    conversion.scratch = bench.scratch(conversionScratch(conversion));
    ASSERT_TRUE(emitConversion(bench.builder, conversion));
    const std::vector<double> given = bench.result(conversion.output);
    for (size_t i = 0; i < given.size(); ++i)
      ASSERT_EQ(given[i], wanted.data<double>()[i])
          << numbers[i] << " from " << dataTypeName(from) << " to " << dataTypeName(to);
  }
}

} // namespace
