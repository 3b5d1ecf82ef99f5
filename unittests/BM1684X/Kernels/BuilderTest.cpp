//===- BuilderTest.cpp - Ids and waits-------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <gmock/gmock.h>
#include <random>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::vector<uint32_t> waits(const std::vector<Command> &commands) {
  std::vector<uint32_t> ids;
  for (const Command &command : commands)
    ids.push_back(command.dependency());
  return ids;
}

LocalTensor row(uint32_t address) { return localTensor(DataType::F32, {1, 64, 1, 16}, address); }
GlobalTensor place(uint64_t offset) {
  return globalTensor(DataType::F32, {1, 64, 1, 16}, kGlobalBase + offset);
}

TEST(Builder, WaitsForWhatIsNeededAndNotTwice) {
  Builder builder;
  expectOk(emitLoad(builder, place(0), row(0)));         // GDMA 1
  expectOk(emitLoad(builder, place(0x1000), row(64)));   // GDMA 2
  expectOk(emitLocalCopy(builder, row(64), row(128)));   // TIU 1 reads what GDMA 2 wrote
  expectOk(emitLocalCopy(builder, row(0), row(192)));    // TIU 2: GDMA 1 is over, then
  expectOk(emitStore(builder, row(192), place(0x2000))); // GDMA 3 reads what TIU 2 wrote
  expectOk(emitLoad(builder, place(0), row(64)));        // GDMA 4 overwrites what TIU 1 read
  expectOk(emitLocalCopy(builder, row(128), row(192)));  // TIU 3 overwrites what GDMA 3 read
  expectOk(emitLocalCopy(builder, row(128), row(256)));  // TIU 4 concerns nobody
  Expected<CommandStreams> streams = builder.finish();
  ASSERT_TRUE(streams) << streams.error().message();
  EXPECT_THAT(waits(streams->tiu), ElementsAre(2, 0, 3, 0, 0));
  EXPECT_THAT(waits(streams->gdma), ElementsAre(0, 0, 2, 0, 0));
  EXPECT_TRUE(streams->tiu.back().isEnd());
  EXPECT_TRUE(streams->gdma.back().isEnd());
}

TEST(Builder, WritesATableAgainWhereItWasOverwritten) {
  Builder builder;
  const std::vector<double> table = {1, -0.5, 0.25};
  const auto written = [&](std::span<const double> values, uint32_t address) {
    const size_t before = builder.numCommands();
    addTable(builder, values, address);
    return builder.numCommands() - before;
  };
  EXPECT_EQ(written(table, 128), 3u);
  EXPECT_EQ(written(table, 128), 0u);
  EXPECT_EQ(written(table, 192), 3u);
  // What lies around it may change, and it may be read.
  expectOk(emitLocalCopy(builder, row(128), row(256)));
  expectOk(emitLocalCopy(builder, row(256), row(64)));
  EXPECT_EQ(written(table, 128), 0u);
  // Other values, and a part of it by either engine.
  EXPECT_EQ(written(std::vector<double>{1, -0.5, 0.125}, 128), 3u);
  EXPECT_EQ(written(table, 128), 3u);
  expectOk(emitLocalCopy(builder, row(256), row(76)));
  EXPECT_EQ(written(table, 128), 3u);
  expectOk(emitLoad(builder, place(0), row(136)));
  EXPECT_EQ(written(table, 128), 3u);
  EXPECT_EQ(written(table, 192), 3u);
  EXPECT_TRUE(builder.finish());
  EXPECT_EQ(written(table, 128), 3u);
}

TEST(Builder, LayersMayComeAgain) {
  Builder builder;
  builder.beginLayer("a");
  expectOk(emitLoad(builder, place(0), row(0)));
  builder.beginLayer("b");
  expectOk(emitLoad(builder, place(0), row(64)));
  builder.beginLayer("a");
  expectOk(emitLocalCopy(builder, row(0), row(128)));
  Expected<CommandStreams> streams = builder.finish();
  ASSERT_TRUE(streams);
  EXPECT_THAT(streams->layers, ElementsAre("", "a", "b"));
  EXPECT_THAT(streams->gdmaLayers, ElementsAre(1, 2, 1));
  EXPECT_THAT(streams->tiuLayers, ElementsAre(1, 1));
  EXPECT_EQ(builder.numCommands(Engine::Gdma), 0u);
}

