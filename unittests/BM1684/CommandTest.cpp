//===- CommandTest.cpp - Encoding, decoding and the text form -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Command.h"

#include "tpuc/Target/BM1684/Machine/Check.h"

#include <charconv>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace tpuc;
using namespace tpuc::bm1684;
using testing::HasSubstr;

namespace {

void fillAtRandom(Command &command, std::mt19937_64 &random) {
  for (const FieldSpec &spec : command.info().fields)
    if (spec.field != mc::FieldId(Field::Opcode) && spec.field != mc::FieldId(Field::SubOpcode))
      command.setBitsAt(spec.lsb, spec.width, random());
}

TEST(Command, EveryOperationRoundTripsThroughBytesAndText) {
  std::mt19937_64 random(1);
  for (const mc::OpInfo &operation : kCommandTable.ops)
    for (int repeat = 0; repeat < 20; ++repeat) {
      Command command = Command::make(operation);
      if (repeat > 0)
        fillAtRandom(command, random);
      EXPECT_EQ(command.encoded().size(), kCommandBytes);
      Expected<Command> decoded = decode(operation.engine, command.encoded(), "test");
      ASSERT_TRUE(decoded) << decoded.error().message();
      EXPECT_EQ(*decoded, command) << operation.name;
      Expected<Command> assembled = assemble(disassemble(command), "test");
      ASSERT_TRUE(assembled) << assembled.error().message();
      EXPECT_EQ(*assembled, command) << disassemble(command);
    }
}

TEST(Command, BitsOutsideOfTheFieldsSurvive) {
  Command command = Command::make(*mc::findOp(kCommandTable, "dma.copy"));
  command.setBitsAt(12, 4, 9);    // Reserved.
  command.setBitsAt(710, 64, 77); // Behind the last field.
  Expected<Command> decoded = decode(Engine::Gdma, command.encoded(), "test");
  ASSERT_TRUE(decoded);
  EXPECT_THAT(disassemble(*decoded), HasSubstr("bits["));
  Expected<Command> assembled = assemble(disassemble(*decoded), "test");
  ASSERT_TRUE(assembled) << assembled.error().message();
  EXPECT_EQ(*assembled, command);
}

/// A line of the golden file: the engine, and the bytes of a command in the vendor's model files.
struct VendorCommand {
  Engine engine;
  std::vector<uint8_t> bytes;
};

std::vector<VendorCommand> readVendorCommands() {
  std::ifstream file(TPUC_GOLDEN_DIR "/streams.txt");
  std::vector<VendorCommand> commands;
  for (std::string engine, hex; file >> engine >> hex;) {
    VendorCommand command{engine == "TIU" ? Engine::Tiu : Engine::Gdma, {}};
    command.bytes.resize(hex.size() / 2);
    for (size_t i = 0; i < command.bytes.size(); ++i)
      std::from_chars(&hex[2 * i], &hex[2 * i] + 2, command.bytes[i], 16);
    commands.push_back(std::move(command));
  }
  return commands;
}

TEST(Stream, TheVendorsCommandsComeBack) {
  const std::vector<VendorCommand> vendor = readVendorCommands();
  ASSERT_GE(vendor.size(), 100u);
  for (const Engine engine : {Engine::Tiu, Engine::Gdma}) {
    std::vector<uint8_t> stream;
    for (const VendorCommand &command : vendor)
      if (command.engine == engine)
        stream.insert(stream.end(), command.bytes.begin(), command.bytes.end());
    Expected<std::vector<Command>> parsed = parseStream(engine, stream, "stream");
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(parsed->size(), stream.size() / kCommandBytes);
    EXPECT_EQ(encodeStream(*parsed), stream);
    for (const Command &command : *parsed) {
      Expected<Command> assembled = assemble(disassemble(command), "test");
      ASSERT_TRUE(assembled) << assembled.error().message();
      EXPECT_EQ(*assembled, command);
      EXPECT_FALSE(checkCommand(command, "vendor")) << checkCommand(command, "v")->message();
    }
  }
}

TEST(Stream, RefusesWhatIsNoStream) {
  const auto message = [](std::span<const uint8_t> bytes) {
    Expected<std::vector<Command>> parsed = parseStream(Engine::Tiu, bytes, "f: group 0");
    return parsed ? "parsed" : parsed.error().message();
  };
  const Command command = Command::make(*mc::findOp(kCommandTable, "ar.add"));
  std::vector<uint8_t> bytes = encodeStream(std::array{command, command});
  EXPECT_EQ(message(bytes), "parsed");
  EXPECT_EQ(message({}), "parsed");
  EXPECT_THAT(message(std::span(bytes).first(200)), HasSubstr("f: group 0: command 1 at byte 128"));
  // An opcode that the chip lacks.
  bytes[4] = static_cast<uint8_t>(15 << 5);
  bytes[5] = 1;
  EXPECT_THAT(message(bytes), HasSubstr("command 0 at byte 0"));
}

TEST(Command, ReadableText) {
  Command conv = Command::make(*mc::findOp(kCommandTable, "conv"));
  conv.set(Field::CmdId, 7).set(Field::CmdIdDep, 3).set(Field::Opd0Sign, 1);
  conv.set(Field::Res0N, 1).set(Field::Res0C, 64).set(Field::Res0H, 56).set(Field::Res0W, 57);
  conv.set(Field::Res0Addr, 0x8040000).set(Field::ResOpXStr, 2).set(Field::ResOpYStr, 1);
  EXPECT_EQ(disassemble(conv),
            "conv #7 <-3 opd0_sign=1 window_stride=[h1 w2] res0=[n1 c64 h56 w57] "
            "res0_addr=0x8040000");
  Command copy = Command::make(*mc::findOp(kCommandTable, "dma.matrix"));
  copy.set(Field::Direction, 1).set(Field::SrcFormat, 3).set(Field::LanesH32, 0);
  EXPECT_EQ(disassemble(copy), "dma.matrix #0 direction=l2s src_format=3 lanes=0xffffffff");
}

} // namespace
