//===- CommandTest.cpp - Encoding, decoding and the text form -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Command.h"

#include <charconv>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

std::vector<std::pair<const CommandOp *, Form>> everyForm() {
  std::vector<std::pair<const CommandOp *, Form>> forms;
  for (const CommandOp &operation : allCommandOps()) {
    forms.emplace_back(&operation, operation.form);
    if (operation.otherForm)
      forms.emplace_back(&operation, *operation.otherForm);
  }
  return forms;
}

/// Random values in every field but those that say which command it is.
void fillAtRandom(Command &command, std::mt19937_64 &random) {
  for (const FieldSpec &spec : command.info().fields)
    if (spec.field != Field::CmdShort && spec.field != Field::Opcode &&
        spec.field != Field::SubOpcode)
      command.setBitsAt(spec.lsb, spec.width, random());
}

TEST(CommandTable, HasEveryOperationOnce) {
  for (const CommandOp &operation : allCommandOps()) {
    EXPECT_EQ(findCommandOp(operation.engine, operation.opcode, operation.sub), &operation);
    EXPECT_EQ(findCommandOp(operation.name), &operation) << operation.name;
  }
  EXPECT_EQ(findCommandOp(Engine::Tiu, 8, 0), nullptr);
  EXPECT_EQ(findCommandOp(Engine::Tiu, 3, 31), nullptr);
  EXPECT_EQ(findCommandOp("conv.nothing"), nullptr);
}

TEST(CommandTable, SizesFollowTheLoadersRule) {
  auto bytes = [](const char *name) { return formInfo(findCommandOp(name)->form).bytes; };
  EXPECT_EQ(bytes("conv.normal"), 64);
  EXPECT_EQ(bytes("pool.max"), 64);
  EXPECT_EQ(bytes("mm.normal"), 48);
  EXPECT_EQ(bytes("mm2.nn"), 32);
  EXPECT_EQ(bytes("ar.add"), 64);
  EXPECT_EQ(bytes("seg.eu"), 16);
  EXPECT_EQ(bytes("rq.int"), 32);
  EXPECT_EQ(bytes("trans.cw"), 32);
  EXPECT_EQ(bytes("sg.pl_gather"), 48);
  EXPECT_EQ(bytes("sfu.taylor"), 32);
  EXPECT_EQ(bytes("lin.mac"), 32);
  EXPECT_EQ(bytes("cmp.select_gt"), 48);
  EXPECT_EQ(bytes("vc.add"), 48);
  EXPECT_EQ(bytes("sys.end"), 16);
  EXPECT_EQ(bytes("dma.copy"), 96);
  EXPECT_EQ(bytes("dma.end"), 16);
}

TEST(Command, EveryFormRoundTripsThroughBytesAndText) {
  std::mt19937_64 random(1);
  for (auto [operation, form] : everyForm())
    for (int repeat = 0; repeat < 20; ++repeat) {
      Command command = Command::make(*operation, form);
      if (repeat > 0)
        fillAtRandom(command, random);
      Expected<Command> decoded = decode(operation->engine, command.encoded(), "test");
      ASSERT_TRUE(decoded) << decoded.error().message();
      EXPECT_EQ(*decoded, command) << operation->name;
      std::string text = disassemble(command);
      Expected<Command> assembled = assemble(text, "test");
      ASSERT_TRUE(assembled) << assembled.error().message();
      EXPECT_EQ(*assembled, command) << text;
    }
}

TEST(Command, BitsOutsideOfTheFieldsSurvive) {
  std::mt19937_64 random(2);
  for (auto [operation, form] : everyForm()) {
    Command command = Command::make(*operation, form);
    std::vector<uint8_t> bytes(command.encoded().begin(), command.encoded().end());
    for (size_t i = 8; i < bytes.size(); ++i)
      bytes[i] = static_cast<uint8_t>(random());
    Expected<Command> decoded = decode(operation->engine, bytes, "test");
    ASSERT_TRUE(decoded);
    EXPECT_EQ(std::vector(decoded->encoded().begin(), decoded->encoded().end()), bytes);
    Expected<Command> assembled = assemble(disassemble(*decoded), "test");
    ASSERT_TRUE(assembled) << assembled.error().message();
    EXPECT_EQ(*assembled, *decoded) << disassemble(*decoded);
  }
}

/// The bytes of another encoder, which reads the same bit tables.
TEST(Command, AgreesWithTheReferenceEncoder) {
  std::ifstream file(TPUC_GOLDEN_DIR "/encodings.txt");
  ASSERT_TRUE(file);
  int numChecked = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#'))
      continue;
    std::istringstream words(line);
    std::string name, hex, item;
    words >> name >> hex;
    std::vector<uint8_t> bytes(hex.size() / 2);
    for (size_t i = 0; i < bytes.size(); ++i)
      std::from_chars(&hex[2 * i], &hex[2 * i] + 2, bytes[i], 16);
    Expected<Command> blank = assemble(name, "test");
    ASSERT_TRUE(blank) << name;
    Command built = *blank;
    Expected<Command> decoded = decode(built.engine(), bytes, "test");
    ASSERT_TRUE(decoded) << decoded.error().message();
    while (words >> item) {
      size_t equals = item.find('=');
      uint64_t value = std::stoull(item.substr(equals + 1));
      const FieldSpec *found = nullptr;
      for (const FieldSpec &spec : built.info().fields)
        if (fieldName(spec.field) == item.substr(0, equals))
          found = &spec;
      ASSERT_TRUE(found) << name << " " << item;
      built.set(found->field, value);
      EXPECT_EQ(decoded->get(found->field), value) << name << " " << item;
    }
    EXPECT_EQ(std::vector(built.encoded().begin(), built.encoded().end()), bytes) << name;
    ++numChecked;
  }
  EXPECT_EQ(numChecked, 72);
}

