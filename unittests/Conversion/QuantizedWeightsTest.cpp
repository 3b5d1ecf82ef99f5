//===- QuantizedWeightsTest.cpp ---------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"
#include "tpuc/Conversion/TopToTpu/RoundedFilters.h"
#include "tpuc/Support/Convert.h"

#include <cmath>
#include <gmock/gmock.h>
#include <numeric>
#include <random>

using namespace tpuc;
using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::Le;

namespace {

template <typename T> std::vector<T> values(const Tensor &tensor) {
  auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

Tensor floats(const Shape &shape, const std::vector<float> &numbers) {
  Tensor tensor(DataType::F32, shape);
  std::ranges::copy(numbers, tensor.mutableData<float>().begin());
  return tensor;
}

Tensor random(const Shape &shape, float magnitude, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> numbers(-magnitude, magnitude);
  Tensor tensor(DataType::F32, shape);
  for (float &number : tensor.mutableData<float>())
    number = numbers(generator);
  return tensor;
}

/// The channels of all elements.
std::vector<int64_t> channelsOf(const ChannelOrder &order, int64_t count) {
  std::vector<int64_t> channels;
  for (int64_t i = 0; i < count; ++i)
    channels.push_back(order.channelOf(i));
  return channels;
}

/// The largest magnitude that a channel's sum and each part of it can have.
std::vector<double> largestSums(const QuantizedWeights &weights, const ChannelOrder &order,
                                int64_t maxInput) {
  std::vector<double> sums(static_cast<size_t>(order.numChannels()), 0);
  auto filter = weights.filter.data<int8_t>();
  for (size_t i = 0; i < filter.size(); ++i)
    sums[static_cast<size_t>(order.channelOf(static_cast<int64_t>(i)))] +=
        std::abs(double(filter[i])) * double(maxInput);
  for (size_t c = 0; weights.bias && c < sums.size(); ++c)
    sums[c] += std::abs(double(weights.bias->data<int32_t>()[c]));
  return sums;
}

TEST(QuantizedWeights, KnowTheChannelOfEachElement) {
  // Conv: [2, 3 elements]. Deconv of 2 groups: [4 inputs, 3 outputs, 2]. MatMul: [2, 3], [3, 2]^T.
  EXPECT_THAT(channelsOf({3, 2, 1, 1}, 6), ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(channelsOf({2, 3, 2, 2}, 24),
              ElementsAre(0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 3, 3, 4, 4, 5, 5));
  EXPECT_THAT(channelsOf({1, 3, 2, 1}, 6), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(channelsOf({2, 3, 1, 1}, 6), ElementsAre(0, 0, 1, 1, 2, 2));
}

TEST(QuantizedWeights, KnowWhereTheElementsOfChannelsLie) {
  for (const ChannelOrder &order : {ChannelOrder{3, 2, 1, 1}, ChannelOrder{2, 3, 2, 2},
                                    ChannelOrder{1, 3, 2, 1}, ChannelOrder{2, 3, 1, 1}})
    for (int64_t channel = 0; channel < order.numChannels(); ++channel)
      for (int64_t index = 0, before = -1; index < order.perChannel(); ++index) {
        const int64_t element = order.elementOf(channel, index);
        EXPECT_EQ(order.channelOf(element), channel);
        EXPECT_GT(element, before);
        before = element;
      }
}

TEST(QuantizedWeights, HaveAScaleForEachChannel) {
  ProductScales scales;
  scales.input = 0.5;
  scales.output = 2;
  // Scales 1/127 and 2.
  const Tensor filter = floats({2, 2}, {1, -0.5F, 254, 3});
  const Tensor bias = floats({2}, {1, -7.6F});
  const QuantizedWeights weights = quantizeWeights(filter, &bias, {2, 2, 1, 1}, scales);
  EXPECT_THAT(values<int8_t>(weights.filter), ElementsAre(127, -64, 127, 2));
  EXPECT_THAT(values<int32_t>(*weights.bias), ElementsAre(254, -8));
  EXPECT_DOUBLE_EQ(weights.factors[0], 0.5 / 127 / 2);
  EXPECT_DOUBLE_EQ(weights.factors[1], 0.5);
}

TEST(QuantizedWeights, ScaleChannelsOfZerosByOne) {
  ProductScales scales;
  const Tensor filter = floats({2, 2}, {0, 0, 127, 0});
  const QuantizedWeights weights = quantizeWeights(filter, nullptr, {2, 2, 1, 1}, scales);
  EXPECT_THAT(values<int8_t>(weights.filter), ElementsAre(0, 0, 127, 0));
  EXPECT_THAT(weights.factors, ElementsAre(1, 1));
  EXPECT_FALSE(weights.bias);
}

// Schemes that no chip offers: what integers hold follows from their types.
constexpr QuantScheme kW4A8 = {DataType::I4, DataType::I8, DataType::I32, Granularity::PerChannel};
constexpr QuantScheme kW8A16 = {DataType::I8, DataType::I16, DataType::I32,
                                Granularity::PerChannel};
constexpr QuantScheme kW16A16 = {DataType::I16, DataType::I16, DataType::I64,
                                 Granularity::PerChannel};

TEST(QuantizedWeights, FillTheRangeOfFourBits) {
  // Scales 1/7 and 2; an odd number of elements in all.
  const Tensor filter = floats({3, 3}, {1, -0.5F, 0.14F, 14, -9, 2.2F, 0, 0, 0});
  const Tensor bias = floats({3}, {1, -7.6F, 3});
  ProductScales scales;
  scales.scheme = kW4A8;
  const QuantizedWeights weights = quantizeWeights(filter, &bias, {3, 3, 1, 1}, scales);
  EXPECT_EQ(weights.filter.type(), DataType::I4);
  EXPECT_EQ(weights.filter.byteSize(), 5);
  EXPECT_THAT(values<int8_t>(convert(weights.filter, DataType::I8)),
              ElementsAre(7, -4, 1, 7, -4, 1, 0, 0, 0));
  EXPECT_EQ(weights.bias->type(), DataType::I32);
  EXPECT_THAT(values<int32_t>(*weights.bias), ElementsAre(7, -4, 3));
  EXPECT_DOUBLE_EQ(weights.factors[0], 1.0 / 7);
  EXPECT_DOUBLE_EQ(weights.factors[1], 2);
  // Covariances round within the range of the type, too.
  scales.means = {0, 0, 0};
  scales.covariances = {1, 0, 1, 0, 0, 1};
  for (int8_t integer : values<int8_t>(
           convert(quantizeWeights(filter, &bias, {3, 3, 1, 1}, scales).filter, DataType::I8)))
    EXPECT_LE(std::abs(int(integer)), 8);
}

TEST(QuantizedWeights, FillTheRangeOfSixteenBits) {
  const Tensor filter = floats({1, 3}, {32767, -32767, 0.4F});
  const Tensor bias = floats({1}, {5e12F});
  ProductScales scales;
  scales.scheme = kW16A16;
  const QuantizedWeights weights = quantizeWeights(filter, &bias, {3, 1, 1, 1}, scales);
  EXPECT_EQ(weights.filter.type(), DataType::I16);
  EXPECT_THAT(values<int16_t>(weights.filter), ElementsAre(32767, -32767, 0));
  // Sums have 64 bits, so the bias is no reason for a larger scale.
  EXPECT_THAT(values<int64_t>(*weights.bias), ElementsAre(static_cast<int64_t>(5e12F)));
  EXPECT_THAT(weights.factors, ElementsAre(1));
}

TEST(QuantizedWeights, LeaveRoomForWideInputs) {
  // 2^12 products of 127 * 65535 are 16 times what 32 bits are to hold; of 127 * 255 a sixteenth.
  const int64_t count = int64_t(1) << 12;
  Tensor filter(DataType::F32, {1, count});
  std::ranges::fill(filter.mutableData<float>(), 127.0F);
  ProductScales scales;
  const ChannelOrder order = {count, 1, 1, 1};
  EXPECT_EQ(quantizeWeights(filter, nullptr, order, scales).factors[0], 1);
  scales.scheme = kW8A16;
  const QuantizedWeights weights = quantizeWeights(filter, nullptr, order, scales);
  EXPECT_EQ(weights.factors[0], 127.0 * 65535 * double(count) / double(1 << 30));
  EXPECT_THAT(largestSums(weights, order, 65535), Each(Le(2147483647.0)));
  scales.scheme.accumulator = DataType::I64;
  EXPECT_EQ(quantizeWeights(filter, nullptr, order, scales).factors[0], 1);
}

TEST(QuantizedWeights, ShareAScalePerTensor) {
  const Tensor filter = floats({2, 2}, {1, -0.5F, 254, 3});
  ProductScales scales;
  scales.scheme.granularity = Granularity::PerTensor;
  const QuantizedWeights weights = quantizeWeights(filter, nullptr, {2, 2, 1, 1}, scales);
  EXPECT_THAT(weights.factors, ElementsAre(2, 2));
  EXPECT_THAT(values<int8_t>(weights.filter), ElementsAre(0, 0, 127, 2));
  scales.filter = {0.5, 4};
  EXPECT_THAT(quantizeWeights(filter, nullptr, {2, 2, 1, 1}, scales).factors, ElementsAre(0.5, 4));
}

TEST(QuantizedWeights, FoldTheZeroPointIntoTheBias) {
  ProductScales scales;
  scales.inputZero = -5;
  const Tensor filter = floats({2, 2}, {127, 100, -127, 27});
  const Tensor bias = floats({2}, {10, 20});
  const ChannelOrder order = {2, 2, 1, 1};
  EXPECT_THAT(values<int32_t>(*quantizeWeights(filter, &bias, order, scales).bias),
              ElementsAre(10 + 5 * 227, 20 - 5 * 100));
  EXPECT_THAT(values<int32_t>(*quantizeWeights(filter, nullptr, order, scales).bias),
              ElementsAre(5 * 227, -5 * 100));
  scales.foldsZero = false;
  EXPECT_THAT(values<int32_t>(*quantizeWeights(filter, &bias, order, scales).bias),
              ElementsAre(10, 20));
  EXPECT_FALSE(quantizeWeights(filter, nullptr, order, scales).bias);
}

TEST(QuantizedWeights, NeverLetSumsOverflow) {
  // 2^20 products of 127 * 255 are 16 times what 32 bits hold; channel 1 is harmless.
  const int64_t count = int64_t(1) << 20;
  Tensor filter(DataType::F32, {2, count});
  std::ranges::fill(filter.mutableData<float>().first(static_cast<size_t>(count)), 0.25F);
  filter.mutableData<float>()[static_cast<size_t>(count)] = 127;
  const Tensor bias = floats({2}, {-3e5F, 1});
  ProductScales scales;
  scales.input = 0.01;
  const ChannelOrder order = {count, 2, 1, 1};
  for (int64_t zero : {0, -128, 127}) {
    scales.inputZero = zero;
    const QuantizedWeights weights = quantizeWeights(filter, &bias, order, scales);
    EXPECT_THAT(largestSums(weights, order, 255), Each(Le(2147483647.0)));
    EXPECT_THAT(weights.filter.data<int8_t>()[0], AnyOf(2, 3));
    // No coarser than needed: 0.25 * 2^20 * 255 and the bias are half of what 32 bits hold.
    EXPECT_NEAR(weights.factors[0], 0.01 * (0.25 * 255 + 30e6 / double(count)) / 1024, 1e-6);
    EXPECT_EQ(weights.filter.data<int8_t>()[static_cast<size_t>(count)], 127);
  }
}

TEST(QuantizedWeights, NeverLetTheBiasOverflow) {
  ProductScales scales;
  scales.input = 1e-6;
  const Tensor filter = floats({1, 1}, {1e-3F});
  const Tensor bias = floats({1}, {1e3F});
  const ChannelOrder order = {1, 1, 1, 1};
  const QuantizedWeights wide = quantizeWeights(filter, &bias, order, scales);
  EXPECT_THAT(largestSums(wide, order, 255), Each(Le(2147483647.0)));
  EXPECT_NEAR(wide.bias->data<int32_t>()[0] * wide.factors[0], 1e3, 1);
  scales.maxBias = 32767;
  const QuantizedWeights narrow = quantizeWeights(filter, &bias, order, scales);
  EXPECT_LE(narrow.bias->data<int32_t>()[0], 32767);
  EXPECT_NEAR(narrow.bias->data<int32_t>()[0] * narrow.factors[0], 1e3, 1);
}

TEST(QuantizedWeights, KeepStatedScales) {
  ProductScales scales;
  scales.filter = {0.5, 4};
  const Tensor filter = floats({2, 2}, {1, -0.75F, 1000, 6});
  const QuantizedWeights weights = quantizeWeights(filter, nullptr, {2, 2, 1, 1}, scales);
  EXPECT_THAT(values<int8_t>(weights.filter), ElementsAre(2, -2, 127, 2));
  EXPECT_THAT(weights.factors, ElementsAre(0.5, 4));
  scales.filter = {2};
  EXPECT_THAT(quantizeWeights(filter, nullptr, {2, 2, 1, 1}, scales).factors, ElementsAre(2, 2));
}

TEST(QuantizedWeights, ShareOneShiftWhereChipsOnlyShift) {
  ProductScales scales;
  scales.input = 0.013;
  scales.output = 0.7;
  scales.sharesShift = true;
  const Tensor filter = random({4, 50}, 3, 1);
  const Tensor bias = random({4}, 5, 2);
  const QuantizedWeights weights = quantizeWeights(filter, &bias, {50, 4, 1, 1}, scales);
  EXPECT_THAT(weights.factors, Each(weights.factors[0]));
  EXPECT_EQ(std::exp2(std::round(std::log2(weights.factors[0]))), weights.factors[0]);
  // What an integer of the filter and of the bias stands for.
  const double unit = weights.factors[0] * scales.output / scales.input;
  for (size_t i = 0; i < 200; ++i)
    EXPECT_NEAR(weights.filter.data<int8_t>()[i] * unit, filter.data<float>()[i], unit * 1.0001);
  for (size_t c = 0; c < 4; ++c)
    EXPECT_NEAR(weights.bias->data<int32_t>()[c] * unit * scales.input, bias.data<float>()[c],
                unit * scales.input * 0.5001);
}

/// The largest difference of sums of `size` neighbouring elements.
double largestDrift(const Tensor &found, const Tensor &wanted, int64_t size) {
  const Tensor a = convert(found, DataType::F32);
  double most = 0;
  for (int64_t first = 0; first < a.numElements(); first += size) {
    double drift = 0;
    for (int64_t i = first; i < first + size; ++i)
      drift += double(a.data<float>()[static_cast<size_t>(i)]) -
               double(wanted.data<float>()[static_cast<size_t>(i)]);
    most = std::max(most, std::abs(drift));
  }
  return most;
}

TEST(QuantizedWeights, KeepSumsOfTapsAndOfChannels) {
  // Integers stand for themselves: what is rounded is the filter.
  ProductScales scales;
  scales.filter = {1};
  const Tensor filter = random({4, 8, 9}, 100, 3);
  const ChannelOrder taps = {72, 4, 1, 1, 9};
  const QuantizedWeights byTaps = quantizeWeights(filter, nullptr, taps, scales);
  EXPECT_LE(largestDrift(byTaps.filter, filter, 9), 0.5001);
  const ChannelOrder whole = {72, 4, 1, 1, 1};
  const QuantizedWeights byChannel = quantizeWeights(filter, nullptr, whole, scales);
  EXPECT_LE(largestDrift(byChannel.filter, filter, 72), 0.5001);
  for (size_t i = 0; i < 288; ++i)
    EXPECT_NEAR(byTaps.filter.data<int8_t>()[i], filter.data<float>()[i], 1.0);
}

TEST(QuantizedWeights, RoundEachElementWhereSumsNeedNotBeKept) {
  ProductScales scales;
  scales.filter = {1};
  scales.keepsSums = false;
  const Tensor filter = random({4, 8, 9}, 100, 3);
  const QuantizedWeights made = quantizeWeights(filter, nullptr, {72, 4, 1, 1, 9}, scales);
  for (size_t i = 0; i < 288; ++i)
    EXPECT_EQ(made.filter.data<int8_t>()[i], std::lround(filter.data<float>()[i]));
  EXPECT_GT(largestDrift(made.filter, filter, 9), 0.5001);
}

TEST(RoundedFilters, AnswerEqualQuestionsOnce) {
  RoundedFilters filters;
  ProductScales scales;
  scales.filter = {1};
  const ChannelOrder order = {72, 4, 1, 1, 9};
  const Tensor filter = random({4, 8, 9}, 100, 3);
  const Tensor bias = random({4}, 100, 4);
  const auto bytesOf = [&](const Tensor &elements, const Tensor *sums, const ProductScales &how) {
    const auto bytes = filters.quantized(elements, sums, order, how).filter.data<int8_t>();
    return std::vector<int8_t>(bytes.begin(), bytes.end());
  };
  const std::vector<int8_t> made = bytesOf(filter, nullptr, scales);
  EXPECT_EQ(made, bytesOf(filter.clone(), nullptr, scales));
  EXPECT_EQ(filters.numKnown(), 1);
  // Kept sums do where they need not be kept, not the other way around.
  ProductScales quick = scales;
  quick.keepsSums = false;
  EXPECT_EQ(made, bytesOf(filter, nullptr, quick));
  EXPECT_EQ(filters.numKnown(), 2);
  bytesOf(filter, &bias, quick);
  bytesOf(filter, &bias, scales);
  EXPECT_EQ(filters.numKnown(), 2);
  // Whatever is another question is answered by itself.
  ProductScales other = scales;
  other.input = 2;
  bytesOf(filter, nullptr, other);
  other = scales;
  other.means.assign(72, 1.0F);
  bytesOf(filter, nullptr, other);
  bytesOf(random({4, 8, 9}, 100, 5), nullptr, scales);
  EXPECT_EQ(filters.numKnown(), 2);
}

/// `numbers` rounded by the definition: those closest to the next integer go there.
std::vector<int8_t> roundedKeepingSum(const std::vector<float> &numbers) {
  std::vector<double> rounded;
  double missing = 0;
  for (float number : numbers) {
    rounded.push_back(std::round(double(number)));
    missing += double(number) - rounded.back();
  }
  const double step = missing < 0 ? -1 : 1;
  std::vector<size_t> places(numbers.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::stable_sort(places, std::greater<>(),
                           [&](size_t i) { return step * (double(numbers[i]) - rounded[i]); });
  for (size_t i = 0; double(i) < std::abs(missing) - 0.5; ++i)
    rounded[places[i]] += step;
  std::vector<int8_t> stored;
  stored.reserve(rounded.size());
  for (double number : rounded)
    stored.push_back(static_cast<int8_t>(std::clamp(number, -128.0, 127.0)));
  return stored;
}

TEST(QuantizedWeights, RoundThoseClosestToTheNextIntegerThere) {
  ProductScales scales;
  scales.filter = {1};
  const auto check = [&](const std::vector<float> &numbers) {
    const auto count = std::ssize(numbers);
    EXPECT_EQ(
        values<int8_t>(
            quantizeWeights(floats({1, count}, numbers), nullptr, {count, 1, 1, 1}, scales).filter),
        roundedKeepingSum(numbers))
        << testing::PrintToString(numbers);
  };
  // Halves go away from zero; what is hardly below a half does not; numbers beyond 8 bits.
  check({0.5F, -0.5F, 1.5F, -1.5F, 2.5F, -3.5F, 0.49999997F, -0.49999997F});
  check({-0.5F, -0.5F, -0.5F, -0.5F, -2.5F, 1});
  check({0.5F, 0.5F, 0.5F, 0.5F, 0.25F});
  check({200.25F, -200.25F, 3e9F, -3e9F, 0x1p60F, -0x1p60F, 0.25F, 0.25F, 0.25F, 0.25F});
  check({0, 0, 0, 0, 0});
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::vector<float> numbers = values<float>(random({1 + int64_t(seed) * 7}, 100, seed));
    check(numbers);
    // All rests on one side, many of them the same, none close to the next integer.
    for (float &number : numbers)
      number = std::floor(number) + (number > 90 ? 0.1875F : 0.125F);
    check(numbers);
  }
}

/// `tensor` [count, size, inner] as [size, count, inner].
template <typename T> Tensor turned(const Tensor &tensor) {
  const int64_t count = tensor.shape()[0], size = tensor.shape()[1], inner = tensor.shape()[2];
  Tensor result(tensor.type(), {size, count, inner});
  for (int64_t c = 0; c < count; ++c)
    for (int64_t k = 0; k < size; ++k)
      for (int64_t i = 0; i < inner; ++i)
        result.mutableData<T>()[static_cast<size_t>((k * count + c) * inner + i)] =
            tensor.data<T>()[static_cast<size_t>((c * size + k) * inner + i)];
  return result;
}

TEST(QuantizedWeights, DoNotDependOnHowElementsLie) {
  // More channels than are rounded at a time.
  constexpr int64_t kChannels = 37, kSize = 21;
  for (int64_t inner : {1, 4}) {
    const Tensor filter = random({kChannels, kSize, inner}, 1, 21);
    const Tensor bias = random({kChannels}, 3, 22);
    const Tensor means = random({kChannels, kSize, inner}, 2, 23);
    ProductScales scales;
    scales.input = 0.02;
    scales.inputZero = 3;
    scales.means = values<float>(means);
    const QuantizedWeights together =
        quantizeWeights(filter, &bias, {kSize * inner, kChannels, 1, 1, inner}, scales);
    scales.means = values<float>(turned<float>(means));
    const QuantizedWeights apart =
        quantizeWeights(turned<float>(filter), &bias, {inner, kChannels, kSize, 1, inner}, scales);
    EXPECT_EQ(values<int8_t>(apart.filter), values<int8_t>(turned<int8_t>(together.filter)));
    EXPECT_EQ(values<int32_t>(*apart.bias), values<int32_t>(*together.bias));
    EXPECT_EQ(apart.factors, together.factors);
    // Two groups of them, with the means of the first.
    std::vector<float> twice = values<float>(turned<float>(filter));
    twice.insert(twice.end(), twice.begin(), twice.end());
    const QuantizedWeights groups =
        quantizeWeights(floats({2 * kSize, kChannels, inner}, twice), nullptr,
                        {inner, kChannels, kSize, 2, inner}, scales);
    const QuantizedWeights one = quantizeWeights(turned<float>(filter), nullptr,
                                                 {inner, kChannels, kSize, 1, inner}, scales);
    for (int64_t c = 0; c < kChannels; ++c)
      for (int64_t group : {0, 1})
        EXPECT_EQ(groups.bias->data<int32_t>()[static_cast<size_t>(group * kChannels + c)],
                  one.bias->data<int32_t>()[static_cast<size_t>(c)]);
    std::vector<int8_t> stored = values<int8_t>(one.filter);
    stored.insert(stored.end(), stored.begin(), stored.end());
    EXPECT_EQ(values<int8_t>(groups.filter), stored);
  }
}

TEST(QuantizedWeights, KeepSumsIn16Bits) {
  const Tensor filter = random({4, 500}, 1, 4);
  for (DataType type : {DataType::F16, DataType::BF16}) {
    const double unit = type == DataType::F16 ? 0x1p-11 : 0x1p-8;
    const Tensor rounded = roundFilter(filter, {500, 4, 1, 1, 1}, type);
    ASSERT_EQ(rounded.type(), type);
    // The last element that took over what was left is a small one.
    EXPECT_LE(largestDrift(rounded, filter, 500), unit / 16);
    const Tensor floats = convert(rounded, DataType::F32);
    for (size_t i = 0; i < 2000; ++i)
      EXPECT_NEAR(floats.data<float>()[i], filter.data<float>()[i], unit);
  }
}

/// `numbers` rounded by the definition: those of larger exponents first, each with what the
/// rounding of those before it has left.
std::vector<float> roundedInOrder(std::span<const float> numbers, DataType type) {
  std::vector<size_t> places(numbers.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::stable_sort(places, std::greater<>(),
                           [&](size_t i) { return std::ilogb(numbers[i]); });
  std::vector<float> result(numbers.size());
  double left = 0;
  for (size_t place : places) {
    const double wanted = double(numbers[place]) + left;
    const auto single = floats({1}, {static_cast<float>(wanted)});
    result[place] = convert(convert(single, type), DataType::F32).data<float>()[0];
    left = wanted - double(result[place]);
  }
  return result;
}

TEST(QuantizedWeights, RoundLargerMagnitudesFirstIn16Bits) {
  // Groups of taps and of whole channels, some of which are left over, together and apart.
  constexpr int64_t kChannels = 3, kSize = 7;
  for (int64_t taps : {1, 9, 33})
    for (DataType type : {DataType::F16, DataType::BF16}) {
      const Tensor filter = random({kChannels, kSize, taps}, 1, 31);
      const Tensor together = roundFilter(filter, {kSize * taps, kChannels, 1, 1, taps}, type);
      const auto size = static_cast<size_t>(taps > 1 ? taps : kSize);
      std::vector<float> wanted;
      for (size_t first = 0; first < filter.data<float>().size(); first += size)
        std::ranges::copy(roundedInOrder(filter.data<float>().subspan(first, size), type),
                          std::back_inserter(wanted));
      EXPECT_EQ(values<float>(convert(together, DataType::F32)), wanted);
      const Tensor apart =
          roundFilter(turned<float>(filter), {taps, kChannels, kSize, 1, taps}, type);
      EXPECT_EQ(values<float>(convert(apart, DataType::F32)),
                values<float>(turned<float>(convert(together, DataType::F32))));
    }
}

TEST(QuantizedWeights, RoundLongFiltersTo16BitsInParts) {
  // Three channels, and two that are left.
  constexpr int64_t kChannels = 5, kSize = 300'000;
  const Tensor filter = random({kChannels, kSize}, 1, 11);
  const Tensor together = roundFilter(filter, {kSize, kChannels, 1, 1, 1}, DataType::F16);
  for (int64_t channel = 0; channel < kChannels; ++channel) {
    const Tensor own = Tensor::borrow(DataType::F32, Shape{1, kSize},
                                      filter.data<float>().data() + channel * kSize, nullptr);
    const Tensor alone = roundFilter(own, {kSize, 1, 1, 1, 1}, DataType::F16);
    const auto bytes = static_cast<size_t>(alone.byteSize());
    EXPECT_TRUE(std::ranges::equal(
        alone.rawBytes(),
        together.rawBytes().subspan(static_cast<size_t>(channel) * bytes, bytes)));
  }
}

TEST(QuantizedWeights, TakeUpInTheBiasWhatRoundingAdds) {
  // The filter of channel 1 is exact; of channel 0, 0.4 is rounded off of an element that meets 5
  // on the average, and 0.3 added to one that meets -2.
  ProductScales scales;
  scales.input = 0.5;
  scales.filter = {1};
  scales.means = {5, -2, 7, 7};
  const Tensor filter = floats({2, 2}, {10.4F, -3.3F, 1, 2});
  const QuantizedWeights weights = quantizeWeights(filter, nullptr, {2, 2, 1, 1, 1}, scales);
  EXPECT_THAT(values<int8_t>(weights.filter), ElementsAre(10, -3, 1, 2));
  // (0.4 * 5 + 0.3 * 2) / 0.5, rounded.
  EXPECT_THAT(values<int32_t>(*weights.bias), ElementsAre(5, 0));
  const Tensor bias = floats({2}, {1, 1});
  EXPECT_THAT(values<int32_t>(*quantizeWeights(filter, &bias, {2, 2, 1, 1, 1}, scales).bias),
              ElementsAre(7, 2));
  // Both channels meet the same: the second rounds 0.4 off what meets -2.
  scales.means = {5, -2};
  const Tensor other = floats({2, 2}, {10.4F, -3.3F, 1, 2.4F});
  EXPECT_THAT(values<int32_t>(*quantizeWeights(other, nullptr, {2, 2, 1, 1, 1}, scales).bias),
              ElementsAre(5, -2));
}

/// Integers that stand for themselves, of one channel whose elements meet what varies so.
std::vector<int8_t> roundedBy(const std::vector<float> &filter,
                              const std::vector<float> &covariances) {
  ProductScales scales;
  scales.filter = {1};
  scales.means.assign(filter.size(), 0);
  scales.covariances = covariances;
  const auto count = std::ssize(filter);
  return values<int8_t>(
      quantizeWeights(floats({1, count}, filter), nullptr, {count, 1, 1, 1, 1}, scales).filter);
}

TEST(QuantizedWeights, TakeOutWhatRoundingAddsToSums) {
  // Nothing in common, or nothing that varies: the nearest.
  EXPECT_THAT(roundedBy({3.4F, 3.4F, 2.9F}, {1, 0, 1, 0, 0, 1}), ElementsAre(3, 3, 3));
  EXPECT_THAT(roundedBy({3.4F, 3.4F, 2.9F}, {0, 0, 0, 0, 0, 0}), ElementsAre(3, 3, 3));
  // The third varies most and is rounded first. What that adds, 0.4 or -0.4, the second takes out:
  // it has the same in common with the third as with itself.
  EXPECT_THAT(roundedBy({3.4F, 3.4F, 2.6F}, {1, 0, 2, 0, 2, 3}), ElementsAre(3, 3, 3));
  EXPECT_THAT(roundedBy({3.0F, 3.4F, 2.4F}, {1, 0, 2, 0, 2, 3}), ElementsAre(3, 4, 2));
  // The second counts the other way.
  EXPECT_THAT(roundedBy({3.0F, 3.4F, 2.6F}, {1, 0, 2, 0, -2, 3}), ElementsAre(3, 4, 3));
  // Numbers beyond 8 bits, which the next takes over.
  EXPECT_THAT(roundedBy({0.0F, 100.0F, 140.0F}, {1, 0, 2, 0, 2, 3}), ElementsAre(0, 113, 127));
  // No covariances at all, as a file may hold: some integers.
  EXPECT_EQ(roundedBy({3.4F, 3.4F, 2.6F}, {1, 9, 1, 9, 9, 1}).size(), 3U);
  EXPECT_EQ(roundedBy({3.4F, 3.4F, 2.6F}, {-1, 9, -1, 9, 9, -1}).size(), 3U);
  // No integer stands for what is no number.
  EXPECT_EQ(roundedBy({3.0F, std::nanf(""), 2.0F}, {1, 0, 1, 0, 0, 1}).at(1), 0);
}

TEST(QuantizedWeights, AddLessToSumsWhereCovariancesAreKnown) {
  // What the elements meet has 4 causes and a tenth of its own.
  constexpr size_t kSize = 32;
  const Tensor causes = random({kSize, 4}, 1, 7);
  std::vector<float> covariances;
  const auto covariance = [&](size_t c, size_t d) {
    float sum = c == d ? 0.1F : 0.0F;
    for (size_t i = 0; i < 4; ++i)
      sum += causes.data<float>()[4 * c + i] * causes.data<float>()[4 * d + i];
    return sum;
  };
  for (size_t c = 0; c < kSize; ++c)
    for (size_t d = 0; d <= c; ++d)
      covariances.push_back(covariance(c, d));
  const std::vector<float> filter = values<float>(random({kSize}, 100, 8));
  const auto variance = [&](const std::vector<int8_t> &rounded) {
    double sum = 0;
    for (size_t c = 0; c < kSize; ++c)
      for (size_t d = 0; d < kSize; ++d)
        sum += (rounded[c] - double(filter[c])) * (rounded[d] - double(filter[d])) *
               double(covariance(c, d));
    return sum;
  };
  std::vector<int8_t> nearest;
  for (float number : filter)
    nearest.push_back(static_cast<int8_t>(std::lround(number)));
  EXPECT_LT(variance(roundedBy(filter, covariances)), variance(nearest) / 3);
}

TEST(QuantizedWeights, RoundEachChannelByItself) {
  // More channels than are rounded at a time, and some that are left.
  constexpr int64_t kChannels = 19, kSize = 5;
  std::vector<float> covariances;
  for (size_t c = 0; c < kSize; ++c)
    for (size_t d = 0; d <= c; ++d)
      covariances.push_back(c == d ? 2 + float(c) : 0.5F + 0.25F * float(d));
  const Tensor filter = random({kChannels, kSize}, 100, 9);
  ProductScales scales;
  scales.filter = {1};
  scales.means.assign(static_cast<size_t>(filter.numElements()), 0);
  scales.covariances = covariances;
  const std::vector<int8_t> together =
      values<int8_t>(quantizeWeights(filter, nullptr, {kSize, kChannels, 1, 1, 1}, scales).filter);
  const std::vector<float> numbers = values<float>(filter);
  for (int64_t channel = 0; channel < kChannels; ++channel) {
    const auto first = channel * kSize;
    EXPECT_EQ(std::vector<int8_t>(together.begin() + first, together.begin() + first + kSize),
              roundedBy({numbers.begin() + first, numbers.begin() + first + kSize}, covariances));
  }
}

TEST(QuantizedWeights, ShareAShiftInPartsOfCommands) {
  const std::vector<double> mixed = {1, 1, 1, 1, 1, 1, 1, 8};
  EXPECT_THAT(shiftEnds(mixed, 64, /*mayShiftTwice=*/true), ElementsAre(7, 8));
  EXPECT_THAT(shiftEnds(mixed, 64, /*mayShiftTwice=*/false), ElementsAre(8));
  EXPECT_THAT(shiftEnds(mixed, 4, /*mayShiftTwice=*/true), ElementsAre(4, 8));
  // A second command would bring little.
  EXPECT_THAT(shiftEnds(std::vector<double>{1, 1, 1, 1, 1, 1, 1, 2}, 64, true), ElementsAre(8));
}

TEST(QuantizedWeights, HaveTwoShiftsWhereOneWouldRuinMostChannels) {
  ProductScales scales;
  scales.sharesShift = true;
  scales.shiftChannels = 64;
  const Tensor filter = floats({8, 1}, {1, 1, 1, 1, 1, 1, 1, 16});
  const ChannelOrder order = {1, 8, 1, 1, 1};
  EXPECT_EQ(quantizeWeights(filter, nullptr, order, scales).factors[0], 0.25);
  scales.mayShiftTwice = true;
  const std::vector<double> factors = quantizeWeights(filter, nullptr, order, scales).factors;
  EXPECT_EQ(factors[0], 1.0 / 64);
  EXPECT_EQ(factors[7], 0.25);
}

} // namespace
