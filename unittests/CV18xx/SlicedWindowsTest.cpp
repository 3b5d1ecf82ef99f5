//===- SlicedWindowsTest.cpp - Convolutions by slices of input channels ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/SlicedWindows.h"
#include "tpuc/Target/CV18xx/Machine/Numbers.h"
#include "tpuc/Target/CV18xx/Machine/Simulator.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace tpuc;
using namespace tpuc::cv18xx;

namespace {

/// A convolution of random numbers in a memory of bytes.
struct Example {
  SlicedConvolution convolution;
  std::vector<uint8_t> memory;
  std::vector<double> input, filter, bias;
  std::vector<uint32_t> multipliers, shifts;

  Example(const Extents &in, const Extents &out, const Window &window, bool isBf16,
          std::mt19937 &random) {
    const uint32_t bytes = isBf16 ? 2 : 1;
    const auto tensorOf = [&](const Extents &shape, uint64_t offset) {
      GlobalTensor tensor{.offset = offset, .shape = shape, .isBf16 = isBf16};
      const uint64_t row = uint64_t{shape[3]} * bytes, plane = row * shape[2];
      tensor.strides = {plane * shape[1], plane, row};
      return tensor;
    };
    const auto count = [](const Extents &shape) {
      return size_t{shape[0]} * shape[1] * shape[2] * shape[3];
    };
    const size_t taps = size_t{window.kernel[0]} * window.kernel[1] * in[1];
    const auto put = [&](size_t number, std::vector<double> &numbers) {
      const size_t begin = memory.size();
      for (size_t i = 0; i < number; ++i) {
        const int integer = static_cast<int>(random() % 255) - 127;
        numbers.push_back(isBf16 ? integer / 64.0 : integer);
        const auto bits = std::bit_cast<uint32_t>(static_cast<float>(numbers.back())) >> 16;
        memory.push_back(static_cast<uint8_t>(isBf16 ? bits : static_cast<uint32_t>(integer)));
        if (isBf16)
          memory.push_back(static_cast<uint8_t>(bits >> 8));
      }
      memory.resize((memory.size() + 63) / 64 * 64);
      return begin;
    };
    convolution.input = tensorOf(in, put(count(in), input));
    convolution.filter = {.offset = put(taps * out[1], filter)};
    convolution.window = window;
    convolution.parameters = memory.size();
    convolution.halfDistance = 2 * uint64_t{out[1]};
    std::vector<uint8_t> lower;
    for (uint32_t channel = 0; channel < out[1]; ++channel) {
      const int integer = static_cast<int>(random() % 8001) - 4000;
      bias.push_back(isBf16 ? integer / 1000.0 : integer);
      multipliers.push_back(static_cast<uint32_t>(random() % (1U << 30)) + (1U << 30));
      shifts.push_back(10 + static_cast<uint32_t>(random() % 4));
      const auto word = [](std::vector<uint8_t> &to, uint32_t value, unsigned size) {
        for (unsigned byte = 0; byte < size; ++byte)
          to.push_back(static_cast<uint8_t>(value >> 8 * byte));
      };
      if (isBf16) {
        const auto bits = std::bit_cast<uint32_t>(static_cast<float>(bias.back()));
        word(memory, bits >> 16, 2);
        word(lower, bits & 0xFFFF, 2);
        continue;
      }
      word(memory, static_cast<uint32_t>(integer), 4);
      word(memory, multipliers.back(), 4);
      word(memory, shifts.back(), 1);
    }
    memory.insert(memory.end(), lower.begin(), lower.end());
    memory.resize((memory.size() + 63) / 64 * 64);
    convolution.result = tensorOf(out, memory.size());
    memory.resize(memory.size() + count(out) * bytes + 64, 0xA5);
  }

  /// The sum of a result, without the bias.
  double sumAt(uint32_t n, uint32_t c, uint32_t y, uint32_t x) const {
    const Extents &in = convolution.input.shape;
    const Window &window = convolution.window;
    double sum = 0;
    size_t tap = size_t{c} * window.kernel[0] * window.kernel[1] * in[1];
    for (uint32_t i = 0; i < window.kernel[0]; ++i)
      for (uint32_t j = 0; j < window.kernel[1]; ++j)
        for (uint32_t channel = 0; channel < in[1]; ++channel, ++tap) {
          const int64_t row =
              int64_t{y} * window.stride[0] + i * window.dilation[0] - window.padBegin[0];
          const int64_t column =
              int64_t{x} * window.stride[1] + j * window.dilation[1] - window.padBegin[1];
          if (row < 0 || column < 0 || row >= in[2] || column >= in[3])
            continue;
          sum += filter[tap] *
                 input[((size_t{n} * in[1] + channel) * in[2] + static_cast<size_t>(row)) * in[3] +
                       static_cast<size_t>(column)];
        }
    return sum;
  }

