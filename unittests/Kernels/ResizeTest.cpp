//===- ResizeTest.cpp - Resampling ----------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Resize.h"
#include "tpuc/Support/Convert.h"

#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::kernels;
using testing::DoubleNear;
using testing::ElementsAre;

namespace {

/// Resamples a row.
std::vector<double> row(const std::vector<double> &values, int64_t size, ResizeParams params) {
  ThreadPool threads(2);
  auto extent = static_cast<int64_t>(values.size());
  if (params.scales.empty())
    params.scales = {static_cast<double>(size) / static_cast<double>(extent)};
  Tensor output(DataType::F64, Shape{size});
  resize(Tensor::of<double>(Shape{extent}, std::span<const double>(values)), params, output,
         threads);
  return {output.data<double>().begin(), output.data<double>().end()};
}

TEST(ResizeTest, NearestRoundsAsAsked) {
  ResizeParams params;
  params.coordinates = CoordinateMode::Asymmetric;
  // Points 0, 1/2, 1, 3/2.
  auto with = [&](NearestMode mode) {
    params.nearest = mode;
    return row({1, 2}, 4, params);
  };
  EXPECT_THAT(with(NearestMode::RoundPreferFloor), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(with(NearestMode::RoundPreferCeil), ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(with(NearestMode::Floor), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(with(NearestMode::Ceil), ElementsAre(1, 2, 2, 2));
}

TEST(ResizeTest, NearestCopiesWideIntegers) {
  ThreadPool threads(1);
  int64_t large = (int64_t(1) << 62) + 1;
  ResizeParams params;
  params.scales = {2};
  Tensor output(DataType::I64, {2});
  resize(Tensor::of<int64_t>({1}, {large}), params, output, threads);
  EXPECT_THAT(output.data<int64_t>(), ElementsAre(large, large));
}

TEST(ResizeTest, LinearInEachCoordinateMode) {
  ResizeParams params;
  params.mode = ResampleMode::Linear;
  auto with = [&](CoordinateMode mode, int64_t size, std::vector<double> values = {0, 4, 8}) {
    params.coordinates = mode;
    return row(values, size, params);
  };
  EXPECT_THAT(with(CoordinateMode::HalfPixel, 6), ElementsAre(0, 1, 3, 5, 7, 8));
  EXPECT_THAT(with(CoordinateMode::AlignCorners, 5), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_THAT(with(CoordinateMode::Asymmetric, 6), ElementsAre(0, 2, 4, 6, 8, 8));
  EXPECT_THAT(with(CoordinateMode::HalfPixel, 1), ElementsAre(4));
  EXPECT_THAT(with(CoordinateMode::PytorchHalfPixel, 1), ElementsAre(0));
  // Four pixels times 0.6 are 2.4, of which 2 remain: points 5/6 and 5/2, or around the centre.
  params.scales = {0.6};
  EXPECT_THAT(with(CoordinateMode::HalfPixel, 2, {0, 6, 12, 18}),
              ElementsAre(DoubleNear(2, 1e-12), DoubleNear(12, 1e-12)));
  EXPECT_THAT(with(CoordinateMode::HalfPixelSymmetric, 2, {0, 6, 12, 18}),
              ElementsAre(DoubleNear(4, 1e-12), DoubleNear(14, 1e-12)));
}

TEST(ResizeTest, CubicReproducesLinesAndWeighsOnlyTheInside) {
  ResizeParams params;
  params.mode = ResampleMode::Cubic;
  params.cubicA = -0.5;
  // Keys' kernel with -1/2 is exact for lines; away from the edges.
  std::vector<double> line = row({0, 4, 8, 12, 16}, 10, params);
  for (size_t i = 4; i < 6; ++i)
    EXPECT_NEAR(line[i], 2 * static_cast<double>(i) - 1, 1e-12);
  params.excludeOutside = true;
  for (double value : row({3, 3, 3}, 7, params))
    EXPECT_NEAR(value, 3, 1e-12);
}

TEST(ResizeTest, AntialiasAveragesWhatTheScaleCovers) {
  ResizeParams params;
  params.mode = ResampleMode::Linear;
  params.antialias = true;
  // Half as many: triangle weights 1 3 3 1 at the points 1/2 and 5/2, the edge repeated.
  EXPECT_THAT(row({8, 0, 0, 16}, 2, params),
              ElementsAre(DoubleNear(4, 1e-12), DoubleNear(8, 1e-12)));
}

TEST(ResizeTest, RegionsOutsideAreExtrapolated) {
  ResizeParams params;
  params.mode = ResampleMode::Linear;
  params.coordinates = CoordinateMode::TfCropAndResize;
  params.roiBegin = {0.5};
  params.roiEnd = {1.5};
  params.extrapolation = -7;
  params.scales = {1};
  EXPECT_THAT(row({0, 1, 2}, 3, params), ElementsAre(1, 2, -7));
}

TEST(ResizeTest, UpsampleRepeatsPixels) {
  ThreadPool threads(1);
  Tensor input = Tensor::of<int8_t>({1, 1, 1, 2}, {-1, 5});
  Tensor output(DataType::I8, {1, 1, 2, 4});
  upsample(input, 2, 2, true, -1, output, threads);
  EXPECT_THAT(output.data<int8_t>(), ElementsAre(0, 0, 5, 5, 0, 0, 5, 5));
}

TEST(ResizeTest, GridsSampleWhereTheySay) {
  ThreadPool threads(1);
  Tensor input = Tensor::of<float>({1, 1, 1, 3}, {1, 2, 4});
  // x = -1, 0.5 and 2 with y in the middle.
  Tensor grid = Tensor::of<float>({1, 1, 3, 2}, {-1, 0, 0.5F, 0, 2, 0});
  Tensor output(DataType::F32, {1, 1, 1, 3});
  auto with = [&](ResampleMode mode, GridPadding padding) {
    gridSample(input, grid, mode, padding, true, output, threads);
    return output.data<float>();
  };
  EXPECT_THAT(with(ResampleMode::Linear, GridPadding::Zeros), ElementsAre(1, 3, 0));
  EXPECT_THAT(with(ResampleMode::Linear, GridPadding::Border), ElementsAre(1, 3, 4));
  EXPECT_THAT(with(ResampleMode::Linear, GridPadding::Reflection), ElementsAre(1, 3, 2));
  EXPECT_THAT(with(ResampleMode::Nearest, GridPadding::Zeros), ElementsAre(1, 4, 0));
}

TEST(ResizeTest, AffineGridOfTheIdentity) {
  ThreadPool threads(1);
  Tensor theta = Tensor::of<float>({1, 2, 3}, {1, 0, 0, 0, 1, 10});
  Tensor output(DataType::F32, {1, 1, 2, 2});
  affineGrid(theta, false, output, threads);
  EXPECT_THAT(output.data<float>(), ElementsAre(-0.5F, 10, 0.5F, 10));
  affineGrid(theta, true, output, threads);
  EXPECT_THAT(output.data<float>(), ElementsAre(-1, 10, 1, 10));
}

} // namespace
