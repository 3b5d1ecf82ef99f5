//===- FamilyTest.cpp - A second chip of the family, from data ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chip with lanes of 512 KiB, lines of 128 bytes, ids of 16 bits and no end commands.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/CommandBuilder.h"
#include "tpuc/Target/BM168x/FieldTable.h"
#include "tpuc/Target/BM168x/Memory.h"
#include "tpuc/Target/BM168x/Timing.h"
#include "tpuc/Target/BM168x/Window.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::bm168x;
using testing::ElementsAre;
using testing::HasSubstr;

extern const mc::CommandTable kOtherChip;

namespace {

constexpr LocalMemory kLanesOfChip = {0x0800'0000, 512 << 10, 128};

constexpr mc::EngineInfo engine(std::string_view name, std::span<const mc::Wait> waits) {
  return {.name = name,
          .headBytes = 16,
          .opcode = {Field::Opcode, {37, 4}},
          .id = mc::FieldId(Field::CmdId),
          .waits = waits};
}
constexpr mc::EngineInfo kEngines[] = {engine("TIU", kTiuWaits), engine("GDMA", kGdmaWaits)};
constexpr mc::FieldSpec kTiuForm[] = {
    {Field::CmdId, 3, 16},     {Field::CmdIdDep, 19, 16}, {Field::Opcode, 37, 4},
    {Field::Opd0UpPad, 41, 4}, {Field::Opd0DnPad, 45, 4}, {Field::Opd0LfPad, 49, 4},
    {Field::Opd0RtPad, 53, 4}, {Field::ResOpXStr, 57, 4}, {Field::ResOpYStr, 61, 4},
    {Field::Res0N, 66, 16},    {Field::Res0C, 82, 12},    {Field::Res0H, 94, 16},
    {Field::Res0W, 110, 16},   {Field::Opd0H, 126, 16},   {Field::Opd0W, 142, 16},
    {Field::Opd1H, 158, 16},   {Field::Opd1W, 174, 16},   {Field::Res0Addr, 192, 32},
    {Field::Opd0Addr, 224, 32}};
constexpr mc::FieldSpec kGdmaForm[] = {
    {Field::CmdId, 16, 16},       {Field::Opcode, 37, 4},     {Field::SrcPrec, 42, 3},
    {Field::CmdIdDep, 48, 16},    {Field::SrcNsize, 64, 16},  {Field::SrcCsize, 80, 16},
    {Field::SrcHsize, 96, 16},    {Field::SrcWsize, 112, 16}, {Field::SrcAddrL32, 128, 32},
    {Field::DstAddrL32, 160, 32}, {Field::SrcAddrH8, 192, 8}, {Field::DstAddrH8, 200, 8}};
constexpr mc::FormInfo kForms[] = {{mc::FormId(0), "tiu", Engine::Tiu, 128, kTiuForm},
                                   {mc::FormId(1), "gdma", Engine::Gdma, 128, kGdmaForm}};
constexpr mc::OpInfo op(Engine engine, uint16_t opcode, std::string_view name) {
  return {.table = &kOtherChip,
          .engine = engine,
          .opcode = opcode,
          .sub = 0,
          .name = name,
          .form = mc::FormId(static_cast<size_t>(engine))};
}
constexpr mc::OpInfo kOps[] = {op(Engine::Tiu, 1, "pool"), op(Engine::Gdma, 0, "move")};
constexpr mc::EngineId kBoth[] = {Engine::Tiu, Engine::Gdma};
constexpr mc::StreamInfo kStreams[] = {{"TIU", std::span(kBoth).first(1)},
                                       {"GDMA", std::span(kBoth).last(1)}};
constexpr auto kFieldIndex = mc::indexFields<std::size(kForms), kNumFields>(kForms);
constexpr auto kOpIndex = mc::indexOps<kNumEngines, 16, 1>(kOps);

} // namespace

constexpr mc::CommandTable kOtherChip = {.engines = kEngines,
                                         .fields = fieldtable::kFields,
                                         .forms = kForms,
                                         .ops = kOps,
                                         .groups = fieldtable::kGroups,
                                         .limits = {},
                                         .streams = kStreams,
                                         .fieldIndex = kFieldIndex,
                                         .opIndex = kOpIndex,
                                         .numOpcodes = 16,
                                         .numSubs = 1};
static_assert(mc::problemOf(kOtherChip).empty());

namespace {

mc::Command assembled(const std::string &line) {
  Expected<mc::Command> command = mc::assemble(kOtherChip, line, "test");
  EXPECT_TRUE(command) << command.error().message();
  return *command;
}

/// One row of 16 words in each of 64 lanes.
mc::Command pool(uint32_t from, uint32_t to) {
  return assembled(fmt::format("pool res0=[n1 c64 h1 w16] opd0_addr={} res0_addr={}", from, to));
}
mc::Command move(uint64_t from, uint64_t to) {
  return assembled(
      fmt::format("move src_prec=f32 src=[n1 c64 h1 w16] src_addr={} dst_addr={}", from, to));
}

Expected<OperandList> operandsOf(const mc::Command &command, const std::string &) {
  OperandList list;
  if (command.engine() == Engine::Tiu) {
    const Extents shape = resultShape(command);
    const auto view = [&](Field address) {
      return localView(kLanesOfChip, command.get(address), Prec::F32, shape, Layout::Aligned);
    };
    list.add(Role::Opd0, view(Field::Opd0Addr));
    list.addResult(Role::Res0, view(Field::Res0Addr));
    return list;
  }
  const Transfer transfer = transferOf(command);
  const auto view = [&](uint64_t address) {
    return transferView(kLanesOfChip, address, transfer.prec, transfer.srcShape,
                        transferStrides(kLanesOfChip, address, transfer.srcShape, 4));
  };
  list.add(Role::Opd0, view(transfer.src));
  list.addResult(Role::Res0, view(transfer.dst));
  return list;
}

constexpr uint64_t kLocal = 0x0800'0000, kGlobal = 0x1'0000'0000;

TEST(FamilyViews, FollowTheLanesOfTheChip) {
  const View view =
      localView(kLanesOfChip, (512 << 10) * 62 + 256, Prec::F32, {2, 3, 5, 7}, Layout::Aligned);
  EXPECT_EQ(startLane(kLanesOfChip, view.address), 62u);
  // Lines of 32 words; channels in lanes 62, 63 and 0 take two slots.
  EXPECT_THAT(view.stride, ElementsAre(128, 64, 7, 1));
  EXPECT_EQ(touchedBytes(kLanesOfChip, view).last, (128 + 64 + 35) * 4);
  EXPECT_THAT(layoutStrides(kLanesOfChip, Layout::LineAligned, {1, 64, 5, 7}, 1, 0),
              ElementsAre(5 * 128, 5 * 128, 128, 1));
  EXPECT_TRUE(kLanesOfChip.contains(kLocal + (32 << 20) - 1));
  EXPECT_FALSE(kLanesOfChip.contains(kLocal + (32 << 20)));
}

TEST(FamilyViews, OperandsStayInTheirLanes) {
  const auto message = [](const View &view) {
    OperandList list;
    list.add(Role::Opd1, view);
    const std::optional<Error> error = checkOperands(kLanesOfChip, list, "here");
    return error ? error->message() : "legal";
  };
  const Extents row = {1, 64, 1, 32};
  const auto at = [&](uint64_t offset) {
    return localView(kLanesOfChip, offset, Prec::F32, row, Layout::Aligned);
  };
  EXPECT_EQ(message(at((512 << 10) - 128)), "legal");
  EXPECT_THAT(message(at((512 << 10) - 124)), HasSubstr("reaches byte 0x80004 of its lanes"));
  EXPECT_THAT(message(at(32 << 20)), HasSubstr("below 0x2000000"));
  EXPECT_THAT(message(at(2)), HasSubstr("a multiple of 4 bytes"));
}

TEST(FamilyWindow, ReadsTheFieldsThatTheFormHas) {
  const auto window = readWindow(assembled("pool res0=[n1 c1 h3 w2] opd1=[h3 w2] "
                                           "opd0=[h5 w4] pad=[u1 d1 l0 r0] window_stride=[h2 w2]"),
                                 "test");
  ASSERT_TRUE(window) << window.error().message();
  EXPECT_EQ(window->source(0, 0, 0), kPadValue);
  EXPECT_EQ(window->source(0, 1, 2), 3);
  EXPECT_EQ(window->source(1, 1, 1), 3);
  const auto outside = readWindow(assembled("pool res0=[n1 c1 h3 w2] opd1=[h3 w2] opd0=[h5 w4] "
                                            "window_stride=[h2 w2]"),
                                  "test");
  ASSERT_FALSE(outside);
  EXPECT_THAT(outside.error().message(), HasSubstr("windows that cover 7 of 5 rows"));
}

TEST(FamilyBuilder, GivesIdsAndWaitsWithoutEndCommands) {
  const BuilderChip chip = {kLanesOfChip, &operandsOf, {}, 3};
  CommandBuilder builder(chip);
  builder.beginLayer("a");
  builder.add(move(kGlobal, kLocal));
  builder.add(move(kGlobal, kLocal + 128));
  builder.add(pool(0, 256));
  builder.add(move(kLocal + 256, kGlobal));
  const auto streams = builder.finish();
  ASSERT_TRUE(streams) << streams.error().message();
  ASSERT_EQ(streams->tiu.size(), 1u);
  ASSERT_EQ(streams->gdma.size(), 3u);
  EXPECT_EQ(streams->tiu[0].dependency(), 1u);
  EXPECT_EQ(streams->gdma[2].dependency(), 1u);
  EXPECT_EQ(streams->gdma[2].id(), 3u);

  for (int i = 0; i < 4; ++i)
    builder.add(pool(0, 256));
  const auto tooMany = builder.finish();
  ASSERT_FALSE(tooMany);
  EXPECT_THAT(tooMany.error().message(),
              HasSubstr("more than 3 commands on one engine; expected as many as ids can name"));
}

TEST(FamilyBuilder, BeginsAGroupWhereIdsAreUsedUp) {
  const BuilderChip chip = {kLanesOfChip, &operandsOf, {pool(0, 0), std::nullopt}, 3};
  CommandBuilder builder(chip);
  EXPECT_EQ(builder.placeBehind(Engine::Gdma), std::nullopt);
  builder.beginLayer("a");
  builder.add(move(kGlobal, kLocal));
  builder.add(move(kGlobal, kLocal + 128));
  for (int i = 0; i < 3; ++i)
    builder.add(pool(0, 256));
  EXPECT_EQ(builder.placeBehind(Engine::Tiu), (CommandPlace{0, 3}));
  builder.beginLayer("b");
  builder.add(pool(128, 256));
  builder.add(move(kGlobal, kLocal));
  EXPECT_EQ(builder.placeBehind(Engine::Tiu), (CommandPlace{1, 1}));
  EXPECT_EQ(builder.placeBehind(Engine::Gdma), (CommandPlace{1, 1}));
  builder.beginLayer("a");
  builder.add(pool(0, 512));
  builder.add(move(kLocal + 512, kGlobal));
  // The end of the first group counts, too.
  EXPECT_EQ(builder.numCommands(), 10u);

  const auto groups = builder.finishGroups();
  ASSERT_TRUE(groups) << groups.error().message();
  ASSERT_EQ(groups->size(), 2u);
  const CommandStreams &first = groups->front(), &second = groups->back();
  ASSERT_EQ(first.tiu.size(), 4u);
  ASSERT_EQ(first.gdma.size(), 2u);
  ASSERT_EQ(second.tiu.size(), 3u);
  ASSERT_EQ(second.gdma.size(), 2u);
  EXPECT_EQ(first.tiu[0].dependency(), 1u);
  EXPECT_EQ(first.tiu[3].id(), 4u);
  // Ids begin anew. Nothing of the group before is awaited, and nothing counts as awaited.
  EXPECT_EQ(second.tiu[0].id(), 1u);
  EXPECT_EQ(second.tiu[0].dependency(), 0u);
  EXPECT_EQ(second.gdma[0].id(), 1u);
  EXPECT_EQ(second.gdma[0].dependency(), 0u);
  EXPECT_EQ(second.tiu[1].dependency(), 1u);
  EXPECT_EQ(second.gdma[1].dependency(), 2u);
  EXPECT_THAT(second.layers, ElementsAre("", "a", "b"));
  EXPECT_THAT(first.tiuLayers, ElementsAre(1, 1, 1, 2));
  EXPECT_THAT(second.tiuLayers, ElementsAre(2, 1, 1));
}

TEST(FamilyBuilder, PlacesBehindAGroupThatHasEnded) {
  const BuilderChip chip = {kLanesOfChip, &operandsOf, {}, 2};
  CommandBuilder builder(chip);
  builder.add(move(kGlobal, kLocal));
  for (int i = 0; i < 3; ++i)
    builder.add(pool(0, 256));
  EXPECT_EQ(builder.placeBehind(Engine::Gdma), (CommandPlace{0, 1}));
  EXPECT_EQ(builder.placeBehind(Engine::Tiu), (CommandPlace{1, 1}));
}

TEST(FamilyTiming, EnginesOverlapAsIdsAllow) {
  const std::vector<mc::Command> tiu = {pool(0, 256).set(Field::CmdId, 1),
                                        pool(0, 256).set(Field::CmdId, 2).set(Field::CmdIdDep, 1)};
  const std::vector<mc::Command> gdma = {
      move(kGlobal, kLocal).set(Field::CmdId, 1),
      move(kLocal, kGlobal).set(Field::CmdId, 2).set(Field::CmdIdDep, 1)};
  const auto costOf = [](const mc::Command &command) -> Expected<CommandCost> {
    if (command.engine() == Engine::Tiu)
      return CommandCost{.kind = "POOL", .cycles = 10, .macs = 3};
    const Transfer transfer = transferOf(command);
    return CommandCost{.kind = "MOVE",
                       .cycles = 25,
                       .direction = directionOf(kLanesOfChip, transfer.src, transfer.dst),
                       .bytes = 4096};
  };
  const auto report = simulateTiming(kOtherChip, tiu, gdma, costOf, 64, "test");
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->tiu[0].start, 0);
  EXPECT_EQ(report->tiu[1].start, 25);
  EXPECT_EQ(report->gdma[1].start, 25);
  EXPECT_EQ(report->totalCycles, 50);
  EXPECT_EQ(report->bytes[static_cast<size_t>(Direction::SystemToLocal)], 4096);
  EXPECT_EQ(report->bytes[static_cast<size_t>(Direction::LocalToSystem)], 4096);
  EXPECT_EQ(report->globalCycles, 128);
  EXPECT_EQ(report->macs, 6);
}

TEST(FamilyMemory, HoldsWhatTheChipHas) {
  const ChipMemory l2[] = {{0x1000'0000, 4 << 20}};
  Memory memory(kLanesOfChip, l2, kGlobal);
  EXPECT_EQ(memory.local().size(), size_t{32} << 20);
  EXPECT_EQ(memory.local().back(), 0xde);
  EXPECT_EQ(memory.resolve(kLocal + 4, 8, true), memory.local().data() + 4);
  EXPECT_EQ(memory.resolve(0x1000'0000, 4 << 20, true), memory.other(0).data());
  EXPECT_EQ(memory.resolve(0x1000'0001, 4 << 20, true), nullptr);
  std::vector<uint8_t> bytes(16);
  EXPECT_FALSE(memory.mapGlobal(kGlobal - 1, bytes));
  ASSERT_TRUE(memory.mapGlobalReadOnly(kGlobal, bytes));
  EXPECT_FALSE(memory.mapGlobal(kGlobal + 15, bytes));
  EXPECT_EQ(memory.resolve(kGlobal + 8, 8, false), bytes.data() + 8);
  EXPECT_EQ(memory.resolve(kGlobal + 8, 8, true), nullptr);
  EXPECT_EQ(memory.resolve(kGlobal + 8, 9, false), nullptr);
}

} // namespace
