//===- BlockedTest.cpp - Kernels on blocks of channels against the plain ones -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Blocked.h"
#include "tpuc/Interpreter/Kernels/Binary.h"
#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Interpreter/Kernels/Reduce.h"
#include "tpuc/Interpreter/Kernels/Resize.h"
#include "unittests/Kernels/TestTensors.h"

#include <gtest/gtest.h>
#include <limits>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

Tensor run(const CompiledKernel &kernel, std::span<const Tensor> operands, const Shape &shape,
           ThreadPool &threads) {
  Tensor result(DataType::F32, shape);
  std::vector<const float *> pointers;
  for (const Tensor &operand : operands)
    pointers.push_back(operand.data<float>().data());
  kernel.run(pointers, result.mutableData<float>().data(), threads);
  return result;
}

/// In blocks; the channels that there are not hold NaN, which must not reach any other.
Tensor blocked(const Tensor &plain, ThreadPool &threads) {
  const Shape shape = blockedShape(plain.shape());
  Tensor result = run(*makeToBlocked(plain.shape()), {{plain}}, shape, threads);
  const int64_t blocks = shape[1];
  const int64_t pixels = shape.numElements() / (shape[0] * blocks * 16);
  for (int64_t i = 0; i < result.numElements(); ++i)
    if (i / (16 * pixels) % blocks * 16 + i % 16 >= plain.shape()[1])
      result.mutableData<float>()[static_cast<size_t>(i)] = std::numeric_limits<float>::quiet_NaN();
  return result;
}

Tensor plain(const Tensor &blocks, const Shape &shape, ThreadPool &threads) {
  return run(*makeFromBlocked(shape), {{blocks}}, shape, threads);
}

/// Runs `kernel` on blocks and gives the plain result, after seeing that it is the same with any
/// number of threads.
Tensor runBlocked(const CompiledKernel &kernel, std::span<const Tensor> inputs, const Shape &output,
                  bool takesPlain = false, bool givesPlain = false) {
  Tensor first;
  for (unsigned count : {1, 2, 3}) {
    ThreadPool threads(count);
    std::vector<Tensor> operands;
    for (const Tensor &input : inputs)
      operands.push_back(takesPlain ? input : blocked(input, threads));
    Tensor result = run(kernel, operands, givesPlain ? output : blockedShape(output), threads);
    if (!givesPlain)
      result = plain(result, output, threads);
    if (count == 1)
      first = result;
    else
      EXPECT_TRUE(std::ranges::equal(first.rawBytes(), result.rawBytes())) << count << " threads";
  }
  return first;
}

void expectNear(const Tensor &actual, const Tensor &expected, double tolerance) {
  ASSERT_EQ(actual.shape(), expected.shape());
  auto a = actual.data<float>();
  auto b = expected.data<float>();
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << "element " << i;
}

/// What rounding may do to a sum of `terms` products of numbers in [-1, 1), in whatever order and
/// however often the steps round.
double sumTolerance(int64_t terms) { return 1e-6 + 1e-7 * static_cast<double>(terms); }

/// `convolve` or `deconvolve` in f64, as f32.
template <typename Function>
Tensor inDouble(Function function, const Tensor &input, const Tensor &filter, const Tensor *bias,
                const ConvParams &params, const Shape &output) {
  ThreadPool threads(1);
  const Tensor added = bias ? convert(*bias, DataType::F64) : Tensor();
  Tensor result(DataType::F64, output);
  function(convert(input, DataType::F64), convert(filter, DataType::F64), bias ? &added : nullptr,
           params, result, threads, nullptr);
  return convert(result, DataType::F32);
}

TEST(BlockedTest, LayoutsThereAndBack) {
  ThreadPool threads(2);
  for (const Shape &shape : {Shape{2, 5, 7, 9}, Shape{1, 32, 13, 11}, Shape{3, 17, 70}}) {
    Tensor tensor = randomTensor(shape, 1);
    Tensor blocks = blocked(tensor, threads);
    EXPECT_EQ(blocks.shape(), blockedShape(shape));
    expectNear(plain(blocks, shape, threads), tensor, 0);
  }
}

