//===- TimingTest.cpp - The timing simulator ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/TimingText.h"
#include "tpuc/Target/BM1684X/Machine/TimingReport.h"

#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

const TimingInfo &vendor() { return timingParameters(TimingModel::Vendor); }
const TimingInfo &conservative() { return timingParameters(TimingModel::Conservative); }

Command parse(std::string_view line) {
  Expected<Command> command = assemble(line, "test");
  EXPECT_TRUE(command) << command.error().message();
  return *command;
}

CommandCost costOf(std::string_view line, const TimingInfo &timing = vendor()) {
  Expected<CommandCost> cost = commandCost(parse(line), timing, "test");
  EXPECT_TRUE(cost) << cost.error().message();
  return cost ? *cost : CommandCost{};
}
int64_t cycles(std::string_view line, const TimingInfo &timing = vendor()) {
  return costOf(line, timing).cycles;
}

constexpr std::string_view kGlobal = "0x100000000";
constexpr std::string_view kLocal = "0x8000000";

/// A tensor from global to local memory, both sides packed.
std::string load(int n, int c, int h, int w, std::string_view prec) {
  auto stride = [&] { return fmt::format("[n{} c{} h{} w1]", c * h * w, h * w, w); };
  return fmt::format("dma.copy #1 stride_enable=1 src_prec={} src=[n{} c{} h{} w{}] dst=[n{} c{} "
                     "h{} w{}] src_stride={} dst_stride={} src_addr={} dst_addr={}",
                     prec, n, c, h, w, n, c, h, w, stride(), stride(), kGlobal, kLocal);
}

TEST(Timing, Convolutions) {
  std::string sizes = "res0=[n1 c64 h56 w56] opd0=[c64 h56 w56] opd1=[h3 w3] res0_addr=0x1000 ";
  // ceil(56 * 56 / 4) pixels, one block of 64 channels, 9 positions.
  CommandCost int8 = costOf("conv.normal #1 opd0_prec=i8 res0_prec=i32 " + sizes);
  EXPECT_EQ(int8.kind, "CONV");
  EXPECT_EQ(int8.cycles, 784 * 9);
  EXPECT_EQ(int8.macs, int64_t{64} * 56 * 56 * 64 * 9);
  EXPECT_DOUBLE_EQ(int8.macCycles, 784 * 9);
  EXPECT_EQ(cycles("conv.normal #1 opd0_prec=f16 res0_prec=f16 " + sizes), 784 * 2 * 9);
  EXPECT_EQ(cycles("conv.normal #1 opd0_prec=f32 res0_prec=f32 " + sizes), 196 * 64 * 9);
  // Three channels pay for 64; 65 outputs need two rounds; the start lane does not matter.
  EXPECT_EQ(cycles("conv.normal #1 opd0_prec=i8 res0_prec=i32 res0=[n1 c65 h2 w2] opd0=[c3 h2 w2] "
                   "opd1=[h1 w1] res0_addr=0x40000"),
            2);
}

TEST(Timing, PoolingAndDepthwise) {
  std::string sizes = "opd0_prec=i8 opd1=[h3 w3] opd0=[h20 w20] res0_addr=0x0 ";
  std::string result = "res0=[n1 c64 h10 w10] ";
  EXPECT_EQ(cycles("pool.max #1 res0_prec=i8 window_stride=[h1 w1] " + result + sizes), 2 * 9);
  EXPECT_EQ(cycles("pool.max #1 res0_prec=i8 window_stride=[h2 w1] " + result + sizes), 2 * 9);
  EXPECT_EQ(cycles("pool.max #1 res0_prec=i8 window_stride=[h2 w2] " + result + sizes), 2 * 9 * 3);
  // A 32-bit result halves the rate twice; a start lane of 1 needs a second round.
  EXPECT_EQ(cycles("depthwise #1 res0_prec=i32 window_stride=[h1 w1] " + result + sizes), 7 * 9);
  EXPECT_EQ(cycles("depthwise #1 res0_prec=i8 window_stride=[h1 w1] " + result +
                   "opd0_prec=i8 opd1=[h3 w3] opd0=[h20 w20] res0_addr=0x40000"),
            2 * 2 * 9);
  // Rows are rounded up one by one when the kernel has one row.
  EXPECT_EQ(cycles("pool.max #1 res0_prec=i8 window_stride=[h1 w1] " + result +
                   "opd0_prec=i8 opd1=[h1 w3] opd0=[h20 w20]"),
            10 * 3);
}

