//===- ConvolutionTest.cpp - Convolutions----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Convolution.h"
#include "tpuc/Interpreter/Kernels/Convolution.h"
#include "tpuc/Interpreter/Kernels/Unary.h"
#include "tpuc/Support/Convert.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

struct ConvCase {
  Extents input;
  int64_t outputs;
  Window2d window;
  int64_t group = 1;
  bool hasBias = true;
  Activation activation = {};
};

int64_t windowsAlong(const ConvCase &c, size_t axis) {
  const Window2d &w = c.window;
  int64_t padded = c.input[axis + 2] + w.padBegin[axis] + w.padEnd[axis];
  return (padded - (w.kernel[axis] - 1) * w.dilation[axis] - 1) / w.stride[axis] + 1;
}

kernels::ConvParams paramsOf(const ConvCase &c) {
  kernels::ConvParams params;
  auto vec = [](const std::array<int64_t, 2> &pair) {
    return std::vector<int64_t>(pair.begin(), pair.end());
  };
  params.window = {vec(c.window.kernel), vec(c.window.stride), vec(c.window.dilation),
                   vec(c.window.padBegin), vec(c.window.padEnd)};
  params.group = c.group;
  params.doRelu = c.activation.relu;
  params.reluLimit = c.activation.limit;
  return params;
}

void loadParameters(Bench &bench, Convolution &conv, const Tensor &filter, const Tensor *bias,
                    const std::array<int64_t, 2> &stride) {
  DataType type = filter.type();
  bool isDepthwise = conv.isDepthwise();
  Extents shape = isDepthwise ? depthwiseFilterShape(extents(filter))
                              : packedFilterShape(type, extents(filter), stride);
  Tensor packed =
      isDepthwise
          ? filter.reshaped(Shape(std::span(shape)))
          : tensorOf(type, shape, packFilter(type, extents(filter), bytesOf(filter), stride));
  conv.filterAddress = bench.load(packed, Layout::Compact).address;
  if (bias) {
    const int64_t taps = filter.shape()[2] * filter.shape()[3];
    Tensor own = convert(*bias, isDepthwise ? depthwiseBiasType(type, taps) : DataType::F32);
    conv.biasAddress =
        bench.load(own.reshaped({1, bias->numElements(), 1, 1}), Layout::Compact).address;
  }
}

void expectConvolution(DataType type, const ConvCase &c, DataType outputType) {
  Tensor input = randomNumbers(type, Shape(std::span(c.input)), 1);
  Tensor filter = randomNumbers(
      type, {c.outputs, c.input[1] / c.group, c.window.kernel[0], c.window.kernel[1]}, 2);
  Tensor bias = randomNumbers(type, {c.outputs}, 3);
  Extents output{c.input[0], c.outputs, windowsAlong(c, 0), windowsAlong(c, 1)};

  Bench bench;
  Convolution conv;
  conv.input = bench.load(input);
  conv.output = bench.local(outputType, output);
  conv.window = c.window;
  conv.group = c.group;
  conv.activation = c.activation;
  loadParameters(bench, conv, filter, c.hasBias ? &bias : nullptr, c.window.stride);
  conv.scratch = bench.scratch(convolutionScratch(conv));
  expectOk(emitConvolution(bench.builder, conv));
  GlobalTensor stored = bench.store(conv.output);
  bench.run();

  ThreadPool threads(1);
  Tensor wanted(DataType::F32, Shape(std::span(output)));
  Tensor wideBias = convert(bias, DataType::F32);
  kernels::convolve(convert(input, DataType::F32), convert(filter, DataType::F32),
                    c.hasBias ? &wideBias : nullptr, paramsOf(c), wanted, threads, nullptr);
  expectClose(bench.get(stored), convert(wanted, outputType));
}

void expectConvolutions(const ConvCase &c) {
  for (DataType type : kFloatTypes) {
    SCOPED_TRACE(dataTypeName(type));
    expectConvolution(type, c, type);
  }
}

