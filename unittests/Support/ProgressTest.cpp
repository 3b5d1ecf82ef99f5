//===- ProgressTest.cpp - Tests of the progress bar -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace tpuc;
using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

TEST(FormatProgress, CountPercentageAndTimes) {
  EXPECT_EQ(formatProgress({"conv", 10, 40, 30s}, 60),
            "conv [#######.....................] 10/40  25% 00:30 < 01:30");
  EXPECT_EQ(formatProgress({"conv", 0, 40, 0s}, 60).substr(0, 20), "conv [..............");
  EXPECT_THAT(formatProgress({"", 40, 40, 3725s}, 60), EndsWith("40/40 100% 1:02:05 < 00:00"));
}

TEST(FormatProgress, WithoutATotal) {
  EXPECT_EQ(formatProgress({"images", 7, 0, 61s}, 60), "images 7 01:01");
}

TEST(FormatProgress, NarrowTerminals) {
  for (size_t width : {1, 5, 20, 25, 30, 40, 80, 200}) {
    std::string text = formatProgress({"a rather long label of a layer", 10, 40, 30s}, width);
    EXPECT_LE(text.size(), width);
  }
  EXPECT_EQ(formatProgress({"label", 10, 40, 30s}, 29), "labe 10/40  25% 00:30 < 01:30");
}

TEST(FormatProgress, LabelsOfOtherScripts) {
  // Three characters of three bytes each.
  EXPECT_THAT(formatProgress({"卷积层", 1, 2, 1s}, 28), StartsWith("卷积层 1/2"));
  EXPECT_THAT(formatProgress({"a\nb", 1, 2, 1s}, 40), StartsWith("a?b "));
}

class ProgressTest : public testing::Test {
protected:
  Progress::Sink sink() {
    return [this](std::string_view part) { text += part; };
  }
  Progress::Clock clock() {
    return [this] { return now; };
  }
  static size_t width() { return 61; }

  std::string text;
  std::chrono::steady_clock::time_point now;
};

TEST_F(ProgressTest, DrawsAtMostTenTimesASecondAndEndsItsLine) {
  {
    Progress progress("x", 1000, sink(), width, clock());
    for (int i = 0; i < 1000; ++i) {
      now += 1ms;
      progress.advance();
    }
  }
  auto draws = std::count(text.begin(), text.end(), '\r');
  EXPECT_GE(draws, 9);
  EXPECT_LE(draws, 11);
  EXPECT_THAT(text, EndsWith("1000/1000 100% 00:01 < 00:00\n"));
}

TEST_F(ProgressTest, AnErrorLeavesTheLineEnded) {
  try {
    Progress progress("x", 10, sink(), width, clock());
    now += 1s;
    progress.advance(3);
    throw std::runtime_error("failed");
  } catch (const std::runtime_error &) {
    text += "error";
  }
  EXPECT_THAT(text, EndsWith(" 30% 00:01 < 00:02\nerror"));
}

TEST_F(ProgressTest, ShortLoopsLeaveNothing) {
  {
    Progress("x", 10, sink(), width, clock()).advance();
  }
  EXPECT_EQ(text, "");
}

TEST_F(ProgressTest, NothingAfterFinish) {
  Progress progress("x", 10, sink(), width, clock());
  now += 1s;
  progress.advance();
  progress.finish();
  size_t size = text.size();
  now += 1s;
  progress.advance();
  progress.setLabel("y");
  progress.finish();
  EXPECT_EQ(text.size(), size);
}

TEST_F(ProgressTest, MakesWayForOtherLines) {
  Progress progress("x", 10, sink(), width, clock());
  now += 1s;
  progress.advance();
  progress.interrupt([&] { text += "warning\n"; });
  EXPECT_THAT(text, HasSubstr("\r\x1b[Kwarning\n\r\x1b[Kx ["));
}

TEST_F(ProgressTest, ManyThreads) {
  {
    Progress progress("x", 4000, sink(), width, clock());
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i)
          progress.advance();
      });
    threads.clear();
    now += 1s;
    progress.setLabel("y");
  }
  EXPECT_THAT(text, HasSubstr(" 4000/4000 100%"));
}

TEST_F(ProgressTest, SilentWithoutATerminal) {
  testing::internal::CaptureStderr();
  {
    Progress progress("x", 1);
    progress.advance();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

} // namespace