TEST(Timing, MatrixProducts) {
  // 5 rows, 64 lanes of 32 columns, K = 2 * 16 + 10.
  std::string sizes = "res0=[c64 w32] opd0=[n5 c3 w16] opd1=[w10] ";
  EXPECT_EQ(cycles("mm.normal #1 opd0_prec=f16 res0_prec=f16 " + sizes), 5 * 42);
  EXPECT_EQ(costOf("mm.normal #1 opd0_prec=f16 res0_prec=f16 " + sizes).macs, 5 * 64 * 32 * 42);
  EXPECT_EQ(cycles("mm.normal #1 opd0_prec=f16 res0_prec=f16 left_tran=1 " + sizes), 42 * 5);
  // A bias and the accumulation are one more step each.
  EXPECT_EQ(cycles("mm.normal #1 opd0_prec=f32 res0_prec=f32 " + sizes), 5 * 2 * 43);
  EXPECT_EQ(cycles("mm.normal #1 opd0_prec=f32 res0_prec=f32 opd2_const=1 res_add=1 " + sizes),
            5 * 2 * 43);
  EXPECT_EQ(cycles("mm2.nn #1 opd0_prec=i8 res0_prec=i32 res0=[c65 w9] opd1=[c65 w9]"), 2 * 3 * 2);
  EXPECT_EQ(cycles("mm2.nt #1 opd0_prec=f16 res0_prec=f32 res0=[c65 w9] opd1=[c9 w65]"), 2 * 3 * 3);
}

TEST(Timing, Arithmetic) {
  std::string types = "res0_prec=f16 opd0_prec=f16 opd1_prec=f16 opd_num=2 ";
  std::string sizes = "res0=[n2 c64 h8 w16] res0_addr=0x0 opd0_addr=0x8000 opd1_addr=0x10000 ";
  EXPECT_EQ(cycles("ar.add #1 " + types + sizes), 8);
  EXPECT_EQ(cycles("ar.add #1 opd0_prec=i8 opd1_prec=i8 res0_prec=i8 opd_num=2 " + sizes), 4);
  EXPECT_EQ(cycles("ar.div #1 round=2 " + types + sizes), 8 * 31);
  std::string inPlace = "res0=[n2 c64 h8 w16] res0_addr=0x0 opd0_addr=0x8000 opd1_addr=0x0 ";
  EXPECT_EQ(cycles("ar.add #1 " + types + inPlace), 16);
  EXPECT_EQ(cycles("ar.add #1 opd1_const=1 " + types + inPlace), 8);
  EXPECT_EQ(cycles("ar.mac #1 " + types + inPlace), 8);
  // Two operands with explicit strides cost double even when they are packed.
  std::string packed = "opd0_str=3 opd0_stride=[n512 c128 h16 w1] ";
  EXPECT_EQ(cycles("ar.add #1 " + packed + types + sizes), 8);
  EXPECT_EQ(cycles("ar.add #1 opd1_str=3 opd1_stride=[n512 c128 h16 w1] " + packed + types + sizes),
            16);
  EXPECT_EQ(cycles("ar.add #1 opd0_str=3 opd0_stride=[n512 c128 h16 w2] " + types + sizes), 16);
  EXPECT_EQ(cycles("ar.add #1 opd0_str=3 opd0_stride=[n512 c128 h16 w99] " + types + sizes),
            8 * 32);
}