struct ConvCase {
  const char *name;
  Shape input;
  Shape filter;
  std::vector<int64_t> strides, dilations, padsBegin, padsEnd;
  int64_t group = 1;
};

const ConvCase kConvCases[] = {
    {"Pointwise", {1, 40, 9, 13}, {72, 40, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"Strided", {2, 33, 15, 11}, {20, 33, 1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
    {"Square", {1, 24, 14, 14}, {100, 24, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"Large", {1, 48, 9, 10}, {16, 48, 7, 5}, {2, 1}, {1, 2}, {3, 4}, {2, 3}},
    {"Deep", {1, 600, 3, 5}, {70, 600, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"First", {2, 3, 30, 41}, {24, 3, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"FirstWide", {1, 3, 30, 21}, {64, 3, 7, 7}, {2, 2}, {2, 1}, {3, 3}, {3, 2}},
    {"FirstGray", {1, 1, 12, 12}, {5, 1, 5, 5}, {1, 1}, {1, 1}, {2, 0}, {2, 4}},
    {"Depthwise", {2, 20, 11, 17}, {20, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 20},
    {"DepthwiseStrided", {1, 35, 12, 19}, {35, 1, 5, 5}, {2, 2}, {1, 1}, {2, 1}, {1, 2}, 35},
    {"DepthwiseDilated", {1, 16, 6, 5}, {16, 1, 3, 3}, {1, 1}, {3, 4}, {3, 4}, {3, 4}, 16},
    {"Grouped", {1, 64, 7, 8}, {96, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 2},
    {"Line", {2, 18, 50}, {33, 18, 5}, {2}, {1}, {2}, {2}},
};

class BlockedConvolutionTest : public testing::TestWithParam<ConvCase> {};

TEST_P(BlockedConvolutionTest, IsThePlainOne) {
  const ConvCase &c = GetParam();
  ConvParams params;
  params.group = c.group;
  Shape output = c.input;
  output[1] = c.filter[0];
  for (size_t axis = 2; axis < c.input.rank(); ++axis) {
    const size_t i = axis - 2;
    params.window.kernel.push_back(c.filter[axis]);
    output[axis] = (c.input[axis] + c.padsBegin[i] + c.padsEnd[i] -
                    (c.filter[axis] - 1) * c.dilations[i] - 1) /
                       c.strides[i] +
                   1;
  }
  params.window.strides = c.strides;
  params.window.dilations = c.dilations;
  params.window.padsBegin = c.padsBegin;
  params.window.padsEnd = c.padsEnd;
  ASSERT_TRUE(isBlockedConvolution(c.input, c.filter, params));
  Tensor input = randomTensor(c.input, 2);
  Tensor filter = randomTensor(c.filter, 3);
  Tensor bias = randomTensor({c.filter[0]}, 4);
  for (const Tensor *given :
       {static_cast<const Tensor *>(nullptr), static_cast<const Tensor *>(&bias)}) {
    params.doRelu = given != nullptr;
    params.reluLimit = 0.75;
    const Tensor expected = inDouble(convolve, input, filter, given, params, output);
    auto kernel = makeConvolution(c.input, output, filter, given, params);
    if (params.doRelu) {
      PostOp clip;
      clip.kind = PostOp::Kind::Clip;
      clip.a = 0;
      clip.b = 0.75F;
      kernel->postOps.push_back(clip);
    }
    expectNear(runBlocked(*kernel, {{input}}, output, takesPlainInput(c.input, c.filter, params)),
               expected, sumTolerance(c.filter.numElements() / c.filter[0]));
  }
}

INSTANTIATE_TEST_SUITE_P(All, BlockedConvolutionTest, testing::ValuesIn(kConvCases),
                         [](const auto &info) { return std::string(info.param.name); });

struct DeconvCase {
  const char *name;
  Shape input, filter, output;
  std::vector<int64_t> strides, dilations, pads;
};

class BlockedDeconvolutionTest : public testing::TestWithParam<DeconvCase> {};

const DeconvCase kDeconvCases[] = {
    {"SideBySide", {2, 24, 5, 7}, {24, 20, 2, 3}, {2, 20, 10, 21}, {2, 3}, {1, 1}, {0, 0}},
    {"Overlapping", {1, 40, 6, 13}, {40, 37, 4, 4}, {1, 37, 12, 26}, {2, 2}, {1, 1}, {1, 1}},
    {"Odd", {1, 17, 5, 4}, {17, 16, 3, 5}, {1, 16, 10, 8}, {2, 2}, {1, 1}, {1, 2}},
    {"Longer", {2, 16, 3, 3}, {16, 8, 3, 3}, {2, 8, 9, 8}, {2, 2}, {1, 1}, {0, 0}},
    {"Dilated", {1, 33, 6, 5}, {33, 19, 3, 2}, {1, 19, 9, 10}, {1, 2}, {2, 1}, {1, 0}},
    {"ManyTaps", {1, 16, 7, 9}, {16, 16, 7, 7}, {1, 16, 7, 9}, {1, 1}, {1, 1}, {3, 3}},
    {"ManyChannels", {1, 600, 3, 4}, {600, 30, 3, 3}, {1, 30, 5, 7}, {2, 2}, {1, 1}, {1, 1}},
    {"Line", {2, 20, 11}, {20, 18, 4}, {2, 18, 22}, {2}, {1}, {1}},
    {"Narrow", {2, 24, 5, 30}, {24, 1, 2, 2}, {2, 1, 10, 60}, {2, 2}, {1, 1}, {0, 0}},
    {"NarrowChannels", {2, 5, 4, 7}, {5, 4, 1, 4}, {2, 4, 4, 28}, {1, 4}, {1, 1}, {0, 0}},
};

TEST_P(BlockedDeconvolutionTest, IsThePlainOne) {
  const DeconvCase &c = GetParam();
  const std::vector<int64_t> kernel(c.filter.begin() + 2, c.filter.end());
  ConvParams params;
  params.window = {kernel, c.strides, c.dilations, c.pads, c.pads};
  Tensor input = randomTensor(c.input, 5);
  Tensor filter = randomTensor(c.filter, 6);
  Tensor bias = randomTensor({c.output[1]}, 7);
  ASSERT_TRUE(isBlockedDeconvolution(c.input, c.output, params));
  Tensor expected = inDouble(deconvolve, input, filter, &bias, params, c.output);
  auto kernels = makeDeconvolution(c.input, c.output, filter, &bias, params);
  for (bool isClipped : {false, true}) {
    if (isClipped) {
      PostOp clip;
      clip.kind = PostOp::Kind::Clip;
      clip.a = 0;
      clip.b = 0.75F;
      kernels->postOps.push_back(clip);
      for (float &value : expected.mutableData<float>())
        value = std::clamp(value, 0.0F, 0.75F);
    }
    expectNear(runBlocked(*kernels, {{input}}, c.output, false,
                          givesPlainResult(c.input, c.output, params)),
               expected, sumTolerance(c.filter.numElements() / c.filter[1]));
  }
}

INSTANTIATE_TEST_SUITE_P(All, BlockedDeconvolutionTest, testing::ValuesIn(kDeconvCases),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(BlockedTest, LeavesDeconvolutionsToOthers) {
  const Shape in{1, 16, 5, 5};
  ConvParams params;
  params.window = {{1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}};
  // Every other pixel is under no window.
  EXPECT_FALSE(isBlockedDeconvolution(in, {1, 16, 9, 9}, params));
  params.window = {{4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}};
  EXPECT_TRUE(isBlockedDeconvolution(in, {1, 16, 10, 10}, params));
  // One channel is too few for a block.
  EXPECT_FALSE(isBlockedDeconvolution(in, {1, 1, 10, 10}, params));
  params.group = 2;
  EXPECT_FALSE(isBlockedDeconvolution(in, {1, 16, 10, 10}, params));
}

TEST(BlockedTest, PoolingIsThePlainOne) {
  const Shape in{2, 21, 13, 10};
  const Shape out{2, 21, 7, 5};
  const WindowParams window{{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}};
  Tensor input = randomTensor(in, 8);
  ThreadPool threads(1);
  Tensor expected(DataType::F32, out);
  PoolParams params;
  params.window = window;
  maxPool(input, params, expected, nullptr, false, threads);
  expectNear(runBlocked(*makeMaxPool(in, out, window), {{input}}, out), expected, 0);
  for (bool countPadding : {false, true}) {
    params.countIncludePad = countPadding;
    averagePool(input, params, expected, threads);
    expectNear(runBlocked(*makeAveragePool(in, out, window, countPadding), {{input}}, out),
               expected, 1e-6);
  }
  const Shape one{2, 21, 1, 1};
  Tensor mean(DataType::F32, one);
  const std::array<int64_t, 2> axes{2, 3};
  reduce(ReduceOp::Mean, input, axes, mean, threads);
  expectNear(runBlocked(*makeGlobalAverage(in), {{input}}, one), mean, 1e-6);
}

TEST(BlockedTest, ConcatTakesAnyChannels) {
  ThreadPool threads(1);
  for (const std::vector<int64_t> &channels :
       {std::vector<int64_t>{24, 24, 24}, {16, 32}, {3, 30, 1, 19}}) {
    std::vector<Tensor> inputs;
    std::vector<Shape> shapes;
    Shape out{2, 0, 9, 31};
    for (int64_t count : channels) {
      shapes.push_back({2, count, 9, 31});
      inputs.push_back(randomTensor(shapes.back(), static_cast<unsigned>(count)));
      out[1] += count;
    }
    Tensor expected(DataType::F32, out);
    concat(inputs, 1, expected, threads);
    expectNear(runBlocked(*makeConcat(shapes), inputs, out), expected, 0);
  }
}

TEST(BlockedTest, UpsampleRepeatsPixels) {
  const Shape in{1, 18, 5, 6};
  const Shape out{1, 18, 15, 12};
  Tensor input = randomTensor(in, 9);
  ThreadPool threads(1);
  Tensor expected(DataType::F32, out);
  upsample(input, 3, 2, false, -1, expected, threads);
  expectNear(runBlocked(*makeUpsample(in, 3, 2), {{input}}, out), expected, 0);
}

TEST(BlockedTest, PostOpsReadOtherOperands) {
  // ((x + y) * gate[n, c] - 0.5), then the difference from 2.
  const Shape shape{2, 20, 6, 7};
  const Shape gates{2, 20, 1, 1};
  Tensor x = randomTensor(shape, 10);
  Tensor y = randomTensor(shape, 11);
  Tensor gate = randomTensor(gates, 12);
  auto kernel = makeElementwise(blockedShape(shape), true);
  PostOp op;
  op.kind = PostOp::Kind::Binary;
  op.operand = 1;
  kernel->postOps.push_back(op);
  op.binary = BinaryOp::Mul;
  op.operandKind = RowOperand::Channel;
  op.operand = 2;
  op.samplePitch = 32;
  kernel->postOps.push_back(op);
  op = PostOp();
  op.kind = PostOp::Kind::Binary;
  op.binary = BinaryOp::Sub;
  op.operandKind = RowOperand::Scalar;
  op.isReversed = true;
  op.constant = {2};
  kernel->postOps.push_back(op);
  Tensor expected(DataType::F32, shape);
  for (int64_t i = 0; i < shape.numElements(); ++i) {
    const auto at = static_cast<size_t>(i);
    expected.mutableData<float>()[at] =
        2 - (x.data<float>()[at] + y.data<float>()[at]) * gate.data<float>()[at / 42];
  }
  expectNear(runBlocked(*kernel, {{x, y, gate}}, shape), expected, 1e-6);
}

} // namespace
