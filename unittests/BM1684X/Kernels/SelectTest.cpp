//===- SelectTest.cpp - Comparing and choosing-----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Select.h"
#include "tpuc/Support/Convert.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

constexpr CompareKind kCompareKinds[] = {CompareKind::Equal,   CompareKind::NotEqual,
                                         CompareKind::Greater, CompareKind::GreaterOrEqual,
                                         CompareKind::Less,    CompareKind::LessOrEqual};

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

/// Few different values, zeros of both signs among them.
Tensor coarseNumbers(DataType type, const Shape &shape, unsigned seed) {
  Tensor integers = convert(randomNumbers(DataType::F32, shape, seed, -2, 2), DataType::I8);
  Tensor numbers = convert(integers, DataType::F32).clone();
  std::span<float> values = numbers.mutableData<float>();
  for (size_t i = 0; i < values.size(); i += 3)
    values[i] = values[i] == 0 ? -0.0f : values[i];
  return convert(numbers, type);
}

double valueAt(const Tensor &wide, size_t index) { return wide.data<double>()[index]; }

TEST(Select, ComparisonsOfTensorsAndNumbers) {
  for (CompareKind kind : kCompareKinds)
    for (DataType type : {DataType::F32, DataType::F16, DataType::BF16, DataType::I8}) {
      Tensor left = coarseNumbers(type, {2, 70, 3, 5}, 1);
      Tensor right = coarseNumbers(type, {2, 70, 3, 5}, 2);
      Bench bench;
      Select tensors;
      tensors.kind = kind;
      tensors.left = bench.load(left);
      tensors.right = bench.load(right);
      tensors.output = bench.local(DataType::Bool, {2, 70, 3, 5});
      tensors.scratch = bench.scratch(selectScratch(tensors));
      expectOk(emitSelect(bench.builder, tensors));
      Select number = tensors;
      number.left = 1.0;
      number.output = bench.local(DataType::Bool, {2, 70, 3, 5});
      expectOk(emitSelect(bench.builder, number));
      GlobalTensor both = bench.store(tensors.output);
      GlobalTensor one = bench.store(number.output);
      bench.run();
      Tensor a = convert(left, DataType::F64);
      Tensor b = convert(right, DataType::F64);
      for (size_t i = 0; i < 2 * 70 * 15; ++i) {
        ASSERT_EQ(bench.get(both).data<uint8_t>()[i], holds(kind, valueAt(a, i), valueAt(b, i)));
        ASSERT_EQ(bench.get(one).data<uint8_t>()[i], holds(kind, 1, valueAt(b, i)));
      }
    }
}

TEST(Select, ChoiceByACondition) {
  for (DataType type : {DataType::F32, DataType::F16, DataType::I8}) {
    Tensor condition = randomNumbers(DataType::U8, {1, 1, 3, 5}, 1, 0, 2);
    condition = convert(condition, DataType::Bool);
    Tensor ifTrue = randomNumbers(type, {2, 70, 3, 5}, 2, -50, 50);
    Tensor ifFalse = randomNumbers(type, {2, 70, 1, 1}, 3, -50, 50);
    Bench bench;
    Select select;
    select.kind = CompareKind::NotEqual;
    select.left = bench.load(condition);
    select.right = 0.0;
    select.ifTrue = bench.load(ifTrue);
    select.ifFalse = bench.load(ifFalse);
    select.output = bench.local(type, {2, 70, 3, 5});
    select.scratch = bench.scratch(selectScratch(select));
    expectOk(emitSelect(bench.builder, select));
    GlobalTensor stored = bench.store(select.output);
    bench.run();
    Tensor found = convert(bench.get(stored), DataType::F64);
    Tensor yes = convert(ifTrue, DataType::F64);
    Tensor no = convert(ifFalse, DataType::F64);
    for (size_t i = 0; i < 2 * 70 * 15; ++i)
      ASSERT_EQ(valueAt(found, i),
                condition.data<uint8_t>()[i % 15] != 0 ? valueAt(yes, i) : valueAt(no, i / 15));
  }
}

TEST(Select, RefusesByName) {
  Select select;
  select.left = select.right = 1.0;
  auto message = [](const Select &s) {
    Expected<uint32_t> needed = selectScratch(s);
    return needed ? "accepted" : needed.error().message();
  };
  EXPECT_THAT(message(select), HasSubstr("a comparison of two numbers"));
  select.left = localTensor(DataType::F32, {1, 2, 1, 1});
  EXPECT_THAT(message(select), HasSubstr("an operand [1,2,1,1] f32 for [1,1,1,1] f32"));
  select.output.type = DataType::I8;
  select.left = localTensor(DataType::F32, {1, 1, 1, 1});
  select.ifTrue = localTensor(DataType::F32, {1, 1, 1, 1});
  EXPECT_THAT(message(select), HasSubstr("an operand of f32; expected i8"));
}

} // namespace
