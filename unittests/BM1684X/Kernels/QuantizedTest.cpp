//===- QuantizedTest.cpp - Operations on quantized integers----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Quantized.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Interpreter/Kernels/IntegerConvolution.h"
#include "tpuc/Interpreter/Kernels/IntegerElementwise.h"
#include "tpuc/Interpreter/Kernels/IntegerMatrix.h"
#include "tpuc/Interpreter/Kernels/IntegerPool.h"
#include "tpuc/Interpreter/Kernels/IntegerQuantize.h"
#include "tpuc/Interpreter/Kernels/IntegerResize.h"
#include "tpuc/Interpreter/Kernels/IntegerTable.h"
#include "tpuc/Interpreter/Kernels/StoredCast.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Target/BM1684X/Kernels/Resize.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

constexpr DataType kByteTypes[] = {DataType::I8, DataType::U8};

Tensor randomBytes(DataType type, const Shape &shape, unsigned seed) {
  return randomNumbers(type, shape, seed, isSigned(type) ? -129 : 0, isSigned(type) ? 128 : 256);
}

bool isByteType(DataType type) { return type == DataType::I8 || type == DataType::U8; }

/// What the interpreter calls the same.
kernels::RequantParams paramsOf(std::span<const Requantize> factors, DataType output) {
  kernels::RequantParams params;
  for (const Requantize &factor : factors)
    params.factors.push_back({factor.multiplier, factor.shift});
  params.zeroPoint = factors[0].zeroPoint;
  params.range = integerRange(output);
  if (factors[0].lowest)
    params.range.lowest = *factors[0].lowest;
  if (factors[0].highest)
    params.range.highest = *factors[0].highest;
  return params;
}

/// A factor near 1 / `divisor`, different for each `index`.
Requantize factorNear(double divisor, int32_t zeroPoint, int index = 0) {
  constexpr int kShift = 40;
  double multiplier = std::ldexp(1 / divisor, kShift) * (1 + 0.01 * index);
  int shift = kShift;
  for (; std::abs(multiplier) >= std::ldexp(1, 31); --shift)
    multiplier /= 2;
  return {static_cast<int32_t>(multiplier), shift, zeroPoint, {}, {}};
}

struct IntegerConvCase {
  Extents input;
  int64_t outputs;
  Window2d window;
  int64_t group = 1;
  int32_t inputZero = 0;
  int32_t outputZero = 0;
  bool hasBias = true;
  bool isTransposed = false;
  /// Phase after phase.
  bool inPhases = false;
  Roundings roundings = Roundings::Once;
};

Extents outputOf(const IntegerConvCase &c) {
  Extents output{c.input[0], c.outputs, 0, 0};
  for (size_t axis = 0; axis < 2; ++axis) {
    const Window2d &w = c.window;
    int64_t reach = (w.kernel[axis] - 1) * w.dilation[axis];
    int64_t pads = w.padBegin[axis] + w.padEnd[axis];
    output[axis + 2] = c.isTransposed ? (c.input[axis + 2] - 1) * w.stride[axis] + 1 + reach - pads
                                      : (c.input[axis + 2] + pads - reach - 1) / w.stride[axis] + 1;
  }
  return output;
}

kernels::WindowParams windowParamsOf(const Window2d &window) {
  auto vec = [](const std::array<int64_t, 2> &pair) {
    return std::vector<int64_t>(pair.begin(), pair.end());
  };
  return {vec(window.kernel), vec(window.stride), vec(window.dilation), vec(window.padBegin),
          vec(window.padEnd)};
}

/// A filter as the kernel wants it.
Tensor packedFilter(const IntegerConvCase &c, const Tensor &filter) {
  Extents shape = extents(filter);
  if (c.group > 1 && c.group == c.outputs && c.group == c.input[1])
    return filter.reshaped({1, shape[0], shape[2], shape[3]});
  if (!c.inPhases)
    return tensorOf(DataType::I8, packedFilterShape(DataType::I8, shape),
                    packFilter(DataType::I8, shape, bytesOf(filter)));
  Extents phases = phaseFilterShape(DataType::I8, shape, c.window.stride);
  if (tapsAreChannels(c.window, c.outputs))
    std::swap(phases[0], phases[1]);
  return tensorOf(DataType::I8, phases,
                  packPhaseFilter(DataType::I8, shape, bytesOf(filter), c.window.stride));
}

/// The bias with what the zero point adds to it; in phases one for each, of its taps alone.
/// `filter` is [oc, ic, kh, kw]. A convolution's has that already.
std::vector<Tensor> biasesOf(const IntegerConvCase &c, const Tensor &bias, const Tensor &filter) {
  const auto &[strideH, strideW] = c.window.stride;
  const int64_t phases = c.inPhases ? strideH * strideW : 1;
  std::vector<Tensor> biases;
  for (int64_t phase = 0; phase < phases; ++phase)
    biases.push_back(bias.clone());
  if (!c.isTransposed)
    return biases;
  const Extents shape = extents(filter);
  const int8_t *element = filter.data<int8_t>().data();
  for (int64_t m = 0; m < shape[0]; ++m)
    for (int64_t i = 0; i < shape[1]; ++i)
      for (int64_t y = 0; y < shape[2]; ++y)
        for (int64_t x = 0; x < shape[3]; ++x) {
          const int64_t phase = c.inPhases ? y % strideH * strideW + x % strideW : 0;
          biases[static_cast<size_t>(phase)].mutableData<int32_t>()[static_cast<size_t>(m)] -=
              c.inputZero * *element++;
        }
  return biases;
}

Expected<uint32_t> scratchOf(const IntegerConvCase &c, const QuantizedConvolution &conv) {
  if (c.inPhases)
    return quantizedPhaseDeconvolutionScratch(conv);
  return c.isTransposed ? quantizedDeconvolutionScratch(conv) : quantizedConvolutionScratch(conv);
}

