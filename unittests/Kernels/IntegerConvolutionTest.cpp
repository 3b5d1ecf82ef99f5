//===- IntegerConvolutionTest.cpp - Convolutions of bytes against direct sums --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerConvolution.h"
#include "IntegerTesting.h"

using namespace tpuc;
using namespace tpuc::kernels;
using namespace tpuc::kernels::integer;

namespace {

struct Layer {
  size_t spatial;
  int64_t batch, channels, outputs, group; ///< Channels of the large side, outputs of the small.
  std::array<int64_t, 3> large, kernel, strides, dilations, padsBegin, padsEnd, small;

  WindowParams window() const {
    const auto tail = [&](const std::array<int64_t, 3> &values) {
      return std::vector<int64_t>(values.end() - static_cast<ptrdiff_t>(spatial), values.end());
    };
    return {tail(kernel), tail(strides), tail(dilations), tail(padsBegin), tail(padsEnd)};
  }
  Shape shape(int64_t first, int64_t second, const std::array<int64_t, 3> &extents) const {
    std::vector<int64_t> dims = {first, second};
    dims.insert(dims.end(), extents.end() - static_cast<ptrdiff_t>(spatial), extents.end());
    return Shape(dims);
  }
  Shape largeShape() const { return shape(batch, channels, large); }
  Shape smallShape() const { return shape(batch, outputs, small); }
  Shape filterShape() const { return shape(outputs, channels / group, kernel); }
};

Layer randomLayer(Random &random) {
  Layer c{};
  c.spatial = static_cast<size_t>(pick(random, 1, 3));
  c.batch = pick(random, 1, 2);
  const int64_t kind = pick(random, 0, 3);
  c.group = kind == 0 ? pick(random, 2, 5) : 1;
  const bool isDepthwise = kind == 1;
  if (isDepthwise)
    c.group = pick(random, 1, 9);
  c.channels = c.group * (isDepthwise ? 1 : pick(random, 1, 11));
  c.outputs = c.group * (isDepthwise ? pick(random, 1, 2) : pick(random, 1, 21));
  const bool isPointwise = kind == 2;
  for (size_t axis = 0; axis < 3; ++axis) {
    const bool isUsed = axis >= 3 - c.spatial;
    const int64_t longest = isDepthwise && axis == 2 ? 16 : 5;
    c.kernel[axis] = isUsed && !isPointwise ? pick(random, 1, longest) : 1;
    c.strides[axis] = isUsed && !isPointwise ? pick(random, 1, 3) : 1;
    c.dilations[axis] = isUsed && pick(random, 0, 2) == 0 ? pick(random, 2, 3) : 1;
    const int64_t reach = (c.kernel[axis] - 1) * c.dilations[axis] + 1;
    c.padsBegin[axis] = isUsed && !isPointwise ? pick(random, 0, reach) : 0;
    c.padsEnd[axis] = isUsed && !isPointwise ? pick(random, 0, reach) : 0;
    const int64_t least = std::max<int64_t>(1, reach - c.padsBegin[axis] - c.padsEnd[axis]);
    const int64_t most = axis == 2 ? 40 : c.spatial == 3 ? 6 : 17;
    c.large[axis] = isUsed ? pick(random, least, std::max(least, most)) : 1;
    c.small[axis] =
        (c.large[axis] + c.padsBegin[axis] + c.padsEnd[axis] - reach) / c.strides[axis] + 1;
  }
  return c;
}

/// Calls `body(small index, large index or -1, filter index, output channel)` for all products of a
/// convolution: the output has the small side.
template <typename Body> void forEachProduct(const Layer &c, Body body) {
  const int64_t perGroup = c.channels / c.group;
  const int64_t rows = c.outputs / c.group;
  int64_t position = 0;
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t m = 0; m < c.outputs; ++m)
      for (int64_t d = 0; d < c.small[0]; ++d)
        for (int64_t h = 0; h < c.small[1]; ++h)
          for (int64_t w = 0; w < c.small[2]; ++w, ++position) {
            int64_t tap = m * perGroup * c.kernel[0] * c.kernel[1] * c.kernel[2];
            for (int64_t i = 0; i < perGroup; ++i)
              for (int64_t a = 0; a < c.kernel[0]; ++a)
                for (int64_t b = 0; b < c.kernel[1]; ++b)
                  for (int64_t e = 0; e < c.kernel[2]; ++e, ++tap) {
                    const int64_t z = d * c.strides[0] + a * c.dilations[0] - c.padsBegin[0];
                    const int64_t y = h * c.strides[1] + b * c.dilations[1] - c.padsBegin[1];
                    const int64_t x = w * c.strides[2] + e * c.dilations[2] - c.padsBegin[2];
                    const bool isInside = z >= 0 && z < c.large[0] && y >= 0 && y < c.large[1] &&
                                          x >= 0 && x < c.large[2];
                    const int64_t channel = n * c.channels + m / rows * perGroup + i;
                    body(position,
                         isInside ? ((channel * c.large[0] + z) * c.large[1] + y) * c.large[2] + x
                                  : -1,
                         tap);
                  }
          }
}

