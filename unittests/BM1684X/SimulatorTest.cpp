//===- SimulatorTest.cpp - The functional simulator -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Simulator.h"
#include "test/conformance/bm1684x/Case.h"
#include "unittests/BM168x/Replay.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using namespace tpuc::bm1684x::conformance;
using testing::HasSubstr;

namespace {

Command command(const char *text) {
  Expected<Command> assembled = assemble(text, "test");
  if (!assembled)
    ADD_FAILURE() << assembled.error().message();
  return *assembled;
}

std::string prepareMessage(const char *text) {
  Expected<PreparedCommand> prepared = prepare(command(text), "test");
  return prepared ? "prepared" : prepared.error().message();
}

/// A machine with 4 MiB of global memory.
struct Fixture {
  static const mc::CommandTable &table() { return kCommandTable; }
  static Expected<PreparedCommand> prepare(const Command &command, const std::string &where) {
    return bm1684x::prepare(command, where);
  }

  Memory memory;
  std::vector<uint8_t> global = std::vector<uint8_t>(4 << 20);
  ElementAt at = elementsOf(memory.local().data(), global.data());

  Fixture() {
    if (!memory.mapGlobal(kGlobalBase, global))
      ADD_FAILURE() << "global memory";
  }
};

void replay(SimdLevel level, unsigned threads, size_t part) {
  Fixture fixture;
  bm168x::replayVectors(fixture, TPUC_GOLDEN_DIR "/vectors.txt", 2000, level, threads, part);
}

TEST(Golden, BestInstructionSetTwoThreads) { replay(bestSimdLevel(), 2, 0); }
TEST(Golden, PlainX86OneThread) { replay(SimdLevel::Generic, 1, 1); }
TEST(Golden, Avx2) {
  if (bestSimdLevel() < SimdLevel::Avx2)
    GTEST_SKIP() << "this processor has no AVX2";
  replay(SimdLevel::Avx2, 1, 2);
}

TEST(Check, MisalignedAndOutOfRangeOperands) {
  EXPECT_THAT(prepareMessage("ar.copy #1 opd_num=1 res0=[n1 c1 h1 w1] res0_prec=f32 opd0_prec=f32 "
                             "res0_addr=0x2 opd0_addr=0x40"),
              HasSubstr("res0 at 0x2; expected a multiple of 4 bytes"));
  EXPECT_THAT(prepareMessage("ar.copy #1 opd_num=1 res0=[n1 c64 h1 w64] res0_prec=f32 "
                             "opd0_prec=f32 res0_addr=0x3ffc0 opd0_addr=0x0"),
              HasSubstr("reaches byte 0x400c0 of its lanes; expected at most 0x40000"));
  EXPECT_THAT(prepareMessage("ar.copy #1 opd_num=1 res0=[n1 c1 h1 w1] res0_addr=0x1000000"),
              HasSubstr("below 0x1000000"));
  EXPECT_THAT(prepareMessage("ar.copy #1 opd_num=1 res0=[n0 c1 h1 w1]"),
              HasSubstr("extents of at least 1"));
  EXPECT_THAT(prepareMessage("ar.copy #1 opd_num=1 res0=[n1 c1 h1 w1] opd0_prec=7"),
              HasSubstr("opd0_prec=7"));
  EXPECT_THAT(prepareMessage("ar.copy #1 opd_num=1 res0=[n1 c1 h1 w1] opd0_prec=i4"),
              HasSubstr("opd0_prec=i4"));
}

TEST(Check, UnknownFormsAreRefusedByName) {
  EXPECT_THAT(prepareMessage("ar.clamp #1 opd_num=3 res0=[n1 c1 h1 w1]"), HasSubstr("ar.clamp"));
  EXPECT_THAT(prepareMessage("lar.mul"), HasSubstr("lar.mul: the operation"));
  EXPECT_THAT(prepareMessage("sgl.gather #1"), HasSubstr("sgl.gather: the operation"));
  EXPECT_THAT(prepareMessage("sg.gather_w #1 res0=[n1 c1 h1 w4] opd0=[h1 w4] opd1=[c1 w4]"),
              HasSubstr("sg.gather_w: the operation"));
  EXPECT_THAT(prepareMessage("sys.spb #1"), HasSubstr("sys.spb: the operation"));
}

Command withIds(const char *name, uint32_t id, uint32_t dependency) {
  return command(name).set(Field::CmdId, id).set(Field::CmdIdDep, dependency);
}

TEST(Order, TiuRunsAsSoonAsItMay) {
  std::vector<Command> tiu = {withIds("sys.nop", 1, 0), withIds("sys.nop", 2, 2),
                              withIds("sys.nop", 3, 0)};
  std::vector<Command> gdma = {withIds("dma.nop", 1, 0), withIds("dma.nop", 2, 1)};
  Expected<std::vector<ScheduledCommand>> order = serialOrder(tiu, gdma, "test");
  ASSERT_TRUE(order) << order.error().message();
  std::string text;
  for (ScheduledCommand one : *order)
    text += (one.engine == Engine::Tiu ? "t" : "g") + std::to_string(one.index + 1);
  EXPECT_EQ(text, "t1g1g2t2t3");
}

TEST(Order, RefusesDeadlocksAndWrongIds) {
  auto message = [](std::vector<Command> tiu, std::vector<Command> gdma) {
    Expected<std::vector<ScheduledCommand>> order = serialOrder(tiu, gdma, "test");
    return order ? "ordered" : order.error().message();
  };
  EXPECT_THAT(message({withIds("sys.nop", 1, 1)}, {withIds("dma.nop", 1, 1)}),
              HasSubstr("TIU command 0: waits for GDMA id 1, and GDMA command 0 for TIU id 1"));
  EXPECT_THAT(message({withIds("sys.nop", 1, 5)}, {}), HasSubstr("waits for GDMA id 5"));
  EXPECT_THAT(message({}, {withIds("dma.nop", 1, 1)}), HasSubstr("waits for TIU id 1"));
  EXPECT_THAT(message({withIds("sys.nop", 2, 0)}, {}), HasSubstr("id 2; expected 1"));
}

TEST(Order, HazardsAreWhatIdsLeaveOpen) {
  const auto message = [](const char *compute, const char *move) {
    const Expected<Command> tiu = assemble(compute, "test");
    const Expected<Command> gdma = assemble(move, "test");
    const std::optional<Error> error =
        checkHazards(std::span(&*tiu, 1), std::span(&*gdma, 1), "test");
    return error ? error->message() : "ordered";
  };
  const std::string load = "dma.copy #1 src_prec=f32 src=[n1 c1 h1 w16] nchw_copy=1 "
                           "src_addr=0x100000000 dst_addr=";
  const std::string seen = load + "0x8000100";
  const std::string other = load + "0x8000140";
  const char *const copy = "ar.copy #1 opd_num=1 res0_prec=f32 opd0_prec=f32 res0=[n1 c1 h1 w16] "
                           "res0_addr=0x80 opd0_addr=0x100";
  EXPECT_THAT(message(copy, seen.c_str()),
              HasSubstr("test: GDMA command 0 (dma.copy): no id that orders it and test: TIU "
                        "command 0 (ar.copy)"));
  EXPECT_EQ(message(copy, other.c_str()), "ordered");
  EXPECT_EQ(message((copy + std::string(" <-1")).c_str(), seen.c_str()), "ordered");
  EXPECT_THAT(message((copy + std::string(" <-2")).c_str(), seen.c_str()),
              HasSubstr("waits for GDMA id 2"));
}

TEST(Program, LoadsAddsAndStores) {
  Fixture fixture;
  for (int i = 0; i < 64; ++i) {
    auto value = static_cast<float>(i);
    std::memcpy(&fixture.global[static_cast<size_t>(i) * 4], &value, 4);
  }
  std::vector<Command> gdma = {
      command("dma.copy #1 nchw_copy=1 src_prec=f32 src=[n1 c8 h2 w4] src_addr=0x100000000 "
              "dst_addr=0x8000000"),
      command("dma.copy #2 <-1 nchw_copy=1 src_prec=f32 src=[n1 c8 h2 w4] src_addr=0x8001000 "
              "dst_addr=0x100001000"),
      command("dma.end #3")};
  std::vector<Command> tiu = {
      command("ar.add #1 <-1 opd_num=2 opd1_const=1 res0_prec=f32 opd0_prec=f32 opd1_prec=f32 "
              "res0=[n1 c8 h2 w4] res0_addr=0x1000 opd1_addr=0x40200000"),
      command("sys.end #2")};
  Expected<Program> program = Program::create(tiu, gdma, "test");
  ASSERT_TRUE(program) << program.error().message();
  ThreadPool pool(1);
  std::vector<std::string_view> seen;
  Expected<void> done =
      program->run(fixture.memory, pool, [&](const PreparedCommand &one, bool isDone) {
        if (isDone)
          seen.push_back(one.command.operation().name);
      });
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_THAT(seen, testing::ElementsAre("dma.copy", "ar.add", "sys.end", "dma.copy", "dma.end"));
  for (int i = 0; i < 64; ++i) {
    float value;
    std::memcpy(&value, &fixture.global[0x1000 + static_cast<size_t>(i) * 4], 4);
    EXPECT_EQ(value, static_cast<float>(i) + 2.5f);
  }
}

TEST(Program, SaysWhichAddressIsNotThere) {
  Fixture fixture;
  std::vector<uint8_t> weights(4096);
  ASSERT_TRUE(fixture.memory.mapGlobalReadOnly(kGlobalBase + (8 << 20), weights));
  EXPECT_FALSE(fixture.memory.mapGlobal(kGlobalBase + 100, weights));
  EXPECT_FALSE(fixture.memory.mapGlobal(100, weights));
  ThreadPool pool(1);
  auto run = [&](const char *text) {
    std::vector<Command> gdma = {command(text)};
    Expected<Program> program = Program::create({}, gdma, "test");
    if (!program)
      return program.error().message();
    Expected<void> done = program->run(fixture.memory, pool);
    return done ? std::string("ran") : done.error().message();
  };
  EXPECT_THAT(run("dma.copy #1 nchw_copy=1 src=[n1 c1 h1 w64] src_addr=0x1003fffff "
                  "dst_addr=0x8000000"),
              HasSubstr("64 bytes at 0x1003fffff; expected an address of memory"));
  EXPECT_THAT(run("dma.copy #1 nchw_copy=1 src=[n1 c1 h1 w64] src_addr=0x8000000 "
                  "dst_addr=0x100800000"),
              HasSubstr("may be written"));
  EXPECT_EQ(run("dma.copy #1 nchw_copy=1 src=[n1 c1 h1 w64] src_addr=0x100800000 "
                "dst_addr=0x8000000"),
            "ran");
}

TEST(ScatterGather, RefusesIndicesOutOfRange) {
  Fixture fixture;
  ThreadPool pool(1);
  std::memset(fixture.memory.local().data(), 200, 4096);
  std::vector<Command> tiu = {
      command("sg.pl_gather #1 res0=[n1 c1 h1 w4] opd0=[h1 w16] opd1=[c4 w1] res0_addr=0x1000 "
              "opd1_addr=0x100")};
  Expected<Program> program = Program::create(tiu, {}, "test");
  ASSERT_TRUE(program) << program.error().message();
  Expected<void> done = program->run(fixture.memory, pool);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(), HasSubstr("an index out of range"));
}

