//===- IntegerPoolTest.cpp - Means, sums and resampling of bytes ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerPool.h"
#include "IntegerTesting.h"
#include "tpuc/Interpreter/Kernels/IntegerResize.h"
#include "tpuc/Interpreter/Kernels/Pool.h"
#include "tpuc/Interpreter/Kernels/Reduce.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::kernels;
using namespace tpuc::kernels::integer;
using testing::ElementsAre;

namespace {

TEST(IntegerPoolTest, AveragesEqualTheDirectSums) {
  Random random(30);
  ThreadPool threads(2);
  for (int round = 0; round < 300; ++round) {
    const DataType from = randomByteType(random);
    const DataType to = randomByteType(random);
    const int64_t planes = pick(random, 1, 5);
    std::array<int64_t, 2> in;
    std::array<int64_t, 2> out;
    IntegerPoolParams params;
    const bool isGlobal = pick(random, 0, 3) == 0;
    for (size_t axis = 0; axis < 2; ++axis) {
      in[axis] = pick(random, 1, 20);
      const int64_t kernel = isGlobal ? in[axis] : pick(random, 1, std::min<int64_t>(in[axis], 5));
      const int64_t stride = pick(random, 1, 3);
      const int64_t begin = isGlobal ? 0 : pick(random, 0, kernel - 1);
      const int64_t end = isGlobal ? 0 : pick(random, 0, kernel - 1);
      params.window.kernel.push_back(kernel);
      params.window.strides.push_back(stride);
      params.window.dilations.push_back(1);
      params.window.padsBegin.push_back(begin);
      params.window.padsEnd.push_back(end);
      out[axis] = (in[axis] + begin + end - kernel) / stride + 1;
      // Rounded up: the last window begins within the input.
      if (pick(random, 0, 1) == 0 && out[axis] * stride < in[axis] + begin)
        ++out[axis];
    }
    params.countIncludePad = pick(random, 0, 1) == 1;
    params.inputZero = randomZero(random, from);
    const Tensor input = randomBytes(random, from, {1, planes, in[0], in[1]});
    Tensor output(to, {1, planes, out[0], out[1]});
    const int64_t most = largestPoolCount(input.shape(), output.shape(), params);
    params.requant = randomRequant(random, to, static_cast<size_t>(most) + 1, 13);
    integerAveragePool(input, params, output, threads);
    const std::vector<int64_t> x = numbers(input);
    const std::vector<int64_t> y = numbers(output);
    int64_t seen = 0;
    for (int64_t i = 0; i < output.numElements(); ++i) {
      const int64_t plane = i / (out[0] * out[1]);
      const int64_t top =
          i / out[1] % out[0] * params.window.strides[0] - params.window.padsBegin[0];
      const int64_t left = i % out[1] * params.window.strides[1] - params.window.padsBegin[1];
      Int128 sum = 0;
      int64_t counted = 0;
      for (int64_t a = 0; a < params.window.kernel[0]; ++a)
        for (int64_t b = 0; b < params.window.kernel[1]; ++b) {
          const int64_t row = top + a;
          const int64_t column = left + b;
          const bool isInside = row >= 0 && row < in[0] && column >= 0 && column < in[1];
          const bool isPadding =
              row < in[0] + params.window.padsEnd[0] && column < in[1] + params.window.padsEnd[1];
          if (isInside)
            sum +=
                x[static_cast<size_t>((plane * in[0] + row) * in[1] + column)] - params.inputZero;
          counted += isInside || (params.countIncludePad && isPadding) ? 1 : 0;
        }
      seen = std::max(seen, counted);
      ASSERT_EQ(y[static_cast<size_t>(i)],
                requantized(sum, params.requant, static_cast<size_t>(counted)))
          << input.shape().str() << " -> " << output.shape().str() << ", " << counted;
    }
    EXPECT_EQ(most, seen);
  }
}

TEST(IntegerPoolTest, OneAndThreeDimensions) {
  ThreadPool threads(1);
  IntegerPoolParams params;
  params.window = {{2}, {2}, {1}, {1}, {1}};
  params.inputZero = 10;
  // Sums over 1, 2 and 1 elements; the requantization doubles those of one.
  params.requant.factors = {{0, 0}, {2, 0}, {1, 0}};
  const Tensor line = Tensor::of<uint8_t>({1, 1, 4}, {12, 15, 7, 30});
  Tensor pooled(DataType::I8, {1, 1, 3});
  integerAveragePool(line, params, pooled, threads);
  EXPECT_THAT(numbers(pooled), ElementsAre(4, 2, 40));
  params.window = {{2, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}};
  const Tensor cube = Tensor::of<uint8_t>({1, 1, 3, 1, 2}, {1, 2, 3, 4, 5, 60});
  Tensor deep(DataType::I8, {1, 1, 2, 1, 2});
  integerAveragePool(cube, params, deep, threads);
  EXPECT_THAT(numbers(deep), ElementsAre(-16, -14, -12, 44));
}

TEST(IntegerPoolTest, MaximaAreThoseOfTheKernelForAllTypes) {
  Random random(33);
  ThreadPool threads(2);
  for (int round = 0; round < 200; ++round) {
    const DataType type = randomByteType(random);
    const int64_t spatial = pick(random, 1, 3);
    std::vector<int64_t> in = {pick(random, 1, 2), pick(random, 1, 3)};
    std::vector<int64_t> out = in;
    WindowParams window;
    for (int64_t axis = 0; axis < spatial; ++axis) {
      const int64_t kernel = pick(random, 1, 4);
      const int64_t dilation = pick(random, 1, 2);
      const int64_t reach = (kernel - 1) * dilation + 1;
      const int64_t stride = pick(random, 1, 3);
      in.push_back(pick(random, reach, axis + 1 == spatial ? 90 : 12));
      const int64_t begin = pick(random, 0, kernel - 1);
      const int64_t end = pick(random, 0, kernel - 1);
      out.push_back((in.back() + begin + end - reach) / stride + 1);
      window.kernel.push_back(kernel);
      window.strides.push_back(stride);
      window.dilations.push_back(dilation);
      window.padsBegin.push_back(begin);
      window.padsEnd.push_back(end);
    }
    const Tensor input = randomBytes(random, type, Shape(in));
    Tensor output(type, Shape(out));
    Tensor expected(type, Shape(out));
    PoolParams params;
    params.window = window;
    maxPool(input, params, expected, nullptr, false, threads);
    integerMaxPool(input, window, output, threads);
    ASSERT_EQ(numbers(output), numbers(expected)) << input.shape().str();
  }
}

TEST(IntegerPoolTest, ReducesAnyAxes) {
  Random random(31);
  ThreadPool threads(2);
  for (int round = 0; round < 300; ++round) {
    const int64_t rank = pick(random, 1, 4);
    std::vector<int64_t> dims;
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < rank; ++axis) {
      dims.push_back(pick(random, 1, 9));
      if (pick(random, 0, 1) == 0)
        axes.push_back(axis);
    }
    const DataType from = randomByteType(random);
    const DataType to = randomByteType(random);
    const Tensor input = randomBytes(random, from, Shape(dims));
    const int32_t zero = randomZero(random, from);
    const RequantParams requant = randomRequant(random, to, 1, 12);
    Tensor output(to, reducedShape(input.shape(), axes, true));
    integerReduceSum(input, axes, zero, requant, output, threads);
    std::vector<Int128> sums(static_cast<size_t>(output.numElements()));
    const std::vector<int64_t> x = numbers(input);
    const Shape strides = input.shape().strides();
    const Shape outStrides = output.shape().strides();
    for (size_t i = 0; i < x.size(); ++i) {
      int64_t at = 0;
      for (size_t axis = 0; axis < dims.size(); ++axis)
        if (output.shape()[axis] != 1)
          at += static_cast<int64_t>(i) / strides[axis] % dims[axis] * outStrides[axis];
      sums[static_cast<size_t>(at)] += x[i] - zero;
    }
    const std::vector<int64_t> y = numbers(output);
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], requantized(sums[i], requant, 0)) << input.shape().str();
  }
}