TEST(Convolution, Plain) { expectConvolutions({{1, 3, 9, 11}, 5, {{3, 3}}}); }
TEST(Convolution, OneByOneManyChannels) {
  expectConvolutions({{2, 130, 5, 7}, 140, {{1, 1}}, 1, false});
}
TEST(Convolution, Stem) {
  expectConvolutions({{1, 3, 30, 30}, 64, {{7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 3}}});
}
TEST(Convolution, UnevenPadsStridesDilations) {
  expectConvolutions({{2, 33, 13, 12}, 66, {{3, 2}, {2, 3}, {2, 1}, {1, 0}, {2, 1}}});
}
TEST(Convolution, WidePads) {
  expectConvolutions({{2, 33, 5, 12}, 66, {{3, 2}, {2, 3}, {2, 1}, {16, 0}, {2, 31}}});
  expectConvolutions({{1, 70, 9, 8}, 70, {{3, 3}, {1, 1}, {9, 16}, {9, 16}, {9, 16}}, 70});
}
TEST(Convolution, Activations) {
  expectConvolutions({{1, 8, 9, 9}, 70, {{3, 3}}, 1, true, {true, -1}});
  expectConvolutions({{1, 8, 9, 9}, 70, {{3, 3}}, 1, true, {true, 0.5}});
}
TEST(Convolution, Groups) {
  expectConvolutions({{2, 12, 7, 7}, 18, {{3, 3}}, 3});
  expectConvolutions({{1, 96, 6, 6}, 96, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 2});
  // More outputs than inputs in groups of one input channel.
  expectConvolutions({{1, 5, 6, 6}, 10, {{3, 3}}, 5});
}
TEST(Convolution, Depthwise) {
  expectConvolutions({{2, 70, 9, 8}, 70, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 70});
  expectConvolutions(
      {{1, 20, 12, 12}, 20, {{5, 5}, {2, 2}, {1, 1}, {2, 1}, {1, 2}}, 20, true, {true, 6}});
  expectConvolutions({{1, 9, 12, 12}, 9, {{3, 3}, {1, 1}, {2, 2}}, 9, false});
}
/// What depthwise kernels of ones give of 2048, 0, 0.9, 0, 0.9.
float sumOfFive(DataType type, bool narrowSums, uint32_t &scratchBytes) {
  Bench bench;
  Convolution conv;
  const Tensor row = tensorOf(DataType::F32, {1, 2, 1, 5},
                              std::vector<float>{2048, 0, 0.9F, 0, 0.9F, 1, 1, 1, 1, 1});
  const Tensor ones = tensorOf(DataType::F32, {1, 2, 1, 5}, std::vector<float>(10, 1));
  conv.input = bench.load(convert(row, type));
  conv.output = bench.local(type, {1, 2, 1, 1});
  conv.window = {{1, 5}};
  conv.group = 2;
  conv.narrowSums = narrowSums;
  conv.filterAddress = bench.load(convert(ones, type), Layout::Compact).address;
  Expected<uint32_t> scratch = convolutionScratch(conv);
  EXPECT_TRUE(scratch);
  scratchBytes = scratch.value_or(0);
  conv.scratch = bench.scratch(scratch);
  expectOk(emitConvolution(bench.builder, conv));
  GlobalTensor stored = bench.store(conv.output);
  bench.run();
  return convert(bench.get(stored), DataType::F32).data<float>()[0];
}

TEST(Convolution, NarrowSumsAreRoundedAtEachStep) {
  uint32_t wide = 0, narrow = 0;
  EXPECT_EQ(sumOfFive(DataType::F16, false, wide), 2050);
  EXPECT_EQ(sumOfFive(DataType::F16, true, narrow), 2048);
  // Nothing is widened.
  EXPECT_GT(wide, 0u);
  EXPECT_EQ(narrow, 0u);
}
TEST(Convolution, OnlyF16HasNarrowSums) {
  // BF16 has steps of 16 there, and F32 those that its sums have.
  for (auto [type, wanted] : {std::pair{DataType::BF16, 2048.0F}, {DataType::F32, 2049.8F}}) {
    uint32_t without = 0, with = 0;
    EXPECT_NEAR(sumOfFive(type, false, without), wanted, 1e-3);
    EXPECT_NEAR(sumOfFive(type, true, with), wanted, 1e-3);
    EXPECT_EQ(with, without);
  }
}
TEST(Convolution, LargeStridesAreShared) {
  expectConvolutions({{1, 3, 48, 64}, 70, {{16, 16}, {16, 16}}});
  expectConvolutions({{2, 3, 40, 70}, 6, {{7, 18}, {16, 32}}, 1, true, {true, -1}});
}
TEST(Convolution, WideResults) {
  for (DataType type : {DataType::F16, DataType::BF16})
    expectConvolution(type, {{1, 40, 6, 7}, 70, {{3, 3}}}, DataType::F32);
}

