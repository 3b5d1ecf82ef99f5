//===- SimulatorTest.cpp - The functional simulator -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Simulator.h"
#include "test/conformance/bm1684/L2.h"
#include "test/conformance/bm168x/Case.h"
#include "unittests/BM168x/Replay.h"

#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::bm1684;
using namespace tpuc::bm168x::conformance;
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
    return bm1684::prepare(command, where);
  }

  Memory memory;
  std::vector<uint8_t> global = std::vector<uint8_t>(4 << 20);
  ElementAt at = elementsOf(kLocalMemory, memory.local().data(), [this](uint64_t address) {
    return global.data() + (address - kGlobalBase);
  });
  ThreadPool pool{1};

  Fixture() {
    if (!memory.mapGlobal(kGlobalBase, global))
      ADD_FAILURE() << "global memory";
    bm1684::conformance::fillL2(memory.l2());
  }
  std::optional<Error> run(const char *text) {
    Expected<PreparedCommand> prepared = prepare(command(text), "test");
    if (!prepared)
      return prepared.error();
    Exec exec{memory, pool, kernelsFor(bestSimdLevel())};
    return prepared->step(exec);
  }
};

void replay(SimdLevel level, unsigned threads, size_t part) {
  Fixture fixture;
  bm168x::replayVectors(fixture, TPUC_GOLDEN_DIR "/vectors.txt", 500, level, threads, part);
}

TEST(Golden, BestInstructionSetTwoThreads) { replay(bestSimdLevel(), 2, 0); }
TEST(Golden, PlainX86OneThread) { replay(SimdLevel::Generic, 1, 1); }
TEST(Golden, Avx2) {
  if (bestSimdLevel() < SimdLevel::Avx2)
    GTEST_SKIP() << "this processor has no AVX2";
  replay(SimdLevel::Avx2, 1, 2);
}

TEST(Check, MisalignedAndOutOfRangeOperands) {
  const char *copy = "ar.copy #1 opd_num=1 res0_prec=f32 opd0_prec=f32 opd0_addr=0x8000040 ";
  const auto message = [&](const char *rest) {
    return prepareMessage((std::string(copy) + rest).c_str());
  };
  EXPECT_EQ(message("res0=[n1 c1 h1 w1] res0_addr=0x8000000"), "prepared");
  EXPECT_THAT(message("res0=[n1 c1 h1 w1] res0_addr=0x8000002"),
              HasSubstr("expected a multiple of 4 bytes"));
  EXPECT_THAT(message("res0=[n1 c64 h1 w64] res0_addr=0x807ffc0"),
              HasSubstr("reaches byte 0x800c0 of its lanes; expected at most 0x80000"));
  EXPECT_THAT(message("res0=[n1 c1 h1 w1] res0_addr=0x1000"),
              HasSubstr("an address of local memory"));
  EXPECT_THAT(message("res0=[n1 c0 h1 w1] res0_addr=0x8000000"),
              HasSubstr("extents of at least 1"));
}

TEST(Check, FormsWithoutAMeaningAreRefusedByName) {
  EXPECT_THAT(prepareMessage("ar.mul #1 res0=[n1 c1 h1 w1] res0_prec=i16 opd0_prec=i16 "
                             "opd1_prec=i16 res0_addr=0x8000000 opd0_addr=0x8000080 "
                             "opd1_addr=0x8000100"),
              HasSubstr("ar.mul: i16 and i16 to i16"));
  EXPECT_THAT(prepareMessage("conv #1 opd0_prec=i16 window_stride=[h1 w1] res0=[n1 c1 h1 w1]"),
              HasSubstr("f32 to f32, or i8 to i8 or i16"));
  EXPECT_THAT(prepareMessage("mm #1 opd_num=2 res0_prec=f32 opd0_prec=f32 opd1_prec=f32 "
                             "window_stride=[h1 w1] res0=[n1 c1 h1 w1] opd0=[n1 c1 h1 w2] "
                             "opd1=[n3 c1 h1 w3] res0_addr=0x8000000 opd0_addr=0x8000080 "
                             "opd1_addr=0x8000100"),
              HasSubstr("mm: a last piece of 3 columns; expected at most the 2 of the others"));
  EXPECT_THAT(prepareMessage("ar.add #1 res0_prec=f16"), HasSubstr("res0_prec=f16"));
  EXPECT_THAT(prepareMessage("ar.copy #1 res0_h_shift=1"), HasSubstr("res0_h_shift 1"));
  EXPECT_THAT(prepareMessage("dma.copy #1 acc_write_enable=1"), HasSubstr("acc_write_enable 1"));
  EXPECT_THAT(prepareMessage("dma.cw_transpose #1 stride_enable=1 direction=s2s src=[n1 c2 h1 w2] "
                             "dst=[n1 c2 h1 w2] src_stride=[w1] dst_stride=[w1] "
                             "src_addr=0x100000000 dst_addr=0x100001000"),
              HasSubstr("dma.cw_transpose: direction S2S; expected l2l"));
  EXPECT_THAT(prepareMessage("dma.copy #1 direction=l2s src_addr=0x8000000 dst_addr=0x8000000"),
              HasSubstr("the direction of these addresses"));
  EXPECT_THAT(prepareMessage("dma.copy #1 stride_enable=1 direction=s2s "
                             "src=[n65535 c65535 h65535 w65535] dst=[n1 c1 h1 w1] "
                             "src_addr=0x100000000 dst_addr=0x100000000"),
              HasSubstr("as many on both sides"));
  EXPECT_THAT(prepareMessage("conv #1 window_stride=[h0 w1]"), HasSubstr("res_op_y_str=0"));
}

