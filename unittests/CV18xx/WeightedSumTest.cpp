//===- WeightedSumTest.cpp - Sums of integers on the machine --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"
#include "tpuc/Target/CV18xx/Machine/Simulator.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::cv18xx;

namespace {

constexpr Extents kShape = {1, 11, 6, 5};
constexpr std::array<int64_t, 2> kFactors = {85, -43};
constexpr int64_t kShift = 7;

uint8_t valueAt(size_t tensor, uint32_t c, uint32_t i) {
  return static_cast<uint8_t>(37 * c + (tensor == 0 ? 11 : 23) * i + 5 * tensor);
}

/// How many commands a sum takes whose scratch lies at `scratch`. Its bytes are checked.
size_t commandsWith(const Chip &chip, uint32_t scratch, uint32_t result) {
  const LocalTensor left = alignedTensor(chip, 0x1000, kShape, false);
  const LocalTensor right = alignedTensor(chip, 0x2000, kShape, false);
  const LocalTensor made = alignedTensor(chip, result, kShape, false);
  Builder builder(chip);
  const auto done = emitWeightedSum(builder, {.result = made,
                                              .left = left,
                                              .right = right,
                                              .factors = kFactors,
                                              .shift = kShift,
                                              .scratch = scratch});
  EXPECT_TRUE(done) << done.error().message();
  const CommandStream stream = builder.finish();
  std::vector<uint8_t> global;
  Memory memory(chip, global);
  const auto place = [&](const LocalTensor &tensor, uint32_t c, uint32_t i) -> uint8_t & {
    return memory.local()[c % chip.lanes * kLaneBytes + tensor.address +
                          c / chip.lanes * tensor.strides[1] + i];
  };
  for (uint32_t c = 0; c < kShape[1]; ++c)
    for (uint32_t i = 0; i < kShape[2] * kShape[3]; ++i) {
      place(left, c, i) = valueAt(0, c, i);
      place(right, c, i) = valueAt(1, c, i);
    }
  for (const Command &command : stream.commands) {
    const auto ran = runCommand(memory, command, "here");
    EXPECT_TRUE(ran) << ran.error().message();
  }
  for (uint32_t c = 0; c < kShape[1]; ++c)
    for (uint32_t i = 0; i < kShape[2] * kShape[3]; ++i) {
      const int64_t sum = kFactors[0] * static_cast<int8_t>(valueAt(0, c, i)) +
                          kFactors[1] * static_cast<int8_t>(valueAt(1, c, i));
      const int64_t wanted =
          std::clamp<int64_t>((sum + (int64_t{1} << (kShift - 1))) >> kShift, -128, 127);
      EXPECT_EQ(static_cast<int8_t>(place(made, c, i)), wanted) << "channel " << c << ", " << i;
    }
  return stream.commands.size();
}

// The lower plane is the result where the upper one can lie behind it.
TEST(WeightedSum, IsMadeWhereItIsWanted) {
  for (const Chip &chip : allChips()) {
    EXPECT_EQ(commandsWith(chip, 0x4000, 0x3000), 2) << chip.name;
    EXPECT_EQ(commandsWith(chip, 0x3000, 0x4000), 3) << chip.name;
  }
}

} // namespace