TEST(Timing, OtherCommands) {
  std::string sizes = "res0=[n1 c64 h4 w16] ";
  EXPECT_EQ(cycles("rq.int #1 opd0_prec=i32 res0_prec=i8 opd0_addr=0x4000 " + sizes), 4);
  EXPECT_EQ(cycles("rq.int #1 opd0_prec=i32 res0_prec=i8 opd0_addr=0x3000 " + sizes), 8);
  EXPECT_EQ(cycles("sfu.rsqrt #1 res0_prec=f32 opd0_prec=f32 " + sizes), 4 * 30);
  EXPECT_EQ(cycles("sfu.taylor #1 res0_prec=f32 opd0_prec=f32 opd1=[n9] " + sizes), 4 * 9);
  EXPECT_EQ(cycles("lane.copy #1 res0_prec=f32 opd0_addr=0x8000 " + sizes), 64 * 4);
  EXPECT_EQ(cycles("lane.broadcast #1 res0_prec=f32 opd0_addr=0x8000 " + sizes), 4);
  EXPECT_EQ(cycles("static.broadcast #1 res0_prec=f32 " + sizes), 1);
  EXPECT_EQ(cycles("static.distribute #1 res0_prec=f32 " + sizes), 4);
  EXPECT_EQ(cycles("trans.cw #1 res0_prec=f32 opd0=[c64 w16] " + sizes), 4);
  EXPECT_EQ(cycles("trans.wc #1 res0_prec=f32 opd0=[c64 w16] " + sizes), 16);
  EXPECT_EQ(cycles("lin.mac #1 res0_prec=f32 " + sizes), 4);
  EXPECT_EQ(cycles("cmp.select_gt #1 opd0_prec=f32 " + sizes), 8);
  EXPECT_EQ(cycles("sg.pl_gather #1 res0_prec=f32 opd1=[c100 w7] " + sizes), 100);
  EXPECT_EQ(cycles("sg.pem_gather #1 res0_prec=f32 opd1=[w100] " + sizes), 25);
  EXPECT_EQ(cycles("sg.pes_gather_hzd #1 res0_prec=f32 opd1=[w7] " + sizes), 10);
  EXPECT_EQ(cycles("sg.pl_gather_rect #1 res0_prec=f32 opd1=[c100 w7] " + sizes), 1);
  EXPECT_EQ(costOf("sys.end #1").kind, "SYS");
  EXPECT_EQ(cycles("sys.end #1"), 0);
}

TEST(Timing, TensorTransfers) {
  // 16 KiB and more: all four channels, no short rows: bytes / 54.017.
  CommandCost cost = costOf(load(1, 64, 16, 16, "f32"));
  EXPECT_EQ(cost.kind, "GDMA_TENSOR");
  EXPECT_EQ(cost.direction, Direction::SystemToLocal);
  EXPECT_EQ(cost.bytes, 65536);
  EXPECT_EQ(cost.cycles, 1213);
  // A bias: rows of four bytes pay for 256, and one channel of four is used: 19 cycles each.
  EXPECT_EQ(cycles(load(1, 64, 1, 1, "f32")), 1213);
  EXPECT_EQ(cycles(load(1, 1024, 1, 1, "f32")), 19412);
  // Below 8 KiB twice, below 12 KiB 4/3.
  EXPECT_EQ(cycles(load(1, 2, 32, 16, "f32")), 303);
  EXPECT_EQ(cycles(load(1, 4, 32, 16, "f32")), 303);
  EXPECT_EQ(cycles(load(1, 6, 32, 16, "f32")), 303);
  EXPECT_EQ(cycles(load(1, 8, 32, 16, "f32")), 303);
  // Thin slices of channels that lie 16 KiB apart use one channel.
  std::string thin =
      "dma.copy #1 stride_enable=1 src_prec=i8 src=[n1 c8 h1 w1024] dst=[n1 c8 h1 w1024] "
      "dst_stride=[n1 c1024 h1024 w1] src_addr=0x100000000 dst_addr=0x8000000 ";
  EXPECT_EQ(cycles(thin + "src_stride=[n1 c16384 h1024 w1]"), 606);
  EXPECT_EQ(cycles(thin + "src_stride=[n1 c8192 h1024 w1]"), 303);
  EXPECT_EQ(cycles(thin + "src_stride=[n1 c4096 h1024 w1]"), 151);
  EXPECT_EQ(cycles(thin + "src_stride=[n1 c1024 h1024 w1]"), 303);
  EXPECT_EQ(cycles("dma.copy #1 src_prec=i8 src=[n1 c1 h64 w1024] dst=[n1 c1 h64 w1024] "
                   "src_addr=0x8000000 dst_addr=0x100000000"),
            1599);
  // The c stride of a stored transpose counts n: eight rows of 1 KiB, two of four channels.
  EXPECT_EQ(cycles("dma.nc_transpose #1 stride_enable=1 src_prec=i8 src=[n8 c1 h1 w1024] "
                   "dst=[n1 c8 h1 w1024] src_stride=[n1024 c1024 h1024 w1] "
                   "dst_stride=[n100000 c1024 h1024 w1] src_addr=0x8000000 dst_addr=0x100000000"),
            399);
  EXPECT_EQ(cycles("dma.copy #1 src_prec=i8 src=[n1 c1 h64 w1024] dst=[n1 c1 h64 w1024] "
                   "src_addr=0x200000000 dst_addr=0x100000000"),
            2513);
}

