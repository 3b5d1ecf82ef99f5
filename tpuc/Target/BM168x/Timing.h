//===- Timing.h - The time line of both engines --------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chip says what each command costs by itself, in cycles of its clock. This is how the commands
// of both engines overlap, and what they move and multiply in all.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_TIMING_H
#define TPUC_TARGET_BM168X_TIMING_H

#include "tpuc/Support/Error.h"
#include "tpuc/Target/BM168x/Views.h"
#include "tpuc/Target/Common/Command.h"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc::bm168x {

/// What a transfer leaves and where it arrives. Everything but local memory counts as system.
enum class Direction : uint8_t { SystemToLocal, LocalToSystem, SystemToSystem, LocalToLocal };
inline constexpr size_t kNumDirections = 4;
/// "S2L", "L2S", "S2S", "L2L".
std::string_view directionName(Direction direction);

Direction directionOf(const LocalMemory &memory, uint64_t source, uint64_t destination);

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
  /// Whether a fill writes global memory.
  bool fillsGlobal = false;
};

/// Where products of extents stop growing; far above `kMostCycles`.
inline constexpr int64_t kMostProduct = int64_t{1} << 62;
/// Eighteen minutes: more than any real command takes, and a million of them still fit 64 bits.
inline constexpr int64_t kMostCycles = int64_t{1} << 40;

/// The product of numbers that are not negative, `kMostProduct` if it is larger.
constexpr int64_t product(std::initializer_list<int64_t> factors) {
  int64_t result = 1;
  for (int64_t factor : factors)
    if (factor == 0)
      return 0;
  for (int64_t factor : factors)
    if (__builtin_mul_overflow(result, factor, &result) || result > kMostProduct)
      return kMostProduct;
  return result;
}

/// The cost that a formula gave, if there was one. Errors name `where`: no formula for the types,
/// more than `kMostCycles` or as many bytes or products.
Expected<CommandCost> checkedCost(std::optional<CommandCost> cost, const mc::Command &command,
                                  const std::string &where);

/// A command on the time line. It occupies its engine in [start, start + cost.cycles).
struct TimedCommand {
  const mc::OpInfo *operation = nullptr;
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

/// What a command costs by itself, or an error.
using CostFunction = std::function<Expected<CommandCost>(const mc::Command &)>;

/// Both engines carry out their commands in order; a command starts when its predecessor has ended
/// and so has the command of the other engine that it waits for. Errors: those of `costOf` and of
/// `mc::serialOrder`.
Expected<TimingReport> simulateTiming(const mc::CommandTable &table,
                                      std::span<const mc::Command> tiu,
                                      std::span<const mc::Command> gdma, const CostFunction &costOf,
                                      double peakGlobalBytesPerCycle, const std::string &where);

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_TIMING_H