// The vendor's functional model stops at anything else.
TEST(ScatterGather, TakesTablesOfOneRow) {
  const auto prepare = [](const char *text) {
    const Expected<Program> program = Program::create({{command(text)}}, {}, "test");
    return program ? std::string("ready") : program.error().message();
  };
  EXPECT_EQ(prepare("sg.pes_gather #1 opd0_str=4 res0=[n1 c1 h1 w4] opd0=[h1 w16] opd1=[c1 w4]"),
            "ready");
  EXPECT_THAT(prepare("sg.pes_gather #1 opd0_str=4 res0=[n1 c1 h1 w4] opd0=[h0 w16] opd1=[c1 w4]"),
              HasSubstr("sg.pes_gather: opd0_h=0; expected 1"));
  EXPECT_THAT(prepare("sg.pes_gather #1 opd0_str=4 res0=[n1 c1 h2 w2] opd0=[h1 w16] opd1=[c1 w4]"),
              HasSubstr("sg.pes_gather: res0_h=2; expected 1"));
  EXPECT_THAT(prepare("sg.pes_scatter #1 res0=[n1 c1 h2 w2] opd0=[h2 w4] opd1=[c1 w4]"),
              HasSubstr("sg.pes_scatter: opd0_h=2; expected 1"));
}

// Only what is chosen must fit behind the target's address.
TEST(Compaction, StoresIndicesFromTheirBase) {
  Fixture fixture;
  fixture.global[1] = 5;
  fixture.global[3] = 1;
  ThreadPool pool(1);
  const auto run = [&](const char *text) {
    const std::vector<Command> gdma = {command(text)};
    const Expected<Program> program = Program::create({}, gdma, "test");
    if (!program)
      return program.error().message();
    const Expected<void> done = program->run(fixture.memory, pool);
    return done ? std::string("ran") : done.error().message();
  };
  EXPECT_EQ(run("dma.nonzero #1 src=[n1 c1 h1 w4] index_prec=i16 dst_stride=[n100 c0 h0 w0] "
                "src_addr=0x100000000 dst_addr=0x100001000"),
            "ran");
  uint16_t indices[3];
  std::memcpy(indices, &fixture.global[0x1000], sizeof indices);
  EXPECT_THAT(indices, testing::ElementsAre(101, 103, 0));
  EXPECT_EQ(run("dma.nonzero #1 src=[n1 c1 h1 w4] index_prec=i16 src_addr=0x100000000 "
                "dst_addr=0x1003ffffc"),
            "ran");
  EXPECT_THAT(run("dma.nonzero #1 src=[n1 c1 h1 w4] index_prec=i32 src_addr=0x100000000 "
                  "dst_addr=0x1003ffffc"),
              HasSubstr("8 bytes at 0x1003ffffc; expected an address of memory that may be"));
  EXPECT_THAT(run("dma.nonzero #1 src=[n1 c1 h1 w4] src_addr=0x100000000 dst_addr=0x8000000"),
              HasSubstr("an address outside of local memory"));
}

