//===- ConvolutionTest.cpp - Convolutions against direct sums -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Convolution.h"
#include "tpuc/Interpreter/Kernels/Extents.h"
#include "unittests/Kernels/TestTensors.h"

#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

struct Case {
  std::vector<int64_t> spatial, kernel, strides, dilations, padsBegin, padsEnd;
  int64_t batch, channels, outputs, group;

  ConvParams params() const {
    ConvParams result;
    result.window = {kernel, strides, dilations, padsBegin, padsEnd};
    result.group = group;
    return result;
  }
  /// The extents of the side that has one element per position of the window.
  std::vector<int64_t> positions() const {
    std::vector<int64_t> result;
    for (size_t i = 0; i < spatial.size(); ++i)
      result.push_back(
          (spatial[i] + padsBegin[i] + padsEnd[i] - (kernel[i] - 1) * dilations[i] - 1) /
              strides[i] +
          1);
    return result;
  }
};

Shape shapeOf(int64_t a, int64_t b, const std::vector<int64_t> &rest) {
  std::vector<int64_t> dims = {a, b};
  dims.insert(dims.end(), rest.begin(), rest.end());
  return Shape(dims);
}

/// Where tap `tap` of position `position` lies in the large side, -1 outside.
int64_t tapIndex(const Case &c, int64_t position, int64_t tap) {
  std::vector<int64_t> positions = c.positions();
  int64_t index = 0;
  int64_t stride = 1;
  for (size_t axis = c.spatial.size(); axis-- > 0;) {
    int64_t at = position % positions[axis] * c.strides[axis] +
                 tap % c.kernel[axis] * c.dilations[axis] - c.padsBegin[axis];
    position /= positions[axis];
    tap /= c.kernel[axis];
    if (at < 0 || at >= c.spatial[axis])
      return -1;
    index += at * stride;
    stride *= c.spatial[axis];
  }
  return index;
}

/// The definition, in f64.
std::vector<double> directConvolution(const Case &c, const Tensor &input, const Tensor &filter,
                                      const Tensor &bias) {
  Tensor x = convert(input, DataType::F64);
  Tensor w = convert(filter, DataType::F64);
  Tensor b = convert(bias, DataType::F64);
  int64_t size = product(c.spatial);
  int64_t taps = product(c.kernel);
  int64_t count = product(c.positions());
  int64_t perGroup = c.channels / c.group;
  std::vector<double> result;
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t m = 0; m < c.outputs; ++m)
      for (int64_t position = 0; position < count; ++position) {
        double sum = b.data<double>()[m];
        for (int64_t i = 0; i < perGroup * taps; ++i) {
          int64_t at = tapIndex(c, position, i % taps);
          int64_t channel = m / (c.outputs / c.group) * perGroup + i / taps;
          if (at >= 0)
            sum += w.data<double>()[m * perGroup * taps + i] *
                   x.data<double>()[(n * c.channels + channel) * size + at];
        }
        result.push_back(sum);
      }
  return result;
}