TEST(Command, ReadableText) {
  Command conv = Command::make(*findCommandOp("conv.normal"));
  conv.set(Field::CmdId, 7).set(Field::CmdIdDep, 3).set(Field::Opd0Sign, 1);
  conv.set(Field::Res0Prec, Prec::I32).set(Field::Opd0UpPad, 1).set(Field::Opd0RtPad, 2);
  conv.set(Field::Res0N, 1).set(Field::Res0C, 64).set(Field::Res0H, 56).set(Field::Res0W, 57);
  conv.set(Field::Res0Addr, 0x40000).set(Field::ResOpXStr, 2).set(Field::ResOpYStr, 1);
  EXPECT_EQ(disassemble(conv), "conv.normal #7 <-3 opd0_sign=1 res0_prec=i32 pad=[u1 d0 l0 r2] "
                               "window_stride=[h1 w2] res0_addr=0x40000 res0=[n1 c64 h56 w57]");
  Command copy = Command::make(*findCommandOp("dma.copy"));
  copy.set(Field::SrcPrec, Prec::BF16).set(Field::SrcAddrH8, 1).set(Field::SrcAddrL32, 0x1000);
  copy.set(Field::LanesH32, 0).set(Field::CmdIdEn, 0);
  EXPECT_EQ(disassemble(copy),
            "dma.copy #0 cmd_id_en=0 src_prec=bf16 src_addr=0x100001000 lanes=0xffffffff");
  Command add = Command::make(*findCommandOp("ar.add"), Form::Long);
  EXPECT_EQ(disassemble(add), "ar.add.long #0");
}

TEST(Command, AssemblerSaysWhatIsWrong) {
  auto message = [](const char *line) {
    Expected<Command> command = assemble(line, "line 4");
    return command ? "assembled" : command.error().message();
  };
  EXPECT_THAT(message("conv.wrong #1"), HasSubstr("line 4: 'conv.wrong'; expected the name"));
  EXPECT_THAT(message("dma.copy.long #1"), HasSubstr("'dma.copy.long'"));
  EXPECT_THAT(message(""), HasSubstr("''"));
  EXPECT_THAT(message("rq.int res0=[n1 k2]"), HasSubstr("'res0=[n1 k2]'"));
  EXPECT_THAT(message("rq.int res0=[n70000]"), HasSubstr("a number of 16 bits"));
  EXPECT_THAT(message("rq.int res0_stride=[n1]"), HasSubstr("a field of the form 'rqdq'"));
  EXPECT_THAT(message("rq.int pad_mode=1"), HasSubstr("a field of the form 'rqdq'"));
  EXPECT_THAT(message("rq.int round=x"), HasSubstr("a number of 6 bits"));
  EXPECT_THAT(message("rq.int round"), HasSubstr("name=value"));
  EXPECT_THAT(message("rq.int bits[250:64]=1"), HasSubstr("inside of the command"));
  EXPECT_THAT(message("dma.copy src_addr=0x10000000000"), HasSubstr("a smaller number"));
  EXPECT_THAT(message("rq.int #x"), HasSubstr("a number of 20 bits"));
}

std::vector<Command> shortStream(Engine engine) {
  bool isTiu = engine == Engine::Tiu;
  std::vector<Command> commands;
  commands.push_back(Command::make(*findCommandOp(isTiu ? "ar.add" : "dma.copy")));
  commands.push_back(Command::make(*findCommandOp(isTiu ? "sys.end" : "dma.end")));
  return commands;
}

TEST(Stream, RoundTripsWithPadding) {
  for (Engine engine : {Engine::Tiu, Engine::Gdma}) {
    std::vector<Command> commands = shortStream(engine);
    std::vector<uint8_t> bytes = encodeStream(commands);
    EXPECT_EQ(bytes.size(), 128);
    Expected<std::vector<Command>> parsed = parseStream(engine, bytes, "s");
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(*parsed, commands);
  }
}

TEST(Stream, RefusesWhatIsNoStream) {
  auto message = [](Engine engine, std::span<const uint8_t> bytes) {
    Expected<std::vector<Command>> parsed = parseStream(engine, bytes, "f: group 0");
    return parsed ? "parsed" : parsed.error().message();
  };
  std::vector<uint8_t> bytes = encodeStream(shortStream(Engine::Tiu));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(message(Engine::Tiu, std::span(bytes).first(size)), "parsed") << size;
  EXPECT_THAT(message(Engine::Tiu, std::span(bytes).first(64)), HasSubstr("an end command"));
  bytes[100] = 1;
  EXPECT_THAT(message(Engine::Tiu, bytes), HasSubstr("byte 100: 0x1 after the end command"));
  bytes[100] = 0;
  bytes.resize(256);
  EXPECT_THAT(message(Engine::Tiu, bytes), HasSubstr("176 bytes after the end command"));
  bytes[5] = 0xff;
  EXPECT_THAT(message(Engine::Tiu, bytes), HasSubstr("command 0 at byte 0: TIU opcode"));
  Command end = Command::make(*findCommandOp("dma.end"));
  end.set(Field::CmdShort, 0);
  EXPECT_THAT(message(Engine::Gdma, end.encoded()), HasSubstr("short flag 0"));
}

} // namespace
