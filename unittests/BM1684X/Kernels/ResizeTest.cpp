//===- ResizeTest.cpp - Changing the size of images------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Resize.h"
#include "tpuc/Support/Convert.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

/// Bilinear taps with half-pixel coordinates.
std::vector<ResizeTap> bilinearTaps(int64_t input, int64_t output) {
  std::vector<ResizeTap> taps;
  for (int64_t i = 0; i < output; ++i) {
    double scale = static_cast<double>(input) / static_cast<double>(output);
    double at = std::max((static_cast<double>(i) + 0.5) * scale - 0.5, 0.0);
    auto first = std::min(static_cast<int64_t>(at), input - 1);
    taps.push_back({first, std::min(first + 1, input - 1), at - static_cast<double>(first)});
  }
  return taps;
}

std::vector<ResizeTap> nearestTaps(int64_t input, int64_t output) {
  std::vector<ResizeTap> taps;
  for (int64_t i = 0; i < output; ++i)
    taps.push_back({i * input / output, 0, 0});
  return taps;
}

Tensor reference(const Tensor &input, const std::vector<ResizeTap> &rows,
                 const std::vector<ResizeTap> &columns) {
  Tensor wide = convert(input, DataType::F64);
  const Shape &in = input.shape();
  auto height = static_cast<int64_t>(rows.size());
  auto width = static_cast<int64_t>(columns.size());
  Tensor result(DataType::F64, {in[0], in[1], height, width});
  double *to = result.mutableData<double>().data();
  for (int64_t plane = 0; plane < in[0] * in[1]; ++plane) {
    const double *from = wide.data<double>().data() + plane * in[2] * in[3];
    auto across = [&](int64_t y, const ResizeTap &x) {
      return from[y * in[3] + x.first] * (1 - x.secondWeight) +
             from[y * in[3] + x.second] * x.secondWeight;
    };
    for (const ResizeTap &y : rows)
      for (const ResizeTap &x : columns)
        *to++ = across(y.first, x) * (1 - y.secondWeight) + across(y.second, x) * y.secondWeight;
  }
  return convert(result, input.type());
}

TEST(UpsampleNearest, WholeFactors) {
  for (DataType type : {DataType::F32, DataType::F16, DataType::BF16, DataType::I8})
    for (auto [scaleH, scaleW] : {std::pair{2, 2}, std::pair{1, 3}, std::pair{3, 1}}) {
      Tensor input = randomNumbers(type, {2, 70, 5, 7}, 1, -100, 100);
      Bench bench;
      UpsampleNearest upsample{bench.load(input),
                               bench.local(type, {2, 70, 5 * scaleH, 7 * scaleW})};
      expectOk(checkUpsampleNearest(upsample));
      expectOk(emitUpsampleNearest(bench.builder, upsample));
      GlobalTensor stored = bench.store(upsample.output);
      bench.run();
      expectSame(bench.get(stored),
                 reference(input, nearestTaps(5, 5 * scaleH), nearestTaps(7, 7 * scaleW)));
    }
}

void expectResize(DataType type, const Shape &shape, const std::vector<ResizeTap> &rows,
                  const std::vector<ResizeTap> &columns) {
  SCOPED_TRACE(dataTypeName(type));
  Tensor input = randomNumbers(type, shape, 1);
  Bench bench;
  Resize resize;
  resize.input = bench.load(input);
  resize.output = bench.local(type, {shape[0], shape[1], static_cast<int64_t>(rows.size()),
                                     static_cast<int64_t>(columns.size())});
  resize.rows = rows;
  resize.columns = columns;
  resize.scratch = bench.scratch(resizeScratch(resize));
  expectOk(emitResize(bench.builder, resize));
  GlobalTensor stored = bench.store(resize.output);
  bench.run();
  expectClose(bench.get(stored), reference(input, rows, columns));
}

TEST(Resize, Bilinear) {
  for (DataType type : kFloatTypes) {
    expectResize(type, {2, 70, 5, 7}, bilinearTaps(5, 10), bilinearTaps(7, 14));
    expectResize(type, {1, 9, 12, 16}, bilinearTaps(12, 5), bilinearTaps(16, 24));
    expectResize(type, {1, 9, 12, 16}, bilinearTaps(12, 24), bilinearTaps(16, 16));
  }
}