std::string describe(const Layer &c, DataType input, DataType filter, SimdLevel level) {
  return c.largeShape().str() + " -> " + c.smallShape().str() + ", filter " +
         c.filterShape().str() + ", strides " + Shape(c.window().strides).str() + ", dilations " +
         Shape(c.window().dilations).str() + ", pads " + Shape(c.window().padsBegin).str() + " " +
         Shape(c.window().padsEnd).str() + ", " + std::string(dataTypeName(input)) + " * " +
         std::string(dataTypeName(filter)) + " by " + integerSimd(level).name;
}

/// The results of requantizing `sums`, of which each channel has `inner` in a row.
std::vector<int64_t> requantizedAll(const std::vector<Int128> &sums, int64_t inner,
                                    int64_t channels, const std::optional<RequantParams> &params) {
  std::vector<int64_t> result;
  for (size_t i = 0; i < sums.size(); ++i)
    result.push_back(
        params ? requantized(sums[i], *params,
                             static_cast<size_t>(static_cast<int64_t>(i) / inner % channels))
               : static_cast<int64_t>(sums[i]));
  return result;
}

/// Compares a convolution of random operands with the definition.
void expectDirectSums(const Layer &c, Random &random, SimdLevel level, unsigned numThreads) {
  const DataType inputType = randomByteType(random);
  const DataType filterType = pick(random, 0, 3) == 0 ? DataType::U8 : DataType::I8;
  const DataType outputType = randomByteType(random);
  const Tensor input = randomBytes(random, inputType, c.largeShape());
  const Tensor filter = randomBytes(random, filterType, c.filterShape());
  const Tensor bias = randomInts(random, Shape{c.outputs}, 1 << 20);
  const bool hasBias = pick(random, 0, 3) != 0;
  IntegerConvParams params{c.window(), c.group, randomZero(random, inputType), std::nullopt, level};
  const auto factors = static_cast<size_t>(pick(random, 0, 1) == 0 ? 1 : c.outputs);
  if (pick(random, 0, 4) != 0)
    params.requant = randomRequant(random, outputType, factors, 20);
  Tensor output(params.requant ? outputType : DataType::I32, c.smallShape());
  ThreadPool threads(numThreads);
  KernelCache cache;
  const std::vector<int64_t> x = numbers(input);
  const std::vector<int64_t> w = numbers(filter);
  const std::vector<int64_t> b = numbers(bias);
  const int64_t inner = output.numElements() / c.batch / c.outputs;
  std::vector<Int128> sums(static_cast<size_t>(output.numElements()));
  for (size_t i = 0; hasBias && i < sums.size(); ++i)
    sums[i] = b[static_cast<size_t>(static_cast<int64_t>(i) / inner % c.outputs)];
  forEachProduct(c, [&](int64_t small, int64_t large, int64_t tap) {
    sums[static_cast<size_t>(small)] +=
        w[static_cast<size_t>(tap)] *
        (large < 0 ? params.inputZero : x[static_cast<size_t>(large)]);
  });
  const std::vector<int64_t> expected = requantizedAll(sums, inner, c.outputs, params.requant);
  // Without a cache, and twice with one.
  for (KernelCache *kept : {static_cast<KernelCache *>(nullptr), &cache, &cache}) {
    integerConvolve(input, filter, hasBias ? &bias : nullptr, params, output, threads, kept);
    ASSERT_EQ(numbers(output), expected) << describe(c, inputType, filterType, level);
  }
}

class IntegerConvolutionTest : public testing::TestWithParam<SimdLevel> {};

TEST_P(IntegerConvolutionTest, EqualsTheDirectSums) {
  Random random(1);
  for (int round = 0; round < 300 && !HasFatalFailure(); ++round)
    expectDirectSums(randomLayer(random), random, GetParam(),
                     static_cast<unsigned>(pick(random, 1, 3)));
}

/// A case of `channels` to `outputs` over pictures of 70 x 61 pixels.
Layer largeLayer(int64_t channels, int64_t outputs, int64_t group, int64_t kernel, int64_t stride) {
  Layer c{2,
          1,
          channels,
          outputs,
          group,
          {1, 70, 61},
          {1, kernel, kernel},
          {1, stride, stride},
          {1, 1, 1},
          {0, kernel / 2, kernel / 2},
          {0, kernel / 2, kernel / 2},
          {1, 0, 0}};
  for (size_t axis = 1; axis < 3; ++axis)
    c.small[axis] = (c.large[axis] + 2 * (kernel / 2) - kernel) / stride + 1;
  return c;
}

TEST_P(IntegerConvolutionTest, LargePlanesAreTakenInParts) {
  Random random(4);
  for (unsigned numThreads : {1U, 2U})
    for (const Layer &c :
         {largeLayer(3, 3, 3, 3, 1), largeLayer(3, 6, 3, 5, 1), largeLayer(150, 20, 1, 1, 1),
          largeLayer(200, 3, 1, 3, 1), largeLayer(100, 3, 1, 3, 2)})
      expectDirectSums(c, random, GetParam(), numThreads);
}