TEST(Timing, OtherTransfers) {
  std::string matrix = "dma.matrix{} #1 src_prec=f32 src=[h32 w64] dst=[n32 c1 w64] "
                       "src_addr=0x100000000 dst_addr=0x8000000";
  EXPECT_EQ(cycles(fmt::format(fmt::runtime(matrix), "")), 32 * 64 * 4 / 58);
  EXPECT_EQ(cycles(fmt::format(fmt::runtime(matrix), "_transpose")), 188);
  // Lanes that hold 16 columns: rows of 64 bytes.
  EXPECT_EQ(cycles("dma.matrix #1 src_prec=f32 src=[h32 w64] dst=[n32 c4 w16] "
                   "src_addr=0x100000000 dst_addr=0x8000000"),
            32 * 64 * 4 * 4 / 58);
  EXPECT_EQ(cycles("dma.broadcast #1 src_prec=f32 src=[n2 c1 h4 w64] dst=[n2 c64 h4 w64] "
                   "src_addr=0x100000000 dst_addr=0x8000000"),
            8 * 256 / 58);
  CommandCost fill = costOf("dma.copy #1 fill_constant_en=1 src_prec=f32 src=[n1 c4 h4 w64] "
                            "dst=[n1 c4 h4 w64] dst_addr=0x8000000");
  EXPECT_EQ(fill.kind, "GDMA_CONSTANT");
  EXPECT_EQ(fill.cycles, 4 * 1024 / 58);
  EXPECT_EQ(fill.direction, std::nullopt);
  CommandCost general = costOf("dma.general #1 src_prec=i8 src_stride=[c6400] "
                               "src_addr=0x100000000 dst_addr=0x8000000");
  EXPECT_EQ(general.cycles, 100);
  EXPECT_EQ(general.bytes, 6400);
  EXPECT_EQ(cycles("dma.general #1 src_prec=i8 src_stride=[c6400] src_addr=0x8000000 "
                   "dst_addr=0x8001000"),
            200);
  EXPECT_EQ(cycles("dma.gather #1 src_prec=f32 src=[c2 h100 w16] dst=[c2 h10 w16] "
                   "src_addr=0x100000000 dst_addr=0x108000000"),
            20);
}

