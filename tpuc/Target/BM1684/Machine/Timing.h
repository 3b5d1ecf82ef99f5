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
// time line that the vendor's compiler writes; `Conservative` charges what that leaves out.
// docs/bm1684.md gives the formulas and the reasons.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_MACHINE_TIMING_H
#define TPUC_TARGET_BM1684_MACHINE_TIMING_H

#include "tpuc/Support/Error.h"
#include "tpuc/Target/BM1684/Machine/Command.h"
#include "tpuc/Target/BM168x/TimingReport.h"

namespace tpuc::bm1684 {

using bm168x::CommandCost;
using bm168x::CommandLayers;
using bm168x::TimingReport;

enum class TimingModel : uint8_t { Vendor, Conservative };

/// "vendor", "conservative".
std::string_view timingModelName(TimingModel model);
/// Of both engines, in the chip's table.
double clockHz();

/// Errors name `where`: types and operations without a formula, sizes that give more than 2^40
/// cycles.
Expected<CommandCost> commandCost(const Command &command, TimingModel model,
                                  const std::string &where);

/// The time line of both engines (tpuc/Target/BM168x/Timing.h). Errors: see `commandCost` and
/// `serialOrder` (Check.h).
Expected<TimingReport> simulateTiming(std::span<const Command> tiu, std::span<const Command> gdma,
                                      TimingModel model, const std::string &where);

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

model::TimingResult timingResult(const TimingReports &reports, const CommandLayers &layers = {});

namespace detail {
/// Nothing where no formula is known.
std::optional<CommandCost> tiuCost(const Command &command);
std::optional<CommandCost> gdmaCost(const Command &command);
} // namespace detail

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_MACHINE_TIMING_H
