//===- Timing.cpp - The time line of both engines -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Timing.h"

#include "tpuc/Target/Common/Check.h"
#include "tpuc/Target/Common/Order.h"

#include <fmt/format.h>

namespace tpuc::bm168x {

std::string_view directionName(Direction direction) {
  constexpr std::array<std::string_view, kNumDirections> kNames = {"S2L", "L2S", "S2S", "L2L"};
  return kNames[static_cast<size_t>(direction)];
}

Direction directionOf(const LocalMemory &memory, uint64_t source, uint64_t destination) {
  if (memory.contains(source))
    return memory.contains(destination) ? Direction::LocalToLocal : Direction::LocalToSystem;
  return memory.contains(destination) ? Direction::SystemToLocal : Direction::SystemToSystem;
}

Expected<CommandCost> checkedCost(std::optional<CommandCost> cost, const mc::Command &command,
                                  const std::string &where) {
  if (!cost)
    return makeError(where, fmt::format("{} of types without a formula", command.operation().name),
                     "a command whose time is known");
  if (cost->cycles > kMostCycles)
    return makeError(where, fmt::format("{} of {} cycles", command.operation().name, cost->cycles),
                     fmt::format("{} at most", kMostCycles));
  // Some transfers are free of charge, however long. Sums over a program must not overflow.
  constexpr int64_t kMostWork = int64_t{1} << 40;
  if (cost->bytes > kMostWork || cost->macs > kMostWork)
    return makeError(where,
                     fmt::format("{} of {} bytes, {} products", command.operation().name,
                                 cost->bytes, cost->macs),
                     fmt::format("{} at most", kMostWork));
  return *std::move(cost);
}

double TimingReport::overlap() const {
  int64_t shorter = std::min(tiuCycles, gdmaCycles);
  return ratio(static_cast<double>(tiuCycles + gdmaCycles - totalCycles), shorter);
}

void TimingReport::append(const TimingReport &next) {
  auto shift = [&](std::vector<TimedCommand> &to, const std::vector<TimedCommand> &from) {
    for (const TimedCommand &command : from) {
      to.push_back(command);
      to.back().start += totalCycles;
    }
  };
  shift(tiu, next.tiu);
  shift(gdma, next.gdma);
  totalCycles += next.totalCycles;
  tiuCycles += next.tiuCycles;
  gdmaCycles += next.gdmaCycles;
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] += next.bytes[i];
  filledBytes += next.filledBytes;
  macs += next.macs;
  macCycles += next.macCycles;
  globalBytes += next.globalBytes;
  globalCycles += next.globalCycles;
}

namespace {

/// Adds a command to the sums of the report.
void count(TimingReport &report, bool isTiu, const CommandCost &cost,
           double peakGlobalBytesPerCycle) {
  (isTiu ? report.tiuCycles : report.gdmaCycles) += cost.cycles;
  report.macs += cost.macs;
  report.macCycles += cost.macCycles;
  int64_t global = 0;
  if (cost.direction) {
    report.bytes[static_cast<size_t>(*cost.direction)] += cost.bytes;
    global = *cost.direction == Direction::SystemToSystem ? 2 * cost.bytes
             : *cost.direction == Direction::LocalToLocal ? 0
                                                          : cost.bytes;
  } else if (cost.bytes > 0) {
    report.filledBytes += cost.bytes;
    global = cost.fillsGlobal ? cost.bytes : 0;
  }
  report.globalBytes += global;
  report.globalCycles += static_cast<double>(global) / peakGlobalBytesPerCycle;
}

} // namespace

Expected<TimingReport> simulateTiming(const mc::CommandTable &table,
                                      std::span<const mc::Command> tiu,
                                      std::span<const mc::Command> gdma, const CostFunction &costOf,
                                      double peakGlobalBytesPerCycle, const std::string &where) {
  const std::span<const mc::Command> queues[] = {tiu, gdma};
  Expected<std::vector<mc::ScheduledCommand>> order = mc::serialOrder(table, queues, where);
  if (!order)
    return propagate(order);
  TimingReport report;
  report.tiu.reserve(tiu.size());
  report.gdma.reserve(gdma.size());
  for (const mc::ScheduledCommand &next : *order) {
    bool isTiu = next.engine == Engine::Tiu;
    const mc::Command &command = (isTiu ? tiu : gdma)[next.index];
    Expected<CommandCost> cost = costOf(command);
    if (!cost)
      return makeError(mc::commandName(where, command, next.index), cost.error().found,
                       cost.error().expected);
    std::vector<TimedCommand> &own = isTiu ? report.tiu : report.gdma;
    const std::vector<TimedCommand> &other = isTiu ? report.gdma : report.tiu;
    auto end = [](const TimedCommand &earlier) { return earlier.start + earlier.cost.cycles; };
    int64_t start = own.empty() ? 0 : end(own.back());
    // Ids count from 1, and the awaited command comes first in the serial order.
    if (uint32_t awaited = command.dependency(); awaited > 0)
      start = std::max(start, end(other[awaited - 1]));
    own.push_back({&command.operation(), command.id(), command.dependency(), start, *cost});
    report.totalCycles = std::max(report.totalCycles, end(own.back()));
    count(report, isTiu, *cost, peakGlobalBytesPerCycle);
  }
  return report;
}

} // namespace tpuc::bm168x
