//===- SimulatorTest.cpp - Results of commands ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/cv18xx/Case.h"
#include "tpuc/Target/CV18xx/Machine/Numbers.h"
#include "unittests/Support/GoldenVectors.h"
#include "unittests/Support/Sanitized.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::cv18xx;
using testing::HasSubstr;

namespace {

/// What the vendor's functional model left of random commands, for each chip.
TEST(Golden, BothMemoriesAreTheVendorsModels) {
  std::vector<uint8_t> global(conformance::kGlobalBytes);
  size_t numCases = 0;
  std::map<std::string_view, size_t> chips;
  int numFailed = 0;
  for (const GoldenVector &vector : readGoldenVectors(TPUC_GOLDEN_DIR "/vectors.txt")) {
    if (numFailed == 5)
      break;
    if (++numCases % 4 != 0 && kIsSanitized)
      continue;
    const auto one = conformance::parseCase(vector.text, "vectors.txt");
    ASSERT_TRUE(one) << one.error().message();
    ++chips[one->chip->name];
    Memory memory(*one->chip, global);
    conformance::fillMemories(*one, memory.local(), global);
    const auto done = conformance::runHere(*one, memory);
    ASSERT_TRUE(done) << done.error().message();
    const bool same = conformance::hashMemories(memory.local(), global) == vector.hash;
    EXPECT_TRUE(same) << vector.text;
    numFailed += same ? 0 : 1;
  }
  EXPECT_EQ(chips.size(), 4u);
  EXPECT_GE(numCases, 700u);
}

TEST(Numbers, TwoRoundingsOfRightShifts) {
  EXPECT_EQ(shiftRight(5, 1, true, true), 3);
  EXPECT_EQ(shiftRight(-5, 1, true, true), -2);
  EXPECT_EQ(shiftRight(-5, 1, false, true), -3);
  EXPECT_EQ(shiftRight(-5, 0, true, false), -5);
  EXPECT_EQ(shiftRight(-1, 1, true, false), 0);
  EXPECT_EQ(shiftRight(-1, 4, true, false), 1 << 28);
  EXPECT_EQ(shiftRight(-1, 31, false, false), 1);
  EXPECT_EQ(shiftRight(std::numeric_limits<int32_t>::max(), 1, true, true), -(1 << 30));
  EXPECT_EQ(shiftAway(5, 1), 3);
  EXPECT_EQ(shiftAway(-5, 1), -3);
  EXPECT_EQ(requantize(3, 1u << 30, 0), 2);
  EXPECT_EQ(requantize(-3, 1u << 30, 0), -1);
  EXPECT_EQ(requantize(-3, 1u << 30, 1), -1);
  EXPECT_EQ(requantize(-6, 1u << 30, 1), -2);
  EXPECT_EQ(requantize(1000, 1u << 30, 3), 63);
}

TEST(Numbers, SumsTruncateExactly) {
  // 1 and what float64 no longer sees beside it.
  EXPECT_EQ(addTruncating(1.0f, -0x1p-60f, 0x1p-10f), std::nextafter(1.0f, 0.0f));
  EXPECT_EQ(addTruncating(1.0f, 0x1p-60f, 0x1p-10f), 1.0f);
  EXPECT_EQ(addTruncating(-1.0f, 0x1p-60f, 0x1p-10f), std::nextafter(-1.0f, 0.0f));
  EXPECT_FALSE(std::isfinite(addTruncating(0x1.fffffep127f, 0x1p127f, 1.0f)));
  // The largest number is what is left of sums beyond it.
  EXPECT_FALSE(std::isfinite(addTruncating(-kLargest, -1.0f, 1.0f)));
  EXPECT_EQ(addTruncating(kLargest, -1.0f, 1.0f), std::nextafter(kLargest, 0.0f));
  EXPECT_EQ(reluOf(-kLargest), -kLargest);
  EXPECT_EQ(reluOf(-0x1.fep127f), 0.0f);
  EXPECT_EQ(addTruncating(0x1.8p-126f, -0x1p-126f, 1.0f), 0.0f);
  EXPECT_EQ(toBf16(-std::numeric_limits<float>::infinity()), 0x7F7F);
  EXPECT_EQ(toBf16(1.00390625f), 0x3F80);
  EXPECT_EQ(toBf16(1.01171875f), 0x3F82);
}

TEST(Window, ChannelsAreShiftedByLessThan32) {
  const Chip &chip = *findChip("cv181x");
  Memory memory(chip, {});
  const auto command =
      mc::assemble(commandTable(chip),
                   "conv #1 operands=3 requant=1 res0_sign=1 opd0_sign=1 res0_layout=strides "
                   "opd1_layout=compact opd2_layout=channel res0=[n1 c2 h1 w1] opd0=[n1 c1 h1 w1] "
                   "opd1=[n1 c2 h1 w1] opd2=[n1 c2 h1 w1] res0_addr=0x1000 opd1_addr=0x2000 "
                   "opd2_addr=0x3000 res0_str=[n16 c16 h1 w1 b16]",
                   "text");
  ASSERT_TRUE(command) << command.error().message();
  ASSERT_FALSE(checkCommand(chip, *command, "here"));
  uint8_t &shift = memory.local()[kLaneBytes + 0x3000 + 8];
  shift = 31;
  EXPECT_TRUE(runCommand(memory, *command, "here"));
  shift = 32;
  const auto refused = runCommand(memory, *command, "here");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "here: channel 1 is shifted by 32; expected at most 31");
}

