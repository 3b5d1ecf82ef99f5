//===- IntegerElementwiseTest.cpp - Element by element ops of bytes -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerElementwise.h"
#include "IntegerTesting.h"
#include "tpuc/Interpreter/Kernels/Elementwise.h"
#include "tpuc/Interpreter/Kernels/IntegerQuantize.h"
#include "tpuc/Interpreter/Kernels/IntegerTable.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::kernels;
using namespace tpuc::kernels::integer;
using testing::ElementsAre;

namespace {

/// Operands that broadcast to the last of the shapes.
struct Operands {
  std::vector<Tensor> tensors;
  Shape output;
};

Operands randomOperands(Random &random, size_t count) {
  const int64_t rank = pick(random, 0, 4);
  std::vector<int64_t> whole;
  for (int64_t i = 0; i < rank; ++i)
    whole.push_back(pick(random, 1, 12));
  Operands result;
  result.output = Shape(whole);
  for (size_t i = 0; i < count; ++i) {
    std::vector<int64_t> dims = whole;
    for (int64_t &extent : dims)
      if (i > 0 && pick(random, 0, 3) == 0)
        extent = 1;
    if (i > 0)
      dims.erase(dims.begin(), dims.begin() + pick(random, 0, rank));
    result.tensors.push_back(randomBytes(random, randomByteType(random), Shape(dims)));
  }
  return result;
}

/// The numbers of an operand for each element of the output.
std::vector<int64_t> broadcast(const Tensor &operand, const Shape &output) {
  const std::vector<int64_t> values = numbers(operand);
  std::vector<int64_t> result;
  for (int64_t i = 0; i < output.numElements(); ++i) {
    int64_t rest = i;
    int64_t at = 0;
    int64_t stride = 1;
    for (size_t back = 1; back <= operand.shape().rank(); ++back) {
      const int64_t extent = operand.shape()[operand.shape().rank() - back];
      const int64_t whole = output[output.rank() - back];
      at += (extent == 1 ? 0 : rest % whole) * stride;
      stride *= extent;
      rest /= whole;
    }
    result.push_back(values[static_cast<size_t>(at)]);
  }
  return result;
}

TEST(IntegerElementwiseTest, WeightedSums) {
  Random random(20);
  ThreadPool threads(2);
  for (int round = 0; round < 300; ++round) {
    const auto count = static_cast<size_t>(pick(random, 1, 4));
    const Operands operands = randomOperands(random, count);
    const DataType type = randomByteType(random);
    WeightedSumParams params;
    const int64_t bits = pick(random, 1, 20);
    for (size_t i = 0; i < count; ++i)
      params.multipliers.push_back(
          static_cast<int32_t>(pick(random, -(int64_t(1) << bits), int64_t(1) << bits)));
    params.constant = static_cast<int32_t>(pick(random, -1000000, 1000000));
    params.requant = randomRequant(random, type, 1, static_cast<int>(bits) + 8);
    if (pick(random, 0, 1) == 0)
      params.requant.factors = {{1, static_cast<int32_t>(bits)}};
    Tensor output(type, operands.output);
    integerWeightedSum(operands.tensors, params, output, threads);
    std::vector<Int128> sums(static_cast<size_t>(output.numElements()), params.constant);
    for (size_t i = 0; i < count; ++i) {
      const std::vector<int64_t> values = broadcast(operands.tensors[i], operands.output);
      for (size_t at = 0; at < sums.size(); ++at)
        sums[at] += Int128(values[at]) * params.multipliers[i];
    }
    const std::vector<int64_t> results = numbers(output);
    for (size_t at = 0; at < sums.size(); ++at)
      ASSERT_EQ(results[at], requantized(sums[at], params.requant, 0));
  }
}

TEST(IntegerElementwiseTest, Products) {
  Random random(21);
  ThreadPool threads(2);
  for (int round = 0; round < 300; ++round) {
    const Operands operands = randomOperands(random, 2);
    const DataType type = randomByteType(random);
    const int32_t leftZero = randomZero(random, operands.tensors[0].type());
    const int32_t rightZero = randomZero(random, operands.tensors[1].type());
    const RequantParams requant = randomRequant(random, type, 1, 16);
    Tensor output(type, operands.output);
    integerProduct(operands.tensors[0], leftZero, operands.tensors[1], rightZero, requant, output,
                   threads);
    const std::vector<int64_t> a = broadcast(operands.tensors[0], operands.output);
    const std::vector<int64_t> b = broadcast(operands.tensors[1], operands.output);
    const std::vector<int64_t> results = numbers(output);
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(results[i], requantized(Int128(a[i] - leftZero) * (b[i] - rightZero), requant, 0));
  }
}

TEST(IntegerElementwiseTest, Extremes) {
  Random random(22);
  ThreadPool threads(2);
  for (int round = 0; round < 300; ++round) {
    const auto count = static_cast<size_t>(pick(random, 1, 3));
    const Operands operands = randomOperands(random, count);
    const DataType type = randomByteType(random);
    const bool isMax = pick(random, 0, 1) == 1;
    std::vector<ExtremeOperand> params;
    for (const Tensor &tensor : operands.tensors)
      params.push_back({randomZero(random, tensor.type()), randomRequant(random, type, 1, 8)});
    Tensor output(type, operands.output);
    integerExtreme(operands.tensors, params, isMax, output, threads);
    const std::vector<int64_t> results = numbers(output);
    std::vector<int64_t> expected;
    for (size_t i = 0; i < count; ++i) {
      const std::vector<int64_t> values = broadcast(operands.tensors[i], operands.output);
      expected.resize(values.size(), isMax ? INT64_MIN : INT64_MAX);
      for (size_t at = 0; at < values.size(); ++at) {
        const int64_t own = requantized(values[at] - params[i].zero, params[i].requant, 0);
        expected[at] = isMax ? std::max(expected[at], own) : std::min(expected[at], own);
      }
    }
    ASSERT_EQ(results, expected);
  }
}

/// The position along `axis` of each element.
std::vector<size_t> positionsAlong(const Shape &shape, size_t axis) {
  std::vector<size_t> result;
  for (int64_t i = 0; i < shape.numElements(); ++i)
    result.push_back(static_cast<size_t>(i / shape.strides()[axis] % shape[axis]));
  return result;
}

TEST(IntegerRequantTest, TensorsOfAllTypes) {
  Random random(23);
  ThreadPool threads(2);
  for (int round = 0; round < 300; ++round) {
    const DataType types[] = {DataType::I8, DataType::U8, DataType::I16, DataType::U16,
                              DataType::I32};
    const DataType from = types[pick(random, 0, 4)];
    const DataType to = types[pick(random, 0, 4)];
    const Shape shape{pick(random, 1, 3), pick(random, 1, 20), pick(random, 1, 80)};
    const auto axis = static_cast<size_t>(pick(random, 0, 2));
    const bool isByte = bitWidth(from) == 8;
    const Tensor input =
        isByte ? randomBytes(random, from, shape)
               : convert(randomInts(random, shape, from == DataType::I32 ? 1 << 20 : 60000), from);
    const auto factors = static_cast<size_t>(pick(random, 0, 1) == 0 ? 1 : shape[axis]);
    RequantParams params = randomRequant(random, isByte ? from : DataType::I8, factors, 12);
    params.range = integerRange(to);
    params.zeroPoint = static_cast<int32_t>(pick(random, 0, 127));
    const int32_t zero = isByte ? randomZero(random, from) : 0;
    Tensor output(to, shape);
    integerRequantize(input, zero, static_cast<int64_t>(axis), params, output, threads);
    const std::vector<size_t> channels = positionsAlong(shape, axis);
    const std::vector<int64_t> x = numbers(input);
    const std::vector<int64_t> y = numbers(output);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], requantized(x[i] - zero, params, channels[i]))
          << dataTypeName(from) << " to " << dataTypeName(to);
  }
}