TEST(Timing, ConservativeChargesMore) {
  EXPECT_EQ(cycles("static.broadcast #1 res0_prec=f32 res0=[n1 c64 h4 w16]", conservative()), 51);
  // 65536 bytes at 44 / 1.0737, the start and the wait for memory.
  EXPECT_EQ(cycles(load(1, 64, 16, 16, "f32"), conservative()), 1599 + 250);
  EXPECT_EQ(cycles("dma.general #1 src_prec=i8 src_stride=[c6600] src_addr=0x8000000 "
                   "dst_addr=0x8002000",
                   conservative()),
            300 + 50);
  EXPECT_EQ(cycles("sys.end #1", conservative()), 0);
  // The vendor's estimate gives rows that repeat for nothing.
  std::string repeated =
      "dma.copy #1 stride_enable=1 src_prec=i8 src=[n1 c1 h64 w1024] dst=[n1 c1 h64 w1024] "
      "src_stride=[n0 c0 h0 w1] dst_stride=[n1 c65536 h1024 w1] src_addr=0x100000000 "
      "dst_addr=0x8000000";
  EXPECT_EQ(cycles(repeated), 0);
  // One 4 KiB piece of memory is read again and again.
  EXPECT_EQ(cycles(repeated, conservative()), 6397 + 250);
}

TEST(Timing, GoldenVectors) {
  // Bytes by bm1684x-timing, kinds and cycles by an independent implementation (timing.py).
  std::ifstream in(TPUC_GOLDEN_DIR "/timing.txt");
  std::string engine;
  std::string hex;
  std::string kind;
  int64_t expected = 0;
  std::map<std::string, int> counts;
  while (in >> engine >> hex >> kind >> expected) {
    std::vector<uint8_t> bytes(hex.size() / 2);
    for (size_t i = 0; i < bytes.size(); ++i)
      std::from_chars(&hex[2 * i], &hex[2 * i] + 2, bytes[i], 16);
    Expected<Command> command = decode(engine == "TIU" ? Engine::Tiu : Engine::Gdma, bytes, "test");
    ASSERT_TRUE(command) << command.error().message();
    Expected<CommandCost> cost = commandCost(*command, vendor(), "test");
    ASSERT_TRUE(cost) << cost.error().message();
    EXPECT_EQ(cost->cycles, expected) << disassemble(*command);
    EXPECT_EQ(cost->kind, kind);
    // The conservative set never charges less.
    Expected<CommandCost> more = commandCost(*command, conservative(), "test");
    ASSERT_TRUE(more);
    EXPECT_GT(more->cycles, cost->cycles) << disassemble(*command);
    ++counts[kind];
  }
  EXPECT_GE(counts.size(), 24u);
}

TEST(Timing, RefusesWhatHasNoFormula) {
  auto message = [](const Command &command) {
    Expected<CommandCost> cost = commandCost(command, vendor(), "a.bmodel");
    return cost ? std::string() : cost.error().message();
  };
  EXPECT_THAT(message(parse("lar.add res0_prec=f32")), HasSubstr("a.bmodel: lar.add"));
  EXPECT_THAT(message(parse("lin.mac #1 res0_prec=i4 res0=[n1 c1 h1 w1]")), HasSubstr("lin.mac"));
  EXPECT_THAT(message(parse("dma.copy #1 src_prec=i4")), HasSubstr("dma.copy"));
  EXPECT_THAT(message(parse("conv.normal #1 res0=[n65535 c65535 h65535 w65535] opd0=[c65535] "
                            "opd1=[h65535 w65535]")),
              HasSubstr("at most"));
}

// A row that is read again and again costs nothing, so only the number of bytes can tell.
TEST(Timing, EndlessTransfersAreRefused) {
  const Command command = parse("dma.copy #1 stride_enable=1 nchw_copy=1 src_prec=f32 "
                                "src=[n65535 c65535 h65535 w65535] src_stride=[n0 c0 h0 w1] "
                                "dst_stride=[n0 c0 h0 w1] src_addr=0x100000000 dst_addr=0x8000000");
  const auto cost = commandCost(command, vendor(), "a.bmodel");
  ASSERT_FALSE(cost);
  EXPECT_THAT(cost.error().message(), HasSubstr("expected 1099511627776 at most"));
}

