//===- Timing.h - The timing simulator ------------------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How long commands take, in cycles of the chip's clock: an analytic model, not a measurement.
// There are two sets of parameters for the same formulas. With `Vendor` every figure equals the
// per-command profile of the vendor's compiler; `Conservative` charges what that profile leaves
// out. docs/bm1684x-timing.md gives the formulas and the reasons.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_TIMING_H
#define TPUC_TARGET_BM1684X_MACHINE_TIMING_H

#include "tpuc/Support/Error.h"
#include "tpuc/Target/BM1684X/Machine/Command.h"
#include "tpuc/Target/BM168x/Timing.h"
#include "tpuc/Target/Target.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc::bm1684x {

enum class TimingModel : uint8_t { Vendor, Conservative };
inline constexpr std::array kTimingModels = {TimingModel::Vendor, TimingModel::Conservative};

/// "vendor", "conservative".
std::string_view timingModelName(TimingModel model);
/// The parameters in the chip's table.
const TimingInfo &timingParameters(TimingModel model);
/// Of both engines, in the chip's table.
double clockHz();

using bm168x::Bound;
using bm168x::CommandCost;
using bm168x::Direction;
using bm168x::directionName;
using bm168x::kNumDirections;
using bm168x::TimedCommand;
using bm168x::TimingReport;

/// Errors name `where`: operations that no formula is known for (LAR), types without one (i4),
/// sizes that give more than 2^40 cycles. Commands that only control the engines cost nothing.
Expected<CommandCost> commandCost(const Command &command, const TimingInfo &timing,
                                  const std::string &where);

/// The time line of both engines (tpuc/Target/BM168x/Timing.h). Errors: see `commandCost` and
/// `serialOrder` (Check.h).
Expected<TimingReport> simulateTiming(std::span<const Command> tiu, std::span<const Command> gdma,
                                      const TimingInfo &timing, const std::string &where);

/// The same for two encoded streams; an empty one holds no command. Errors: also those of
/// `parseStream`.
Expected<TimingReport> simulateTiming(std::span<const uint8_t> tiu, std::span<const uint8_t> gdma,
                                      const TimingInfo &timing, const std::string &where);

/// The same commands under both sets of parameters: what every printed report shows.
struct TimingReports {
  TimingReport vendor, conservative;

  void append(const TimingReports &next) {
    vendor.append(next.vendor);
    conservative.append(next.conservative);
  }
};
Expected<TimingReports> simulateTimings(std::span<const Command> tiu, std::span<const Command> gdma,
                                        const std::string &where);
Expected<TimingReports> simulateTimings(std::span<const uint8_t> tiu, std::span<const uint8_t> gdma,
                                        const std::string &where);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_TIMING_H