/// The values that the chip's documentation and firmware tables agree on.
TEST(StaticMemory, HoldsTheTables) {
  Memory memory;
  auto word = [&](size_t index) {
    uint32_t value;
    std::memcpy(&value, &memory.staticMemory()[index * 4], 4);
    return value;
  };
  EXPECT_EQ(word(103), 0x3f800000u);     // exp(0)
  EXPECT_EQ(word(104), 0x402df854u);     // exp(1)
  EXPECT_EQ(word(256 + 2), 0x3f000000u); // 1 / 2!
  EXPECT_EQ(word(288 + 2), 0xbf000000u); // -1 / 2
  EXPECT_EQ(word(368 + 63), 63u);
  EXPECT_EQ(word(432), 0x40c90fdbu);     // 2 pi
  EXPECT_EQ(word(496 + 1), 0x3e2aaaabu); // 1 / 6
  // Two half words to a word: 1 / 2! below 1 / 3!.
  EXPECT_EQ(word(592 + 1), 0x31553800u); // f16
  EXPECT_EQ(word(608 + 1), 0x3e2b3f00u); // bf16
}

// What a damaged file may ask for must be refused, not take days.
TEST(Simulator, EndlessCommandsAreRefused) {
  EXPECT_THAT(prepareMessage("ar.copy #1 opd_num=1 res0_str=3 opd0_str=3 "
                             "res0=[n65535 c65535 h65535 w65535] res0_stride=[n0 c0 h0 w0]"),
              HasSubstr("2147483648 elements at most"));
  // A weight that is a constant, and an image that is one element.
  EXPECT_THAT(prepareMessage("conv.normal #1 opd1_const=1 opd2_const=1 opd3_const=1 opd0_str=3 "
                             "opd0_prec=f32 res0_prec=f32 res0=[n1 c300 h1 w1] "
                             "opd0=[c2000 h1000 w1000] opd0_stride=[n0 c0 h0 w0] "
                             "opd1=[h1000 w1000] window_stride=[h1 w1]"),
              HasSubstr("windows of 1000x1000 over 300 results; expected 274877906944 products"));
}