/// A slice of rows of a tensor in local memory, as they are.
TEST(Convolution, RowsOfALargerTensor) {
  for (DataType type : kFloatTypes) {
    Bench bench;
    Tensor input = randomNumbers(type, {2, 70, 12, 9}, 1);
    Tensor filter = randomNumbers(type, {66, 70, 3, 3}, 2);
    LocalTensor whole = bench.load(input);
    Convolution conv;
    conv.window = {{3, 3}, {1, 1}, {1, 1}, {0, 1}, {1, 1}};
    // Rows 6 to 11 give the results 5, 6 ... of 12, of which the last looks at a row of zeros.
    conv.input = whole.slice(2, 6, 6);
    conv.output = bench.local(type, {2, 66, 5, 9});
    loadParameters(bench, conv, filter, nullptr, {1, 1});
    expectOk(emitConvolution(bench.builder, conv));
    GlobalTensor stored = bench.store(conv.output);
    bench.run();
    ConvCase c{{2, 70, 12, 9}, 66, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}};
    ThreadPool threads(1);
    Tensor wanted(DataType::F32, {2, 66, 12, 9});
    kernels::convolve(convert(input, DataType::F32), convert(filter, DataType::F32), nullptr,
                      paramsOf(c), wanted, threads, nullptr);
    Tensor lower(DataType::F32, {2, 66, 5, 9});
    for (int64_t plane = 0; plane < 2 * 66; ++plane)
      std::copy_n(wanted.data<float>().data() + plane * 12 * 9 + 7 * 9, 5 * 9,
                  lower.mutableData<float>().data() + plane * 5 * 9);
    expectClose(bench.get(stored), convert(lower, type));
  }
}

void expectDeconvolutions(const ConvCase &c, const std::array<int64_t, 2> &outputPadding = {0, 0}) {
  for (DataType type : kFloatTypes) {
    SCOPED_TRACE(dataTypeName(type));
    Tensor input = randomNumbers(type, Shape(std::span(c.input)), 1);
    Extents filterShape{c.input[1], c.outputs / c.group, c.window.kernel[0], c.window.kernel[1]};
    Tensor filter = randomNumbers(type, Shape(std::span(filterShape)), 2);
    Tensor bias = randomNumbers(type, {c.outputs}, 3);
    Extents output{c.input[0], c.outputs, 0, 0};
    Window2d window = c.window;
    for (size_t axis = 0; axis < 2; ++axis) {
      int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis];
      output[axis + 2] = (c.input[axis + 2] - 1) * window.stride[axis] + 1 + reach -
                         window.padBegin[axis] - window.padEnd[axis] + outputPadding[axis];
      window.padBegin[axis] = reach - c.window.padBegin[axis];
      window.padEnd[axis] = reach - c.window.padEnd[axis] + outputPadding[axis];
    }
    Bench bench;
    Convolution deconv;
    deconv.input = bench.load(input);
    deconv.output = bench.local(type, output);
    deconv.window = window;
    deconv.group = c.group;
    deconv.activation = c.activation;
    Extents swapped{c.outputs, c.input[1] / c.group, filterShape[2], filterShape[3]};
    Tensor turned =
        tensorOf(type, swapped, swapFilterChannels(type, filterShape, c.group, bytesOf(filter)));
    loadParameters(bench, deconv, turned, c.hasBias ? &bias : nullptr, {1, 1});
    deconv.scratch = bench.scratch(deconvolutionScratch(deconv));
    expectOk(emitDeconvolution(bench.builder, deconv));
    GlobalTensor stored = bench.store(deconv.output);
    bench.run();

    ThreadPool threads(1);
    Tensor wanted(DataType::F32, Shape(std::span(output)));
    Tensor wideBias = convert(bias, DataType::F32);
    kernels::deconvolve(convert(input, DataType::F32), convert(filter, DataType::F32),
                        c.hasBias ? &wideBias : nullptr, paramsOf(c), wanted, threads, nullptr);
    expectClose(bench.get(stored), convert(wanted, type));
  }
}

