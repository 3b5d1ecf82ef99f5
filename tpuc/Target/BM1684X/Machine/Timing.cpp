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

Expected<CommandCost> commandCost(const Command &command, const TimingInfo &timing,
                                  const std::string &where) {
  std::optional<CommandCost> cost = command.engine() == Engine::Tiu
                                        ? detail::tiuCost(command, timing)
                                        : detail::gdmaCost(command, timing);
  return bm168x::checkedCost(std::move(cost), command, where);
}

namespace {

Expected<std::vector<Command>> parse(Engine engine, std::span<const uint8_t> bytes,
                                     const std::string &where) {
  if (bytes.empty())
    return std::vector<Command>();
  return parseStream(engine, bytes, where);
}

} // namespace

Expected<TimingReport> simulateTiming(std::span<const Command> tiu, std::span<const Command> gdma,
                                      const TimingInfo &timing, const std::string &where) {
  const auto costOf = [&](const Command &command) { return commandCost(command, timing, where); };
  return bm168x::simulateTiming(kCommandTable, tiu, gdma, costOf, timing.peakGlobalBytesPerCycle,
                                where);
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
