//===- ElementwiseTest.cpp - Arithmetic of two operands--------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Elementwise.h"
#include "tpuc/Support/Convert.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

float apply(BinaryKind kind, float a, float b) {
  switch (kind) {
  case BinaryKind::Add:
    return a + b;
  case BinaryKind::Sub:
    return a - b;
  case BinaryKind::Mul:
    return a * b;
  case BinaryKind::Max:
    return std::max(a, b);
  case BinaryKind::Min:
    return std::min(a, b);
  default:
    return a / b;
  }
}

constexpr BinaryKind kKinds[] = {BinaryKind::Add, BinaryKind::Sub, BinaryKind::Mul,
                                 BinaryKind::Max, BinaryKind::Min, BinaryKind::Div};

using OperandSource = std::variant<Extents, double>;

Tensor operandTensor(DataType type, const OperandSource &source, unsigned seed) {
  if (const auto *shape = std::get_if<Extents>(&source))
    return randomNumbers(type, Shape(std::span(*shape)), seed, 0.5, 2);
  double number = std::get<double>(source);
  return randomNumbers(type, {1, 1, 1, 1}, seed, number, number);
}

/// The element of a tensor that broadcasts to the index.
float at(const Tensor &tensor, const Extents &index) {
  Shape strides = tensor.shape().strides();
  int64_t offset = 0;
  for (size_t axis = 0; axis < 4; ++axis)
    offset += tensor.shape()[axis] == 1 ? 0 : index[axis] * strides[axis];
  return tensor.data<float>()[static_cast<size_t>(offset)];
}

Tensor binaryReference(BinaryKind kind, const Tensor &left, const Tensor &right,
                       const Extents &shape) {
  Tensor a = convert(left, DataType::F32);
  Tensor b = convert(right, DataType::F32);
  Tensor result(DataType::F32, Shape(std::span(shape)));
  float *to = result.mutableData<float>().data();
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; ++c)
      for (int64_t h = 0; h < shape[2]; ++h)
        for (int64_t w = 0; w < shape[3]; ++w)
          *to++ = apply(kind, at(a, {n, c, h, w}), at(b, {n, c, h, w}));
  return convert(result, left.type());
}

void expectBinary(BinaryKind kind, DataType type, const OperandSource &left,
                  const OperandSource &right, const Extents &output, uint32_t lane = 0) {
  SCOPED_TRACE(dataTypeName(type));
  Tensor a = operandTensor(type, left, 1);
  Tensor b = operandTensor(type, right, 2);
  Bench bench;
  auto operand = [&](const OperandSource &source, const Tensor &tensor) -> BinaryOperand {
    if (const auto *number = std::get_if<double>(&source))
      return *number;
    bool repeats = tensor.shape()[1] == 1 && output[1] > 1;
    return bench.load(tensor, Layout::Aligned, repeats ? 0 : lane);
  };
  Binary binary;
  binary.kind = kind;
  binary.left = operand(left, a);
  binary.right = operand(right, b);
  binary.output = bench.local(type, output, Layout::Aligned, lane);
  binary.scratch = bench.scratch(binaryScratch(binary));
  expectOk(emitBinary(bench.builder, binary));
  GlobalTensor stored = bench.store(binary.output);
  bench.run();
  Tensor wanted = binaryReference(kind, a, b, output);
  // Additions, products and choices are rounded once, as in the reference.
  if (kind == BinaryKind::Div)
    expectClose(bench.get(stored), wanted);
  else
    expectSame(bench.get(stored), wanted);
}

TEST(Binary, EveryKind) {
  for (BinaryKind kind : kKinds)
    for (DataType type : kFloatTypes) {
      expectBinary(kind, type, Extents{2, 70, 3, 5}, Extents{2, 70, 3, 5}, {2, 70, 3, 5});
      expectBinary(kind, type, Extents{1, 9, 4, 4}, 1.5, {1, 9, 4, 4});
      expectBinary(kind, type, 1.5, Extents{1, 9, 4, 4}, {1, 9, 4, 4});
    }
}

TEST(Binary, EveryBroadcast) {
  const Extents output{2, 70, 3, 5};
  for (unsigned mask = 0; mask < 16; ++mask) {
    Extents part = output;
    for (size_t axis = 0; axis < 4; ++axis)
      if ((mask >> axis & 1) != 0)
        part[axis] = 1;
    for (BinaryKind kind : {BinaryKind::Sub, BinaryKind::Div}) {
      expectBinary(kind, DataType::F32, output, part, output);
      expectBinary(kind, DataType::F16, part, output, output);
    }
  }
  expectBinary(BinaryKind::Add, DataType::F32, output, Extents{1, 1, 3, 5}, output, 7);
  // Both operands repeat.
  expectBinary(BinaryKind::Mul, DataType::BF16, Extents{2, 1, 3, 1}, Extents{1, 70, 1, 5}, output);
}