// docs/bm1684x-machine.md: the shift of a requantizing product is a byte, of which five bits count.
TEST(Simulator, RequantizingProduct) {
  Fixture fixture;
  ThreadPool pool(1);
  const auto run = [&](const char *text, int left, int right) {
    auto prepared = prepare(command(text), "test");
    if (!prepared) {
      ADD_FAILURE() << prepared.error().message();
      return 0;
    }
    fixture.memory.local()[0x40] = static_cast<uint8_t>(left);
    fixture.memory.local()[0x80] = static_cast<uint8_t>(right);
    Exec exec{fixture.memory, pool, kernelsFor(SimdLevel::Generic)};
    EXPECT_FALSE(prepared->step(exec));
    return static_cast<int>(static_cast<int8_t>(fixture.memory.local()[0]));
  };
  const std::string base = " #1 opd0_sign=1 opd1_sign=1 opd2_sign=1 opd2_const=1 res0=[c1 w1] "
                           "opd0=[n1 c1 w1] opd1=[w1] opd0_addr=0x40 opd1_addr=0x80 ";
  const auto signedOne = [&](const char *rest, int left, int right) {
    return run(("mm.requant" + base + rest).c_str(), left, right);
  };
  EXPECT_EQ(signedOne("", 5, -7), -35);
  EXPECT_EQ(signedOne("", 50, -7), -128);
  EXPECT_EQ(signedOne("opd2_addr=3 opd3_addr=0x500", 50, -7), -11); // -347 / 32 = -10.8
  EXPECT_EQ(signedOne("opd3_addr=0x100", 5, -7), -17);              // -17.5, half up
  EXPECT_EQ(signedOne("opd3_addr=0x2100", 5, -7), -17);             // 33 is 1
  EXPECT_EQ(signedOne("opd3_addr=0x2000", 5, -7), 0);               // 32 leaves nothing
  EXPECT_EQ(run(("mm.requant_relu" + base).c_str(), 5, -7), 0);
  EXPECT_EQ(run(("mm.requant_relu" + base).c_str(), 5, 50), -6); // 250, unsigned
}