TEST(Check, PoolsHaveTheStridesOfAlignedTensors) {
  // 66 channels of 2 x 3 words lie in two slots of 32 words each.
  const auto message = [](std::string_view which, std::string_view rest) {
    return prepareMessage(
        fmt::format("{} #1 window_stride=[h1 w1] res0=[n2 c66 h2 w3] opd0=[n2 c66 h2 w3] "
                    "opd1=[n1 c66 h1 w1] res0_prec=f32 opd0_prec=f32 opd1_prec=f32 "
                    "res0_addr=0x8000000 opd0_addr=0x8001000 opd1_addr=0x8002000 {}",
                    which, rest)
            .c_str());
  };
  for (const char *which : {"depthwise", "pool.max"}) {
    EXPECT_EQ(message(which, "opd0_str=3 opd0_stride=[n64 c32 h3 w1]"), "prepared");
    EXPECT_EQ(message(which, "res0_str=3 res0_stride=[n64 c32 h3 w1]"), "prepared");
    EXPECT_THAT(message(which, "opd0_str=3 opd0_stride=[n64 c6 h3 w1]"),
                HasSubstr("opd0_c_str 6; expected 32, as in an aligned tensor"));
    EXPECT_THAT(message(which, "res0_str=3 res0_stride=[n64 c6 h3 w1]"), HasSubstr("res0_c_str 6"));
    EXPECT_THAT(message(which, "opd0_str=3 opd0_stride=[n96 c32 h3 w1]"), HasSubstr("opd0_n_str"));
    EXPECT_THAT(message(which, "opd0_str=3 opd0_stride=[n64 c32 h4 w1]"), HasSubstr("opd0_h_str"));
    EXPECT_THAT(message(which, "opd0_str=3 opd0_stride=[n64 c32 h3 w2]"), HasSubstr("opd0_w_str"));
    // A single slot and a single batch item have no strides.
    EXPECT_EQ(message(which, "opd0_str=3 opd0_stride=[n7 c7 h3 w1] res0=[n1 c64 h2 w3]"),
              "prepared");
  }
}

TEST(Check, TablesTakeIndicesThatAreNamedFloats) {
  const auto message = [](const char *prec) {
    return prepareMessage(fmt::format("lut #1 res0=[n1 c1 h1 w1] opd1=[n1 c1 h8 w1] res0_prec=i32 "
                                      "opd0_prec={} res0_addr=0x8000000 opd0_addr=0x8000080",
                                      prec)
                              .c_str());
  };
  EXPECT_EQ(message("f32"), "prepared");
  for (const char *prec : {"i8", "i16", "i32"})
    EXPECT_THAT(message(prec), HasSubstr(fmt::format("lut: opd0_prec={}; expected f32", prec)));
}

TEST(Check, ColumnsOfASourceAreNear) {
  const auto message = [](std::string_view name, std::string_view rest) {
    return prepareMessage(
        fmt::format("{} #1 stride_enable=1 direction=l2l src=[n1 c1 h1 w1] dst=[n1 c1 h1 w1] "
                    "src_addr=0x8000000 dst_addr=0x8000080 {}",
                    name, rest)
            .c_str());
  };
  for (const char *name : {"dma.copy", "dma.nc_transpose", "dma.fill"}) {
    EXPECT_EQ(message(name, "src_stride=[n1 c1 h1 w4095]"), "prepared");
    EXPECT_THAT(message(name, "src_stride=[n1 c1 h1 w4096]"),
                HasSubstr("src_wstride 4096; expected at most 4095"));
    // The result's may be longer.
    EXPECT_EQ(message(name, "src_stride=[n1 c1 h1 w1] dst_stride=[n1 c1 h1 w4096]"), "prepared");
  }
}