TEST_P(IntegerConvolutionTest, TransposedEqualsTheDirectSums) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    // The small side is the input here.
    const Layer c = randomLayer(random);
    const DataType inputType = randomByteType(random);
    const DataType filterType = pick(random, 0, 3) == 0 ? DataType::U8 : DataType::I8;
    const DataType outputType = randomByteType(random);
    const Tensor input = randomBytes(random, inputType, c.smallShape());
    const Tensor filter = randomBytes(random, filterType, c.filterShape());
    const Tensor bias = randomInts(random, Shape{c.channels}, 1 << 20);
    const bool hasBias = pick(random, 0, 3) != 0;
    IntegerConvParams params{c.window(), c.group, randomZero(random, inputType), std::nullopt,
                             GetParam()};
    const auto factors = static_cast<size_t>(pick(random, 0, 1) == 0 ? 1 : c.channels);
    if (pick(random, 0, 4) != 0)
      params.requant = randomRequant(random, outputType, factors, 20);
    Tensor output(params.requant ? outputType : DataType::I32, c.largeShape());
    ThreadPool threads(static_cast<unsigned>(pick(random, 1, 3)));
    KernelCache cache;
    const std::vector<int64_t> x = numbers(input);
    const std::vector<int64_t> w = numbers(filter);
    const std::vector<int64_t> b = numbers(bias);
    const int64_t inner = output.numElements() / c.batch / c.channels;
    std::vector<Int128> sums(static_cast<size_t>(output.numElements()));
    for (size_t i = 0; hasBias && i < sums.size(); ++i)
      sums[i] = b[static_cast<size_t>(static_cast<int64_t>(i) / inner % c.channels)];
    forEachProduct(c, [&](int64_t small, int64_t large, int64_t tap) {
      if (large >= 0)
        sums[static_cast<size_t>(large)] +=
            w[static_cast<size_t>(tap)] * (x[static_cast<size_t>(small)] - params.inputZero);
    });
    const std::vector<int64_t> expected = requantizedAll(sums, inner, c.channels, params.requant);
    for (KernelCache *kept : {static_cast<KernelCache *>(nullptr), &cache, &cache}) {
      integerDeconvolve(input, filter, hasBias ? &bias : nullptr, params, output, threads, kept);
      ASSERT_EQ(numbers(output), expected) << describe(c, inputType, filterType, GetParam());
    }
  }
}

TEST_P(IntegerConvolutionTest, CacheFollowsTheShapeOfTheInput) {
  Random random(5);
  ThreadPool threads(1);
  KernelCache cache;
  const Tensor filter = randomBytes(random, DataType::I8, {4, 6, 3, 3});
  IntegerConvParams params;
  params.window = {{3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  params.level = GetParam();
  // A picture of 3 x 3 makes it an inner product.
  for (int64_t size : {5, 3, 3, 7, 5, 5}) {
    const Tensor input = randomBytes(random, DataType::U8, {2, 6, size, size});
    Tensor kept(DataType::I32, {2, 4, size - 2, size - 2});
    Tensor fresh(DataType::I32, kept.shape());
    integerConvolve(input, filter, nullptr, params, kept, threads, &cache);
    integerConvolve(input, filter, nullptr, params, fresh, threads, nullptr);
    EXPECT_EQ(numbers(kept), numbers(fresh));
  }
}

TEST_P(IntegerConvolutionTest, LongSumsOfExtremesAreExact) {
  // 255 * 255 * 4608 and -128 * -128 * 4608: far beyond 16 bits, and near what words can add.
  ThreadPool threads(1);
  for (DataType inputType : {DataType::I8, DataType::U8})
    for (DataType filterType : {DataType::I8, DataType::U8}) {
      Tensor input(inputType, {1, 512, 3, 3});
      Tensor filter(filterType, {3, 512, 3, 3});
      const auto extreme = [](DataType type) {
        return static_cast<std::byte>(type == DataType::I8 ? 0x80 : 0xff);
      };
      std::ranges::fill(input.mutableBytes(), extreme(inputType));
      std::ranges::fill(filter.mutableBytes(), extreme(filterType));
      IntegerConvParams params;
      params.window = {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
      params.level = GetParam();
      params.inputZero = inputType == DataType::I8 ? 127 : 0;
      Tensor output(DataType::I32, {1, 3, 3, 3});
      integerConvolve(input, filter, nullptr, params, output, threads, nullptr);
      const int64_t x = inputType == DataType::I8 ? -128 : 255;
      const int64_t w = filterType == DataType::I8 ? -128 : 255;
      EXPECT_EQ(output.data<int32_t>()[4], 4608 * x * w);
      EXPECT_EQ(output.data<int32_t>()[0], 512 * w * (4 * x + 5 * params.inputZero));
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, IntegerConvolutionTest, testing::ValuesIn(integerLevels()),
                         [](const auto &info) {
                           return std::to_string(static_cast<int>(info.param));
                         });

} // namespace
