//===- Timing.cpp - The time line of both engines -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Timing.h"

#include "tpuc/Target/BM1684X/Machine/Check.h"
#include "tpuc/Target/BM1684X/Machine/TimingCost.h"
#include "tpuc/Target/BM1684X/TargetInfo.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::bm1684x {

std::string_view timingModelName(TimingModel model) {
  return model == TimingModel::Vendor ? "vendor" : "conservative";
}

const TimingInfo &timingParameters(TimingModel model) {
  const TargetInfo &target = chipInfo();
  return model == TimingModel::Vendor ? *target.timing : *target.conservativeTiming;
}

double clockHz() {
  return static_cast<double>(*BM1684X::describeTargets().front().compute().clockHz);
}

std::string_view directionName(Direction direction) {
  constexpr std::array<std::string_view, kNumDirections> kNames = {"S2L", "L2S", "S2S", "L2L"};
  return kNames[static_cast<size_t>(direction)];
}

Expected<CommandCost> commandCost(const Command &command, const TimingInfo &timing,
                                  const std::string &where) {
  std::optional<CommandCost> cost = command.engine() == Engine::Tiu
                                        ? detail::tiuCost(command, timing)
                                        : detail::gdmaCost(command, timing);
  if (!cost)
    return makeError(where, fmt::format("{} of types without a formula", command.operation().name),
                     "a command whose time is known");
  if (cost->cycles > detail::kMostCycles)
    return makeError(where, fmt::format("{} of {} cycles", command.operation().name, cost->cycles),
                     fmt::format("{} at most", detail::kMostCycles));
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
void count(TimingReport &report, const Command &command, const CommandCost &cost,
           const TimingInfo &timing) {
  (command.engine() == Engine::Tiu ? report.tiuCycles : report.gdmaCycles) += cost.cycles;
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
    uint64_t to = command.address(Field::DstAddrL32, Field::DstAddrH8);
    global = to >= kGlobalBase ? cost.bytes : 0;
  }
  report.globalBytes += global;
  report.globalCycles += static_cast<double>(global) / timing.peakGlobalBytesPerCycle;
}

Expected<std::vector<Command>> parse(Engine engine, std::span<const uint8_t> bytes,
                                     const std::string &where) {
  if (bytes.empty())
    return std::vector<Command>();
  return parseStream(engine, bytes, where);
}

} // namespace

Expected<TimingReport> simulateTiming(std::span<const Command> tiu, std::span<const Command> gdma,
                                      const TimingInfo &timing, const std::string &where) {
  Expected<std::vector<ScheduledCommand>> order = serialOrder(tiu, gdma, where);
  if (!order)
    return propagate(order);
  TimingReport report;
  report.tiu.reserve(tiu.size());
  report.gdma.reserve(gdma.size());
  for (const ScheduledCommand &next : *order) {
    bool isTiu = next.engine == Engine::Tiu;
    const Command &command = (isTiu ? tiu : gdma)[next.index];
    Expected<CommandCost> cost = commandCost(command, timing, where);
    if (!cost)
      return makeError(fmt::format("{}: {} command {}", where, isTiu ? "TIU" : "GDMA", next.index),
                       cost.error().found, cost.error().expected);
    std::vector<TimedCommand> &own = isTiu ? report.tiu : report.gdma;
    const std::vector<TimedCommand> &other = isTiu ? report.gdma : report.tiu;
    auto end = [](const TimedCommand &earlier) { return earlier.start + earlier.cost.cycles; };
    int64_t start = own.empty() ? 0 : end(own.back());
    // Ids count from 1, and the awaited command comes first in the serial order.
    if (uint32_t awaited = command.dependency(); awaited > 0)
      start = std::max(start, end(other[awaited - 1]));
    own.push_back({&command.operation(), command.id(), command.dependency(), start, *cost});
    report.totalCycles = std::max(report.totalCycles, end(own.back()));
    count(report, command, *cost, timing);
  }
  return report;
}

Expected<TimingReport> simulateTiming(std::span<const uint8_t> tiu, std::span<const uint8_t> gdma,
                                      const TimingInfo &timing, const std::string &where) {
  Expected<std::vector<Command>> tiuCommands = parse(Engine::Tiu, tiu, where);
  if (!tiuCommands)
    return propagate(tiuCommands);
  Expected<std::vector<Command>> gdmaCommands = parse(Engine::Gdma, gdma, where);
  if (!gdmaCommands)
    return propagate(gdmaCommands);
  return simulateTiming(*tiuCommands, *gdmaCommands, timing, where);
}

Expected<TimingReports> simulateTimings(std::span<const Command> tiu, std::span<const Command> gdma,
                                        const std::string &where) {
  TimingReports reports;
  for (TimingModel model : kTimingModels) {
    Expected<TimingReport> report = simulateTiming(tiu, gdma, timingParameters(model), where);
    if (!report)
      return propagate(report);
    (model == TimingModel::Vendor ? reports.vendor : reports.conservative) = *std::move(report);
  }
  return reports;
}

Expected<TimingReports> simulateTimings(std::span<const uint8_t> tiu, std::span<const uint8_t> gdma,
                                        const std::string &where) {
  Expected<std::vector<Command>> tiuCommands = parse(Engine::Tiu, tiu, where);
  if (!tiuCommands)
    return propagate(tiuCommands);
  Expected<std::vector<Command>> gdmaCommands = parse(Engine::Gdma, gdma, where);
  if (!gdmaCommands)
    return propagate(gdmaCommands);
  return simulateTimings(*tiuCommands, *gdmaCommands, where);
}

} // namespace tpuc::bm1684x