TEST(Run, BatchItemsBesideTheResultStay) {
  Fixture fixture;
  std::ranges::fill(fixture.memory.local(), uint8_t{7});
  // Three of the four items of each word.
  const std::optional<Error> error =
      fixture.run("ar.add #1 res0=[n3 c1 h1 w2] opd1_const=1 opd1_addr=5 opd0_sign=1 opd1_sign=1 "
                  "res0_addr=0x8000000 opd0_addr=0x8000080");
  ASSERT_FALSE(error) << error->message();
  const auto local = fixture.memory.local();
  EXPECT_EQ(std::vector<int>(local.begin(), local.begin() + 9),
            (std::vector<int>{12, 12, 12, 7, 12, 12, 12, 7, 7}));
}

TEST(Run, ARepeatedItemIsReadBeforeTheResultReplacesIt) {
  const auto firstBytes = [](const char *text) {
    Fixture fixture;
    const auto local = fixture.memory.local();
    for (size_t i = 0; i < 8; ++i) {
      local[i] = static_cast<uint8_t>(i + 1);
      local[0x80 + i] = 10;
    }
    const std::optional<Error> error = fixture.run(text);
    EXPECT_FALSE(error) << error->message();
    return std::vector<int>(local.begin(), local.begin() + 8);
  };
  // Item 0 of each word stands for all four, and the stride of items does not count.
  EXPECT_EQ(
      firstBytes("ar.add #1 res0=[n4 c1 h1 w2] opd0_sign=1 opd1_sign=1 opd0_neq1=1 opd0_str=3 "
                 "opd0_stride=[n9 c1 h1 w1] res0_addr=0x8000000 opd0_addr=0x8000000 "
                 "opd1_addr=0x8000080"),
      (std::vector<int>{11, 11, 11, 11, 15, 15, 15, 15}));
  EXPECT_EQ(firstBytes("ar.sub #1 res0=[n2 c1 h1 w2] res0_prec=i16 opd0_prec=i16 opd1_prec=i16 "
                       "opd0_sign=1 opd1_sign=1 opd1_neq1=1 res0_addr=0x8000000 "
                       "opd0_addr=0x8000080 opd1_addr=0x8000000"),
            (std::vector<int>{9, 8, 9, 8, 5, 4, 5, 4}));
  // Words hold one item, and have their own.
  EXPECT_EQ(firstBytes("ar.xor #1 res0=[n2 c1 h1 w1] res0_prec=i32 opd0_prec=i32 opd1_prec=i32 "
                       "opd0_neq1=1 opd0_str=3 opd0_stride=[n1 c1 h1 w1] res0_str=3 "
                       "res0_stride=[n1 c1 h1 w1] res0_addr=0x8000000 opd0_addr=0x8000000 "
                       "opd1_const=1 opd1_addr=0"),
            (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Run, AddressesThatAreNotMapped) {
  Fixture fixture;
  const std::optional<Error> error =
      fixture.run("dma.copy #1 stride_enable=1 src=[n1 c1 h1 w4] dst=[n1 c1 h1 w4] "
                  "src_stride=[n4 c4 h4 w1] dst_stride=[n4 c4 h4 w1] src_addr=0x1ff000000 "
                  "dst_addr=0x8000000");
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message(), HasSubstr("16 bytes at 0x1ff000000"));
}

TEST(Memory, TablesOfTheFirmware) {
  Memory memory;
  const auto at = [&](uint32_t offset, uint32_t index) {
    float value;
    std::memcpy(&value, &memory.l2()[kTablesOffset + offset + index * 4], 4);
    return value;
  };
  EXPECT_EQ(at(0x000, 253), -3);
  EXPECT_EQ(at(0x400, 1), 2.7182817F);
  EXPECT_EQ(at(0x400, 89), 0); // Beyond what a float holds.
  EXPECT_EQ(at(0x800, 128), 0.6931472F);
  // Rounded at each step: one more than the nearest.
  EXPECT_EQ(at(0xC00, 10), 2.505211e-08F);
  EXPECT_EQ(at(0xD00, 2), 0.33333334F);
  EXPECT_EQ(at(0x1700, 2), -0.16666667F);
}

TEST(Program, WaitsThatNeverEnd) {
  const Command tiu = command("ar.copy #1 <-1 res0=[n1 c1 h1 w1] res0_prec=f32 opd0_prec=f32 "
                              "res0_addr=0x8000000 opd0_addr=0x8000080");
  const Command dma = command("dma.fill #1 <-1 stride_enable=1 direction=l2l dst=[n1 c1 h1 w1] "
                              "dst_addr=0x8000000");
  EXPECT_TRUE(checkProgram({&tiu, 1}, {&dma, 1}, "program"));
  const Command first = command("dma.fill #1 stride_enable=1 direction=l2l dst=[n1 c1 h1 w1] "
                                "dst_addr=0x8000000");
  const auto good = checkProgram({&tiu, 1}, {&first, 1}, "program");
  EXPECT_FALSE(good) << good->message();
}

} // namespace
