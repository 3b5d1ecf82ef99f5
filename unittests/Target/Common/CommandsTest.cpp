//===- CommandsTest.cpp - Commands of any table: bits, text, limits -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SmallIsa.h"

#include "tpuc/Target/Common/Check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::mc;
using namespace tpuc::smallisa;
using testing::HasSubstr;

namespace {

const CommandTable *const kTables[] = {&kOrdered, &kWords, &kThree};

std::vector<uint8_t> bytesOf(const Command &command) {
  return {command.encoded().begin(), command.encoded().end()};
}

/// The problem of a table whose form "sync" has these fields and bytes.
std::string problemWith(std::span<const FieldSpec> fields, uint8_t bytes) {
  std::vector<FormInfo> forms(kOrdered.forms.begin(), kOrdered.forms.end());
  forms[1].fields = fields;
  forms[1].bytes = bytes;
  CommandTable table = kOrdered;
  table.forms = forms;
  return std::string(problemOf(table));
}

TEST(SmallTable, ProblemsAreFound) {
  using F = Field;
  const std::vector<FieldSpec> good = {{F::Opcode, 0, 4}, {F::Sub, 4, 2}, {F::Id, 6, 8}};
  EXPECT_EQ(problemWith(good, 4), "");
  EXPECT_EQ(problemWith(good, 2), "a form of too few or too many bytes");
  EXPECT_EQ(problemWith(good, 129), "a form of too few or too many bytes");
  const auto with = [&](FieldSpec spec) {
    std::vector<FieldSpec> fields = good;
    fields.push_back(spec);
    return problemWith(fields, 4);
  };
  EXPECT_EQ(with({F::W, 14, 18}), "");
  EXPECT_EQ(with({F::W, 13, 2}), "two fields on one bit");
  EXPECT_EQ(with({F::W, 14, 19}), "a field outside of its form");
  EXPECT_EQ(with({F::W, 14, 0}), "a field outside of its form");
  EXPECT_EQ(with({F::Id, 14, 2}), "a field twice in a form");
  EXPECT_EQ(with({FieldId(99), 14, 2}), "a field that the table lacks");
  EXPECT_EQ(problemWith(std::span(good).subspan(1), 4), "a form without opcode or sub-opcode");
  const std::vector<FieldSpec> moved = {{F::Opcode, 0, 4}, {F::Sub, 5, 2}};
  EXPECT_THAT(problemWith(moved, 4), HasSubstr("at another place than its engine says"));
}

TEST(SmallTable, NumbersAreTheOrder) {
  std::vector<FieldInfo> fields(kOrdered.fields.begin(), kOrdered.fields.end());
  std::vector<FormInfo> forms(kOrdered.forms.begin(), kOrdered.forms.end());
  CommandTable table = kOrdered;
  table.fields = fields;
  table.forms = forms;
  EXPECT_EQ(problemOf(table), "");
  std::swap(forms[2].id, forms[3].id);
  EXPECT_EQ(problemOf(table), "forms in another order than their numbers");
  std::swap(fields[2], fields[3]);
  EXPECT_EQ(problemOf(table), "fields in another order than their numbers");
  table.fields = table.fields.first(3);
  EXPECT_EQ(problemOf(table), "tables of sizes that do not agree");
}

TEST(SmallTable, OperationsThatCannotBeToldApartAreFound) {
  const auto problemOfOps = [](auto change) {
    std::vector<OpInfo> ops(kOrdered.ops.begin(), kOrdered.ops.end());
    change(ops);
    CommandTable table = kOrdered;
    table.ops = ops;
    return std::string(problemOf(table));
  };
  EXPECT_EQ(problemOfOps([](auto &) {}), "");
  EXPECT_EQ(problemOfOps([](auto &ops) { ops[1].sub = 0; }),
            "two operations with the same opcodes");
  EXPECT_THAT(problemOfOps([](auto &ops) { ops[1].sub = 4; }), HasSubstr("too many bits"));
  EXPECT_THAT(problemOfOps([](auto &ops) { ops[0].form = Form::Dma; }),
              HasSubstr("another engine"));
  EXPECT_THAT(problemOfOps([](auto &ops) { ops[0].otherForm = Form::MacSync; }),
              HasSubstr("without a flag"));
  EXPECT_THAT(problemOfOps([](auto &ops) { ops[4].rule = FlagRule::Any; }),
              HasSubstr("the same flag"));
}

TEST(SmallCommand, BitsAreWhereTheTableSays) {
  Command conv = Command::make(opOf(kOrdered, "conv.depthwise"));
  EXPECT_EQ(bytesOf(conv), (std::vector<uint8_t>{0x10, 0, 0, 0, 0, 0, 0, 0x02}));
  conv.set(Field::Id, 0xFF).set(Field::Addr, 0xABCD).set(Field::C, 0x101);
  EXPECT_EQ(bytesOf(conv), (std::vector<uint8_t>{0xD0, 0x3F, 0x80, 0xE6, 0xD5, 0x80, 0x00, 0x02}));
  EXPECT_EQ(conv.get(Field::Addr), 0xABCD);
  EXPECT_EQ(conv.get(Field::Length), 0);
  EXPECT_FALSE(conv.has(Field::Length));
  EXPECT_FALSE(conv.trySet(Field::Length, 0));
  EXPECT_FALSE(conv.trySet(Field::C, 512));
  EXPECT_EQ(conv.get(Field::C), 0x101);
  EXPECT_EQ(bytesOf(Command::make(opOf(kOrdered, "load"), Form::DmaShort)),
            (std::vector<uint8_t>{1, 0, 0, 0}));
  EXPECT_EQ(bytesOf(Command::make(opOf(kWords, "compute"))), (std::vector<uint8_t>{0, 0, 0, 0xB0}));
}

TEST(SmallCommand, RandomCommandsComeBackFromBytesAndText) {
  std::mt19937_64 random(1);
  for (const CommandTable *table : kTables)
    for (int repeat = 0; repeat < 2000; ++repeat) {
      const Command command = randomCommand(*table, random);
      const Expected<Command> decoded = decode(*table, command.engine(), command.encoded(), "test");
      ASSERT_TRUE(decoded) << decoded.error().message();
      ASSERT_EQ(*decoded, command) << disassemble(command);
      const std::string text = disassemble(command);
      const Expected<Command> assembled = assemble(*table, text, "test");
      ASSERT_TRUE(assembled) << assembled.error().message();
      ASSERT_EQ(*assembled, command) << text;
    }
}

TEST(SmallCommand, AnyBytesAreRefusedOrKept) {
  std::mt19937_64 random(2);
  int numDecoded = 0;
  for (const CommandTable *table : kTables)
    for (int repeat = 0; repeat < 5000; ++repeat) {
      std::vector<uint8_t> bytes(random() % 12);
      for (uint8_t &byte : bytes)
        byte = static_cast<uint8_t>(random());
      const EngineId engine(random() % table->engines.size());
      const Expected<Command> command = decode(*table, engine, bytes, "test");
      if (!command)
        continue;
      ++numDecoded;
      const std::span<const uint8_t> kept = command->encoded();
      ASSERT_TRUE(std::ranges::equal(kept, std::span(bytes).first(kept.size())));
      const Expected<Command> assembled = assemble(*table, disassemble(*command), "test");
      ASSERT_TRUE(assembled) << assembled.error().message();
      ASSERT_EQ(*assembled, *command);
    }
  EXPECT_GT(numDecoded, 1000);
}

TEST(SmallCommand, DecodingSaysWhatIsWrong) {
  const auto message = [](Engine engine, std::vector<uint8_t> bytes) {
    const Expected<Command> command = decode(kOrdered, engine, bytes, "byte 8");
    return command ? "decoded" : command.error().message();
  };
  EXPECT_THAT(message(Engine::Mac, {0, 0, 0}), HasSubstr("byte 8: 3 bytes left"));
  EXPECT_THAT(message(Engine::Mac, {0, 0, 0, 0}), HasSubstr("the 8 bytes of conv"));
  EXPECT_THAT(message(Engine::Mac, {0x21, 0, 0, 0}), HasSubstr("MAC opcode 1 with sub-opcode 2"));
  EXPECT_THAT(message(Engine::Dma, {0x0F, 0, 0, 0}), HasSubstr("fill with short flag 1"));
  EXPECT_EQ(message(Engine::Dma, {0x01, 0, 0, 0}), "decoded");
}

TEST(SmallCommand, ReadableText) {
  Command conv = Command::make(opOf(kOrdered, "conv"));
  EXPECT_EQ(disassemble(conv), "conv #0");
  conv.set(Field::Id, 7).set(Field::Wait, 3).set(Field::Type, 2).set(Field::Stride, 0);
  conv.set(Field::C, 64).set(Field::Addr, 0x40);
  conv.setBitsAt(62, 1, 1);
  EXPECT_EQ(disassemble(conv),
            "conv #7 <-3 type=bf16 addr=0x40 size=[c64 w0] stride=0 bits[0:64]=0x4000000000000000");
  Command load = Command::make(opOf(kOrdered, "load"));
  load.set(Field::DstLow, 1).set(Field::DstHigh, 2);
  EXPECT_EQ(disassemble(load), "load #0 dst=0x801");
  Command shortLoad = Command::make(opOf(kOrdered, "load"), Form::DmaShort);
  shortLoad.setBitsAt(30, 2, 3);
  EXPECT_EQ(disassemble(shortLoad), "load.short #0 bits[0:32]=0xc0000000");
  Command read = Command::make(opOf(kThree, "b.read"));
  read.set(ThreeField::WaitA, 4).set(ThreeField::WaitB, 5);
  EXPECT_EQ(disassemble(read), "b.read #0 <-A:4 <-C:5");
  EXPECT_EQ(disassemble(Command::make(opOf(kWords, "loop"))), "loop");
}

TEST(SmallCommand, AssemblerSaysWhatIsWrong) {
  const auto message = [](const CommandTable &table, const char *line) {
    const Expected<Command> command = assemble(table, line, "line 4");
    return command ? "assembled" : command.error().message();
  };
  EXPECT_EQ(message(kOrdered, "conv stride=2 size=[w3 c2] #1 type=1"), "assembled");
  EXPECT_THAT(message(kOrdered, "conf"), HasSubstr("line 4: 'conf'; expected the name"));
  EXPECT_THAT(message(kOrdered, "load.long"), HasSubstr("'load.long'"));
  EXPECT_THAT(message(kOrdered, "fill.short"), HasSubstr("'fill.short'"));
  EXPECT_THAT(message(kOrdered, "sync relu=1"), HasSubstr("a field of the form 'sync'"));
  EXPECT_THAT(message(kOrdered, "conv type=f64"), HasSubstr("a number of 2 bits"));
  EXPECT_THAT(message(kOrdered, "conv size=[c1 k2]"), HasSubstr("a letter and a number"));
  EXPECT_THAT(message(kOrdered, "load dst=0x10000"), HasSubstr("a smaller number"));
  EXPECT_THAT(message(kOrdered, "load.short bits[30:4]=1"), HasSubstr("inside of the command"));
  EXPECT_THAT(message(kThree, "a.read <-3"), HasSubstr("an engine that this one waits for"));
  EXPECT_THAT(message(kThree, "a.read <-A:3"), HasSubstr("an engine that this one waits for"));
  EXPECT_EQ(message(kThree, "a.read <-C:3"), "assembled");
  EXPECT_THAT(message(kWords, "loop #3"), HasSubstr("name=value"));
}

TEST(SmallCommand, LimitsHoldForTheirOpcodes) {
  const auto message = [](const char *line) {
    const std::optional<Error> error = checkFields(*assemble(kOrdered, line, "test"), "here");
    return error ? error->message() : "legal";
  };
  EXPECT_EQ(message("conv size=[c1] type=bf16 stride=8"), "legal");
  EXPECT_THAT(message("conv size=[c1] type=3"), HasSubstr("here: conv type=3; expected 0 to 2"));
  EXPECT_THAT(message("conv size=[c1] stride=0"), HasSubstr("conv stride=0; expected 1 to 8"));
  EXPECT_EQ(message("add size=[c1] stride=0 type=i16"), "legal");
  EXPECT_THAT(message("add size=[c1] type=bf16"), HasSubstr("add type=bf16; expected integers"));
  EXPECT_THAT(message("add size=[c0]"), HasSubstr("add c=0; expected 1 to 511"));
  EXPECT_EQ(message("load"), "legal");
}

TEST(SmallCommand, LimitsOfRandomCommands) {
  std::mt19937_64 random(3);
  int numLegal = 0;
  for (int repeat = 0; repeat < 5000; ++repeat) {
    const Command command = randomCommand(kOrdered, random);
    const uint64_t type = command.get(Field::Type);
    const uint64_t stride = command.get(Field::Stride);
    bool isLegal = command.engine() == Engine::Dma || command.form() == Form::MacSync ||
                   (command.get(Field::C) > 0 && type < 3);
    if (command.form() == Form::Mac)
      isLegal &= command.operation().opcode == 5 ? type < 2 : stride > 0 && stride < 9;
    ASSERT_EQ(!checkFields(command, "test"), isLegal) << disassemble(command);
    numLegal += isLegal ? 1 : 0;
  }
  EXPECT_GT(numLegal, 1000);
  EXPECT_LT(numLegal, 4500);
}

} // namespace
