//===- Timing.h - What commands take ----------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas of the vendor's compiler, with its public source's errors mended where a set of
// parameters does not ask for them: docs/cv18xx.md. They agree with measured times of seven
// networks on one board within 5 %; other chips were not measured.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_MACHINE_TIMING_H
#define TPUC_TARGET_CV18XX_MACHINE_TIMING_H

#include "tpuc/Target/CV18xx/Machine/Operands.h"

namespace tpuc::cv18xx {

struct TimingParameters {
  std::string_view name;
  double tiuMegahertz = 0;
  /// Of global memory, in 10^6 bytes per second.
  double megabytesPerSecond = 0;
  /// Before each command of the DMA engine.
  double startNanoseconds = 0;
  /// Once for each run: submission and caches.
  double runNanoseconds = 0;
  /// The published source takes the type of a command from the width of its result, which is wrong
  /// for BF16 on all chips but the cv183x.
  bool typeByWidth = false;
};

inline constexpr size_t kNumTimingSets = 3;
/// Fitted to measurements; the vendor's parameters; pessimistic ones.
std::array<TimingParameters, kNumTimingSets> timingSets(const Chip &chip);

/// Clock cycles of a TIU command.
int64_t tiuCycles(const Chip &chip, const TiuCommand &command, const TimingParameters &parameters);

/// What a command of the DMA engine moves.
struct DmaTraffic {
  /// Bytes of global memory, in whole granules of 64.
  uint64_t bytes = 0;
  /// Steps of 16 bytes in local memory.
  uint64_t beats = 0;
};
/// `streamBytes`: of compressed values that are loaded, where it is known.
DmaTraffic trafficOf(const DmaCommand &command, const Chip &chip, uint64_t streamBytes = 0);

/// Of either engine, in nanoseconds.
double nanosecondsOf(const Chip &chip, const Command &command, const TimingParameters &parameters,
                     uint64_t streamBytes = 0);

/// Products that are added, and how many of them the chip does in a clock cycle at most.
struct Products {
  int64_t count = 0;
  int64_t perCycle = 1;
};
Products productsOf(const Chip &chip, const TiuCommand &command);

/// When a command runs, in nanoseconds from the beginning of the stream.
struct TimeSpan {
  double start = 0, length = 0;
};
/// Both engines run side by side and wait for each other by ids; parts of a stream follow each
/// other. The stream must have passed `checkStream`. `lengths`: of each command.
std::vector<TimeSpan> scheduleOf(std::span<const Command> commands,
                                 std::span<const double> lengths);

/// How long a stream runs, by `scheduleOf`; what is compressed counts as if it were not.
double runNanoseconds(const Chip &chip, std::span<const Command> commands,
                      const TimingParameters &parameters);

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_MACHINE_TIMING_H
