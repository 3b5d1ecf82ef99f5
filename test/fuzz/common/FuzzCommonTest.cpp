//===- FuzzCommonTest.cpp -------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/common/Findings.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <gtest/gtest.h>
#include <memory>

using namespace tpuc;
using namespace tpuc::fuzz;

namespace {

Outcome outcomeOfWork(const std::function<void(const Notes &)> &work, Limits limits = {}) {
  Guard guard(limits);
  guard.start(7, work);
  auto [number, ending] = guard.wait();
  EXPECT_EQ(number, 7U);
  EXPECT_EQ(guard.running(), 0U);
  return outcomeOf(ending);
}

TEST(Guard, WorkThatEndsIsNoFinding) {
  const Outcome outcome = outcomeOfWork([](const Notes &notes) {
    notes.add("begin one");
    notes.add("passed one");
    notes.add("begin two");
    notes.add("refused two: in.npz: is\nno file");
  });
  EXPECT_FALSE(outcome.isFinding());
  ASSERT_EQ(outcome.steps.size(), 2U);
  EXPECT_EQ(outcome.steps[1].name, "two");
  EXPECT_EQ(outcome.steps[1].what, "refused");
  EXPECT_EQ(outcome.steps[1].message, "in.npz: is no file");
}

TEST(Guard, SignalsAreFindingsOfTheStepUnderWay) {
  const Outcome outcome = outcomeOfWork([](const Notes &notes) {
    notes.add("begin one");
    ::raise(SIGFPE);
  });
  EXPECT_EQ(outcome.signature(), "SIGFPE in one");
}

TEST(Guard, AssertionsAreNamed) {
  const Outcome outcome = outcomeOfWork([](const Notes &notes) {
    notes.add("begin one");
    std::fputs("file.cpp:7: int f(): Assertion `x > 0' failed.\nmore\n", stderr);
    std::abort();
  });
  EXPECT_EQ(outcome.signature(), "SIGABRT in one: Assertion `x > 0' failed.");
}

TEST(Guard, LibrariesMayNotEndTheProgram) {
  const Outcome outcome = outcomeOfWork([](const Notes &notes) {
    notes.add("begin one");
    ::_exit(1);
  });
  EXPECT_EQ(outcome.signature(), "exit in one");
}

TEST(Guard, SlowWorkIsEnded) {
  const Outcome outcome = outcomeOfWork(
      [](const Notes &notes) {
        notes.add("begin one");
        for (volatile bool isOn = true; isOn;)
          ;
      },
      {.seconds = 1});
  EXPECT_EQ(outcome.signature(), "time-out in one");
}

/// Takes 256 MB in its second step.
void takeMemory(const Notes &notes) {
  notes.add("begin one");
  notes.add(fmt::format("peak {}", peakMemory()));
  notes.add("passed one");
  notes.add("states 1000");
  notes.add("begin two");
  std::string *volatile text = new std::string(size_t{256} << 20, 'x');
  delete text;
  notes.add(fmt::format("peak {}", peakMemory()));
  notes.add("passed two");
  notes.add("begin three");
  notes.add("passed three");
}

TEST(Guard, WorkThatTakesMoreThanItsNetworkNeedsIsAFinding) {
  Guard guard({});
  guard.start(7, takeMemory);
  const Ending ending = guard.wait().second;
  EXPECT_GT(ending.peak, uint64_t{256} << 20);
  EXPECT_EQ(outcomeOf(ending).signature(), "");
  EXPECT_EQ(outcomeOf(ending, {.base = uint64_t{150} << 20}).signature(), "memory in two");
  EXPECT_EQ(outcomeOf(ending, {.base = uint64_t{600} << 20}).signature(), "");
  EXPECT_EQ(outcomeOf(ending).stated, 1000U);
}

TEST(Guard, WhatTheFuzzerItselfTakesDoesNotCount) {
  Guard guard({});
  const auto measure = [&] {
    guard.start(0, [](const Notes &notes) { notes.add(fmt::format("{}", peakMemory())); });
    const Ending ending = guard.wait().second;
    return std::pair(ending.peak, std::stoull(ending.notes));
  };
  const auto before = measure();
  // Findings and counts of a long run.
  const auto kept = std::make_unique<std::string>(size_t{256} << 20, 'x');
  const auto after = measure();
  constexpr uint64_t kSome = uint64_t{16} << 20;
  EXPECT_LT(after.first, before.first + kSome);
  EXPECT_LT(after.second, before.second + kSome);
  EXPECT_EQ(kept->size(), size_t{256} << 20);
}

TEST(Tally, SaysHowCasesEnded) {
  const auto outcomeOfNotes = [](const std::string &notes, Ending::Kind kind) {
    Ending ending;
    ending.notes = notes;
    ending.kind = kind;
    return outcomeOf(ending);
  };
  Tally tally;
  const std::vector<std::string> changes = {"a constant", "a constant"};
  tally.add(outcomeOfNotes("begin one\npassed one\n", Ending::Kind::Done), {});
  tally.add(outcomeOfNotes("begin one\nrefused one: x: is bad\n", Ending::Kind::Done), changes);
  tally.add(outcomeOfNotes("begin one\nrefused one: x: is bad\n", Ending::Kind::Done), changes);
  tally.add(outcomeOfNotes("begin one\n", Ending::Kind::TimeOut), changes);
  const std::string tables = tally.tables();
  for (const char *row : {"| passed all steps | 1 |", "| refused in one | 2 |", "| time-out | 1 |",
                          "| step | passed | refused | time-out |", "| one | 1 | 2 | 1 |",
                          "| change | cases | findings | refused |", "| a constant | 3 | 1 | 2 |"})
    EXPECT_NE(tables.find(row), std::string::npos) << row << " is not in\n" << tables;
}

TEST(Guard, GreedyWorkIsEnded) {
  const Outcome outcome = outcomeOfWork([](const Notes &notes) {
    notes.add("begin one");
    std::string *volatile text = new std::string(size_t{3} << 30, 'x');
    notes.add("passed one");
    delete text;
  });
  EXPECT_EQ(outcome.signature(), "memory in one");
}

TEST(Guard, EachCaseOfAProcessHasItsOwnTime) {
  const auto spin = [](double seconds) {
    const std::clock_t end = std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
    while (std::clock() < end)
      ;
  };
  const Limits limits{.seconds = 3, .patience = 100};
  // More than three seconds in all, but little more than one at a time.
  const Outcome patient = outcomeOfWork(
      [&](const Notes &) {
        for (int i = 0; i < 3; ++i) {
          beginCase(limits);
          spin(1.1);
        }
      },
      limits);
  EXPECT_FALSE(patient.isFinding()) << patient.signature();
  const Outcome slow = outcomeOfWork(
      [&](const Notes &notes) {
        beginCase(limits);
        notes.add("begin one");
        spin(10);
      },
      limits);
  EXPECT_EQ(slow.signature(), "time-out in one");
}

TEST(Guard, WhatEarlierCasesWroteIsForgotten) {
  const Outcome outcome = outcomeOfWork([](const Notes &notes) {
    std::fputs("a.cpp:7: int f(): Assertion `x > 0' failed.\n", stderr);
    beginCase({});
    notes.add("begin two");
    ::raise(SIGSEGV);
  });
  EXPECT_EQ(outcome.signature(), "SIGSEGV in two");
}

TEST(Guard, FilesThatAreLeftAreFindings) {
  const Outcome outcome = outcomeOfWork([](const Notes &notes) {
    notes.add("begin use");
    notes.add("refused use: a: is bad");
    notes.add("left in TMPDIR: x");
  });
  EXPECT_EQ(outcome.signature(), "left behind in use: in TMPDIR: x");
}

} // namespace
