//===- StreamsTest.cpp - Streams that several engines share ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SmallIsa.h"

#include "tpuc/Target/Common/Stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::mc;
using namespace tpuc::smallisa;
using testing::HasSubstr;

namespace {

std::vector<Command> someCommands(const CommandTable &table,
                                  std::initializer_list<const char *> lines) {
  std::vector<Command> commands;
  for (const char *line : lines)
    commands.push_back(*assemble(table, line, "test"));
  return commands;
}

std::string refusal(const CommandTable &table, std::span<const uint8_t> bytes) {
  const auto parsed = parseStream(table, table.streams.front(), bytes, "s");
  return parsed ? "parsed" : parsed.error().message();
}

TEST(SharedStream, HasHeadersOfEngineAndLength) {
  const auto commands = someCommands(kOrdered, {"sync #1", "load.short #1 src=5"});
  const std::vector<uint8_t> bytes = encodeStream(orderedStream(), commands);
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0xA7, 4, 0, 0, 0, 0, 0x7F, 0, 0,    0, //
                                         0xA7, 4, 2, 0, 0, 0, 0x11, 0, 0x14, 0}));
}

TEST(SharedStream, RandomCommandsComeBack) {
  std::mt19937_64 random(4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<Command> commands;
    for (size_t count = random() % 20; count > 0; --count)
      commands.push_back(randomCommand(kOrdered, random));
    const std::vector<uint8_t> bytes = encodeStream(orderedStream(), commands);
    const auto parsed = parseStream(kOrdered, orderedStream(), bytes, "s");
    ASSERT_TRUE(parsed) << parsed.error().message();
    ASSERT_EQ(*parsed, commands);
  }
}

/// A stream with some bytes changed or cut off is refused, or is what it says.
TEST(SharedStream, AnyBytesAreRefusedOrKept) {
  std::mt19937_64 random(5);
  int numParsed = 0, numRefused = 0;
  for (int repeat = 0; repeat < 5000; ++repeat) {
    std::vector<Command> commands;
    for (size_t count = random() % 4; count > 0; --count)
      commands.push_back(randomCommand(kOrdered, random));
    std::vector<uint8_t> bytes = encodeStream(orderedStream(), commands);
    for (size_t count = random() % 3; count > 0 && !bytes.empty(); --count)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    if (random() % 4 == 0)
      bytes.resize(random() % (bytes.size() + 1));
    const auto parsed = parseStream(kOrdered, orderedStream(), bytes, "s");
    if (parsed)
      ASSERT_EQ(encodeStream(orderedStream(), *parsed), bytes);
    ++(parsed ? numParsed : numRefused);
  }
  EXPECT_GT(numParsed, 1000);
  EXPECT_GT(numRefused, 1000);
}

TEST(SharedStream, SaysWhatIsWrong) {
  const auto commands = someCommands(kOrdered, {"sync #1", "load #1"});
  const std::vector<uint8_t> good = encodeStream(orderedStream(), commands);
  const auto changed = [&](size_t at, uint8_t value) {
    std::vector<uint8_t> bytes = good;
    bytes[at] = value;
    return refusal(kOrdered, bytes);
  };
  EXPECT_EQ(refusal(kOrdered, good), "parsed");
  EXPECT_THAT(changed(10, 0xA6),
              HasSubstr("command 1 at byte 10: a header of 0x208a6; expected 0xa7"));
  EXPECT_THAT(changed(14, 1), HasSubstr("expected 0xa7 beside"));
  EXPECT_THAT(changed(12, 1), HasSubstr("engine 1; expected an engine of the stream"));
  EXPECT_THAT(changed(11, 4), HasSubstr("a header for 4 bytes; expected the 8 bytes of load"));
  EXPECT_THAT(changed(6, 0x01), HasSubstr("command 0 at byte 0: MAC opcode 1"));
  EXPECT_THAT(refusal(kOrdered, std::span(good).first(13)), HasSubstr("the 6 bytes of a header"));
  EXPECT_THAT(refusal(kOrdered, std::span(good).first(22)), HasSubstr("the 8 bytes of load"));
}

TEST(HandedOver, WordsBelongToTheEngineThatWasAnnounced) {
  const auto commands = someCommands(kWords, {"setup", "alu_block immediate=1",
                                              "alu.loop immediate=7", "compute function=3 target=8",
                                              "loop immediate=7", "alu_block", "compute"});
  const StreamInfo &stream = kWords.streams.front();
  const std::vector<uint8_t> bytes = encodeStream(stream, commands);
  EXPECT_EQ(bytes.size(), commands.size() * 4);
  const auto parsed = parseStream(kWords, stream, bytes, "s");
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(*parsed, commands);
  EXPECT_THAT(
      refusal(kWords, std::span(bytes).first(12)),
      HasSubstr("command 3 at byte 12: the end of the stream; expected 1 more commands of ALU"));
  EXPECT_THAT(refusal(kWords, std::span(bytes).subspan(12)), HasSubstr("ARRAY opcode 11"));
}

/// An end command, and zeros behind it.
TEST(EndedStream, EndsWithItsCommandAndPadding) {
  static constexpr EngineId kDma[] = {Engine::Dma};
  const StreamInfo stream = {.name = "DMA", .engines = kDma, .hasEnd = true, .alignment = 16};
  std::vector<OpInfo> ops(kOrdered.ops.begin(), kOrdered.ops.end());
  CommandTable table = kOrdered;
  table.ops = ops;
  ops.back().endsStream = true;
  for (OpInfo &op : ops)
    op.table = &table;
  const auto commands = someCommands(table, {"load", "fill"});
  std::vector<uint8_t> bytes = encodeStream(stream, std::span(commands).first(1));
  const auto message = [&] {
    const auto parsed = parseStream(table, stream, bytes, "s");
    return parsed ? "parsed" : parsed.error().message();
  };
  EXPECT_EQ(bytes.size(), 16);
  bytes.resize(8);
  EXPECT_THAT(message(), HasSubstr("command 1 at byte 8: the end of the stream; expected an end"));
  bytes = encodeStream(stream, commands);
  EXPECT_EQ(message(), "parsed");
  bytes = encodeStream(stream, std::span(commands).subspan(1));
  EXPECT_EQ(message(), "parsed");
  bytes[9] = 3;
  EXPECT_THAT(message(), HasSubstr("s: byte 9: 0x3 after the end command; expected zeros"));
  bytes.resize(12);
  EXPECT_THAT(message(), HasSubstr("4 bytes after the end command; expected 8"));
}

} // namespace