TEST(Binary, RowsOfLargerTensorsInPlace) {
  for (DataType type : kFloatTypes) {
    Bench bench;
    Tensor a = randomNumbers(type, {1, 70, 6, 5}, 1);
    Tensor b = randomNumbers(type, {1, 70, 2, 5}, 2);
    LocalTensor whole = bench.load(a);
    Binary binary;
    binary.left = bench.load(b);
    binary.right = whole.slice(2, 3, 2);
    binary.output = whole.slice(2, 3, 2);
    binary.activation = {true, 0.5};
    binary.scratch = bench.scratch(binaryScratch(binary));
    expectOk(emitBinary(bench.builder, binary));
    GlobalTensor stored = bench.store(whole);
    bench.run();
    Tensor found = convert(bench.get(stored), DataType::F32);
    Tensor before = convert(a, DataType::F32);
    Tensor added = convert(b, DataType::F32);
    for (int64_t c = 0; c < 70; ++c)
      for (int64_t h = 0; h < 6; ++h)
        for (int64_t w = 0; w < 5; ++w) {
          float wanted = at(before, {0, c, h, w});
          if (h == 3 || h == 4) {
            Tensor sum = Tensor::of<float>({1}, {wanted + at(added, {0, c, h - 3, w})});
            sum = convert(convert(sum, type), DataType::F32);
            wanted = std::min(std::max(sum.data<float>()[0], 0.0f), 0.5f);
          }
          ASSERT_EQ(at(found, {0, c, h, w}), wanted);
        }
  }
}

/// Sums and products of integers keep their lowest 32 bits.
TEST(Binary, IntegersWrap) {
  const std::vector<int32_t> numbers = {3, -7, 2147483647, -2147483647, 65536, 1 << 20, -1, 46341};
  const std::vector<int32_t> others = {-5, 2147483647, 2147483647, -2, 65537, 5000, -1, 46341};
  const Extents shape = {1, 2, 1, 4};
  for (BinaryKind kind : {BinaryKind::Add, BinaryKind::Sub, BinaryKind::Mul})
    for (bool isNumber : {false, true}) {
      constexpr int32_t kNumber = -1000003;
      Bench bench;
      Binary binary;
      binary.kind = kind;
      binary.left = bench.load(tensorOf(DataType::I32, shape, numbers));
      if (isNumber)
        binary.right = double{kNumber};
      else
        binary.right = bench.load(tensorOf(DataType::I32, shape, others));
      binary.output = bench.local(DataType::I32, shape);
      binary.scratch = bench.scratch(binaryScratch(binary));
      expectOk(emitBinary(bench.builder, binary));
      const GlobalTensor stored = bench.store(binary.output);
      bench.run();
      std::vector<int32_t> wanted;
      for (size_t i = 0; i < numbers.size(); ++i) {
        const auto a = static_cast<uint32_t>(numbers[i]);
        const auto b = static_cast<uint32_t>(isNumber ? kNumber : others[i]);
        wanted.push_back(static_cast<int32_t>(kind == BinaryKind::Add   ? a + b
                                              : kind == BinaryKind::Sub ? a - b
                                                                        : a * b));
      }
      expectSame(bench.get(stored), tensorOf(DataType::I32, shape, wanted));
    }
}

TEST(Binary, RefusesByName) {
  Binary binary;
  binary.left = 1.0;
  binary.right = 2.0;
  auto message = [](const Binary &b) {
    Expected<uint32_t> needed = binaryScratch(b);
    return needed ? "accepted" : needed.error().message();
  };
  EXPECT_THAT(message(binary), HasSubstr("two numbers"));
  binary.left = localTensor(DataType::F32, {1, 2, 1, 1});
  EXPECT_THAT(message(binary), HasSubstr("an operand [1,2,1,1] f32 for [1,1,1,1] f32"));
  binary.output = localTensor(DataType::F32, {1, 2, 1, 1}, 0, Layout::Aligned, 3);
  EXPECT_THAT(message(binary), HasSubstr("lanes 0 and 3"));
  binary.left = binary.output = localTensor(DataType::I32, {1, 2, 1, 1});
  EXPECT_EQ(message(binary), "accepted");
  binary.right = localTensor(DataType::F32, {1, 2, 1, 1});
  EXPECT_THAT(message(binary), HasSubstr("an operand of f32 for i32; expected the same type"));
  binary.kind = BinaryKind::Max;
  EXPECT_THAT(message(binary), HasSubstr("expected a sum, a difference or a product"));
  binary.kind = BinaryKind::Add;
  binary.activation.relu = true;
  EXPECT_THAT(message(binary), HasSubstr("an activation of integers"));
}

TEST(Cast, BetweenAllTypes) {
  constexpr DataType kTypes[] = {DataType::F32, DataType::F16, DataType::BF16, DataType::I8,
                                 DataType::U8,  DataType::I16, DataType::I32};
  for (DataType from : kTypes)
    for (DataType to : kTypes) {
      SCOPED_TRACE(std::string(dataTypeName(from)) + " to " + std::string(dataTypeName(to)));
      Bench bench;
      Tensor input = randomNumbers(from, {2, 70, 3, 5}, 1, isSigned(from) ? -200 : 0, 200);
      CastOp cast{bench.load(input), bench.local(to, {2, 70, 3, 5}), {}, {}};
      cast.scratch = bench.scratch(castScratch(cast));
      expectOk(emitCast(bench.builder, cast));
      GlobalTensor stored = bench.store(cast.output);
      bench.run();
      ConvertOptions options;
      options.integerRounding = RoundingMode::HalfToEven;
      expectSame(bench.get(stored), convert(input, to, options));
    }
}

} // namespace
