//===- IsaTest.cpp - Words and their text ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/Program.h"

#include <gtest/gtest.h>
#include <random>

using namespace tpuc;
using namespace tpuc::dnnweaver;

namespace {

constexpr IsaKind kKinds[] = {IsaKind::Public, IsaKind::Patent};

TEST(DNNWeaverIsa, FieldsLieWhereTheDocumentsSay) {
  // opcode[31:28] spec[27:21] loop[20:16] immediate[15:0]
  const uint32_t words[] = {
      0u << 28 | (4u << 3 | 4) << 21,                     // setup, two times 16 bits
      9u << 28 | (2u << 3 | 1) << 21 | 3u << 16 | 0x1234, // the upper half of the weights' base
      7u << 28 | 16u << 16 | 10,                          // eleven tiles
      5u << 28 | (1u << 3 | 0) << 21 | 16u << 16 | 2,
      6u << 28 | (1u << 3 | 0) << 21 | 16u << 16 | 8,
      10u << 28 | 2,                                                // three words of the ALU
      12u << 28 | 1u << 27 | 3u << 24 | 0xFFFEu << 8 | 8u << 4 | 1, // r1 = output * -2
      11u << 28 | 5u << 24 | 1u << 8 | 2u << 4 | 8,                 // store max(r2, r1)
      8u << 28 | 6,
      8u << 28 | 1,
  };
  for (const IsaKind kind : kKinds) {
    const Expected<std::vector<mc::Command>> commands = decodeWords(kind, words, "program");
    ASSERT_TRUE(commands) << commands.error().message();
    EXPECT_EQ(disassembleWords(*commands), "setup spec=36\n"
                                           "base imm=4660 high=3 part=1 buffer=weight\n"
                                           "loop imm=10 group=16\n"
                                           "stride.high imm=2 group=16 buffer=output\n"
                                           "stride imm=8 group=16 buffer=output\n"
                                           "alu.begin imm=2\n"
                                           "alu.i dst=r1 src0=output imm=65534 fn=mul immediate=1\n"
                                           "alu.r dst=store src0=r2 src1=r1 fn=max\n"
                                           "alu.end imm=6\n"
                                           "end imm=1\n");
    EXPECT_EQ(encodeWords(*commands), std::vector<uint32_t>(std::begin(words), std::end(words)));
  }
}

/// Every operation with every field at each of its bits, at all ones and at zero, by itself.
TEST(DNNWeaverIsa, EveryFieldGoesThroughWordsAndText) {
  for (const IsaKind kind : kKinds) {
    size_t numTried = 0;
    for (const mc::OpInfo &op : isa(kind).ops) {
      if (op.handover)
        continue; // announces words; see FieldsLieWhereTheDocumentsSay
      const mc::Command usual = mc::Command::make(op);
      for (const mc::FieldSpec &spec : usual.info().fields) {
        if (spec.field == mc::FieldId(Field::Opcode))
          continue;
        for (unsigned bit = 0; bit <= spec.width; ++bit) {
          mc::Command command = usual;
          command.set(spec.field, bit == spec.width ? spec.bits().mask() : uint64_t{1} << bit);
          const std::string text = disassembleWords({&command, 1});
          const Expected<mc::Command> again =
              mc::assemble(isa(kind), text.substr(0, text.size() - 1), "");
          ASSERT_TRUE(again) << text << again.error().message();
          EXPECT_TRUE(*again == command) << text;
          const Expected<mc::Command> decoded =
              mc::decode(isa(kind), op.engine, command.encoded(), "");
          ASSERT_TRUE(decoded);
          EXPECT_TRUE(*decoded == command) << text;
          ++numTried;
        }
      }
    }
    EXPECT_GT(numTried, 500u);
  }
}

TEST(DNNWeaverIsa, OnlyThePatentHasPairs) {
  const uint32_t words[] = {13u << 28 | 5, 8u << 28 | 1};
  EXPECT_FALSE(decodeWords(IsaKind::Public, words, "program"));
  EXPECT_TRUE(decodeWords(IsaKind::Patent, words, "program"));
}

struct Refusal {
  std::vector<uint32_t> words;
  std::string message;
};

TEST(DNNWeaverIsa, HostileWordsAreRefusedInOneLine) {
  const Refusal refusals[] = {
      {{}, "p: no last block; expected an end with an odd immediate"},
      {{14u << 28},
       "p: command 0 at byte 0: array opcode 14 with sub-opcode 0; expected an operation of the "
       "command table"},
      {{1u << 28 | 5u << 24 | 1}, "p: word 0: load buffer=5; expected 0 to 3"},
      {{1u << 28 | 1u << 27 | 1}, "p: word 0: load unused=1; expected 0 to 0"},
      {{1u << 28 | 0}, "p: word 0: a load of no words; expected at least 1"},
      {{7u << 28 | 9u << 16}, "p: word 0: a loop of group 9; expected 0 to 4, or 16"},
      {{8u << 28 | 1},
       "p: word 0: a block without ALU operations; expected an ALU block, which stores the sums"},
      {{10u << 28 | 0, 11u << 28 | 1u << 27}, "p: word 1: alu.r immediate=1; expected 0 to 0"},
      {{10u << 28 | 0, 11u << 28 | 15u << 4}, "p: word 1: alu.r src0=15; expected 0 to 10"},
  };
  for (const Refusal &refusal : refusals) {
    const Expected<std::vector<Block>> blocks =
        readProgram(*parametersNamed("public", ""), refusal.words, "p");
    ASSERT_FALSE(blocks) << refusal.message;
    EXPECT_EQ(blocks.error().message(), refusal.message);
  }
  const std::vector<uint32_t> many(4097, 0);
  const Expected<std::vector<Block>> tooMany =
      readProgram(*parametersNamed("public", ""), many, "p");
  ASSERT_FALSE(tooMany);
  EXPECT_EQ(tooMany.error().message(), "p: 4097 instructions; expected at most 4096");
}

TEST(DNNWeaverIsa, TextIsRefusedWithItsLine) {
  const Expected<std::vector<mc::Command>> commands =
      assembleWords(IsaKind::Public, "setup ; comment\n\nloop imm=1 group=99\n", "p.s");
  ASSERT_FALSE(commands);
  EXPECT_EQ(commands.error().message().rfind("p.s:3", 0), 0u) << commands.error().message();
}

TEST(DNNWeaverParameters, SetsAreNamed) {
  const Expected<Parameters> none = parametersNamed("other", "--machine");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message(), "--machine: parameter set 'other'; expected public or patent");
  EXPECT_FALSE(withArray(*parametersNamed("public", ""), 8, 8, ""));
  EXPECT_FALSE(withArray(*parametersNamed("public", ""), 24, 32, ""));
  EXPECT_TRUE(withArray(*parametersNamed("public", ""), 64, 16, ""));
}

} // namespace
