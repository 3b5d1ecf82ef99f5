//===- FuzzNetworksTest.cpp -----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/networks/Findings.h"
#include "test/fuzz/networks/Mutations.h"
#include "test/fuzz/networks/Seeds.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

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

std::vector<Seed> allSeeds() {
  Expected<std::vector<Seed>> seeds = readSeeds(std::vector<std::string>{TPUC_NETWORK_SEEDS});
  EXPECT_TRUE(seeds) << (seeds ? "" : seeds.error().message());
  return seeds ? *seeds : std::vector<Seed>();
}

TEST(Mutations, AreTheSameForTheSameSeed) {
  for (const Seed &seed : allSeeds()) {
    proto::Model one = seed.model, two = seed.model;
    const std::vector<std::string> operators = {"Relu", "Conv"};
    EXPECT_EQ(mutate(one, operators, 5).text, mutate(two, operators, 5).text) << seed.name;
    EXPECT_EQ(one.SerializeAsString(), two.SerializeAsString()) << seed.name;
  }
}

TEST(Mutations, ChangeWhatTheySay) {
  for (const Seed &seed : allSeeds())
    for (uint64_t number = 0; number < 20; ++number) {
      proto::Model changed = seed.model;
      const Change change = mutate(changed, {}, number);
      EXPECT_EQ(change.text.empty(), change.kind.empty());
      // A number may be what it was.
      if (change.text.empty())
        EXPECT_EQ(changed.SerializeAsString(), seed.model.SerializeAsString()) << seed.name;
    }
}

TEST(Mutations, ReachEveryPartOfANetwork) {
  std::vector<Seed> seeds = allSeeds();
  std::vector<proto::Model> models;
  for (const Seed &seed : seeds)
    models.push_back(seed.model);
  const std::vector<std::string> operators = operatorsOf(models);
  EXPECT_GT(operators.size(), 150U);
  std::set<std::string> reached;
  for (const Seed &seed : seeds)
    for (uint64_t number = 0; number < 40; ++number) {
      proto::Model changed = seed.model;
      const std::string what = mutate(changed, operators, number).text;
      for (const char *part :
           {"constant:", "shape:", "type:", " becomes ", " twice", " lacks ", "of version",
            " is left out", " once more", "output ", " is empty", "NaN", "nan", " makes "})
        if (what.find(part) != std::string::npos)
          reached.insert(part);
    }
  EXPECT_GE(reached.size(), 13U);
}

TEST(Seeds, FilesThatAreNoneAreNamed) {
  Expected<std::vector<Seed>> seeds = readSeeds(std::vector<std::string>{"/nowhere/seeds.txt"});
  ASSERT_FALSE(seeds);
  EXPECT_EQ(seeds.error().where, "/nowhere/seeds.txt");
}

} // namespace