// The left matrix of a product has its columns in chunks, the last of which may be shorter.
TEST(Simulator, ProductsRefuseALastChunkLongerThanOthers) {
  const std::string base = "mm.requant #1 opd2_const=1 res0=[c1 w1] opd0_addr=0x40 opd1_addr=0x80 ";
  EXPECT_THAT(prepareMessage((base + "opd0=[n1 c1 w2] opd1=[w2]").c_str()), HasSubstr("prepared"));
  EXPECT_THAT(prepareMessage((base + "opd0=[n1 c1 w2] opd1=[w3]").c_str()),
              HasSubstr("a last chunk of 3 columns in chunks of 2"));
  EXPECT_THAT(prepareMessage((base + "opd0=[n1 c2 w2] opd1=[w0]").c_str()),
              HasSubstr("a last chunk of 0 columns in chunks of 2"));
}

// The chunks of a constant have no extent that counts: 0 is as good as any other.
TEST(Simulator, ProductsOfAConstantNeedNoChunks) {
  Fixture fixture;
  ThreadPool pool(1);
  auto prepared = prepare(command("mm.requant #1 opd0_const=1 opd0_sign=1 opd1_sign=1 opd2_const=1 "
                                  "res0=[c1 w1] opd0=[n1 c1 w0] opd1=[w2] opd0_addr=3 "
                                  "opd1_addr=0x80"),
                          "test");
  ASSERT_TRUE(prepared) << prepared.error().message();
  fixture.memory.local()[0x80] = 5;
  fixture.memory.local()[0xC0] = 7;
  Exec exec{fixture.memory, pool, kernelsFor(SimdLevel::Generic)};
  EXPECT_FALSE(prepared->step(exec));
  EXPECT_EQ(fixture.memory.local()[0], 3 * (5 + 7));
}

TEST(Simulator, NumbersOfChannels) {
  Fixture fixture;
  ThreadPool pool(1);
  auto prepared =
      prepare(command("seg.lane #1 res0_prec=i16 res0=[c70 w1] res0_addr=0x140000"), "t");
  ASSERT_TRUE(prepared) << prepared.error().message();
  Exec exec{fixture.memory, pool, kernelsFor(SimdLevel::Generic)};
  EXPECT_FALSE(prepared->step(exec));
  const auto at = [&](size_t lane, size_t slot) {
    uint16_t value;
    std::memcpy(&value, &fixture.memory.local()[lane * kLaneBytes + slot * 64], 2);
    return value;
  };
  // Channel 0 is in lane 5, channel 59 in lane 0 of the next row of lanes.
  EXPECT_EQ(at(5, 0), 0);
  EXPECT_EQ(at(63, 0), 58);
  EXPECT_EQ(at(0, 1), 59);
  EXPECT_THAT(prepareMessage("seg.lane #1 res0_prec=i16 res0=[c70 w2]"),
              HasSubstr("more than one element of a channel"));
}

