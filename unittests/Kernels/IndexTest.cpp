//===- IndexTest.cpp - Gathering and scattering ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Index.h"
#include "unittests/Kernels/TestTensors.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::kernels;
using testing::ElementsAre;

namespace {

class Index : public testing::Test {
protected:
  ThreadPool threads{2};
};

TEST_F(Index, GathersSlices) {
  Tensor input = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor output(DataType::F32, {2, 2});
  ASSERT_TRUE(gather(input, Tensor::of<int32_t>({2}, {-1, 0}), 1, output, threads));
  EXPECT_THAT(floats(output), ElementsAre(3, 1, 6, 4));
  Tensor small(DataType::I4, {1, 3});
  ASSERT_TRUE(
      gather(convert(input, DataType::I4), Tensor::of<int64_t>({1}, {1}), 0, small, threads));
  EXPECT_THAT(floats(small), ElementsAre(4, 5, 6));
  Expected<void> beyond = gather(input, Tensor::of<int64_t>({2}, {0, 3}), 1, output, threads);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().found, "index 3");
  EXPECT_EQ(beyond.error().expected, "-3 to 2");
}

// The examples of ONNX's operators.

TEST_F(Index, GathersElements) {
  Tensor output(DataType::F32, {2, 2});
  ASSERT_TRUE(gatherElements(Tensor::of<float>({2, 2}, {1, 2, 3, 4}),
                             Tensor::of<int64_t>({2, 2}, {0, 0, 1, 0}), 1, output, threads));
  EXPECT_THAT(floats(output), ElementsAre(1, 1, 4, 3));
  Tensor rows(DataType::F32, {2, 3});
  ASSERT_TRUE(gatherElements(Tensor::of<float>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
                             Tensor::of<int64_t>({2, 3}, {-2, -1, 0, 2, 0, 0}), 0, rows, threads));
  EXPECT_THAT(floats(rows), ElementsAre(4, 8, 3, 7, 2, 3));
}

TEST_F(Index, GathersByTuples) {
  Tensor input = Tensor::of<float>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  Tensor output(DataType::F32, {2, 2});
  ASSERT_TRUE(gatherND(input, Tensor::of<int64_t>({2, 2}, {0, 1, 1, 0}), 0, output, threads));
  EXPECT_THAT(floats(output), ElementsAre(2, 3, 4, 5));
  ASSERT_TRUE(gatherND(input, Tensor::of<int64_t>({2, 1}, {1, 0}), 1, output, threads));
  EXPECT_THAT(floats(output), ElementsAre(2, 3, 4, 5));
  EXPECT_FALSE(gatherND(input, Tensor::of<int64_t>({2, 1}, {1, 2}), 1, output, threads));
}

TEST_F(Index, ScattersElements) {
  Tensor input = Tensor::of<float>({1, 5}, {1, 2, 3, 4, 5});
  Tensor indices = Tensor::of<int64_t>({1, 2}, {1, -2});
  Tensor updates = Tensor::of<float>({1, 2}, {1.5F, 2.5F});
  Tensor output(DataType::F32, {1, 5});
  ASSERT_TRUE(scatterElements(input, indices, updates, 1, Reduction::None, output));
  EXPECT_THAT(floats(output), ElementsAre(1, 1.5F, 3, 2.5F, 5));
  Tensor twice = Tensor::of<int64_t>({1, 2}, {1, 1});
  ASSERT_TRUE(scatterElements(input, twice, updates, 1, Reduction::Add, output));
  EXPECT_THAT(floats(output), ElementsAre(1, 6, 3, 4, 5));
  ASSERT_TRUE(scatterElements(input, twice, updates, 1, Reduction::Mul, output));
  EXPECT_THAT(floats(output), ElementsAre(1, 7.5F, 3, 4, 5));
  ASSERT_TRUE(scatterElements(input, twice, updates, 1, Reduction::Max, output));
  EXPECT_THAT(floats(output), ElementsAre(1, 2.5F, 3, 4, 5));
  ASSERT_TRUE(scatterElements(input, twice, updates, 1, Reduction::Min, output));
  EXPECT_THAT(floats(output), ElementsAre(1, 1.5F, 3, 4, 5));
  EXPECT_FALSE(scatterElements(input, Tensor::of<int64_t>({1, 2}, {0, 5}), updates, 1,
                               Reduction::None, output));
}