TEST(IntegerTableTest, LooksUpBytes) {
  ThreadPool threads(2);
  const ByteTable half = byteTable(DataType::I8, [](int64_t q) { return q < 0 ? q / 2 : q; });
  const ByteTable negated = byteTable(DataType::I8, [](int64_t q) { return -q; });
  const Tensor input = Tensor::of<int8_t>({2, 2, 2}, {-128, -7, 0, 127, 1, 2, 3, -3});
  Tensor output(DataType::I8, input.shape());
  lookUp(input, std::span(&half, 1), 0, output, threads);
  EXPECT_THAT(numbers(output), ElementsAre(-64, -3, 0, 127, 1, 2, 3, -1));
  lookUp(input, std::array{half, negated}, 1, output, threads);
  EXPECT_THAT(numbers(output), ElementsAre(-64, -3, 0, -127, 1, 2, -3, 3));
  const ByteTable wide = byteTable(DataType::U8, [](int64_t q) { return q == 255 ? 200 : q / 2; });
  const Tensor bytes = Tensor::of<uint8_t>({3}, {0, 101, 255});
  Tensor results(DataType::U8, bytes.shape());
  lookUp(bytes, std::span(&wide, 1), 0, results, threads);
  EXPECT_THAT(numbers(results), ElementsAre(0, 50, 200));
}

