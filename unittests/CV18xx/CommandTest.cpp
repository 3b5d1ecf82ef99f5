//===- CommandTest.cpp - Encoding, decoding, text, checks -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Operands.h"
#include "tpuc/Target/Common/Stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace tpuc;
using namespace tpuc::cv18xx;
using testing::HasSubstr;

namespace {

bool namesTheCommand(const Command &command, mc::FieldId field) {
  const mc::EngineInfo &engine = command.engineInfo();
  return field == engine.opcode.field || field == engine.sub->field;
}

void fillAtRandom(Command &command, std::mt19937_64 &random) {
  for (const mc::FieldSpec &spec : command.info().fields)
    if (!namesTheCommand(command, spec.field))
      command.setBitsAt(spec.lsb, spec.width, random());
}

TEST(Commands, EveryOperationRoundTripsThroughBytesAndText) {
  std::mt19937_64 random(1);
  for (const Chip &chip : allChips())
    for (const mc::OpInfo &op : commandTable(chip).ops)
      for (int repeat = 0; repeat < 10; ++repeat) {
        Command command = Command::make(op);
        if (repeat > 0)
          fillAtRandom(command, random);
        const auto decoded = mc::decode(commandTable(chip), op.engine, command.encoded(), "test");
        ASSERT_TRUE(decoded) << decoded.error().message();
        EXPECT_EQ(*decoded, command);
        const std::string text = mc::disassemble(command);
        const auto assembled = mc::assemble(commandTable(chip), text, "test");
        ASSERT_TRUE(assembled) << assembled.error().message();
        EXPECT_EQ(*assembled, command) << text;
      }
}

TEST(Commands, StreamsHaveTheChipsHeaders) {
  for (const Chip &chip : allChips()) {
    const mc::CommandTable &table = commandTable(chip);
    const std::vector<Command> commands = {Command::make(*mc::findOp(table, "dma.load")),
                                           Command::make(*mc::findOp(table, "conv"))};
    std::vector<uint8_t> bytes = mc::encodeStream(streamOf(chip), commands);
    ASSERT_EQ(bytes.size(), 8u + 64 + 8 + 112);
    EXPECT_EQ(bytes[0], chip.magic);
    EXPECT_EQ(bytes[1], 64);
    EXPECT_EQ(bytes[2], 2);
    EXPECT_EQ(bytes[73], 112);
    EXPECT_EQ(bytes[74], 0);
    const auto parsed = mc::parseStream(table, streamOf(chip), bytes, "stream");
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(*parsed, commands);
    bytes[0] ^= 1;
    EXPECT_THAT(mc::parseStream(table, streamOf(chip), bytes, "stream").error().message(),
                HasSubstr("stream: command 0 at byte 0"));
  }
}

TEST(Commands, TheOldestChipHasItsOwnLayoutAndLacksTwoFunctions) {
  const mc::CommandTable &old = commandTable(*findChip("cv183x"));
  const mc::CommandTable &others = commandTable(*findChip("cv181x"));
  EXPECT_EQ(&others, &commandTable(*findChip("cv180x")));
  EXPECT_EQ(mc::findOp(old, "ge"), nullptr);
  EXPECT_EQ(mc::findOp(old, "pool.min"), nullptr);
  EXPECT_NE(mc::findOp(others, "pool.min"), nullptr);
  Command a = Command::make(*mc::findOp(old, "conv"));
  Command b = Command::make(*mc::findOp(others, "conv"));
  a.set(Field::Shift, 5);
  b.set(Field::Shift, 5);
  // Words 1 and 0 of the reference, bits 19 and 16.
  EXPECT_EQ(a.bitsAt(32 + 19, 5), 5u);
  EXPECT_EQ(b.bitsAt(16, 6), 5u);
  EXPECT_EQ(findChip("bm1684x"), nullptr);
}

std::string messageOf(std::string_view chipName, std::string_view text) {
  const Chip &chip = *findChip(chipName);
  const auto command = mc::assemble(commandTable(chip), text, "text");
  if (!command)
    return command.error().message();
  const auto error = checkCommand(chip, *command, "here");
  return error ? error->message() : "";
}

constexpr std::string_view kCopy =
    "copy #1 operands=1 shift_signed=0 res0=[n1 c8 h4 w4] opd0=[n1 c8 h4 w4] res0_addr=0x1000 "
    "res0_layout=strides opd0_layout=strides opd1_layout=strides";

/// A command on elements, whose operands have strides.
std::string strided(const std::string &text) {
  return text + " res0_layout=strides opd0_layout=strides opd1_layout=strides";
}

TEST(Check, CommandsThatTheModelRunsPass) {
  EXPECT_EQ(messageOf("cv181x", kCopy), "");
  EXPECT_EQ(messageOf("cv181x", "dma.load #1 src=[n1 c8 h4 w4] dst=[c8 h4 w4] src_str_n=128 "
                                "src_str_c=0x10 src_str_h=4 dst_str_n=16 dst_str_c=0x10 "
                                "dst_str_h=4"),
            "");
}

TEST(Check, OperandsStayInTheirLanes) {
  EXPECT_THAT(messageOf("cv181x", strided("copy #1 operands=1 shift_signed=0 "
                                          "res0=[n1 c8 h100 w400] opd0=[n1 c8 h100 w400] "
                                          "opd0_str=[n0 c0 h400 w1 b16]")),
              HasSubstr("opd0 up to byte 40000 of its lanes; expected at most 32768"));
  EXPECT_THAT(messageOf("cv180x", strided("copy #1 operands=1 shift_signed=0 "
                                          "res0=[n1 c1 h1 w1] opd0=[n1 c1 h1 w1] "
                                          "res0_addr=0x10000 opd0_addr=0x10000")),
              HasSubstr("lane 2; expected a lane below 2"));
  EXPECT_THAT(messageOf("cv181x", strided("copy #1 operands=1 shift_signed=0 "
                                          "res0=[n1 c1 h1 w1] opd0=[n1 c1 h1 w1] "
                                          "res0_addr=0x10000")),
              HasSubstr("opd0 in other lanes than the result"));
  EXPECT_THAT(messageOf("cv181x", "dma.load #1 src=[n1 c8 h4 w4] dst=[c8 h4 w4] dst_str_c=0x10 "
                                  "dst_str_h=4 dst_addr=0x7ff8"),
              HasSubstr("dst up to byte 32776"));
}

TEST(Check, WhatTheModelAssertsIsRefusedByName) {
  EXPECT_THAT(messageOf("cv181x", "add #1 operands=2 res0_sign=1 opd1_sign=0 res0=[n1 c1 h1 w1]"),
              HasSubstr("res0_sign=1; expected 0, as the operands have it"));
  EXPECT_THAT(messageOf("cv181x", "mul #1 operands=2 relu=1 shift_signed=0 opd1_sign=0 "
                                  "res0=[n1 c1 h1 w1]"),
              HasSubstr("relu on an unsigned"));
  EXPECT_THAT(messageOf("cv181x", strided("shift #1 operands=2 res0_sign=1 opd0_sign=1 round=0 "
                                          "opd1_const=1 opd1_addr=17 res0=[n1 c1 h1 w1] "
                                          "opd0=[n1 c1 h1 w1] opd1=[n1 c1 h1 w1] opd0_narrow=0 "
                                          "res0_narrow=0")),
              HasSubstr("a shift by 17; expected -16 to 16"));
  EXPECT_THAT(messageOf("cv181x", strided("mul #1 operands=2 res0_sign=1 opd0_sign=1 shift=40 "
                                          "res0=[n1 c1 h1 w1] opd0=[n1 c1 h1 w1] "
                                          "opd1=[n1 c1 h1 w1]")),
              HasSubstr("a shift by 40; expected at most 31"));
  EXPECT_THAT(messageOf("cv181x", "dma.load #1 transpose_mode=3 src=[n1 c1 h1 w1] "
                                  "dst=[c1 h1 w1]"),
              HasSubstr("transpose_mode=3 of a copy"));
  EXPECT_THAT(messageOf("cv181x", "dma.load_transpose #1 transpose_mode=3 src=[n1 c2 h1 w1] "
                                  "dst=[c1 h1 w2]"),
              HasSubstr("a transpose of c and w; expected a store"));
  EXPECT_THAT(messageOf("cv181x", "dma.load_transpose #1 transpose_mode=1 src=[n1 c4 h1 w1] "
                                  "dst=[c4 h1 w1] dst_str_h=1"),
              HasSubstr("packed pixels; expected a load of 3 channels"));
  EXPECT_THAT(messageOf("cv181x", "pool.max #1 operands=1 res0_sign=1 opd0_sign=1 ins_y=1 "
                                  "res0=[n1 c1 h3 w1] opd0=[n1 c1 h2 w1] opd1=[n1 c1 h1 w1]"),
              HasSubstr("values inserted into a maximum"));
  EXPECT_THAT(messageOf("cv181x", "pool.max #1 operands=1 res0_sign=1 opd0_sign=1 dil=[h1 w0] "
                                  "res0=[n1 c1 h1 w1] opd0=[n1 c1 h3 w1] opd1=[n1 c1 h2 w1]"),
              HasSubstr("a dilated pool"));
  EXPECT_THAT(messageOf("cv181x", "depthwise #1 operands=2 res0_sign=1 requant=1 dil=[h1 w0] "
                                  "opd2=[n1 c1 h1 w1] opd2_layout=channel res0=[n1 c1 h1 w1] "
                                  "opd0=[n1 c1 h3 w1] opd1=[n1 c1 h2 w1]"),
              HasSubstr("a dilated window of integers with multipliers"));
  EXPECT_THAT(messageOf("cv181x", "conv #1 operands=2 res0_sign=1 res0_layout=strides "
                                  "res0=[n1 c1 h4 w1] opd0=[n1 c1 h3 w1] opd1=[n1 c1 h1 w1]"),
              HasSubstr("4 x 1 results; expected 3 x 1, as many as the window has places"));
  const std::string sums = "conv #1 operands=2 kind=bf16 res0_sign=1 opd0_sign=1 partial=store "
                           "res0=[n1 c1 h1 w1] opd0=[n1 c1 h1 w1] opd1=[n1 c1 h1 w1] "
                           "opd1_layout=compact opd1_addr=0x100 res0_addr=0x200 "
                           "res0_layout=strides res0_str=[n32 c16 h16 w2 b64] ";
  EXPECT_THAT(messageOf("cv181x", sums + "pre_exe=2"),
              HasSubstr("pre_exe=2 of partial sums; expected at most 1"));
  EXPECT_EQ(messageOf("cv181x", sums + "pre_exe=1"), "");
  EXPECT_THAT(messageOf("cv181x", sums + "opd2_layout=strides"), HasSubstr("opd2_layout=strides"));
  EXPECT_THAT(messageOf("cv181x", sums + "opd2=[n1 c4095 h1 w1]"),
              HasSubstr("opd2 of 4095 channels; expected at most 4063"));
  EXPECT_THAT(messageOf("cv181x", "pool.max #1 operands=1 kind=bf16 res0_sign=0 opd0_sign=1 "
                                  "res0=[n1 c1 h1 w1] opd0=[n1 c1 h1 w1] opd1=[n1 c1 h1 w1]"),
              HasSubstr("a maximum or minimum with another sign than its input"));
  EXPECT_THAT(messageOf("cv181x", "matmul #1 operands=3 kind=bf16 res0_sign=1 opd0_sign=1 "
                                  "opd2_narrow=0 res0=[n1 c1 h1 w1] opd0=[n1 c1 h1 w1] "
                                  "opd1=[n1 c1 h1 w1] opd2=[n1 c1 h1 w1] opd2_str=[b0]"),
              HasSubstr("planes of a bias at odd places"));
}

/// The functional model asserts that tensors and table are without strides.
TEST(Check, TablesAreLookedUpInTensorsWithoutGaps) {
  const std::string lookup = "lookup #1 operands=2 shift_signed=0 opd1_sign=0 res0=[n1 c8 h2 w3] "
                             "opd0=[n1 c8 h2 w3] opd1=[n1 c8 h16 w16] res0_addr=0x4000 ";
  const std::string apart = lookup + "opd1_addr=0x6000";
  EXPECT_EQ(messageOf("cv181x", apart), "");
  for (const std::string name : {"res0", "opd0", "opd1"})
    for (const std::string layout : {"compact", "channel", "strides"})
      EXPECT_THAT(messageOf("cv181x", apart + " " + name + "_layout=" + layout),
                  HasSubstr(name + "_layout=" + layout + "; expected aligned"));
  EXPECT_THAT(messageOf("cv182x", apart + " relu=1"), HasSubstr("relu"));
  EXPECT_THAT(messageOf("cv180x", apart),
              HasSubstr("a table of another shape; expected 1 x 2 x 16 x 16"));
  EXPECT_THAT(messageOf("cv181x", lookup + "opd1_addr=0x4000"),
              HasSubstr("a table that the result overwrites"));
}

/// As files of TPU-MLIR have them: nothing reads the third operand of a lookup, nor what would
/// stand beside an input without pads.
TEST(Check, WhatNothingReadsMayBeAnything) {
  const std::string lookup =
      "lookup #2 operands=2 left_shift=2 shift_signed=0 opd1_sign=0 opd2_narrow=0 "
      "res0=[n1 c8 h24 w96] res0_addr=0x4000 opd0_addr=0x3000 opd1_addr=0x5000 "
      "opd0=[n1 c8 h24 w96] opd1=[n1 c8 h16 w16] opd2=[n1 c1 h1 w16]";
  EXPECT_EQ(messageOf("cv181x", lookup), "");
  const std::string average =
      "pool.avg #1 operands=2 left_shift=2 shift_signed=0 kind=bf16 opd1_sign=0 opd2_narrow=0 "
      "ins_value=0x4000 res0=[n1 c1 h1 w1] res0_addr=0x810 opd0_addr=0x800 opd1_addr=0x3f80 "
      "opd1_const=1 opd0=[n1 c1 h1 w2] opd2=[n1 c1 h1 w16] ";
  EXPECT_EQ(messageOf("cv181x", average + "opd1=[n1 c1 h1 w2]"), "");
  EXPECT_THAT(messageOf("cv181x", average + "opd1=[n1 c1 h1 w3] pad=[t0 b0 l0 r1]"),
              HasSubstr("a value beside those of BF16"));
}

/// Files of TPU-MLIR pad maxima by more than windows reach; the model takes that of others
/// otherwise.
TEST(Check, OnlyMaximaMayHaveFewerResultsThanPlaces) {
  const std::string shapes = "res0=[n1 c2 h56 w56] stride=[h2 w2] pad=[t1 b2 l1 r2] "
                             "res0_addr=0x6200 opd0=[n1 c2 h112 w112] ";
  EXPECT_EQ(messageOf("cv180x", "pool.max #1 operands=1 shift_signed=0 kind=bf16 " + shapes +
                                    "opd1=[n1 c1 h3 w3]"),
            "");
  EXPECT_THAT(messageOf("cv180x", "depthwise #1 operands=2 shift_signed=0 kind=bf16 " + shapes +
                                      "opd1=[n1 c2 h3 w3]"),
              HasSubstr("56 x 56 results; expected 57 x 57"));
}

TEST(Check, UnusedFieldsKeepTheirPresets) {
  const std::string copy(kCopy);
  EXPECT_THAT(messageOf("cv181x", copy + " group2=5"), HasSubstr("group2=5; expected 0 or 2"));
  EXPECT_THAT(messageOf("cv181x", copy + " same_strides=1"), HasSubstr("same_strides=1"));
  EXPECT_THAT(messageOf("cv181x", copy + " pad=[t0 b0 l1 r0]"), HasSubstr("pad_left=1"));
  EXPECT_THAT(messageOf("cv181x", strided("copy #1 operands=1 shift_signed=0 res0=[n1 c8 h4 w4] "
                                          "opd0=[n1 c8 h4 w5]")),
              HasSubstr("opd0 of 1 x 8 x 4 x 5; expected 1 x 8 x 4 x 4"));
}

/// Windows of the model have extents of 4063 at most, and images begin at lines.
TEST(Check, WindowsAreAsTheModelAssertsThem) {
  const std::string pool = "pool.max #1 operands=1 res0_sign=1 opd0_sign=1 opd1=[n1 c1 h1 w1] ";
  EXPECT_EQ(messageOf("cv181x", pool + "res0=[n1 c1 h1 w4063] opd0=[n1 c1 h1 w4063]"), "");
  EXPECT_THAT(messageOf("cv181x", pool + "res0=[n1 c1 h1 w4064] opd0=[n1 c1 h1 w4064]"),
              HasSubstr("a window over 4064 elements; expected at most 4063"));
  EXPECT_THAT(messageOf("cv181x", "conv #1 operands=2 res0_sign=1 opd0_sign=1 res0_layout=strides "
                                  "opd1_layout=compact res0=[n2 c1 h1 w1] opd0=[n2 c1 h1 w1] "
                                  "opd1=[n1 c1 h1 w1] res0_str=[n8 c8 h1 w1 b16]"),
              HasSubstr("images 8 bytes apart"));
}

TEST(Check, SumsOfIntegersHaveTwoPlanes) {
  for (const char *chip : {"cv183x", "cv182x", "cv181x", "cv180x"})
    for (const char *function : {"add", "sub"}) {
      const auto messageFor = [&](bool isFirstNarrow, bool isSecondNarrow, const char *more) {
        return messageOf(chip,
                         strided(fmt::format("{} #1 operands=2 res0_sign=1 opd0_sign=1 opd1_sign=1 "
                                             "opd0_narrow={:d} opd1_narrow={:d} res0=[n1 c1 h1 w1] "
                                             "opd0=[n1 c1 h1 w1] opd1=[n1 c1 h1 w1]{}",
                                             function, isFirstNarrow, isSecondNarrow, more)));
      };
      EXPECT_THAT(messageFor(true, false, ""), HasSubstr("narrow operands of a sum"));
      EXPECT_THAT(messageFor(false, true, ""), HasSubstr("narrow operands of a sum"));
      EXPECT_THAT(messageFor(false, true, " opd1_const=1"), HasSubstr("expected two planes"));
      EXPECT_THAT(messageFor(false, false, ""), testing::Not(HasSubstr("narrow")));
      EXPECT_THAT(messageFor(true, true, " kind=bf16"), testing::Not(HasSubstr("of a sum")));
    }
}

/// 17 channels stand in three slots of eight lanes, and in nine of two.
TEST(Check, HalvesOfBiasesAreApartByTheChannels) {
  const auto messageFor = [](std::string_view chip, std::string_view type, int distance) {
    return messageOf(
        chip, fmt::format("depthwise #1 operands=3 {} res0_sign=1 opd0_sign=1 opd2_narrow=0 "
                          "opd2_layout=channel opd1_addr=0x2000 opd2_addr=0x5000 res0_addr=0x6000 "
                          "res0=[n1 c17 h4 w4] opd0=[n1 c17 h4 w4] opd1=[n1 c17 h1 w1] "
                          "opd2=[n1 c17 h1 w1] opd2_str=[n0 c0 h0 w0 b{}]",
                          type, distance));
  };
  EXPECT_EQ(messageFor("cv181x", "kind=bf16", 6), "");
  EXPECT_EQ(messageFor("cv180x", "kind=bf16", 18), "");
  EXPECT_EQ(messageFor("cv181x", "", 3), "");
  EXPECT_THAT(messageFor("cv181x", "kind=bf16", 8),
              HasSubstr("further bytes of biases 8 bytes behind the first ones; expected 6"));
  EXPECT_THAT(messageFor("cv180x", "kind=bf16", 6), HasSubstr("expected 18"));
  EXPECT_THAT(messageFor("cv181x", "", 6),
              HasSubstr("further bytes of biases 6 bytes behind the first ones; expected 3"));
}

TEST(Check, StreamsAreInOrder) {
  const Chip &chip = *findChip("cv181x");
  Command one = *mc::assemble(commandTable(chip), kCopy, "text");
  std::vector<Command> commands = {one, one};
  // A long stream counts anew.
  EXPECT_FALSE(checkStream(chip, commands, "here"));
  EXPECT_EQ(partsOf(commands).size(), 2u);
  commands[1].set(Field::Id, 3);
  EXPECT_TRUE(checkStream(chip, commands, "here"));
  commands[1].set(Field::Id, 2);
  EXPECT_FALSE(checkStream(chip, commands, "here"));
  EXPECT_EQ(partsOf(commands).size(), 1u);
  commands[1].set(Field::Wait, 1);
  EXPECT_TRUE(checkStream(chip, commands, "here"));
}

} // namespace