TEST(Deconvolution, Plain) { expectDeconvolutions({{1, 5, 6, 7}, 70, {{2, 2}, {2, 2}}}); }
TEST(Deconvolution, PadsGroupsDilation) {
  expectDeconvolutions(
      {{2, 12, 5, 6}, 9, {{4, 3}, {2, 3}, {1, 2}, {1, 0}, {1, 2}}, 3, true, {true, -1}}, {0, 1});
}
TEST(Deconvolution, Depthwise) {
  expectDeconvolutions({{1, 70, 5, 6}, 70, {{4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, 70});
}

/// Output rows `first` to `first + rows` of a deconvolution, phase after phase, from the input rows
/// that they need. The window has the deconvolution's pads.
void expectPhaseDeconvolution(DataType type, int64_t outputs, const Window2d &whole, int64_t first,
                              int64_t rows, const Activation &activation) {
  SCOPED_TRACE(testing::Message() << dataTypeName(type) << " from row " << first);
  Tensor input = randomNumbers(type, {2, 70, 6, 7}, 1);
  Extents filterShape{70, outputs, whole.kernel[0], whole.kernel[1]};
  Tensor filter = randomNumbers(type, Shape(std::span(filterShape)), 2);
  Tensor bias = randomNumbers(DataType::F32, {1, outputs, 1, 1}, 3);
  Extents output{2, outputs, 0, 0};
  for (size_t axis = 0; axis < 2; ++axis)
    output[axis + 2] = (input.shape()[axis + 2] - 1) * whole.stride[axis] + whole.kernel[axis] -
                       whole.padBegin[axis] - whole.padEnd[axis];
  Bench bench;
  Convolution deconv;
  const int64_t firstAll = first + whole.padBegin[0];
  const int64_t firstInput =
      std::max<int64_t>(0, ceilDiv(firstAll - whole.kernel[0] + 1, whole.stride[0]));
  const int64_t lastInput = std::min<int64_t>(5, (firstAll + rows - 1) / whole.stride[0]);
  deconv.input = bench.load(input).slice(2, firstInput, lastInput - firstInput + 1);
  deconv.output = bench.local(type, {2, outputs, rows, output[3]});
  deconv.window = whole;
  deconv.window.padBegin = {whole.kernel[0] - 1 - (firstAll - firstInput * whole.stride[0]),
                            whole.kernel[1] - 1 - whole.padBegin[1]};
  deconv.activation = activation;
  Extents swapped{outputs, 70, whole.kernel[0], whole.kernel[1]};
  std::vector<uint8_t> turned = swapFilterChannels(type, filterShape, 1, bytesOf(filter));
  Extents packedShape = phaseFilterShape(type, swapped, whole.stride);
  Tensor biases = bias;
  if (tapsAreChannels(deconv.window, outputs)) {
    // Taps lie in lanes, and each has the bias.
    std::swap(packedShape[0], packedShape[1]);
    const std::vector<float> each(static_cast<size_t>(packedShape[1]), bias.data<float>()[0]);
    biases = Tensor::of<float>({1, packedShape[1], 1, 1}, each);
  }
  Tensor packed = tensorOf(type, packedShape, packPhaseFilter(type, swapped, turned, whole.stride));
  deconv.filterAddress = bench.load(packed, Layout::Compact).address;
  deconv.biasAddress = bench.load(biases, Layout::Compact).address;
  deconv.scratch = bench.scratch(phaseDeconvolutionScratch(deconv));
  expectOk(emitPhaseDeconvolution(bench.builder, deconv));
  GlobalTensor stored = bench.store(deconv.output);
  bench.run();

  ConvCase c{extents(input), outputs, whole, 1, true, activation};
  ThreadPool threads(1);
  Tensor wanted(DataType::F32, Shape(std::span(output)));
  Tensor flatBias = bias.reshaped({outputs});
  kernels::deconvolve(convert(input, DataType::F32), convert(filter, DataType::F32), &flatBias,
                      paramsOf(c), wanted, threads, nullptr);
  Tensor part(DataType::F32, {2, outputs, rows, output[3]});
  for (int64_t plane = 0; plane < 2 * outputs; ++plane)
    std::copy_n(wanted.data<float>().data() + (plane * output[2] + first) * output[3],
                rows * output[3], part.mutableData<float>().data() + plane * rows * output[3]);
  expectClose(bench.get(stored), convert(part, type));
}

TEST(Deconvolution, SingleTaps) {
  for (DataType type : kFloatTypes) {
    for (int64_t outputs : {66, 1}) {
      expectPhaseDeconvolution(type, outputs, {{2, 2}, {2, 2}}, 0, 12, {});
      expectPhaseDeconvolution(type, outputs, {{3, 2}, {3, 2}}, 4, 9, {true, 0.5});
      // Fewer rows than taps.
      expectPhaseDeconvolution(type, outputs, {{3, 1}, {3, 1}}, 5, 1, {});
    }
  }
}

TEST(Deconvolution, Phases) {
  for (DataType type : kFloatTypes) {
    const Window2d even{{4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}};
    expectPhaseDeconvolution(type, 66, even, 0, 12, {});
    expectPhaseDeconvolution(type, 1, even, 3, 6, {true, 0.5});
    // Phases of different taps, an axis without any, and slices that begin and end at the edges.
    const Window2d uneven{{3, 5}, {2, 3}, {1, 1}, {0, 2}, {1, 0}};
    expectPhaseDeconvolution(type, 9, uneven, 0, 5, {});
    expectPhaseDeconvolution(type, 9, uneven, 11, 1, {});
    expectPhaseDeconvolution(type, 9, {{3, 2}, {1, 2}}, 2, 6, {});
  }
}

TEST(Deconvolution, PhasesRefuseOthers) {
  Convolution deconv;
  deconv.window.kernel = {1, 3};
  deconv.window.stride = {2, 2};
  EXPECT_FALSE(hasPhases(deconv.window, 1));
  Expected<uint32_t> needed = phaseDeconvolutionScratch(deconv);
  ASSERT_FALSE(needed);
  EXPECT_THAT(needed.error().message(), HasSubstr("kernel 1x3 with stride 2x2"));
  deconv.window.kernel = {2, 2};
  deconv.output.shape = {1, 1, 4, 2};
  needed = phaseDeconvolutionScratch(deconv);
  ASSERT_FALSE(needed);
  EXPECT_THAT(needed.error().message(), HasSubstr("4 outputs of 1 inputs after 0 zeros"));
}

TEST(Convolution, RefusesByName) {
  Convolution conv;
  conv.input = localTensor(DataType::F32, {1, 4, 8, 8});
  conv.output = localTensor(DataType::F32, {1, 4, 8, 8});
  conv.window.kernel = {3, 3};
  auto message = [](const Convolution &c) {
    Expected<uint32_t> needed = convolutionScratch(c);
    return needed ? "accepted" : needed.error().message();
  };
  EXPECT_THAT(message(conv), HasSubstr("windows that cover 10 of 8 rows"));
  conv.window.padBegin = conv.window.padEnd = {16, 16};
  EXPECT_EQ(message(conv), "accepted");
  conv.outsides = {0, 0, 0, 0};
  EXPECT_THAT(message(conv), HasSubstr("pad of 16; expected 0 to 15"));
  conv.outsides.clear();
  conv.window.padBegin = conv.window.padEnd = {1, 1};
  EXPECT_EQ(message(conv), "accepted");
  conv.group = 3;
  EXPECT_THAT(message(conv), HasSubstr("in 3 groups"));
  conv.group = 1;
  conv.window.stride = {17, 1};
  EXPECT_THAT(message(conv), HasSubstr("strides of 17x1"));
  conv.output.type = DataType::F16;
  EXPECT_THAT(message(conv), HasSubstr("an output of f16"));
  conv.input.type = DataType::I64;
  EXPECT_THAT(message(conv), HasSubstr("input of i64; expected f32, f16 or bf16"));
}

} // namespace