TEST(IntegerResizeTest, WeightsAddUp) {
  for (CoordinateMode mode :
       {CoordinateMode::HalfPixel, CoordinateMode::HalfPixelSymmetric,
        CoordinateMode::PytorchHalfPixel, CoordinateMode::AlignCorners, CoordinateMode::Asymmetric})
    for (double scale : {0.3, 0.7, 2.0, 3.7}) {
      ResizeParams params;
      params.mode = ResampleMode::Linear;
      params.coordinates = mode;
      params.scales = {scale};
      const auto out = static_cast<int64_t>(10 * scale);
      const IntegerTaps taps = integerTaps(params, 0, 10, out);
      ASSERT_EQ(static_cast<int64_t>(taps.weights.size()), out * taps.perOutput);
      for (size_t i = 0; i < taps.weights.size(); i += static_cast<size_t>(taps.perOutput)) {
        int32_t sum = 0;
        for (size_t tap = i; tap < i + static_cast<size_t>(taps.perOutput); ++tap)
          sum += taps.weights[tap];
        EXPECT_EQ(sum, 2048);
      }
    }
}

TEST(IntegerResizeTest, EqualsTheSumsOfItsTapsAndIsNearTheFloatOne) {
  Random random(32);
  ThreadPool threads(2);
  for (int round = 0; round < 200; ++round) {
    ResizeParams params;
    params.mode = ResampleMode::Linear;
    params.coordinates = static_cast<CoordinateMode>(pick(random, 0, 5));
    params.antialias = pick(random, 0, 3) == 0;
    params.excludeOutside = pick(random, 0, 3) == 0;
    const Shape in{pick(random, 1, 3), pick(random, 1, 4), pick(random, 1, 12),
                   pick(random, 1, 12)};
    Shape out = in;
    params.scales = {1, 1, 1, 1};
    params.roiBegin = {0, 0, 0, 0};
    params.roiEnd = {1, 1, 1, 1};
    const bool isCrop = params.coordinates == CoordinateMode::TfCropAndResize;
    for (size_t axis = 2; axis < 4; ++axis) {
      if (pick(random, 0, 3) != 0)
        out[axis] = pick(random, 1, 30);
      params.scales[axis] = static_cast<double>(out[axis]) / static_cast<double>(in[axis]);
      if (isCrop) {
        params.roiBegin[axis] = static_cast<double>(pick(random, -2, 5)) / 10;
        params.roiEnd[axis] = static_cast<double>(pick(random, 6, 13)) / 10;
      }
    }
    params.extrapolation = static_cast<double>(pick(random, -50, 50));
    const DataType from = randomByteType(random);
    const Tensor input = randomBytes(random, from, in);
    const int32_t zero = randomZero(random, from);
    // 2^-22 and a shrinking that keeps differences of 8 bits.
    RequantParams requant;
    requant.factors = {{1 << 30, 22 + 31}};
    Tensor output(DataType::I8, out);
    integerResizeLinear(input, params, zero, requant, output, threads);
    Tensor whole(DataType::F32, in);
    const std::vector<int64_t> x = numbers(input);
    for (size_t i = 0; i < x.size(); ++i)
      whole.mutableData<float>()[i] = static_cast<float>(x[i] - zero);
    Tensor resized(DataType::F32, out);
    resize(whole, params, resized, threads);

    const auto tapsFor = [&](size_t axis) {
      if (in[axis] != out[axis] || isCrop)
        return integerTaps(params, axis, in[axis], out[axis]);
      IntegerTaps taps;
      for (int64_t i = 0; i < in[axis]; ++i) {
        taps.positions.push_back(i);
        taps.weights.push_back(2048);
      }
      return taps;
    };
    const IntegerTaps down = tapsFor(2);
    const IntegerTaps across = tapsFor(3);
    const std::vector<int64_t> y = numbers(output);
    for (int64_t i = 0; i < output.numElements(); ++i) {
      const int64_t column = i % out[3];
      const int64_t row = i / out[3] % out[2];
      const int64_t plane = i / out[3] / out[2];
      Int128 sum = 0;
      for (int64_t a = row * down.perOutput; a < (row + 1) * down.perOutput; ++a)
        for (int64_t b = column * across.perOutput; b < (column + 1) * across.perOutput; ++b) {
          const int64_t at = (plane * in[2] + down.positions[static_cast<size_t>(a)]) * in[3] +
                             across.positions[static_cast<size_t>(b)];
          sum += Int128(down.weights[static_cast<size_t>(a)]) *
                 across.weights[static_cast<size_t>(b)] * (x[static_cast<size_t>(at)] - zero);
        }
      const auto isOutside = [](const IntegerTaps &taps, int64_t position) {
        return !taps.outside.empty() && taps.outside[static_cast<size_t>(position)];
      };
      if (isOutside(down, row) || isOutside(across, column))
        sum = Int128(params.extrapolation) << 22;
      ASSERT_EQ(y[static_cast<size_t>(i)], requantized(sum, requant, 0));
      const double exact = static_cast<double>(resized.data<float>()[static_cast<size_t>(i)]) / 2;
      EXPECT_NEAR(static_cast<double>(y[static_cast<size_t>(i)]), std::clamp(exact, -128.0, 127.0),
                  0.5 + 0.2)
          << in.str() << " -> " << out.str();
    }
  }
}

} // namespace
