//===- OrderTest.cpp - What ids order, against all paths of a graph -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SmallIsa.h"

#include "tpuc/Target/Common/Order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::mc;
using namespace tpuc::smallisa;
using testing::HasSubstr;

namespace {

constexpr size_t kEngines = 3;

/// Commands of three engines, with random waits, a few of them for ids behind or beyond.
struct RandomProgram {
  std::vector<std::vector<Command>> commands{kEngines};
  std::vector<std::span<const Command>> queues;
  /// All commands as nodes: reaches[a][b] if a path leads from a to b.
  std::vector<std::pair<size_t, size_t>> nodes;
  std::vector<std::vector<bool>> reaches;
  bool isPossible = true;

  RandomProgram(std::mt19937_64 &random, bool mayBeWrong);
  size_t node(size_t engine, size_t index) const {
    return static_cast<size_t>(std::ranges::find(nodes, std::pair(engine, index)) - nodes.begin());
  }
  const Command &command(size_t node) const {
    return commands[nodes[node].first][nodes[node].second];
  }
  void closeOverPaths();
};

RandomProgram::RandomProgram(std::mt19937_64 &random, bool mayBeWrong) {
  const size_t count = random() % 12;
  for (size_t i = 0; i < count; ++i) {
    const size_t engine = random() % kEngines;
    std::vector<Command> &own = commands[engine];
    Command command = Command::make(kThree.ops[engine * 2 + random() % 2]);
    command.set(ThreeField::Id, own.size() + 1).set(ThreeField::Address, random() % 4);
    for (const Wait &wait : command.engineInfo().waits)
      if (random() % 2 == 0) {
        const size_t most = commands[wait.engine.index()].size() + (mayBeWrong ? 1 : 0);
        command.set(wait.field, random() % (most + 1));
      }
    nodes.emplace_back(engine, own.size());
    own.push_back(command);
  }
  queues.assign(commands.begin(), commands.end());
  closeOverPaths();
}

void RandomProgram::closeOverPaths() {
  reaches.assign(nodes.size(), std::vector<bool>(nodes.size()));
  for (size_t to = 0; to < nodes.size(); ++to) {
    const auto [engine, index] = nodes[to];
    if (index > 0)
      reaches[node(engine, index - 1)][to] = true;
    for (const Wait &wait : kThree.engines[engine].waits)
      if (const uint64_t id = command(to).get(wait.field); id > 0) {
        const size_t from = node(wait.engine.index(), id - 1);
        if (from == nodes.size())
          isPossible = false;
        else
          reaches[from][to] = true;
      }
  }
  for (size_t via = 0; via < nodes.size(); ++via)
    for (size_t from = 0; from < nodes.size(); ++from)
      for (size_t to = 0; to < nodes.size(); ++to)
        if (reaches[from][via] && reaches[via][to])
          reaches[from][to] = true;
  for (size_t i = 0; i < nodes.size(); ++i)
    isPossible = isPossible && !reaches[i][i];
}

TEST(SmallOrder, KeepsEveryPathAndFindsEveryDeadlock) {
  std::mt19937_64 random(6);
  int numPossible = 0, numRefused = 0;
  for (int repeat = 0; repeat < 2000; ++repeat) {
    const RandomProgram program(random, true);
    const auto order = serialOrder(kThree, program.queues, "test");
    ASSERT_EQ(order.has_value(), program.isPossible);
    ++(order ? numPossible : numRefused);
    if (!order)
      continue;
    std::vector<size_t> sequence;
    for (const ScheduledCommand &one : *order)
      sequence.push_back(program.node(one.engine.index(), one.index));
    ASSERT_EQ(sequence.size(), program.nodes.size());
    for (size_t i = 0; i < sequence.size(); ++i)
      for (size_t j = 0; j <= i; ++j)
        ASSERT_FALSE(program.reaches[sequence[i]][sequence[j]]);
  }
  EXPECT_GT(numPossible, 200);
  EXPECT_GT(numRefused, 200);
}

TEST(SmallOrder, ProgressIsWhatPathsReach) {
  std::mt19937_64 random(7);
  for (int repeat = 0; repeat < 1000; ++repeat) {
    const RandomProgram program(random, false);
    const auto progress = progressOf(kThree, program.queues, "test");
    ASSERT_TRUE(progress) << progress.error().message();
    for (size_t a = 0; a < program.nodes.size(); ++a)
      for (size_t b = 0; b < program.nodes.size(); ++b) {
        const auto [fromEngine, fromIndex] = program.nodes[a];
        const auto [engine, index] = program.nodes[b];
        ASSERT_EQ((*progress)[engine][index][fromEngine] > fromIndex, program.reaches[a][b]);
      }
  }
}

std::vector<Access> accessOf(const Command &command) {
  const uint64_t address = command.get(ThreeField::Address);
  return {{.first = address, .last = address + 1, .isWrite = command.operation().opcode == 1}};
}

TEST(SmallOrder, HazardsArePairsWithoutAPath) {
  std::mt19937_64 random(8);
  int numHazards = 0, numSafe = 0;
  for (int repeat = 0; repeat < 2000; ++repeat) {
    const RandomProgram program(random, false);
    const auto isHazard = [&](size_t a, size_t b) {
      const Command &one = program.command(a);
      const Command &other = program.command(b);
      return one.engine() != other.engine() && !program.reaches[a][b] && !program.reaches[b][a] &&
             one.get(ThreeField::Address) == other.get(ThreeField::Address) &&
             one.operation().opcode + other.operation().opcode > 0;
    };
    bool expected = false;
    for (size_t a = 0; a < program.nodes.size(); ++a)
      for (size_t b = 0; b < a; ++b)
        expected = expected || isHazard(a, b);
    const auto hazard = findHazard(kThree, program.queues, accessOf, "test");
    ASSERT_TRUE(hazard) << hazard.error().message();
    ASSERT_EQ(hazard->has_value(), expected);
    ++(expected ? numHazards : numSafe);
    if (*hazard)
      EXPECT_TRUE(isHazard(program.node((*hazard)->one.engine.index(), (*hazard)->one.index),
                           program.node((*hazard)->other.engine.index(), (*hazard)->other.index)));
  }
  EXPECT_GT(numHazards, 200);
  EXPECT_GT(numSafe, 200);
}

TEST(SmallOrder, AccessesMeetInMemoryLanesAndBytes) {
  std::vector<std::vector<Command>> commands(kEngines);
  for (const char *line : {"a.write #1", "b.write #1"}) {
    const Command command = *assemble(kThree, line, "test");
    commands[command.engine().index()].push_back(command);
  }
  const std::vector<std::span<const Command>> queues(commands.begin(), commands.end());
  const auto meet = [&](Access a, Access b) {
    const auto accessesOf = [&](const Command &command) {
      return std::vector<Access>{command.engine() == EngineId(0) ? a : b};
    };
    return findHazard(kThree, queues, accessesOf, "test")->has_value();
  };
  const Access access = {.memory = 1, .first = 8, .last = 16, .isWrite = true, .lanes = 3};
  const auto with = [&](auto change) {
    Access changed = access;
    change(changed);
    return changed;
  };
  EXPECT_TRUE(meet(access, access));
  EXPECT_TRUE(meet(access, with([](Access &a) { a.isWrite = false; })));
  EXPECT_FALSE(
      meet(with([](Access &a) { a.isWrite = false; }), with([](Access &a) { a.isWrite = false; })));
  EXPECT_FALSE(meet(access, with([](Access &a) { a.memory = 0; })));
  EXPECT_FALSE(meet(access, with([](Access &a) { a.lanes = 4; })));
  EXPECT_FALSE(meet(access, with([](Access &a) { a.first = 16, a.last = 20; })));
  EXPECT_TRUE(meet(access, with([](Access &a) { a.first = 15, a.last = 20; })));
}

std::string sharedStreamMessage(std::initializer_list<const char *> lines) {
  std::vector<Command> commands;
  for (const char *line : lines)
    commands.push_back(*assemble(kOrdered, line, "test"));
  const std::optional<Error> error = checkSharedStream(commands, "s");
  return error ? error->message() : "ordered";
}

TEST(SharedOrder, WaitsOnlyForWhatIsBeforeIt) {
  EXPECT_EQ(sharedStreamMessage({}), "ordered");
  EXPECT_EQ(sharedStreamMessage({"load #1", "conv #1 <-1", "load #2", "store #3 <-1"}), "ordered");
  EXPECT_THAT(
      sharedStreamMessage({"load #1", "conv #1 <-2", "load #2"}),
      HasSubstr("s: MAC command 0: waits for DMA id 2; expected an id before it, 1 at most"));
  EXPECT_THAT(sharedStreamMessage({"load #1", "load #3"}),
              HasSubstr("DMA command 1: id 3; expected 2"));
}

/// Engines that obey a shared stream give the order of each engine, and no deadlock.
TEST(SharedOrder, RandomStreamsHaveASerialOrder) {
  std::mt19937_64 random(9);
  for (int repeat = 0; repeat < 500; ++repeat) {
    std::vector<Command> commands;
    size_t counts[2] = {};
    for (size_t count = random() % 30; count > 0; --count) {
      Command command = randomCommand(kOrdered, random);
      const size_t engine = command.engine().index();
      command.set(Field::Id, ++counts[engine]);
      command.set(Field::Wait, random() % (counts[1 - engine] + 1));
      commands.push_back(command);
    }
    ASSERT_FALSE(checkSharedStream(commands, "s"));
    const auto split = splitByEngine(kOrdered, commands);
    const std::vector<std::span<const Command>> queues(split.begin(), split.end());
    const auto order = serialOrder(kOrdered, queues, "s");
    ASSERT_TRUE(order) << order.error().message();
    EXPECT_EQ(order->size(), commands.size());
  }
}

} // namespace
