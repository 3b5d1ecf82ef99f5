//===- Timing.cpp - The time line of both engines -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Timing.h"

#include "tpuc/Target/BM1684/TargetInfo.h"

namespace tpuc::bm1684 {

namespace {

/// What a set of parameters adds to each command; the formulas are the same.
struct Additions {
  /// Cycles before the work of a command begins.
  int64_t compute, transfer;
  /// The same for transfers that read or write global memory or L2.
  int64_t memory;
};
constexpr Additions additionsOf(TimingModel model) {
  // Assumed, not measured: what the other chip of the family is charged.
  return model == TimingModel::Vendor ? Additions{0, 0, 0} : Additions{50, 50, 200};
}

/// The estimate's rate for long transfers, less its factor for all that leave local memory.
constexpr double kPeakGlobalBytes = 2 * 29.565 / 1.1079546213150024;

} // namespace

std::string_view timingModelName(TimingModel model) {
  return model == TimingModel::Vendor ? "vendor" : "conservative";
}

double clockHz() {
  return static_cast<double>(*BM1684::describeTargets().front().compute().clockHz);
}

Expected<CommandCost> commandCost(const Command &command, TimingModel model,
                                  const std::string &where) {
  const bool isTiu = command.engine() == mc::EngineId(Engine::Tiu);
  std::optional<CommandCost> cost = isTiu ? detail::tiuCost(command) : detail::gdmaCost(command);
  if (cost) {
    const Additions more = additionsOf(model);
    const bool isInside = cost->direction == bm168x::Direction::LocalToLocal ||
                          (!cost->direction && !cost->fillsGlobal);
    cost->cycles += isTiu ? more.compute : more.transfer + (isInside ? 0 : more.memory);
  }
  return bm168x::checkedCost(std::move(cost), command, where);
}

Expected<TimingReport> simulateTiming(std::span<const Command> tiu, std::span<const Command> gdma,
                                      TimingModel model, const std::string &where) {
  const auto costOf = [&](const Command &command) { return commandCost(command, model, where); };
  return bm168x::simulateTiming(kCommandTable, tiu, gdma, costOf, kPeakGlobalBytes, where);
}

Expected<TimingReports> simulateTimings(std::span<const Command> tiu, std::span<const Command> gdma,
                                        const std::string &where) {
  Expected<TimingReport> vendor = simulateTiming(tiu, gdma, TimingModel::Vendor, where);
  if (!vendor)
    return propagate(vendor);
  Expected<TimingReport> conservative = simulateTiming(tiu, gdma, TimingModel::Conservative, where);
  if (!conservative)
    return propagate(conservative);
  return TimingReports{std::move(*vendor), std::move(*conservative)};
}

model::TimingResult timingResult(const TimingReports &reports, const CommandLayers &layers) {
  const bm168x::NamedReport named[] = {
      {timingModelName(TimingModel::Vendor), &reports.vendor},
      {timingModelName(TimingModel::Conservative), &reports.conservative}};
  return bm168x::timingResult(named, clockHz(), layers);
}

} // namespace tpuc::bm1684