TEST(Timing, AnyBitsAreSafe) {
  std::mt19937_64 random(1);
  int numKnown = 0;
  for (const CommandOp &operation : allCommandOps())
    for (std::optional<mc::FormId> form : {std::optional(operation.form), operation.otherForm})
      for (int i = 0; form && i < 200; ++i) {
        Command command = Command::make(operation, *form);
        for (const FieldSpec &spec : command.info().fields)
          if (spec.field != Field::CmdShort && spec.field != Field::Opcode &&
              spec.field != Field::SubOpcode && random() % 3 != 0)
            command.setBitsAt(spec.lsb, spec.width, random() % 2 ? random() : ~uint64_t{0});
        for (TimingModel model : kTimingModels)
          if (Expected<CommandCost> cost = commandCost(command, timingParameters(model), "test")) {
            ++numKnown;
            EXPECT_GE(cost->cycles, 0);
            EXPECT_LE(cost->cycles, int64_t{1} << 40);
          }
      }
  EXPECT_GT(numKnown, 1000);
}

TEST(Timing, EnginesOverlapByIds) {
  std::string transfer = "dma.general #{} <-{} src_prec=i8 src_stride=[c6400] "
                         "src_addr=0x100000000 dst_addr=0x8000000";
  auto dma = [&](int id, int awaited) {
    return parse(fmt::format(fmt::runtime(transfer), id, awaited));
  };
  auto tiu = [](int id, int awaited) { // 400 cycles
    return parse(fmt::format("sg.pl_gather #{} <-{} res0_prec=f32 res0=[n1 c64 h1 w1] opd1=[c400]",
                             id, awaited));
  };
  // Load 1; compute 1 after it, beside load 2 and 3; compute 2 needs load 3; store 4 needs it.
  std::vector<Command> gdma = {dma(1, 0), dma(2, 0), dma(3, 1), dma(4, 2)};
  std::vector<Command> compute = {tiu(1, 1), tiu(2, 3)};
  Expected<TimingReport> report = simulateTiming(compute, gdma, vendor(), "test");
  ASSERT_TRUE(report) << report.error().message();
  auto starts = [](const std::vector<TimedCommand> &commands) {
    std::vector<int64_t> result;
    result.reserve(commands.size());
    for (const TimedCommand &command : commands)
      result.push_back(command.start);
    return result;
  };
  EXPECT_THAT(starts(report->tiu), ElementsAre(100, 600));
  EXPECT_THAT(starts(report->gdma), ElementsAre(0, 100, 500, 1000));
  EXPECT_EQ(report->totalCycles, 1100);
  EXPECT_EQ(report->tiuCycles, 800);
  EXPECT_EQ(report->gdmaCycles, 400);
  EXPECT_EQ(report->bound(), Bound::Compute);
  EXPECT_DOUBLE_EQ(report->overlap(), 0.25);
  EXPECT_EQ(report->bytes[0], 4 * 6400);
  EXPECT_EQ(report->globalBytes, 4 * 6400);
  EXPECT_NEAR(report->globalUtilisation(), 25600 / (1100 * 64 * 1.073741824), 1e-12);

  // The same from bytes, end commands included, under both sets.
  compute.push_back(parse("sys.end #3"));
  gdma.push_back(parse("dma.end #5"));
  Expected<TimingReports> both = simulateTimings(encodeStream(compute), encodeStream(gdma), "test");
  ASSERT_TRUE(both) << both.error().message();
  EXPECT_EQ(both->vendor.totalCycles, 1100);
  EXPECT_EQ(both->conservative.tiuCycles, 900);
  EXPECT_EQ(both->conservative.gdmaCycles, 4 * (290 + 250));
  // Two loads and the second compute's wait for the third, then the store.
  EXPECT_THAT(starts(both->conservative.tiu), ElementsAre(540, 1620, 2070));
  EXPECT_EQ(both->conservative.totalCycles, 2070 + 540);

  TimingReports twice = *both;
  twice.append(*both);
  EXPECT_EQ(twice.vendor.totalCycles, 2200);
  EXPECT_EQ(twice.vendor.tiu[3].start, 1200);
  EXPECT_EQ(twice.vendor.bytes[0], 8 * 6400);

  std::vector<Command> waiting = {tiu(1, 9)};
  Expected<TimingReport> stuck = simulateTiming(waiting, {}, vendor(), "a.bmodel");
  ASSERT_FALSE(stuck);
  EXPECT_THAT(stuck.error().message(), HasSubstr("waits for GDMA id 9"));
  std::vector<uint8_t> bytes = encodeStream(compute);
  Expected<TimingReport> cut =
      simulateTiming(std::span<const uint8_t>(bytes).first(20), {}, vendor(), "a.bmodel");
  EXPECT_FALSE(cut);
}