TEST(Builder, OperandsThatLeaveTheirLaneNameTheLayer) {
  Builder builder;
  builder.beginLayer("conv1");
  expectOk(emitLocalCopy(builder, row(0).withShape({1, 65, 1, 16}),
                         row(kLaneBytes - 64).withShape({1, 65, 1, 16})));
  Expected<CommandStreams> streams = builder.finish();
  ASSERT_FALSE(streams);
  EXPECT_THAT(streams.error().message(), HasSubstr("conv1: "));
  // The next program is not concerned.
  expectOk(emitLocalCopy(builder, row(0), row(64)));
  EXPECT_TRUE(builder.finish());
}

TEST(Builder, CountsTheSameCommandsWithoutWaits) {
  const auto emit = [](Builder builder) {
    expectOk(emitLoad(builder, place(0), row(0)));
    expectOk(emitLocalCopy(builder, row(0), row(64)));
    expectOk(emitStore(builder, row(64), place(0x1000)));
    const std::vector<double> table = {1, -0.5, 0.25};
    addTable(builder, table, 128);
    addTable(builder, table, 128);
    expectOk(emitLocalCopy(builder, row(64), row(128)));
    addTable(builder, table, 128);
    Expected<CommandStreams> streams = builder.finish();
    EXPECT_TRUE(streams);
    return std::move(*streams);
  };
  const CommandStreams ordered = emit(Builder());
  CommandStreams counted = emit(Builder(bm168x::Waits::None));
  EXPECT_THAT(waits(ordered.gdma), ElementsAre(0, 1, 0));
  EXPECT_THAT(waits(counted.gdma), ElementsAre(0, 0, 0));
  const auto withoutWaits = [](std::vector<Command> commands) {
    for (Command &command : commands)
      command.trySet(Field::CmdIdDep, 0);
    return commands;
  };
  EXPECT_EQ(withoutWaits(ordered.tiu), counted.tiu);
  EXPECT_EQ(withoutWaits(ordered.gdma), counted.gdma);
}

TEST(AccessMap, AnyIntervalsKeepTheLastCommandsOfTheirBytes) {
  constexpr uint32_t kBytes = 48;
  std::minstd_rand random(1);
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  for (int round = 0; round < 200; ++round) {
    AccessMap map;
    std::array<AccessMap::Ids, kBytes> bytes = {};
    for (uint32_t id = 1; id <= 40; ++id) {
      const uint32_t first = below(kBytes);
      const uint32_t last = first + below(kBytes - first + 1);
      const bool isWritten = below(2) == 0, isRead = below(2) == 0;
      map.record(first, last, id, isWritten, isRead);
      for (uint32_t byte = first; byte < last; ++byte) {
        bytes[byte].writer = isWritten ? id : bytes[byte].writer;
        bytes[byte].reader = isRead ? id : bytes[byte].reader;
      }
      const uint32_t begin = below(kBytes);
      const uint32_t end = begin + 1 + below(kBytes - begin);
      AccessMap::Ids expected;
      for (uint32_t byte = begin; byte < end; ++byte) {
        expected.writer = std::max(expected.writer, bytes[byte].writer);
        expected.reader = std::max(expected.reader, bytes[byte].reader);
      }
      ASSERT_EQ(map.latest(begin, end), expected);
    }
  }
}

TEST(AccessMap, BytesKeepTheirLastCommands) {
  AccessMap map;
  map.record(64, 128, 1, true, false);
  map.record(96, 160, 2, false, true);
  EXPECT_EQ(map.latest(0, 64).writer, 0u);
  EXPECT_EQ(map.latest(64, 96).writer, 1u);
  EXPECT_EQ(map.latest(64, 96).reader, 0u);
  EXPECT_EQ(map.latest(127, 128).reader, 2u);
  EXPECT_EQ(map.latest(128, 160).writer, 0u);
  map.record(0, 256, 3, true, false);
  EXPECT_EQ(map.latest(0, 1).writer, 3u);
  EXPECT_EQ(map.latest(100, 101).reader, 2u);
  EXPECT_EQ(map.latest(256, 300).writer, 0u);
}

} // namespace