Expected<void> emitOne(Builder &builder, const IntegerConvCase &c,
                       const QuantizedConvolution &conv) {
  if (c.inPhases)
    return emitQuantizedPhaseDeconvolution(builder, conv);
  return c.isTransposed ? emitQuantizedDeconvolution(builder, conv)
                        : emitQuantizedConvolution(builder, conv);
}

/// A factor of each channel, as the roundings of the case take it.
Requantize channelFactor(const IntegerConvCase &c, int channel) {
  // Some channels are scaled by more than 1.
  const bool isLarge = c.roundings == Roundings::TwiceAfterLeftShift && channel % 3 == 1;
  Requantize factor = factorNear(isLarge ? 0.3 : 800, c.outputZero, channel % 7);
  if (c.roundings != Roundings::Once)
    factor.shift -= 31;
  return factor;
}

RequantMode modeOf(Roundings roundings) {
  if (roundings == Roundings::Once)
    return RequantMode::MultiplierShift;
  return roundings == Roundings::Twice ? RequantMode::TFLite : RequantMode::TFLite_LShift;
}

void expectIntegerConvolution(const IntegerConvCase &c, DataType type, DataType outputType) {
  SCOPED_TRACE(testing::Message() << dataTypeName(type) << " to " << dataTypeName(outputType));
  Tensor input = randomBytes(type, Shape(std::span(c.input)), 1);
  Extents filterShape{c.outputs, c.input[1] / c.group, c.window.kernel[0], c.window.kernel[1]};
  if (c.isTransposed)
    filterShape = {c.input[1], c.outputs / c.group, filterShape[2], filterShape[3]};
  Tensor filter = randomBytes(DataType::I8, Shape(std::span(filterShape)), 2);
  Tensor bias = randomNumbers(DataType::I32, {c.outputs}, 3, -20000, 20000);
  std::vector<Requantize> factors;
  std::vector<float> scales;
  for (int channel = 0; channel < c.outputs; ++channel) {
    factors.push_back(channelFactor(c, channel));
    scales.push_back(1e-4F * static_cast<float>(1 + channel % 7));
  }
  const bool isFloat = outputType == DataType::F32 || outputType == DataType::F16;

  // Deconvolutions subtract the zero point in the interpreter; here its part is in the bias.
  Tensor turned = filter;
  if (c.isTransposed) {
    Extents swapped{c.outputs, c.input[1] / c.group, filterShape[2], filterShape[3]};
    turned = tensorOf(DataType::I8, swapped,
                      swapFilterChannels(DataType::I8, filterShape, c.group, bytesOf(filter)));
  }
  const std::vector<Tensor> biases = biasesOf(c, bias, turned);

  Bench bench;
  QuantizedConvolution conv;
  conv.input = bench.load(input);
  conv.output = bench.local(outputType, outputOf(c));
  conv.window = c.window;
  if (c.isTransposed)
    for (size_t axis = 0; axis < 2; ++axis) {
      int64_t reach = (c.window.kernel[axis] - 1) * c.window.dilation[axis];
      conv.window.padBegin[axis] = reach - c.window.padBegin[axis];
      conv.window.padEnd[axis] = reach - c.window.padEnd[axis];
    }
  conv.group = c.group;
  conv.inputZero = c.inputZero;
  conv.filterAddress = bench.load(packedFilter(c, turned), Layout::Compact).address;
  conv.hasBias = c.hasBias;
  const auto wordsWith = [&](const Tensor &own) {
    std::span<const int32_t> given;
    if (c.hasBias)
      given = own.data<int32_t>();
    return isFloat ? packScales(scales, given) : packChannels(factors, given);
  };
  const std::vector<int32_t> first = wordsWith(biases.front());
  std::vector<int32_t> words;
  int64_t lanes = c.outputs;
  if (c.inPhases && tapsAreChannels(c.window, c.outputs)) {
    lanes = c.window.kernel[0] * c.window.kernel[1];
    for (const Tensor &own : biases)
      std::ranges::copy(wordsWith(own), std::back_inserter(words));
  } else {
    // The biases of the other phases stand behind the words of their channel.
    for (size_t channel = 0; channel < factors.size(); ++channel) {
      std::copy_n(first.begin() + static_cast<int64_t>(channel) * kRequantWords, kRequantWords,
                  std::back_inserter(words));
      for (size_t phase = 1; phase < biases.size(); ++phase)
        words.push_back(biases[phase].data<int32_t>()[channel]);
    }
  }
  conv.roundings = c.roundings;
  if (c.roundings != Roundings::Once && isByteType(outputType))
    words = packFirstFactors(words, factors);
  conv.parameterAddress =
      bench.load(tensorOf(DataType::I32, {1, lanes, 1, std::ssize(words) / lanes}, words)).address;
  conv.activation = {.relu = isFloat, .limit = 3};
  // Roundings differ below 0.
  if (c.roundings == Roundings::Once)
    conv.lowest = c.outputZero;
  conv.scratch = bench.scratch(scratchOf(c, conv));
  expectOk(emitOne(bench.builder, c, conv));
  GlobalTensor stored = bench.store(conv.output);
  bench.run();

  kernels::IntegerConvParams params;
  params.window = windowParamsOf(c.window);
  params.group = c.group;
  params.inputZero = c.inputZero;
  if (isByteType(outputType)) {
    params.requant = paramsOf(factors, outputType);
    params.requant->mode = modeOf(c.roundings);
    if (c.roundings == Roundings::Once)
      params.requant->range.lowest = std::max<int64_t>(params.requant->range.lowest, c.outputZero);
  }
  Tensor wanted(isFloat ? DataType::I32 : outputType, Shape(std::span(conv.output.shape)));
  ThreadPool threads(1);
  const Tensor *given = c.hasBias ? &bias : nullptr;
  if (c.isTransposed)
    kernels::integerDeconvolve(input, filter, given, params, wanted, threads, nullptr);
  else
    kernels::integerConvolve(input, filter, given, params, wanted, threads, nullptr);
  if (isFloat) {
    Tensor floats(DataType::F32, wanted.shape());
    kernels::dequantizeSums(wanted, 1, scales, 0, 3, floats, threads);
    wanted = convert(floats, outputType);
  }
  expectSame(bench.get(stored), wanted);
}