TEST_F(Index, ScattersByTuples) {
  Tensor input = Tensor::of<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  Tensor indices = Tensor::of<int64_t>({2, 1}, {2, 0});
  Tensor updates = Tensor::of<float>({2, 2}, {10, 20, 30, 40});
  Tensor output(DataType::F32, {4, 2});
  ASSERT_TRUE(scatterND(input, indices, updates, Reduction::None, output));
  EXPECT_THAT(floats(output), ElementsAre(30, 40, 3, 4, 10, 20, 7, 8));
  ASSERT_TRUE(scatterND(input, indices, updates, Reduction::Add, output));
  EXPECT_THAT(floats(output), ElementsAre(31, 42, 3, 4, 15, 26, 7, 8));
}

TEST_F(Index, WritesRunsOfEachSample) {
  Tensor input = Tensor::of<float>({2, 1, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  Tensor updates = Tensor::of<float>({2, 1, 2, 2}, {-1, -2, -3, -4, -5, -6, -7, -8});
  Tensor starts = Tensor::of<int64_t>({2}, {1, 0});
  Tensor output(DataType::F32, {2, 1, 3, 2});
  ASSERT_TRUE(tensorScatter(input, updates, &starts, 2, false, output));
  EXPECT_THAT(floats(output), ElementsAre(1, 2, -1, -2, -3, -4, -5, -6, -7, -8, 11, 12));
  ASSERT_TRUE(tensorScatter(input, updates, nullptr, 2, false, output));
  EXPECT_THAT(floats(output), ElementsAre(-1, -2, -3, -4, 5, 6, -5, -6, -7, -8, 11, 12));
  Tensor late = Tensor::of<int64_t>({2}, {2, 4});
  ASSERT_TRUE(tensorScatter(input, updates, &late, 2, true, output));
  EXPECT_THAT(floats(output), ElementsAre(-3, -4, 3, 4, -1, -2, 7, 8, -5, -6, -7, -8));
  Expected<void> beyond = tensorScatter(input, updates, &late, 2, false, output);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().message(),
            "writes slices 2 to before 4 of sample 0; expected 0 to before 3");
}

TEST_F(Index, CombinesSmallTypesOnceAndExactly) {
  // 2048 + 1 + 1 is 2050 in f16; rounded after each step it would stay 2048.
  Tensor input = convert(Tensor::of<float>({1}, {2048}), DataType::F16);
  Tensor updates = convert(Tensor::of<float>({2}, {1, 1}), DataType::F16);
  Tensor output(DataType::F16, {1});
  Tensor twice = Tensor::of<int64_t>({2}, {0, 0});
  ASSERT_TRUE(scatterElements(input, twice, updates, 0, Reduction::Add, output));
  EXPECT_THAT(floats(output), ElementsAre(2050));
  // Moved values keep their bits, those of a NaN too.
  Tensor nan(DataType::F16, {2});
  nan.mutableData<uint16_t>()[0] = 0x3C00;
  nan.mutableData<uint16_t>()[1] = 0x7D23;
  ASSERT_TRUE(scatterElements(input, twice, nan, 0, Reduction::None, output));
  EXPECT_EQ(output.data<uint16_t>()[0], 0x7D23);
  Tensor wide(DataType::I64, {1});
  constexpr int64_t kLarge = (int64_t(1) << 62) + 1;
  ASSERT_TRUE(scatterElements(Tensor::of<int64_t>({1}, {kLarge}), twice,
                              Tensor::of<int64_t>({2}, {1, 1}), 0, Reduction::Add, wide));
  EXPECT_EQ(wide.data<int64_t>()[0], kLarge + 2);
  Tensor largest(DataType::F32, {1});
  ASSERT_TRUE(scatterElements(Tensor::of<float>({1}, {1}), twice, Tensor::of<float>({2}, {NAN, 5}),
                              0, Reduction::Max, largest));
  EXPECT_TRUE(std::isnan(largest.data<float>()[0]));
}

TEST_F(Index, MakesOneHots) {
  Tensor values = Tensor::of<float>({2}, {2, 5});
  Tensor output(DataType::F32, {3, 3});
  oneHot(Tensor::of<int64_t>({3}, {0, -1, 7}), values, 1, output, threads);
  EXPECT_THAT(floats(output), ElementsAre(5, 2, 2, 2, 2, 5, 2, 2, 2));
  oneHot(Tensor::of<float>({3}, {0, -1, 7}), values, 0, output, threads);
  EXPECT_THAT(floats(output), ElementsAre(5, 2, 2, 2, 2, 2, 2, 5, 2));
}

TEST_F(Index, TakesSlices) {
  Tensor output(DataType::F32, {2, 2});
  takeSlices(Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6}), std::vector<int64_t>{1, 2}, 0, output,
             threads);
  EXPECT_THAT(floats(output), ElementsAre(3, 4, 5, 6));
}

} // namespace
