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

/// What a transfer leaves and where it arrives. Everything but local memory counts as system.
enum class Direction : uint8_t { SystemToLocal, LocalToSystem, SystemToSystem, LocalToLocal };
inline constexpr size_t kNumDirections = 4;
/// "S2L", "L2S", "S2S", "L2L".
std::string_view directionName(Direction direction);

/// What one command costs by itself.
struct CommandCost {
  /// The kind under which the vendor's profile lists it: CONV, AR, GDMA_TENSOR, ...
  std::string_view kind = {};
  int64_t cycles = 0;
  /// Transfers only. Fills have none: they read nothing.
  std::optional<Direction> direction = std::nullopt;
  /// Elements moved or filled, in bytes; 0 on the TIU.
  int64_t bytes = 0;
  /// Multiply-accumulate steps of convolutions (with those on padding and inserted zeros),
  /// depthwise convolutions and matrix products; else 0.
  int64_t macs = 0;
  /// What the MAC array would need for them at its peak for the type of the input.
  double macCycles = 0;
};

/// Errors name `where`: operations that no formula is known for (LAR), types without one (i4),
/// sizes that give more than 2^40 cycles. Commands that only control the engines cost nothing.
Expected<CommandCost> commandCost(const Command &command, const TimingInfo &timing,
                                  const std::string &where);

/// A command on the time line. It occupies its engine in [start, start + cost.cycles).
struct TimedCommand {
  const CommandOp *operation = nullptr;
  uint32_t id = 0;
  /// The id of the other engine's command that it waits for; 0 for none.
  uint32_t awaited = 0;
  int64_t start = 0;
  CommandCost cost;
};

/// Which of its limits a run is nearest to.
enum class Bound : uint8_t { Compute, GlobalMemory };

/// One run. All times are in cycles.
struct TimingReport {
  /// In the order of their streams.
  std::vector<TimedCommand> tiu, gdma;
  int64_t totalCycles = 0;
  /// The sum over the commands of an engine.
  int64_t tiuCycles = 0, gdmaCycles = 0;
  std::array<int64_t, kNumDirections> bytes{};
  int64_t filledBytes = 0;
  int64_t macs = 0;
  double macCycles = 0;
  /// Bytes that cross the border of global memory: a copy inside it counts twice.
  int64_t globalBytes = 0;
  /// What global memory would need for `globalBytes` at its peak rate.
  double globalCycles = 0;

  /// The share of the time in which an array working at its peak would have done all products.
  double macUtilisation() const { return ratio(macCycles, totalCycles); }
  double globalUtilisation() const { return ratio(globalCycles, totalCycles); }
  double tiuShare() const { return ratio(static_cast<double>(tiuCycles), totalCycles); }
  double gdmaShare() const { return ratio(static_cast<double>(gdmaCycles), totalCycles); }
  /// The part of the shorter engine's time that runs beside the other engine.
  double overlap() const;
  /// Multiply-accumulate steps per byte of global memory; 0 where no byte is moved.
  double intensity() const { return ratio(static_cast<double>(macs), globalBytes); }
  /// By the busier engine.
  Bound bound() const { return tiuCycles >= gdmaCycles ? Bound::Compute : Bound::GlobalMemory; }
  /// The least time that the run could take, whatever the order of its commands: that of the busier
  /// engine, and of the peak rates.
  int64_t engineBound() const { return std::max(tiuCycles, gdmaCycles); }
  double rooflineBound() const { return std::max(macCycles, globalCycles); }

  /// Adds a run that begins when this one has ended, as command groups follow each other.
  void append(const TimingReport &next);

private:
  static double ratio(double part, int64_t whole) {
    return whole == 0 ? 0 : part / static_cast<double>(whole);
  }
};

/// Both engines carry out their commands in order; a command starts when its predecessor has ended
/// and so has the command of the other engine that it waits for. Errors: see `commandCost` and
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