void expectIntegerConvolutions(const IntegerConvCase &c) {
  for (DataType type : kByteTypes)
    for (DataType output :
         {DataType::I8, DataType::U8, DataType::I32, DataType::F32, DataType::F16})
      expectIntegerConvolution(c, type, output);
}

TEST(QuantizedConvolution, Plain) {
  expectIntegerConvolutions({{1, 3, 9, 11}, 70, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}});
  expectIntegerConvolutions({{2, 130, 5, 6}, 66, {{1, 1}}, 1, 0, 0, false});
}
TEST(QuantizedConvolution, ZeroPoints) {
  expectIntegerConvolutions({{1, 70, 7, 8}, 9, {{3, 2}, {1, 1}, {2, 1}, {2, 0}, {1, 1}}, 1, 5, 9});
}
TEST(QuantizedConvolution, WidePads) {
  expectIntegerConvolutions(
      {{2, 5, 5, 12}, 70, {{3, 2}, {1, 1}, {2, 1}, {16, 0}, {2, 31}}, 1, 5, 9});
  expectIntegerConvolutions(
      {{1, 70, 9, 8}, 70, {{3, 3}, {1, 1}, {9, 16}, {9, 16}, {9, 16}}, 70, 3, 4});
}
TEST(QuantizedConvolution, Groups) {
  expectIntegerConvolutions({{2, 12, 7, 7}, 18, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 3, 4, 2});
}
TEST(QuantizedConvolution, Depthwise) {
  expectIntegerConvolutions(
      {{2, 70, 9, 8}, 70, {{3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}}, 70, 3, 4});
  expectIntegerConvolutions({{1, 20, 9, 8}, 20, {{5, 5}}, 20, 0, 0, false});
}
TEST(QuantizedConvolution, RoundTwice) {
  for (Roundings roundings : {Roundings::Twice, Roundings::TwiceAfterLeftShift}) {
    IntegerConvCase plain{{1, 3, 9, 11}, 70, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, 1, 5, 99};
    plain.roundings = roundings;
    expectIntegerConvolutions(plain);
    IntegerConvCase depthwise{{2, 70, 9, 8}, 70, {{3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}}, 70, 3, 0,
                              false};
    depthwise.roundings = roundings;
    expectIntegerConvolutions(depthwise);
    // Phases have biases of their own.
    IntegerConvCase deconv{
        {1, 5, 3, 4}, 70, {{3, 5}, {2, 3}, {1, 1}, {0, 2}, {1, 0}}, 1, 7, 3, true, true, true};
    deconv.roundings = roundings;
    expectIntegerConvolutions(deconv);
  }
}
TEST(QuantizedDeconvolution, PlainAndGroups) {
  expectIntegerConvolutions(
      {{1, 5, 6, 7}, 70, {{4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, 1, 7, 1, true, true});
  expectIntegerConvolutions({{2, 12, 5, 6}, 9, {{3, 3}, {2, 1}}, 3, 0, 0, true, true});
}
TEST(QuantizedDeconvolution, ManyPhasesRefuseZeroPoints) {
  QuantizedConvolution deconv;
  deconv.input = localTensor(DataType::I8, {1, 4, 3, 3});
  deconv.output = localTensor(DataType::I8, {1, 4, 12, 12});
  deconv.window = {{4, 4}, {4, 4}, {1, 1}, {3, 3}, {3, 3}};
  EXPECT_TRUE(quantizedPhaseDeconvolutionScratch(deconv));
  deconv.inputZero = 3;
  const Expected<uint32_t> needed = quantizedPhaseDeconvolutionScratch(deconv);
  ASSERT_FALSE(needed);
  EXPECT_THAT(needed.error().message(),
              testing::HasSubstr("16 phases of an input of zero point 3"));
}
TEST(QuantizedDeconvolution, SingleTaps) {
  expectIntegerConvolutions({{1, 5, 6, 7}, 70, {{2, 2}, {2, 2}}, 1, 0, 1, true, true, true});
  expectIntegerConvolutions({{2, 70, 3, 4}, 1, {{3, 2}, {3, 2}}, 1, 0, 3, true, true, true});
  expectIntegerConvolutions({{1, 70, 3, 4}, 1, {{1, 3}, {1, 3}}, 1, 0, 0, false, true, true});
  expectIntegerConvolutions({{1, 70, 3, 4}, 1, {{3, 2}, {3, 2}}, 1, 5, 3, true, true, true});
}
TEST(QuantizedDeconvolution, Phases) {
  const Window2d even{{4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}};
  expectIntegerConvolutions({{2, 70, 6, 7}, 70, even, 1, 0, 1, true, true, true});
  expectIntegerConvolutions({{1, 5, 4, 3}, 1, even, 1, 0, 0, false, true, true});
  const Window2d uneven{{3, 5}, {2, 3}, {1, 1}, {0, 2}, {1, 0}};
  expectIntegerConvolutions({{1, 130, 3, 4}, 9, uneven, 1, 0, 3, true, true, true});
  expectIntegerConvolutions({{1, 5, 3, 4}, 70, uneven, 1, 7, 3, true, true, true});
}
TEST(QuantizedDeconvolution, Depthwise) {
  expectIntegerConvolutions({{1, 70, 5, 6}, 70, {{2, 2}, {2, 2}}, 70, 0, 3, true, true});
}

TEST(QuantizedSum, BroadcastsAndConstants) {
  for (DataType type : kByteTypes)
    for (const Shape &second : {Shape{2, 70, 5, 6}, Shape{1, 70, 1, 1}, Shape{1, 1, 5, 6}}) {
      Tensor left = randomBytes(DataType::I8, {2, 70, 5, 6}, 1);
      Tensor right = randomBytes(type, second, 2);
      Tensor third = randomBytes(DataType::U8, {2, 70, 5, 6}, 3);
      kernels::WeightedSumParams params;
      params.multipliers = {12345, -23456, 777};
      params.constant = 98765;
      Requantize requantize{1, 15, 3, std::nullopt, 90};
      params.requant = paramsOf(std::span(&requantize, 1), type);
      Bench bench;
      QuantizedSum sum;
      sum.inputs = {bench.load(left), bench.load(right), bench.load(third)};
      sum.multipliers = params.multipliers;
      sum.constant = params.constant;
      sum.requantize = requantize;
      sum.output = bench.local(type, {2, 70, 5, 6});
      sum.scratch = bench.scratch(quantizedSumScratch(sum));
      expectOk(emitQuantizedSum(bench.builder, sum));
      GlobalTensor stored = bench.store(sum.output);
      bench.run();
      Tensor wanted(type, {2, 70, 5, 6});
      const Tensor inputs[] = {left, right, third};
      ThreadPool threads(1);
      kernels::integerWeightedSum(inputs, params, wanted, threads);
      expectSame(bench.get(stored), wanted);
    }
}

/// The factor `ratio` as fixed point has it.
Requantize fixedFactor(double ratio, int32_t zeroPoint) {
  const MultiplierShift factor = kernels::fixedPoint(ratio);
  return {factor.multiplier, factor.rshift, zeroPoint, {}, {}};
}

/// All 256 integers as channels, and as pixels.
std::pair<Tensor, Tensor> allIntegers(DataType type) {
  std::pair<Tensor, Tensor> made{Tensor(type, {1, 256, 1, 1}), Tensor(type, {1, 1, 16, 16})};
  for (Tensor *operand : {&made.first, &made.second})
    for (size_t i = 0; i < 256; ++i)
      operand->mutableBytes()[i] = static_cast<std::byte>(i);
  return made;
}

/// Every pair of 256 by 256 integers.
void expectFixedSum(double leftScale, double rightScale, double scale, bool subtracts,
                    DataType type) {
  SCOPED_TRACE(testing::Message() << leftScale << " and " << rightScale << " to " << scale << ", "
                                  << dataTypeName(type));
  const auto [left, right] = allIntegers(type);
  const QuantParams leftParams{leftScale, isSigned(type) ? -128 : 3};
  const QuantParams rightParams{rightScale, 17};
  const kernels::FixedResult result{{scale, 5}, integerRange(type)};
  const double unit = 2 * std::max(leftScale, rightScale);
  Bench bench;
  QuantizedAddition sum;
  sum.left = bench.load(left);
  sum.right = bench.load(right);
  sum.leftFactor = fixedFactor(leftScale / unit, static_cast<int32_t>(leftParams.zeroPoint));
  sum.rightFactor = fixedFactor(rightScale / unit, static_cast<int32_t>(rightParams.zeroPoint));
  sum.subtracts = subtracts;
  sum.result = fixedFactor(unit / std::ldexp(scale, QuantizedAddition::kLeftShift), 5);
  sum.output = bench.local(type, {1, 256, 16, 16});
  sum.scratch = bench.scratch(quantizedAdditionScratch(sum));
  expectOk(emitQuantizedAddition(bench.builder, sum));
  GlobalTensor stored = bench.store(sum.output);
  bench.run();
  Tensor wanted(type, {1, 256, 16, 16});
  ThreadPool threads(1);
  kernels::fixedAdd({left, leftParams}, {right, rightParams}, subtracts, result, wanted, threads);
  expectSame(bench.get(stored), wanted);
}

TEST(QuantizedAddition, AllPairs) {
  for (DataType type : kByteTypes)
    for (bool subtracts : {false, true}) {
      expectFixedSum(.31, .475, .587, subtracts, type);
      expectFixedSum(.05, .05, .05, subtracts, type);
      expectFixedSum(.7, .011, .002, subtracts, type);
      expectFixedSum(1e-8, 40, 1000, subtracts, type);
    }
}

/// Every pair of 256 by 256 integers, rounded twice.
void expectFixedProduct(double leftScale, double rightScale, double scale, DataType type) {
  SCOPED_TRACE(testing::Message() << leftScale << " and " << rightScale << " to " << scale << ", "
                                  << dataTypeName(type));
  const auto [left, right] = allIntegers(type);
  const QuantParams leftParams{leftScale, isSigned(type) ? -128 : 3};
  const QuantParams rightParams{rightScale, 0};
  Bench bench;
  QuantizedProduct product;
  product.left = bench.load(left);
  product.right = bench.load(right);
  product.leftZero = static_cast<int32_t>(leftParams.zeroPoint);
  const MultiplierShift factor = kernels::productFactor(leftScale, rightScale, scale);
  product.requantize = {factor.multiplier, factor.rshift, 5, {}, {}, Roundings::Twice};
  if (factor.rshift < 0)
    product.requantize.roundings = Roundings::TwiceAfterLeftShift;
  product.output = bench.local(type, {1, 256, 16, 16});
  product.scratch = bench.scratch(quantizedProductScratch(product));
  expectOk(emitQuantizedProduct(bench.builder, product));
  GlobalTensor stored = bench.store(product.output);
  bench.run();
  Tensor wanted(type, {1, 256, 16, 16});
  ThreadPool threads(1);
  kernels::fixedMul({left, leftParams}, {right, rightParams}, {{scale, 5}, integerRange(type)},
                    wanted, threads);
  expectSame(bench.get(stored), wanted);
}

TEST(QuantizedProduct, AllPairsRoundedTwice) {
  for (DataType type : kByteTypes) {
    expectFixedProduct(.05, .03, .08, type);
    expectFixedProduct(.0123, .0071, .0317, type);
    expectFixedProduct(3, 7, 2.9, type);
  }
}

TEST(QuantizedProduct, ZeroPoints) {
  for (DataType type : kByteTypes)
    for (const Shape &second : {Shape{2, 70, 5, 6}, Shape{2, 70, 1, 1}, Shape{1, 1, 5, 6}})
      for (int32_t zero : {0, 17}) {
        Tensor left = randomBytes(type, {2, 70, 5, 6}, 1);
        Tensor right = randomBytes(DataType::U8, second, 2);
        Requantize requantize = factorNear(150, 4);
        Bench bench;
        QuantizedProduct product;
        product.left = bench.load(left);
        product.right = bench.load(right);
        product.leftZero = zero;
        product.rightZero = zero / 2;
        product.requantize = requantize;
        product.output = bench.local(type, {2, 70, 5, 6});
        product.scratch = bench.scratch(quantizedProductScratch(product));
        expectOk(emitQuantizedProduct(bench.builder, product));
        GlobalTensor stored = bench.store(product.output);
        bench.run();
        Tensor wanted(type, {2, 70, 5, 6});
        ThreadPool threads(1);
        kernels::integerProduct(left, zero, right, zero / 2,
                                paramsOf(std::span(&requantize, 1), type), wanted, threads);
        expectSame(bench.get(stored), wanted);
      }
}

void expectAverage(DataType type, const Extents &shape, const Window2d &window, bool countsPadding,
                   size_t numFactors) {
  Tensor input = randomBytes(type, Shape(std::span(shape)), 1);
  Bench bench;
  QuantizedAveragePool pool;
  pool.input = bench.load(input);
  pool.output = bench.local(type, outputOf({shape, shape[1], window}));
  pool.window = window;
  pool.countsPadding = countsPadding;
  pool.inputZero = 11;
  for (size_t count = 0; count < numFactors; ++count)
    pool.factors.push_back(factorNear(
        numFactors == 1
            ? std::max<double>(20.0, static_cast<double>(window.kernel[0] * window.kernel[1]) / 2)
            : std::max<double>(static_cast<double>(count), 1),
        7));
  pool.scratch = bench.scratch(quantizedAveragePoolScratch(pool));
  expectOk(emitQuantizedAveragePool(bench.builder, pool));
  GlobalTensor stored = bench.store(pool.output);
  bench.run();
  kernels::IntegerPoolParams params;
  params.window = windowParamsOf(window);
  params.countIncludePad = countsPadding;
  params.inputZero = 11;
  params.requant = paramsOf(pool.factors, type);
  Tensor wanted(type, Shape(std::span(pool.output.shape)));
  ThreadPool threads(1);
  kernels::integerAveragePool(input, params, wanted, threads);
  expectSame(bench.get(stored), wanted);
}

TEST(QuantizedAveragePool, EveryCount) {
  for (DataType type : kByteTypes)
    for (bool countsPadding : {false, true}) {
      expectAverage(type, {2, 70, 9, 8}, {{2, 2}, {2, 2}}, countsPadding, 1);
      expectAverage(type, {1, 70, 9, 8}, {{3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}}, countsPadding,
                    10);
      expectAverage(type, {1, 130, 7, 7}, {{7, 7}}, countsPadding, 50);
    }
}

TEST(QuantizedAveragePool, WholeImages) {
  for (DataType type : kByteTypes) {
    expectAverage(type, {1, 24, 12, 20}, {{12, 20}}, true, 1);
    expectAverage(type, {2, 130, 9, 33}, {{9, 33}}, false, 298);
    // In parts, of which the last is short.
    expectAverage(type, {1, 70, 129, 130}, {{129, 130}}, true, 1);
  }
}

/// The averages of integers themselves, ties away from zero.
void expectPlainAverage(DataType type, const Extents &shape, const Window2d &window) {
  Tensor input = randomBytes(type, Shape(std::span(shape)), 1);
  Bench bench;
  QuantizedAveragePool pool;
  pool.input = bench.load(input);
  pool.output = bench.local(type, outputOf({shape, shape[1], window}));
  pool.window = window;
  for (int64_t count = 0; count <= window.kernel[0] * window.kernel[1]; ++count) {
    const MultiplierShift factor = kernels::averageFactor(std::max<int64_t>(count, 1));
    pool.factors.push_back({factor.multiplier, factor.rshift, 0, {}, {}, Roundings::OnceAway});
  }
  pool.scratch = bench.scratch(quantizedAveragePoolScratch(pool));
  expectOk(emitQuantizedAveragePool(bench.builder, pool));
  GlobalTensor stored = bench.store(pool.output);
  bench.run();
  Tensor wanted(type, Shape(std::span(pool.output.shape)));
  ThreadPool threads(1);
  kernels::fixedAveragePool(input, windowParamsOf(window), {{1, 0}, integerRange(type)}, wanted,
                            threads);
  expectSame(bench.get(stored), wanted);
}

TEST(QuantizedAveragePool, TiesOfStoredIntegersGoAwayFromZero) {
  for (DataType type : kByteTypes) {
    expectPlainAverage(type, {2, 70, 9, 8}, {{2, 2}, {2, 2}});
    expectPlainAverage(type, {1, 70, 9, 8}, {{3, 2}, {2, 1}, {1, 1}, {1, 1}, {1, 1}});
    expectPlainAverage(type, {1, 70, 12, 20}, {{12, 20}});
  }
}

TEST(QuantizedAveragePool, MeansRoundedTwice) {
  for (DataType type : kByteTypes) {
    const Tensor input = randomBytes(type, {2, 70, 6, 5}, 3);
    Bench bench;
    QuantizedAveragePool pool;
    pool.input = bench.load(input);
    pool.output = bench.local(type, {2, 70, 1, 1});
    pool.window.kernel = {6, 5};
    pool.inputZero = 11;
    const MultiplierShift factor = kernels::meanFactor(.05 / .013, 30);
    pool.factors = {{factor.multiplier, factor.rshift, 7, {}, {}, Roundings::Twice}};
    pool.scratch = bench.scratch(quantizedAveragePoolScratch(pool));
    expectOk(emitQuantizedAveragePool(bench.builder, pool));
    GlobalTensor stored = bench.store(pool.output);
    bench.run();
    Tensor wanted(type, {2, 70, 1, 1});
    const std::vector<int64_t> axes = {2, 3};
    kernels::fixedSum({input, {.05, 11}}, axes, /*isMean=*/true, {{.013, 7}, integerRange(type)},
                      wanted);
    expectSame(bench.get(stored), wanted);
  }
}

enum class Factors : uint8_t { One, EachColumn };

void expectIntegerProduct(DataType type, DataType outputType, bool turned, Factors kind) {
  SCOPED_TRACE(testing::Message() << dataTypeName(type) << " to " << dataTypeName(outputType));
  constexpr int64_t kColumns = 33;
  const bool isByColumn = kind == Factors::EachColumn;
  Tensor left = randomBytes(type, {1, 1, 70, 100}, 1);
  Tensor right = turned ? randomBytes(DataType::I8, {1, 1, kColumns, 100}, 2)
                        : randomBytes(DataType::I8, {1, 1, 100, kColumns}, 2);
  Tensor bias = randomNumbers(DataType::I32, {kColumns}, 3, -9000, 9000);
  // Factors of different shifts; one is so large that its results are cut off, one is 0.
  std::vector<Requantize> factors;
  std::vector<float> scales;
  for (int column = 0; column < (isByColumn ? kColumns : 1); ++column) {
    factors.push_back(factorNear(column == 3 ? 1e-3 : 300.0 * (1 << column % 5), 5, column));
    scales.push_back(1e-4F * static_cast<float>(1 + column));
  }
  if (isByColumn)
    factors[7].multiplier = 0;
  auto rows = [](const Tensor &matrix) {
    return matrix.reshaped({1, matrix.shape()[2], 1, matrix.shape()[3]});
  };
  Bench bench;
  QuantizedMatrixProduct product;
  product.left = bench.load(rows(left));
  product.right = bench.load(rows(right));
  product.output = bench.local(outputType, {1, 70, 1, kColumns});
  product.rightIsTransposed = turned;
  product.leftZero = isByColumn ? 0 : -128;
  product.rightZero = -9;
  product.requantize = factors[0];
  product.scale = scales[0];
  product.activation = {.relu = true, .limit = -1};
  auto toLanes = [&](const Tensor &words) {
    LocalTensor lanes = bench.local(DataType::I32, {words.shape()[0], 64, 1, words.shape()[3]});
    expectOk(emitLoadToLanes(bench.builder, bench.put(words), lanes));
    return lanes.address;
  };
  if (isByColumn) {
    product.requantize.shift = columnShift(factors);
    const std::vector<int32_t> words = outputType == DataType::F32
                                           ? packColumnScales(scales, bias.data<int32_t>())
                                           : packColumns(factors, bias.data<int32_t>());
    product.columnAddress = toLanes(tensorOf(DataType::I32, {kColumnRows, 1, 1, kColumns}, words));
  } else {
    product.biasAddress = toLanes(bias.reshaped({1, 1, 1, kColumns}));
  }
  product.scratch = bench.scratch(quantizedMatrixProductScratch(product));
  expectOk(emitQuantizedMatrixProduct(bench.builder, product));
  GlobalTensor stored = bench.store(product.output);
  bench.run();
  kernels::IntegerMatMulParams params;
  params.transposeRight = turned;
  params.leftZero = product.leftZero;
  params.rightZero = -9;
  if (isByteType(outputType))
    params.requant = paramsOf(factors, outputType);
  Tensor wanted(outputType == DataType::F32 ? DataType::I32 : outputType, {1, 1, 70, kColumns});
  ThreadPool threads(1);
  kernels::integerMatMul(left, right, &bias, params, wanted, threads, nullptr);
  if (outputType == DataType::F32) {
    Tensor floats(DataType::F32, wanted.shape());
    kernels::dequantizeSums(wanted, 3, scales, 0, INFINITY, floats, threads);
    wanted = floats;
  }
  expectSame(bench.get(stored), wanted);
}

TEST(QuantizedMatrixProduct, ZeroPointsAndBias) {
  for (DataType type : kByteTypes)
    for (bool turned : {false, true})
      for (DataType outputType : {type, DataType::I32, DataType::F32})
        for (Factors kind : {Factors::One, Factors::EachColumn})
          expectIntegerProduct(type, outputType, turned, kind);
}

TEST(QuantizedLeakyRelu, FactorsOfEachChannel) {
  for (DataType type : kByteTypes)
    for (bool isByChannel : {false, true})
      for (int32_t zero : {0, 3}) {
        Tensor input = randomBytes(type, {2, 70, 5, 6}, 1);
        Bench bench;
        QuantizedLeakyRelu relu;
        relu.input = bench.load(input);
        relu.output = bench.local(type, {2, 70, 5, 6});
        relu.inputZero = 2 * zero;
        relu.positive = factorNear(0.7, zero);
        std::vector<Requantize> negative;
        for (int channel = 0; channel < (isByChannel ? 70 : 1); ++channel)
          negative.push_back(factorNear(channel % 2 == 0 ? 3 : -2, zero, channel));
        relu.negative = negative[0];
        if (isByChannel)
          relu.parameterAddress = bench
                                      .load(tensorOf(DataType::I32, {1, 70, 1, kRequantWords},
                                                     packChannels(negative, {})))
                                      .address;
        relu.scratch = bench.scratch(quantizedLeakyReluScratch(relu));
        expectOk(emitQuantizedLeakyRelu(bench.builder, relu));
        GlobalTensor stored = bench.store(relu.output);
        bench.run();
        Tensor wanted(type, {2, 70, 5, 6});
        ThreadPool threads(1);
        kernels::integerLeakyRelu(input, relu.inputZero,
                                  paramsOf(std::span(&relu.positive, 1), type),
                                  paramsOf(negative, type), 1, wanted, threads);
        expectSame(bench.get(stored), wanted);
      }
}

/// Twice as many elements, between the centres of pixels.
std::vector<ResizeTap> doublingTaps(int64_t input) {
  std::vector<ResizeTap> taps;
  for (int64_t at = 0; at < 2 * input; ++at) {
    const int64_t left = (at + 1) / 2 - 1;
    taps.push_back(
        {std::max<int64_t>(left, 0), std::min(left + 1, input - 1), at % 2 == 0 ? 0.75 : 0.25});
  }
  return taps;
}

TEST(QuantizedResize, BetweenPixels) {
  for (DataType type : kByteTypes)
    for (int32_t zero : {0, 11}) {
      Tensor input = randomBytes(type, {1, 70, 5, 7}, 1);
      Bench bench;
      QuantizedResize resize;
      resize.input = bench.load(input);
      resize.output = bench.local(type, {1, 70, 10, 14});
      resize.rows = doublingTaps(5);
      resize.columns = doublingTaps(7);
      resize.inputZero = zero;
      resize.requantize = factorNear(std::ldexp(1.1, 22), 2 * zero);
      resize.scratch = bench.scratch(quantizedResizeScratch(resize));
      expectOk(emitQuantizedResize(bench.builder, resize));
      GlobalTensor stored = bench.store(resize.output);
      bench.run();
      kernels::ResizeParams params;
      params.mode = kernels::ResampleMode::Linear;
      params.scales = {1, 1, 2, 2};
      Tensor wanted(type, {1, 70, 10, 14});
      ThreadPool threads(1);
      kernels::integerResizeLinear(
          input, params, zero, paramsOf(std::span(&resize.requantize, 1), type), wanted, threads);
      expectSame(bench.get(stored), wanted);
    }
}

/// `times` as many elements, between the centres of pixels.
std::vector<ResizeTap> tapsOfTimes(int64_t input, int64_t times) {
  std::vector<ResizeTap> taps;
  for (int64_t at = 0; at < times * input; ++at) {
    const double point = (static_cast<double>(at) + 0.5) / static_cast<double>(times) - 0.5;
    const auto left = static_cast<int64_t>(std::floor(point));
    taps.push_back({std::max<int64_t>(left, 0), std::min(left + 1, input - 1),
                    point - static_cast<double>(left)});
  }
  return taps;
}

TEST(QuantizedResize, OfFewPixelsHasWeightsInTensors) {
  for (DataType type : kByteTypes)
    for (const Shape &shape : {Shape{1, 16, 1, 1}, Shape{1, 70, 2, 3}, Shape{3, 9, 3, 2}}) {
      constexpr int64_t kTimes = 12;
      const Shape larger{shape[0], shape[1], kTimes * shape[2], kTimes * shape[3]};
      Tensor input = randomBytes(type, shape, 1);
      Bench bench;
      QuantizedResize resize;
      resize.input = bench.load(input);
      resize.output = bench.local(type, {larger[0], larger[1], larger[2], larger[3]});
      resize.rows = tapsOfTimes(shape[2], kTimes);
      resize.columns = tapsOfTimes(shape[3], kTimes);
      resize.requantize = factorNear(std::ldexp(1.1, 22), 0);
      resize.scratch = bench.scratch(quantizedResizeScratch(resize));
      expectOk(emitQuantizedResize(bench.builder, resize));
      EXPECT_LE(bench.builder.numCommands(Engine::Tiu), 60u);
      GlobalTensor stored = bench.store(resize.output);
      bench.run();
      kernels::ResizeParams params;
      params.mode = kernels::ResampleMode::Linear;
      params.scales = {1, 1, kTimes, kTimes};
      Tensor wanted(type, larger);
      ThreadPool threads(1);
      kernels::integerResizeLinear(
          input, params, 0, paramsOf(std::span(&resize.requantize, 1), type), wanted, threads);
      expectSame(bench.get(stored), wanted);
    }
}

TEST(QuantizedResize, WeightsAddUp) {
  EXPECT_EQ(tapWeights(0), (std::array<int64_t, 2>{2048, 0}));
  EXPECT_EQ(tapWeights(0.5), (std::array<int64_t, 2>{1024, 1024}));
  // Both would be rounded up.
  EXPECT_EQ(tapWeights(683.5 / 2048), (std::array<int64_t, 2>{1364, 684}));
}

TEST(TableLookup, EveryByte) {
  for (DataType type : kByteTypes) {
    // The second is beyond what one command can take.
    for (const Shape &shape : {Shape{2, 70, 5, 60}, Shape{1, 3, 260, 260}}) {
      Tensor input = randomBytes(type, shape, 1);
      kernels::ByteTable table =
          kernels::byteTable(type, [](int64_t q) { return (q * q) / 3 - q; });
      Bench bench;
      std::vector<uint8_t> bytes = tableByByte(table, isSigned(type));
      GlobalTensor words = bench.put(tensorOf(DataType::U8, {1, 1, 1, 256}, bytes));
      TableLookup lookup{bench.load(input), bench.local(DataType::U8, extents(input)),
                         bench.bytes(256)};
      expectOk(emitLoadTableToLanes(bench.builder, words.address, DataType::U8, 256,
                                    lookup.tableAddress));
      expectOk(checkTableLookup(lookup));
      expectOk(emitTableLookup(bench.builder, lookup));
      GlobalTensor stored = bench.store(lookup.output);
      bench.run();
      Tensor wanted(DataType::U8, shape);
      ThreadPool threads(1);
      kernels::lookUp(input, std::span(&table, 1), 1, wanted, threads);
      expectSame(bench.get(stored), wanted);
    }
  }
}

TEST(Quantize, ThereAndBack) {
  for (DataType from : kFloatTypes)
    for (DataType to : {DataType::I8, DataType::U8, DataType::I16}) {
      SCOPED_TRACE(testing::Message() << dataTypeName(from) << " " << dataTypeName(to));
      Tensor input = randomNumbers(from, {2, 70, 5, 6}, 1, -3, 3);
      Bench bench;
      QuantizeOp quantize{bench.load(input), bench.local(to, {2, 70, 5, 6}), 0.023, 13, {}};
      quantize.scratch = bench.scratch(quantizeScratch(quantize));
      expectOk(emitQuantize(bench.builder, quantize));
      DequantizeOp dequantize{quantize.output, bench.local(from, {2, 70, 5, 6}), 0.023, 13, {}};
      dequantize.scratch = bench.scratch(dequantizeScratch(dequantize));
      expectOk(emitDequantize(bench.builder, dequantize));
      GlobalTensor integers = bench.store(quantize.output);
      GlobalTensor numbers = bench.store(dequantize.output);
      bench.run();
      ThreadPool threads(1);
      Tensor wanted(to, {2, 70, 5, 6});
      kernels::quantizeStored(convert(input, DataType::F32), {0.023, 13}, integerRange(to), wanted,
                              threads);
      expectSame(bench.get(integers), wanted);
      Tensor back(from, {2, 70, 5, 6});
      kernels::dequantizeTensor(bench.get(integers), {0.023, 13}, back, threads);
      expectClose(bench.get(numbers), back);
    }
}

TEST(Requantize, EveryInput) {
  for (DataType from : {DataType::I8, DataType::U8, DataType::I16, DataType::I32})
    for (DataType to : kByteTypes) {
      SCOPED_TRACE(testing::Message() << dataTypeName(from) << " " << dataTypeName(to));
      double bound = from == DataType::I32 ? 1e6 : 30000;
      Tensor input = isSigned(from) && bitWidth(from) > 8
                         ? randomNumbers(from, {2, 70, 5, 6}, 1, -bound, bound)
                         : randomBytes(from, {2, 70, 5, 6}, 1);
      Bench bench;
      RequantizeOp op{bench.load(input),
                      bench.local(to, {2, 70, 5, 6}),
                      9,
                      factorNear(bitWidth(from) == 8 ? 1.3 : bound / 100, 4),
                      {}};
      op.scratch = bench.scratch(requantizeScratch(op));
      expectOk(emitRequantize(bench.builder, op));
      GlobalTensor stored = bench.store(op.output);
      bench.run();
      Tensor wanted(to, {2, 70, 5, 6});
      ThreadPool threads(1);
      kernels::integerRequantize(input, 9, 1, paramsOf(std::span(&op.requantize, 1), to), wanted,
                                 threads);
      expectSame(bench.get(stored), wanted);
    }
}

TEST(Quantized, RefusesByName) {
  auto message = [](const auto &needed) {
    return needed ? std::string("accepted") : needed.error().message();
  };
  QuantizedConvolution conv;
  EXPECT_THAT(message(quantizedConvolutionScratch(conv)), HasSubstr("input of f32"));
  conv.input.type = DataType::I8;
  conv.output.type = DataType::I16;
  EXPECT_THAT(message(quantizedConvolutionScratch(conv)), HasSubstr("output of i16"));
  QuantizedMatrixProduct product;
  product.left.type = product.right.type = product.output.type = DataType::I8;
  product.leftZero = 200;
  EXPECT_THAT(message(quantizedMatrixProductScratch(product)),
              HasSubstr("a left zero point of 200"));
  QuantizedLeakyRelu relu;
  EXPECT_THAT(message(quantizedLeakyReluScratch(relu)), HasSubstr("input of f32"));
  QuantizedAddition addition;
  EXPECT_THAT(message(quantizedAdditionScratch(addition)), HasSubstr("output of f32"));
  addition.left = addition.right = addition.output = localTensor(DataType::I8, {1, 2, 3, 4});
  addition.rightFactor.shift = -1;
  EXPECT_THAT(message(quantizedAdditionScratch(addition)), HasSubstr("a factor 1 / 2^(31 + -1)"));
  QuantizedSum sum;
  sum.output.type = DataType::I8;
  EXPECT_THAT(message(quantizedSumScratch(sum)), HasSubstr("0 inputs and 0 multipliers"));
  sum.inputs = {sum.output};
  sum.multipliers = {40000};
  EXPECT_THAT(message(quantizedSumScratch(sum)), HasSubstr("a multiplier of 40000"));
  sum.requantize.shift = 64;
  EXPECT_THAT(message(quantizedSumScratch(sum)), HasSubstr("a shift of 64"));
  QuantizedAveragePool pool;
  pool.input.type = pool.output.type = DataType::U8;
  EXPECT_THAT(message(quantizedAveragePoolScratch(pool)), HasSubstr("0 factors"));
  TableLookup lookup;
  EXPECT_THAT(message(checkTableLookup(lookup)), HasSubstr("input of f32"));
}

} // namespace
