//===- TimingTest.cpp - The timing simulator ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Timing.h"

#include <charconv>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

using namespace tpuc;
using namespace tpuc::bm1684;
using testing::HasSubstr;

namespace {

/// A command of a program of the vendor's compiler, and where its time line has it.
struct Timed {
  Command command;
  std::string kind;
  int64_t start, cycles;
};
struct TimeLine {
  std::vector<Timed> tiu, dma;
  int64_t total = 0;
};

std::vector<TimeLine> readTimeLines() {
  std::ifstream file(TPUC_GOLDEN_DIR "/timelines.txt");
  std::vector<TimeLine> lines(1);
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text);
    std::string engine, hex, kind;
    int64_t start = 0, cycles = 0;
    words >> engine;
    if (engine == "#")
      continue;
    if (engine == "TOTAL") {
      words >> lines.back().total;
      lines.emplace_back();
      continue;
    }
    words >> hex >> kind >> start >> cycles;
    std::vector<uint8_t> bytes(hex.size() / 2);
    for (size_t i = 0; i < bytes.size(); ++i)
      std::from_chars(&hex[2 * i], &hex[2 * i] + 2, bytes[i], 16);
    const bool isTiu = engine == "TIU";
    Expected<Command> command = decode(isTiu ? Engine::Tiu : Engine::Gdma, bytes, "golden");
    if (!command) {
      ADD_FAILURE() << command.error().message();
      continue;
    }
    (isTiu ? lines.back().tiu : lines.back().dma).push_back({*command, kind, start, cycles});
  }
  lines.pop_back();
  return lines;
}

std::vector<Command> commandsOf(const std::vector<Timed> &timed) {
  std::vector<Command> commands;
  for (const Timed &one : timed)
    commands.push_back(one.command);
  return commands;
}

TEST(Timing, TimeLinesOfTheVendor) {
  const std::vector<TimeLine> lines = readTimeLines();
  ASSERT_GE(lines.size(), 4u);
  std::map<std::string, int> kinds;
  for (const TimeLine &line : lines) {
    const std::vector<Command> tiu = commandsOf(line.tiu), dma = commandsOf(line.dma);
    Expected<TimingReports> reports = simulateTimings(tiu, dma, "golden");
    ASSERT_TRUE(reports) << reports.error().message();
    EXPECT_EQ(reports->vendor.totalCycles, line.total);
    const auto compare = [&](const std::vector<Timed> &expected,
                             const std::vector<bm168x::TimedCommand> &actual) {
      ASSERT_EQ(expected.size(), actual.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(actual[i].cost.cycles, expected[i].cycles) << disassemble(expected[i].command);
        EXPECT_EQ(actual[i].start, expected[i].start) << disassemble(expected[i].command);
        EXPECT_EQ(actual[i].cost.kind, expected[i].kind);
        ++kinds[expected[i].kind];
      }
    };
    compare(line.tiu, reports->vendor.tiu);
    compare(line.dma, reports->vendor.gdma);
    // The conservative set never charges less.
    EXPECT_GT(reports->conservative.totalCycles, reports->vendor.totalCycles);
  }
  EXPECT_GE(kinds.size(), 9u);
}

TEST(Timing, EndlessCommandsAreRefused) {
  Expected<Command> conv =
      assemble("conv #1 res0=[n65535 c4095 h65535 w65535] opd0=[c4095] opd1=[h65535 w65535] "
               "window_stride=[h1 w1] res0_addr=0x8000000",
               "test");
  ASSERT_TRUE(conv) << conv.error().message();
  for (const TimingModel model : {TimingModel::Vendor, TimingModel::Conservative}) {
    Expected<CommandCost> cost = commandCost(*conv, model, "a.bmodel");
    ASSERT_FALSE(cost);
    EXPECT_THAT(cost.error().message(), HasSubstr("a.bmodel: conv"));
  }
}

TEST(Timing, ReportNamesBothSets) {
  const std::vector<TimeLine> lines = readTimeLines();
  Expected<TimingReports> reports =
      simulateTimings(commandsOf(lines[0].tiu), commandsOf(lines[0].dma), "golden");
  ASSERT_TRUE(reports);
  const model::TimingResult result = timingResult(*reports);
  ASSERT_EQ(result.sets.size(), 2u);
  EXPECT_EQ(result.sets[0].name, "vendor");
  EXPECT_EQ(result.sets[1].name, "conservative");
  EXPECT_EQ(result.clockHz, 550e6);
}

} // namespace