/// Carries out a command that reads a word at 0x40; the 16 bits that it leaves at the start.
uint16_t halfMadeOf(Fixture &fixture, const std::string &text, uint32_t word) {
  auto prepared = prepare(command(text.c_str()), "test");
  if (!prepared) {
    ADD_FAILURE() << prepared.error().message();
    return 0;
  }
  std::memcpy(&fixture.memory.local()[0x40], &word, 4);
  ThreadPool pool(1);
  Exec exec{fixture.memory, pool, kernelsFor(SimdLevel::Generic)};
  EXPECT_FALSE(prepared->step(exec));
  uint16_t result;
  std::memcpy(&result, fixture.memory.local().data(), 2);
  return result;
}

// A shift to the left counts modulo 64 and loses what leaves 64 bits.
TEST(Simulator, RequantizationShiftedLeft) {
  Fixture fixture;
  const auto run = [&](int32_t value, unsigned shift) {
    const std::string text =
        "rq.int #1 opd1_const=1 opd0_sign=1 opd2_sign=1 res0_prec=i16 opd0_prec=i32 "
        "res0=[n1 c1 h1 w1] opd0_addr=0x40 opd1_addr=0x7fffffff opd2_addr=" +
        std::to_string((100U << 16U) | shift);
    return static_cast<int>(
        static_cast<int16_t>(halfMadeOf(fixture, text, static_cast<uint32_t>(value))));
  };
  EXPECT_EQ(run(INT32_MAX, 1), 32767);
  EXPECT_EQ(run(INT32_MAX, 2), -32768);
  EXPECT_EQ(run(INT32_MIN, 2), 32767);
  EXPECT_EQ(run(1, 40), -32768);
  EXPECT_EQ(run(-2, 63), 100);
  EXPECT_EQ(run(1, 64), 32767);
}

// The results are those of the vendor's functional model.
TEST(Simulator, CastsToSixteenBits) {
  Fixture fixture;
  const auto run = [&](const char *types, uint32_t bits, unsigned mode) {
    const std::string text = "ar.cast #1 opd_num=1 opd0_sign=1 opd1_prec=i32 " +
                             std::string(types) +
                             " res0=[n1 c1 h1 w1] opd0_addr=0x40 round=" + std::to_string(mode);
    return static_cast<unsigned>(halfMadeOf(fixture, text, bits));
  };
  // Integers are rounded once: in f32 these would end between two neighbours, or on the wrong side.
  const char *toBrain = "opd0_prec=i32 res0_prec=bf16";
  EXPECT_EQ(run(toBrain, 0x61400000, 0), 0x4ec2U);
  EXPECT_EQ(run(toBrain, 0x6140000c, 0), 0x4ec3U);
  EXPECT_EQ(run(toBrain, 0x61bffff0, 0), 0x4ec3U);
  EXPECT_EQ(run(toBrain, 0x9ebffff4, 0), 0xcec3U);
  // Of integers, code 5 takes ties up and code 6 down.
  EXPECT_EQ(run(toBrain, 0x61400000, 5), 0x4ec3U);
  EXPECT_EQ(run(toBrain, 0x9ec00000, 5), 0xcec2U);
  EXPECT_EQ(run(toBrain, 0x61400000, 6), 0x4ec2U);
  EXPECT_EQ(run(toBrain, 0x9ec00000, 6), 0xcec3U);
  // Of those of 16 bits, code 5 takes ties away from zero and code 6 toward it.
  EXPECT_EQ(run("opd0_prec=i16 res0_prec=f16", 0xf6c1, 5), 0xe8a0U);
  EXPECT_EQ(run("opd0_prec=i16 res0_prec=f16", 0xf6c1, 6), 0xe89fU);
  // Integers beyond f16 stop at its largest number toward zero, floats do so below 2^16 only.
  EXPECT_EQ(run("opd0_prec=i32 res0_prec=f16", 100000, 2), 0x7bffU);
  const char *toHalf = "opd0_prec=f32 res0_prec=f16";
  EXPECT_EQ(run(toHalf, 0x477fffff, 2), 0x7bffU);
  EXPECT_EQ(run(toHalf, 0x47800000, 2), 0x7c00U);
  EXPECT_EQ(run(toHalf, 0x7f7fffff, 3), 0x7c00U);
  EXPECT_EQ(run(toHalf, 0xff7fffff, 4), 0xfc00U);
}

} // namespace
