//===- MovementTest.cpp - Moving elements ------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Interpreter/Kernels/Fill.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

using namespace tpuc;
using namespace tpuc::kernels;
using testing::ElementsAre;
using testing::ElementsAreArray;

namespace {

Tensor counting(const Shape &shape) {
  Tensor tensor(DataType::I32, shape);
  auto values = tensor.mutableData<int32_t>();
  std::iota(values.begin(), values.end(), 1);
  return tensor;
}

std::vector<int32_t> ints(const Tensor &tensor) {
  Tensor wide = convert(tensor, DataType::I32);
  auto values = wide.data<int32_t>();
  return {values.begin(), values.end()};
}

std::vector<int64_t> indexOf(const Shape &shape, int64_t flat) {
  std::vector<int64_t> index(shape.rank());
  for (size_t axis = shape.rank(); axis-- > 0; flat /= shape[axis])
    index[axis] = flat % shape[axis];
  return index;
}

int64_t flatOf(const Shape &shape, const std::vector<int64_t> &index) {
  int64_t flat = 0;
  for (size_t axis = 0; axis < shape.rank(); ++axis)
    flat = flat * shape[axis] + index[axis];
  return flat;
}

class Movement : public testing::Test {
protected:
  ThreadPool threads{2};
};

TEST_F(Movement, PermutesEveryOrderAsIndexingDoes) {
  Shape shape{2, 3, 1, 5};
  Tensor input = counting(shape);
  std::vector<int64_t> order = {0, 1, 2, 3};
  do {
    Shape result = shape;
    for (size_t axis = 0; axis < 4; ++axis)
      result[axis] = shape[static_cast<size_t>(order[axis])];
    std::vector<int32_t> expected;
    for (int64_t flat = 0; flat < input.numElements(); ++flat) {
      std::vector<int64_t> index = indexOf(result, flat);
      std::vector<int64_t> from(4);
      for (size_t axis = 0; axis < 4; ++axis)
        from[static_cast<size_t>(order[axis])] = index[axis];
      expected.push_back(static_cast<int32_t>(flatOf(shape, from) + 1));
    }
    for (DataType type : {DataType::I32, DataType::I8, DataType::I64, DataType::F16}) {
      Tensor output(type, result);
      permute(convert(input, type), order, output, threads);
      EXPECT_THAT(ints(output), ElementsAreArray(expected)) << dataTypeName(type);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(Movement, TransposesBeyondOneTile) {
  Tensor input = counting({70, 41});
  Tensor output(DataType::I32, {41, 70});
  permute(input, std::vector<int64_t>{1, 0}, output, threads);
  for (int64_t row = 0; row < 41; ++row)
    for (int64_t column = 0; column < 70; ++column)
      ASSERT_EQ(output.data<int32_t>()[static_cast<size_t>(row * 70 + column)],
                column * 41 + row + 1);
}

TEST_F(Movement, PermutesHalfBytes) {
  Tensor input = convert(Tensor::of<int8_t>({3, 3}, {-8, 7, 1, 2, -3, 4, 5, 6, -1}), DataType::I4);
  Tensor output(DataType::I4, {3, 3});
  permute(input, std::vector<int64_t>{1, 0}, output, threads);
  EXPECT_THAT(ints(output), ElementsAre(-8, 2, 5, 7, -3, 6, 1, 4, -1));
}

TEST_F(Movement, SlicesAsNumpyDoes) {
  // Offset, end, step, and what range(10)[offset:end:step] is.
  struct Case {
    int64_t start, end, step;
    std::vector<int32_t> expected;
  };
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  for (const Case &each :
       {Case{0, 3, 1, {1, 2, 3}}, Case{1, kMax, 4, {2, 6, 10}}, Case{-3, kMax, 1, {8, 9, 10}},
        Case{kMax, kMin, -3, {10, 7, 4, 1}}, Case{-1, -5, -2, {10, 8}}, Case{5, 2, 1, {}},
        Case{20, 30, 1, {}}, Case{-100, 2, 1, {1, 2}}, Case{3, kMin, kMin, {4}},
        Case{2, kMax, kMax, {3}}}) {
    SliceRange range = sliceRange(10, each.start, each.end, each.step);
    Tensor output(DataType::I32, {range.count});
    std::vector<AxisSource> source = {sliceSource(range)};
    remap(counting({10}), source, nullptr, output, threads);
    EXPECT_THAT(ints(output), ElementsAreArray(each.expected))
        << each.start << ":" << each.end << ":" << each.step;
  }
}

TEST_F(Movement, PadsInEveryMode) {
  // numpy.pad([1, 2, 3], (4, 3)) in each mode.
  auto padded = [&](PadMode mode, int64_t before, int64_t after) {
    Tensor output(DataType::I32, {3 + before + after});
    std::vector<AxisSource> source = {padSource(3, before, after, mode)};
    Tensor value = Tensor::of<int32_t>({}, {9});
    remap(counting({3}), source, &value, output, threads);
    return ints(output);
  };
  EXPECT_THAT(padded(PadMode::Constant, 2, 1), ElementsAre(9, 9, 1, 2, 3, 9));
  EXPECT_THAT(padded(PadMode::Edge, 2, 1), ElementsAre(1, 1, 1, 2, 3, 3));
  EXPECT_THAT(padded(PadMode::Reflect, 4, 3), ElementsAre(1, 2, 3, 2, 1, 2, 3, 2, 1, 2));
  EXPECT_THAT(padded(PadMode::Wrap, 4, 3), ElementsAre(3, 1, 2, 3, 1, 2, 3, 1, 2, 3));
  EXPECT_THAT(padded(PadMode::Constant, -1, 2), ElementsAre(2, 3, 9, 9));
}

TEST_F(Movement, RemapsSeveralDimensions) {
  // A border of 7 around, the columns twice and backwards; the last dimension stays.
  Tensor input = counting({2, 2, 2});
  std::vector<AxisSource> source = {{kFill, 1, 0}, {1, 0, 1, kFill}, {0, 1}};
  Tensor value = Tensor::of<int32_t>({}, {7});
  Tensor output(DataType::I32, {3, 4, 2});
  remap(input, source, &value, output, threads);
  EXPECT_THAT(ints(output), ElementsAre(7, 7, 7, 7, 7, 7, 7, 7, //
                                        7, 8, 5, 6, 7, 8, 7, 7, //
                                        3, 4, 1, 2, 3, 4, 7, 7));
}

TEST_F(Movement, TilesAndKeepsScalars) {
  Tensor output(DataType::I32, {2, 4});
  std::vector<AxisSource> source = {tileSource(1, 2), tileSource(2, 2)};
  remap(counting({1, 2}), source, nullptr, output, threads);
  EXPECT_THAT(ints(output), ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
  Tensor scalar(DataType::I32, {});
  remap(counting({}), {}, nullptr, scalar, threads);
  EXPECT_THAT(ints(scalar), ElementsAre(1));
}

TEST_F(Movement, ConcatenatesInAnyDimension) {
  std::vector<Tensor> inputs = {counting({2, 1}), counting({2, 2}), Tensor(DataType::I32, {2, 0})};
  Tensor output(DataType::I32, {2, 3});
  concat(inputs, 1, output, threads);
  EXPECT_THAT(ints(output), ElementsAre(1, 1, 2, 2, 3, 4));
  std::vector<Tensor> small = {convert(counting({1, 3}), DataType::I4),
                               convert(counting({1, 3}), DataType::I4)};
  Tensor joined(DataType::I4, {2, 3});
  concat(small, 0, joined, threads);
  EXPECT_THAT(ints(joined), ElementsAre(1, 2, 3, 1, 2, 3));
}

TEST_F(Movement, MovesDepthToSpaceAndBack) {
  // The formula of ONNX, element by element.
  Tensor input = counting({1, 8, 2, 3});
  for (bool crd : {false, true}) {
    Tensor output(DataType::I32, {1, 2, 4, 6});
    depthToSpace(input, {2, 2, crd}, output, threads);
    for (int64_t c = 0; c < 2; ++c)
      for (int64_t y = 0; y < 4; ++y)
        for (int64_t x = 0; x < 6; ++x) {
          int64_t block = y % 2 * 2 + x % 2;
          int64_t channel = crd ? c * 4 + block : block * 2 + c;
          ASSERT_EQ(output.data<int32_t>()[static_cast<size_t>((c * 4 + y) * 6 + x)],
                    (channel * 2 + y / 2) * 3 + x / 2 + 1);
        }
    Tensor back(DataType::I32, {1, 8, 2, 3});
    spaceToDepth(output, {2, 2, crd}, back, threads);
    EXPECT_EQ(ints(back), ints(input));
  }
}

TEST_F(Movement, ReversesSequences) {
  // The examples of ONNX's ReverseSequence, counted from 1.
  Tensor output(DataType::I32, {4, 4});
  reverseSequence(counting({4, 4}), std::vector<int64_t>{4, 3, 2, 1}, 1, 0, output, threads);
  EXPECT_THAT(ints(output), ElementsAre(13, 10, 7, 4, 9, 6, 3, 8, 5, 2, 11, 12, 1, 14, 15, 16));
  reverseSequence(counting({4, 4}), std::vector<int64_t>{1, 2, 3, 4}, 0, 1, output, threads);
  EXPECT_THAT(ints(output), ElementsAre(1, 2, 3, 4, 6, 5, 7, 8, 11, 10, 9, 12, 16, 15, 14, 13));
}

TEST_F(Movement, CutsTriangles) {
  Tensor input = counting({2, 3});
  auto cut = [&](int64_t diagonal, bool upper) {
    Tensor output(DataType::I32, {2, 3});
    trilu(input, diagonal, upper, output, threads);
    return ints(output);
  };
  EXPECT_THAT(cut(0, true), ElementsAre(1, 2, 3, 0, 5, 6));
  EXPECT_THAT(cut(1, true), ElementsAre(0, 2, 3, 0, 0, 6));
  EXPECT_THAT(cut(0, false), ElementsAre(1, 0, 0, 4, 5, 0));
  EXPECT_THAT(cut(-1, false), ElementsAre(0, 0, 0, 4, 0, 0));
  EXPECT_THAT(cut(std::numeric_limits<int64_t>::max(), false), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(cut(std::numeric_limits<int64_t>::min(), false), ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST_F(Movement, FillsRangesAndDiagonals) {
  Tensor filled(DataType::I4, {3});
  fill(convert(Tensor::of<int8_t>({}, {-3}), DataType::I4), filled, threads);
  EXPECT_THAT(ints(filled), ElementsAre(-3, -3, -3));
  auto scalar = [](int64_t value) { return Tensor::of<int64_t>({}, {value}); };
  EXPECT_EQ(rangeCount(scalar(10), scalar(4), scalar(-2)), 3);
  EXPECT_EQ(rangeCount(scalar(0), scalar(4), scalar(-2)), 0);
  EXPECT_FALSE(rangeCount(scalar(0), scalar(4), scalar(0)));
  EXPECT_FALSE(rangeCount(scalar(0), scalar(std::numeric_limits<int64_t>::max()), scalar(1)));
  Tensor numbers(DataType::I64, {3});
  range(scalar(10), scalar(-2), numbers);
  EXPECT_THAT(ints(numbers), ElementsAre(10, 8, 6));
  Tensor diagonal(DataType::F16, {2, 3});
  eye(1, diagonal, threads);
  EXPECT_THAT(ints(diagonal), ElementsAre(0, 1, 0, 0, 0, 1));
  eye(-1, diagonal, threads);
  EXPECT_THAT(ints(diagonal), ElementsAre(0, 0, 0, 1, 0, 0));
}

} // namespace