TEST(Timing, MacUtilisation) {
  // 3 of 64 input channels and 3 of 4 pixels are used.
  std::vector<Command> tiu = {
      parse("conv.normal #1 opd0_prec=i8 res0_prec=i32 res0=[n1 c64 h1 w3] opd0=[c3 h1 w3] "
            "opd1=[h1 w1]")};
  Expected<TimingReport> report = simulateTiming(tiu, {}, vendor(), "test");
  ASSERT_TRUE(report);
  EXPECT_DOUBLE_EQ(report->macUtilisation(), 3.0 * 3 / 256);
  EXPECT_EQ(report->intensity(), 0);
}

TimingReports twoCommands() {
  std::vector<Command> gdma = {parse(load(1, 64, 16, 16, "f32"))};
  std::vector<Command> tiu = {parse(
      "conv.normal #1 <-1 opd0_prec=f32 res0_prec=f32 res0=[n1 c64 h16 w16] opd0=[c64 h16 w16] "
      "opd1=[h1 w1]")};
  Expected<TimingReports> reports = simulateTimings(tiu, gdma, "test");
  EXPECT_TRUE(reports);
  return *reports;
}

TEST(TimingReport, Trace) {
  CommandLayers layers{{"conv \"1\"\xFF"}, {}};
  nlohmann::json trace =
      nlohmann::json::parse(model::timingTrace(timingResult(twoCommands(), layers)));
  EXPECT_EQ(trace["otherData"]["vendor_cycles"], 1213 + 1024);
  EXPECT_EQ(trace["otherData"]["conservative_cycles"], 1849 + 1074);
  std::vector<std::string> slices;
  for (const auto &event : trace["traceEvents"])
    if (event["ph"] == "X" && event["pid"] == 1)
      slices.push_back(fmt::format("{} {} {} {}", event["name"].get<std::string>(),
                                   event["tid"].get<int>(), event["ts"].get<double>(),
                                   event["dur"].get<double>()));
  EXPECT_THAT(slices, ElementsAre("conv \"1\"\xEF\xBF\xBD 1 1.213 1.024",
                                  "conv.normal 1 1.213 1.024", "dma.copy 2 0 1.213"));
}

TEST(TimingReport, Csv) {
  std::string csv = model::timingCsv(timingResult(twoCommands(), {{"a,\"b\""}, {"load"}}));
  EXPECT_EQ(csv, "engine,id,awaited,operation,kind,start,cycles,conservative_start,"
                 "conservative_cycles,direction,bytes,macs,layer\n"
                 "TIU,1,1,conv.normal,CONV,1213,1024,1849,1074,,0,1048576,\"a,\"\"b\"\"\"\n"
                 "GDMA,1,0,dma.copy,GDMA_TENSOR,0,1213,0,1849,S2L,65536,0,load\n"
                 "total,,,,,0,2237,0,2923,,65536,1048576,\n");
}

TEST(TimingReport, Summary) {
  std::string text = model::timingSummary(timingResult(twoCommands()));
  EXPECT_THAT(text, HasSubstr("total cycles                        2237            2923\n"));
  EXPECT_THAT(text, HasSubstr("MAC array used                    45.8 %          35.0 %\n"));
  EXPECT_THAT(text, HasSubstr("bound by                             DDR             DDR\n"));
  EXPECT_THAT(text, HasSubstr("S2L 65536 bytes"));
  EXPECT_THAT(text,
              HasSubstr("CONV                                1024            1074         1"));
}

