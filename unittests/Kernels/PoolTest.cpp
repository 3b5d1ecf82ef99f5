//===- PoolTest.cpp - Pooling ---------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Pool.h"
#include "unittests/Kernels/TestTensors.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::kernels;
using testing::ElementsAre;
using testing::ElementsAreArray;

namespace {

PoolParams params1d(int64_t kernel, int64_t stride, int64_t begin, int64_t end) {
  PoolParams params;
  params.window = {{kernel}, {stride}, {1}, {begin}, {end}};
  return params;
}

TEST(PoolTest, AverageCountsThePaddingOnRequest) {
  ThreadPool threads(1);
  Tensor input = Tensor::of<float>({1, 1, 4}, {2, 4, 6, 8});
  Tensor output(DataType::F32, {1, 1, 3});
  PoolParams params = params1d(2, 2, 1, 1);
  averagePool(input, params, output, threads);
  EXPECT_THAT(floats(output), ElementsAre(2, 5, 8));
  params.countIncludePad = true;
  averagePool(input, params, output, threads);
  EXPECT_THAT(floats(output), ElementsAre(1, 5, 4));
  params.padValue = 10;
  averagePool(input, params, output, threads);
  EXPECT_THAT(floats(output), ElementsAre(6, 5, 9));
}

TEST(PoolTest, AverageOfARoundedUpWindowCountsWhatIsThere) {
  ThreadPool threads(1);
  Tensor input = Tensor::of<float>({1, 1, 5}, {1, 2, 3, 4, 5});
  // With ceil_mode the second window reaches one element behind the input.
  Tensor output(DataType::F32, {1, 1, 2});
  PoolParams params = params1d(3, 3, 0, 0);
  params.countIncludePad = true;
  averagePool(input, params, output, threads);
  EXPECT_THAT(floats(output), ElementsAre(2, 4.5F));
}

TEST(PoolTest, MaximumNeverTakesThePadding) {
  ThreadPool threads(1);
  Tensor input = Tensor::of<float>({1, 1, 3}, {-5, -7, -2});
  Tensor output(DataType::F32, {1, 1, 4});
  maxPool(input, params1d(2, 1, 1, 1), output, nullptr, false, threads);
  EXPECT_THAT(floats(output), ElementsAre(-5, -5, -2, -2));
}

TEST(PoolTest, MaximumOfBytes) {
  ThreadPool threads(1);
  Tensor input = Tensor::of<uint8_t>({1, 1, 4}, {250, 3, 7, 9});
  Tensor output(DataType::U8, {1, 1, 2});
  maxPool(input, params1d(2, 2, 0, 0), output, nullptr, false, threads);
  EXPECT_THAT(output.data<uint8_t>(), ElementsAre(250, 9));
}

TEST(PoolTest, IndicesCountInTheWholeInputInEitherOrder) {
  ThreadPool threads(2);
  Tensor input = Tensor::of<float>({1, 2, 2, 3}, {0, 9, 0, 0, 0, 8, 7, 0, 0, 0, 0, 0});
  PoolParams params;
  params.window = {{2, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  Tensor output(DataType::F32, {1, 2, 1, 1});
  Tensor indices(DataType::I64, {1, 2, 1, 1});
  maxPool(input, params, output, &indices, false, threads);
  EXPECT_THAT(floats(output), ElementsAre(9, 7));
  EXPECT_THAT(indices.data<int64_t>(), ElementsAre(1, 6));
  maxPool(input, params, output, &indices, true, threads);
  EXPECT_THAT(indices.data<int64_t>(), ElementsAre(2, 6));
}

TEST(PoolTest, UnpoolingPutsMaximaBack) {
  Tensor input = Tensor::of<float>({1, 1, 2}, {5, 6});
  Tensor indices = Tensor::of<int64_t>({1, 1, 2}, {1, 2});
  Tensor output(DataType::F32, {1, 1, 5});
  ASSERT_TRUE(maxUnpool(input, indices, Shape{1, 1, 4}, output));
  EXPECT_THAT(floats(output), ElementsAre(0, 5, 6, 0, 0));
  Tensor beyond = Tensor::of<int64_t>({1, 1, 2}, {1, 4});
  Expected<void> result = maxUnpool(input, beyond, Shape{1, 1, 4}, output);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "index 4; expected 0 to 3 in a tensor of shape [1, 1, 4]");
}

TEST(PoolTest, NormsOfWindows) {
  ThreadPool threads(1);
  Tensor input = Tensor::of<double>({1, 1, 4}, {3, -4, 1, 2});
  Tensor output(DataType::F64, {1, 1, 2});
  auto pool = [&](int64_t p) {
    lpPool(input, params1d(2, 2, 0, 0), p, output, threads);
    return output.data<double>();
  };
  EXPECT_THAT(pool(1), ElementsAre(7, 3));
  EXPECT_THAT(pool(2), ElementsAre(5, std::sqrt(5.0)));
  EXPECT_THAT(pool(3),
              ElementsAre(testing::DoubleEq(std::cbrt(91.0)), testing::DoubleEq(std::cbrt(9.0))));
}

TEST(PoolTest, RegionsAreAveragedFromBilinearSamples) {
  ThreadPool threads(1);
  Tensor input = Tensor::of<float>({2, 1, 2, 2}, {9, 9, 9, 9, 0, 1, 2, 3});
  Tensor rois = Tensor::of<float>({1, 4}, {0, 0, 2, 2});
  Tensor output(DataType::F32, {1, 1, 2, 2});
  RoiAlignParams params;
  params.samplingRatio = 1;
  // Samples stand in the middle of the pixels.
  ASSERT_TRUE(roiAlign(input, rois, Tensor::of<int64_t>({1}, {1}), params, output, threads));
  EXPECT_THAT(floats(output), ElementsAre(0, 1, 2, 3));
  Expected<void> result =
      roiAlign(input, rois, Tensor::of<int64_t>({1}, {2}), params, output, threads);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "batch index 2; expected 0 to 1");
}

} // namespace