const Case kCases[] = {
    {{9}, {3}, {2}, {1}, {1}, {0}, 2, 3, 4, 1},
    {{7, 8}, {3, 2}, {1, 2}, {2, 1}, {2, 0}, {1, 1}, 1, 4, 6, 2},
    {{6, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 3, 16, 16, 16},
    {{5, 5}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, 24, 40, 1},
    {{4, 5, 6}, {2, 3, 2}, {2, 1, 1}, {1, 1, 2}, {0, 1, 1}, {1, 1, 0}, 2, 4, 2, 2},
    {{8, 7}, {4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 1, 40, 24, 1},
    {{9, 6}, {3, 2}, {1, 1}, {2, 1}, {2, 1}, {2, 0}, 2, 30, 12, 6},
    {{5, 4, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 1, 6, 6, 6},
    {{3, 20, 15}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 1, 17, 5, 1},
};

TEST(ConvolutionTest, SumsTheTapsInEveryType) {
  ThreadPool threads(2);
  for (const Case &c : kCases)
    for (DataType type :
         {DataType::F32, DataType::F64, DataType::F16, DataType::BF16, DataType::I32}) {
      DataType source = isFloat(type) ? DataType::F32 : DataType::I32;
      Tensor input = convert(
          convert(randomQuarters(shapeOf(c.batch, c.channels, c.spatial), 1), source), type);
      Tensor filter = convert(
          convert(randomQuarters(shapeOf(c.outputs, c.channels / c.group, c.kernel), 2), source),
          type);
      Tensor bias = convert(convert(randomQuarters(Shape{c.outputs}, 3), source), type);
      Tensor output(type, shapeOf(c.batch, c.outputs, c.positions()));
      convolve(input, filter, &bias, c.params(), output, threads, nullptr);
      // The numbers are small multiples of 1/16: sums are exact but for the last rounding.
      std::vector<double> sums = directConvolution(c, input, filter, bias);
      Tensor expected = convert(Tensor::of<double>(output.shape(), sums), type);
      auto bytes = output.rawBytes();
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.rawBytes().begin()))
          << dataTypeName(type) << ' ' << output.shape().str();
    }
}

TEST(ConvolutionTest, TransposedIsTheAdjoint) {
  // <conv(x), y> = <x, deconv(y)> for the same window and filter.
  ThreadPool threads(1);
  for (const Case &c : kCases)
    for (DataType type : {DataType::F32, DataType::F64}) {
      Tensor x = randomQuarters(shapeOf(c.batch, c.channels, c.spatial), 4, type);
      Tensor filter = randomQuarters(shapeOf(c.outputs, c.channels / c.group, c.kernel), 5, type);
      Tensor y = randomQuarters(shapeOf(c.batch, c.outputs, c.positions()), 6, type);
      Tensor forward(type, y.shape());
      Tensor back(type, x.shape());
      convolve(x, filter, nullptr, c.params(), forward, threads, nullptr);
      deconvolve(y, filter, nullptr, c.params(), back, threads, nullptr);
      auto inner = [](const Tensor &a, const Tensor &b) {
        Tensor wideA = convert(a, DataType::F64);
        Tensor wideB = convert(b, DataType::F64);
        double sum = 0;
        for (int64_t i = 0; i < a.numElements(); ++i)
          sum += wideA.data<double>()[i] * wideB.data<double>()[i];
        return sum;
      };
      EXPECT_EQ(inner(forward, y), inner(x, back)) << back.shape().str();
    }
}

TEST(ConvolutionTest, CacheFollowsTheShapeOfTheInput) {
  ThreadPool threads(2);
  KernelCache cache;
  Case c = kCases[2];
  Tensor filter = randomQuarters(shapeOf(c.outputs, 1, c.kernel), 7);
  Tensor bias = randomQuarters(Shape{c.outputs}, 8);
  unsigned seed = 10;
  for (int64_t height : {6, 6, 9, 6}) {
    c.spatial[0] = height;
    Tensor input = randomQuarters(shapeOf(c.batch, c.channels, c.spatial), seed++);
    Tensor output(DataType::F32, shapeOf(c.batch, c.outputs, c.positions()));
    convolve(input, filter, &bias, c.params(), output, threads, &cache);
    std::vector<double> expected = directConvolution(c, input, filter, bias);
    auto values = output.data<float>();
    EXPECT_TRUE(std::equal(values.begin(), values.end(), expected.begin(), expected.end()));
  }
}

TEST(ConvolutionTest, FusedReluCutsBothEnds) {
  ThreadPool threads(1);
  Tensor input = Tensor::of<float>({1, 1, 4}, {-3, 0.5F, 4, 9});
  Tensor filter = Tensor::of<float>({1, 1, 1}, {1});
  ConvParams params;
  params.window = {{1}, {1}, {1}, {0}, {0}};
  params.doRelu = true;
  params.reluLimit = 6;
  Tensor output(DataType::F32, {1, 1, 4});
  convolve(input, filter, nullptr, params, output, threads, nullptr);
  EXPECT_EQ(std::vector<float>(output.data<float>().begin(), output.data<float>().end()),
            (std::vector<float>{0, 0.5F, 4, 6}));
}

TEST(ConvolutionTest, WideIntegersKeepAllDigits) {
  ThreadPool threads(1);
  int64_t large = (int64_t(1) << 53) + 1;
  Tensor input = Tensor::of<int64_t>({1, 1, 2}, {large, 2});
  Tensor filter = Tensor::of<int64_t>({1, 1, 2}, {1, 1});
  ConvParams params;
  params.window = {{2}, {1}, {1}, {0}, {0}};
  Tensor output(DataType::I64, {1, 1, 1});
  convolve(input, filter, nullptr, params, output, threads, nullptr);
  EXPECT_EQ(output.data<int64_t>()[0], large + 2);
}

TEST(ConvolutionTest, ZerosComeBetweenNeighbours) {
  Tensor input = Tensor::of<float>({1, 1, 2, 2}, {1, 2, 3, 4});
  Tensor output = insertZeros(input, {1, 2});
  EXPECT_EQ(output.shape(), (Shape{1, 1, 3, 4}));
  EXPECT_EQ(std::vector<float>(output.data<float>().begin(), output.data<float>().end()),
            (std::vector<float>{1, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 4}));
}

TEST(ConvolutionTest, DeformedWithoutOffsetsIsPlain) {
  ThreadPool threads(2);
  const Case &c = kCases[1];
  Tensor input = randomQuarters(shapeOf(c.batch, c.channels, c.spatial), 20);
  Tensor filter = randomQuarters(shapeOf(c.outputs, c.channels / c.group, c.kernel), 21);
  Tensor bias = randomQuarters(Shape{c.outputs}, 22);
  Tensor offset(DataType::F32, shapeOf(c.batch, 2 * 12, c.positions()));
  Tensor output(DataType::F32, shapeOf(c.batch, c.outputs, c.positions()));
  deformConvolve(input, filter, offset, &bias, nullptr, c.params(), 2, output, threads);
  std::vector<double> expected = directConvolution(c, input, filter, bias);
  auto values = output.data<float>();
  EXPECT_TRUE(std::equal(values.begin(), values.end(), expected.begin(), expected.end()));
}

TEST(ConvolutionTest, OffsetsMoveTaps) {
  ThreadPool threads(1);
  Tensor input = Tensor::of<float>({1, 1, 2, 2}, {1, 2, 3, 5});
  Tensor filter = Tensor::of<float>({1, 1, 1, 1}, {2});
  // Half a pixel down at all positions, at (0, 0) half a pixel right too.
  Tensor offset = Tensor::of<float>({1, 2, 2, 2}, {0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0, 0, 0});
  Tensor mask = Tensor::of<float>({1, 1, 2, 2}, {1, 1, 1, 10});
  ConvParams params;
  params.window = {{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  Tensor output(DataType::F32, {1, 1, 2, 2});
  deformConvolve(input, filter, offset, nullptr, &mask, params, 1, output, threads);
  // (1+2+3+5)/4, (2+5)/2, 3/2 and 5/2 with zeros below.
  EXPECT_EQ(std::vector<float>(output.data<float>().begin(), output.data<float>().end()),
            (std::vector<float>{5.5F, 7, 3, 50}));
}

TEST(ConvolutionTest, ColumnsAddWhereBlocksOverlap) {
  ThreadPool threads(1);
  // Blocks of 2 over an image of 3: columns are (a b), (c d).
  Tensor input = Tensor::of<float>({1, 2, 2}, {1, 2, 10, 20});
  Tensor output(DataType::F32, {1, 1, 3});
  col2Im(input, {{2}, {1}, {1}, {0}, {0}}, output, threads);
  EXPECT_EQ(std::vector<float>(output.data<float>().begin(), output.data<float>().end()),
            (std::vector<float>{1, 12, 20}));
}

} // namespace