TEST(IntegerTableTest, LeakyRelu) {
  Random random(24);
  ThreadPool threads(2);
  for (int round = 0; round < 200; ++round) {
    const Shape shape{pick(random, 1, 3), pick(random, 1, 9), pick(random, 1, 300)};
    const DataType from = randomByteType(random);
    const DataType to = randomByteType(random);
    const Tensor input = randomBytes(random, from, shape);
    const int32_t zero = randomZero(random, from);
    const RequantParams positive = randomRequant(random, to, 1, 8);
    const auto factors = static_cast<size_t>(pick(random, 0, 1) == 0 ? 1 : shape[1]);
    const RequantParams negative = randomRequant(random, to, factors, 8);
    Tensor output(to, shape);
    integerLeakyRelu(input, zero, positive, negative, 1, output, threads);
    const std::vector<size_t> channels = positionsAlong(shape, 1);
    const std::vector<int64_t> x = numbers(input);
    const std::vector<int64_t> y = numbers(output);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], x[i] >= zero ? requantized(x[i] - zero, positive, 0)
                                   : requantized(x[i] - zero, negative, channels[i]));
  }
}

TEST(IntegerQuantizeTest, RoundsAsAsked) {
  ThreadPool threads(1);
  const Tensor input =
      Tensor::of<float>({7}, {0.25F, 0.75F, -0.25F, 1000, -1000, std::nanf(""), 3});
  Tensor output(DataType::I8, input.shape());
  const QuantParams params{0.5, 3};
  quantizeTensor(input, params, integerRange<int8_t>(), RoundingMode::HalfToEven, output, threads);
  EXPECT_THAT(numbers(output), ElementsAre(3, 5, 3, 127, -128, 3, 9));
  quantizeTensor(input, params, {0, 100}, RoundingMode::HalfUp, output, threads);
  EXPECT_THAT(numbers(output), ElementsAre(4, 5, 3, 100, 0, 3, 9));
  for (DataType half : {DataType::F16, DataType::BF16}) {
    Tensor wide(DataType::U8, input.shape());
    quantizeTensor(convert(input, half), params, integerRange<uint8_t>(), RoundingMode::HalfUp,
                   wide, threads);
    EXPECT_THAT(numbers(wide), ElementsAre(4, 5, 3, 255, 0, 3, 9));
  }
}

TEST(IntegerQuantizeTest, BackToFloats) {
  ThreadPool threads(2);
  const QuantParams params{0.1, -5};
  for (DataType type : {DataType::I8, DataType::U8}) {
    Random random(25);
    const Tensor input = randomBytes(random, type, {3000});
    const std::vector<int64_t> q = numbers(input);
    Tensor output(DataType::F32, input.shape());
    Tensor half(DataType::F16, input.shape());
    dequantizeTensor(input, params, output, threads);
    dequantizeTensor(input, params, half, threads);
    for (size_t i = 0; i < q.size(); ++i)
      ASSERT_EQ(output.data<float>()[i], static_cast<float>(0.1 * static_cast<double>(q[i] + 5)));
    const Tensor rounded = convert(output, DataType::F16);
    EXPECT_TRUE(std::ranges::equal(half.data<uint16_t>(), rounded.data<uint16_t>()));
  }
}

} // namespace