TEST(TimingReport, ByLayer) {
  const TimingReports reports = twoCommands();
  EXPECT_TRUE(timingResult(reports).layers.empty());
  EXPECT_THAT(model::timingSummary(timingResult(reports)), Not(HasSubstr("layer")));
  // The transfer begins first; what has no name comes last.
  CommandLayers layers{{"conv"}, {"load"}};
  std::vector<model::TimingResult::LayerTime> times = timingResult(reports, layers).layers;
  ASSERT_EQ(times.size(), 2);
  EXPECT_EQ(times[0].name, "load");
  EXPECT_EQ(times[0].cycles[0][1], 1213);
  EXPECT_EQ(times[0].cycles[1][1], 1849);
  EXPECT_EQ(times[0].bytes, 65536);
  EXPECT_EQ(times[1].commands[0], 1);
  EXPECT_EQ(times[1].cycles[0][0], 1024);
  EXPECT_EQ(times[1].macs, 1048576);
  times = timingResult(reports, {{"conv"}, {}}).layers;
  ASSERT_EQ(times.size(), 2);
  EXPECT_EQ(times[0].name, "conv");
  EXPECT_EQ(times[1].name, "");
  EXPECT_EQ(times[1].cycles[0][1], 1213);
  // Both engines work for one layer.
  times = timingResult(reports, {{"a"}, {"a"}}).layers;
  ASSERT_EQ(times.size(), 1);
  EXPECT_EQ(times[0].cycles[0][0] + times[0].cycles[0][1], 1024 + 1213);
  EXPECT_THAT(model::timingSummary(timingResult(reports, layers)),
              HasSubstr("        1024           0        1074           0       1048576"
                        "           0  conv\n"));
}

TEST(TimingReport, SlowestLayersFirst) {
  const model::TimingResult timing = timingResult(twoCommands(), {{"conv"}, {"load"}});
  const std::string one = model::timingSummary(timing, 1);
  EXPECT_THAT(one, HasSubstr("  load\nand 1 layer that takes less\n"));
  EXPECT_THAT(one, Not(HasSubstr("  conv\n")));
  EXPECT_THAT(model::timingSummary(timing, 0), HasSubstr("\nand 2 layers that take less\n"));
  for (const size_t most : {2, 10})
    EXPECT_THAT(model::timingSummary(timing, most), Not(HasSubstr("less")));
}

TEST(TimingReport, Json) {
  const nlohmann::ordered_json json =
      model::timingJson(timingResult(twoCommands(), {{"conv"}, {}}));
  EXPECT_EQ(json["vendor"]["cycles"], 1213 + 1024);
  EXPECT_DOUBLE_EQ(json["conservative"]["seconds"], (1849 + 1074) * 1e-9);
  EXPECT_EQ(json["vendor"]["bytes"]["S2L"], 65536);
  EXPECT_EQ(json["vendor"]["bound"], "DDR");
  EXPECT_EQ(json["kinds"][0]["kind"], "GDMA_TENSOR");
  EXPECT_EQ(json["kinds"][1]["conservative_cycles"], 1074);
  EXPECT_EQ(json["layers"][0]["name"], "conv");
  EXPECT_EQ(json["layers"][0]["vendor"]["tiu_cycles"], 1024);
}

TEST(TimingReport, OfNothing) {
  Expected<TimingReports> reports =
      simulateTimings(std::span<const uint8_t>(), std::span<const uint8_t>(), "test");
  ASSERT_TRUE(reports);
  EXPECT_THAT(model::timingSummary(timingResult(*reports)), HasSubstr("total cycles"));
  EXPECT_THAT(model::timingCsv(timingResult(*reports)), HasSubstr("total,,,,,0,0,0,0,,0,0,"));
}

} // namespace