  void expectComputed(const Chip &chip, const SlicePlan &plan) {
    ASSERT_TRUE(isPlanOf(chip, convolution, plan));
    Builder builder(chip);
    const auto emitted = emitSliced(builder, convolution, plan);
    ASSERT_TRUE(emitted) << emitted.error().message();
    std::vector<uint8_t> made = memory;
    Memory machine(chip, made);
    for (const Command &command : builder.finish().commands) {
      const auto ran = runCommand(machine, command, "here");
      ASSERT_TRUE(ran) << ran.error().message();
    }
    const Extents &out = convolution.result.shape;
    size_t at = convolution.result.offset;
    // Nothing but the result is written.
    EXPECT_TRUE(std::equal(made.begin(), made.begin() + static_cast<int64_t>(at), memory.begin()));
    for (uint32_t n = 0; n < out[0]; ++n)
      for (uint32_t c = 0; c < out[1]; ++c)
        for (uint32_t y = 0; y < out[2]; ++y)
          for (uint32_t x = 0; x < out[3]; ++x) {
            const double sum = sumAt(n, c, y, x) + bias[c];
            if (convolution.result.isBf16) {
              const uint32_t bits = made[at] | made[at + 1] << 8;
              const double found = std::bit_cast<float>(bits << 16);
              ASSERT_NEAR(found, sum, std::abs(sum) / 128 + 0.02) << c << ", " << y << ", " << x;
              at += 2;
              continue;
            }
            const int64_t wanted =
                std::clamp<int64_t>(requantize(static_cast<int32_t>(sum), multipliers[c],
                                               static_cast<uint8_t>(shifts[c])),
                                    convolution.hasRelu ? 0 : -128, 127);
            ASSERT_EQ(static_cast<int8_t>(made[at++]), wanted) << c << ", " << y << ", " << x;
          }
    EXPECT_TRUE(std::all_of(made.begin() + static_cast<int64_t>(at), made.end(),
                            [](uint8_t byte) { return byte == 0xA5; }));
  }
};

TEST(SlicedWindows, RandomConvolutionsWithBestAndRandomPlans) {
  std::mt19937 random(5);
  const auto below = [&](uint32_t most) { return 1 + static_cast<uint32_t>(random() % most); };
  int numRun = 0;
  for (const char *name : {"cv183x", "cv182x", "cv181x", "cv180x"}) {
    const Chip &chip = *findChip(name);
    for (int repeat = 0; repeat < 16; ++repeat) {
      Window window{.kernel = {below(3), below(3)},
                    .stride = {below(2), below(2)},
                    .dilation = {below(2), below(2)}};
      const Extents in = {below(2), 60 + below(90), 6 + below(6), 6 + below(6)};
      Extents out = {in[0], below(40), 0, 0};
      for (size_t i = 0; i < 2; ++i) {
        const uint32_t reach = (window.kernel[i] - 1) * window.dilation[i] + 1;
        window.padBegin[i] = static_cast<uint32_t>(random() % reach);
        out[2 + i] = (in[2 + i] + window.padBegin[i] - reach) / window.stride[i] + 1;
      }
      Example example(in, out, window, repeat % 2 != 0, random);
      example.convolution.hasRelu = repeat % 4 == 0;
      const std::optional<SlicePlan> best = bestSlices(chip, example.convolution);
      ASSERT_TRUE(best);
      example.expectComputed(chip, *best);
      const SlicePlan other = {below(in[1]), below(out[1]), below(out[2]), below(out[3])};
      if (!isPlanOf(chip, example.convolution, other))
        continue;
      example.expectComputed(chip, other);
      ++numRun;
    }
  }
  EXPECT_GE(numRun, 30);
}

/// 1024 input channels of 3 x 3 taps in BF16: a row of the filter takes half of a lane, a pixel's
/// window the other.
TEST(SlicedWindows, PlansWhatDoesNotFit) {
  std::mt19937 random(6);
  const Chip &chip = *findChip("cv180x");
  const Window window{.kernel = {3, 3}, .padBegin = {1, 1}};
  Example example({1, 1024, 3, 3}, {1, 6, 3, 3}, window, true, random);
  EXPECT_FALSE(isPlanOf(chip, example.convolution, {1024, 1, 1, 1}));
  const std::optional<SlicePlan> best = bestSlices(chip, example.convolution);
  ASSERT_TRUE(best);
  EXPECT_LT(best->inputs, 1024U);
  example.expectComputed(chip, *best);
  EXPECT_FALSE(isPlanOf(chip, example.convolution, {0, 1, 1, 1}));
  EXPECT_FALSE(isPlanOf(chip, example.convolution, {4095, 1, 1, 1}));
}

/// No command has windows that see nothing of the input.
TEST(SlicedWindows, RefusesWindowsInThePaddingAlone) {
  std::mt19937 random(7);
  const Chip &chip = *findChip("cv181x");
  const Window window{.padBegin = {2, 0}};
  const Example example({1, 8, 3, 3}, {1, 8, 7, 3}, window, false, random);
  EXPECT_FALSE(bestSlices(chip, example.convolution));
}

} // namespace