TEST(Resize, OfSomeRowsNeedsLittleScratch) {
  const std::vector<ResizeTap> rows = bilinearTaps(48, 24);
  const std::vector<ResizeTap> some(rows.begin() + 9, rows.begin() + 12);
  for (DataType type : kFloatTypes)
    expectResize(type, {1, 9, 48, 16}, some, bilinearTaps(16, 8));
  const auto scratchOf = [](const std::vector<ResizeTap> &taps) {
    Resize resize;
    resize.input = localTensor(DataType::F16, {1, 9, 48, 16});
    resize.output = localTensor(DataType::F16, {1, 9, static_cast<int64_t>(taps.size()), 8});
    resize.rows = taps;
    resize.columns = bilinearTaps(16, 8);
    return resizeScratch(resize).value_or(0);
  };
  // Six of 48 rows are seen.
  EXPECT_LE(scratchOf(some) * 4, scratchOf(rows));
}

TEST(Resize, Nearest) {
  for (DataType type : kFloatTypes)
    expectResize(type, {1, 70, 6, 9}, nearestTaps(6, 15), nearestTaps(9, 4));
}

TEST(Resize, FewCommandsForRegularScales) {
  Bench bench;
  Resize resize;
  resize.input = bench.local(DataType::F32, {1, 64, 20, 20});
  resize.output = bench.local(DataType::F32, {1, 64, 40, 40});
  resize.rows = resize.columns = bilinearTaps(20, 40);
  resize.scratch = bench.scratch(resizeScratch(resize));
  expectOk(emitResize(bench.builder, resize));
  EXPECT_LE(bench.builder.numCommands(Engine::Tiu), 20u);
}

/// The commands of a resize of squares with 16 channels.
size_t commandsOf(int64_t input, int64_t output) {
  Bench bench;
  Resize resize;
  resize.input = bench.local(DataType::F32, {1, 16, input, input});
  resize.output = bench.local(DataType::F32, {1, 16, output, output});
  resize.rows = resize.columns = bilinearTaps(input, output);
  resize.scratch = bench.scratch(resizeScratch(resize));
  expectOk(emitResize(bench.builder, resize));
  return bench.builder.numCommands(Engine::Tiu);
}

TEST(Resize, OfFewPixelsHasWeightsInTensors) {
  // With images, rows and channels that commands have no axis left for.
  for (const Shape &shape : {Shape{1, 16, 1, 1}, Shape{1, 16, 2, 2}, Shape{3, 70, 2, 3},
                             Shape{1, 70, 1, 3}, Shape{5, 9, 3, 3}, Shape{1, 9, 6, 5}})
    expectResize(DataType::F32, shape, bilinearTaps(shape[2], 24), bilinearTaps(shape[3], 24));
  // One element is copied to all others, on each axis.
  EXPECT_EQ(commandsOf(1, 24), 2u);
  // 12 pairs of weights; three commands between two elements, and one for both edges.
  EXPECT_EQ(commandsOf(2, 24), 2 * 12 + 2 * 4u);
}

TEST(Resize, RefusesByName) {
  Resize resize;
  resize.input = localTensor(DataType::F32, {1, 2, 4, 4});
  resize.output = localTensor(DataType::F32, {1, 2, 8, 8});
  auto message = [](const Resize &r) {
    Expected<uint32_t> needed = resizeScratch(r);
    return needed ? "accepted" : needed.error().message();
  };
  EXPECT_THAT(message(resize), HasSubstr("0 taps of 8 rows"));
  resize.rows = resize.columns = bilinearTaps(5, 8);
  EXPECT_THAT(message(resize), HasSubstr("expected 0 to 3"));
  UpsampleNearest upsample{resize.input, localTensor(DataType::F32, {1, 2, 6, 8})};
  Expected<void> checked = checkUpsampleNearest(upsample);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message(), HasSubstr("[1,2,4,4] f32 to [1,2,6,8] f32"));
}

} // namespace