TEST(Dma, IndicesOfTablesAreExponents) {
  const Chip &chip = *findChip("cv181x");
  Memory memory(chip, {});
  const auto command = mc::assemble(commandTable(chip),
                                    "dma.local #1 lut_index=1 src_kind=bf16 dst_kind=bf16 "
                                    "src=[n1 c1 h1 w3] dst=[c1 h1 w3] src_str_c=0x10 "
                                    "dst_str_c=0x10 dst_addr=0x100",
                                    "text");
  ASSERT_TRUE(command) << command.error().message();
  const uint16_t values[] = {toBf16(0), toBf16(1), toBf16(5.5f)};
  std::memcpy(memory.local().data(), values, 6);
  ASSERT_FALSE(checkCommand(chip, *command, "here"));
  ASSERT_TRUE(runCommand(memory, *command, "here"));
  const uint8_t expected[] = {0, 0, 63, 63, 65, 65};
  EXPECT_TRUE(std::equal(expected, expected + 6, memory.local().begin() + 0x100));
  // What the vendor's model makes of -2, of the smallest number and of infinite ones.
  const uint16_t others[][2] = {{0xC000, 0xC0}, {0x0001, 0xBA}, {0x8001, 0x3A},
                                {0x7F80, 0x3F}, {0xFF80, 0xBF}, {0x8000, 0}};
  for (const auto &[bits, index] : others) {
    std::memcpy(memory.local().data(), &bits, 2);
    ASSERT_TRUE(runCommand(memory, *command, "here"));
    EXPECT_EQ(memory.local()[0x100], index) << bits;
  }
  memory.local()[0] = 0xC0;
  memory.local()[1] = 0x7F;
  const auto refused = runCommand(memory, *command, "here");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("as the index of a table"));
}

TEST(Dma, GlobalMemoryEnds) {
  const Chip &chip = *findChip("cv183x");
  std::vector<uint8_t> global(64);
  Memory memory(chip, global);
  const auto load = [&](std::string_view address) {
    const auto command = mc::assemble(
        commandTable(chip),
        "dma.load #1 src=[n1 c1 h1 w16] dst=[c1 h1 w16] src_addr=" + std::string(address), "text");
    return runCommand(memory, *command, "here");
  };
  EXPECT_TRUE(load("0x100000030"));
  EXPECT_FALSE(load("0x100000031"));
  EXPECT_FALSE(load("0x30"));
  EXPECT_FALSE(load("0xffffffffff"));
}

} // namespace
