//===- TimingResult.h - What a run takes on a chip --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a chip's timing model says about a run. Nothing is run for it and nothing is measured. There
// may be several sets of parameters for the same formulas; the first one counts most.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_TIMINGRESULT_H
#define TPUC_MODEL_TIMINGRESULT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc::model {

/// All times are in cycles of `clockHz`. Names that are views live as long as the program.
struct TimingResult {
  /// When a command occupies its engine: [start, start + cycles).
  struct Span {
    int64_t start = 0, cycles = 0;
  };

  struct Command {
    std::string_view operation, kind;
    uint32_t id = 0;
    /// The id of another engine's command that it waits for; 0 for none.
    uint32_t awaited = 0;
    /// What it leaves and where it arrives; empty for all but transfers.
    std::string_view direction;
    /// Moved or filled; 0 for what computes.
    int64_t bytes = 0;
    /// Multiply-accumulate steps.
    int64_t macs = 0;
    /// Index into `layerNames`; no value where nobody knows.
    std::optional<uint32_t> layer;
  };

  struct Engine {
    std::string name;
    /// It computes; other engines move data.
    bool computes = false;
    /// In the order of its stream.
    std::vector<Command> commands;
  };

  /// The run under one set of parameters.
  struct ParameterSet {
    std::string name;
    int64_t cycles = 0;
    /// Of each engine: when its commands run, and the sum of their cycles.
    std::vector<std::vector<Span>> spans;
    std::vector<int64_t> engineCycles;
    /// The part of the shorter engine's time that runs beside the other engines: 0 to 1.
    double overlap = 0;
    /// What all products would take at the peak of their types, and all bytes of global memory at
    /// its peak rate.
    double macCycles = 0, globalCycles = 0;

    /// The share of the run that `part` cycles are; 0 for an empty run.
    double share(double part) const { return cycles == 0 ? 0 : part / static_cast<double>(cycles); }
    double engineShare(size_t engine) const {
      return share(static_cast<double>(engineCycles[engine]));
    }
    double macUtilisation() const { return share(macCycles); }
    double globalUtilisation() const { return share(globalCycles); }
    /// The least time that the run could take, whatever the order of its commands: that of the
    /// busiest engine, and that of the peak rates.
    int64_t engineBound() const {
      return engineCycles.empty() ? 0 : *std::ranges::max_element(engineCycles);
    }
    double rooflineBound() const { return std::max(macCycles, globalCycles); }
    bool rooflineIsCompute() const { return macCycles >= globalCycles; }
  };

  struct KindTime {
    std::string_view kind;
    int64_t commands = 0;
    /// By each set of parameters.
    std::vector<int64_t> cycles;
  };

  /// What the commands of one layer take. The engines overlap, so the layers' times add up to more
  /// than that of the run.
  struct LayerTime {
    /// Empty for the commands that belong to no layer.
    std::string name;
    /// Of each engine.
    std::vector<int64_t> commands;
    /// By each set of parameters, of each engine.
    std::vector<std::vector<int64_t>> cycles;
    int64_t macs = 0;
    double macCycles = 0;
    /// Moved and filled.
    int64_t bytes = 0;
  };

  struct Moved {
    std::string_view direction;
    int64_t bytes = 0;
  };

  double clockHz = 1;
  std::vector<Engine> engines;
  std::vector<ParameterSet> sets;
  /// The longest first.
  std::vector<KindTime> kinds;
  /// In the order in which the layers begin, then what belongs to no layer and takes time; empty
  /// where no layer is named.
  std::vector<LayerTime> layers;
  std::vector<std::string> layerNames;
  /// What the host computes, which takes no time here.
  std::vector<std::string> hostLayers;

  int64_t macs = 0;
  /// By the direction of the transfer.
  std::vector<Moved> moved;
  int64_t filledBytes = 0;
  /// Bytes that cross the border of global memory, in both directions together. A copy inside
  /// counts as both.
  int64_t globalBytes = 0;
  uint64_t bytesRead = 0, bytesWritten = 0;

  double seconds(size_t set = 0) const {
    return static_cast<double>(sets[set].cycles) * (1 / clockHz);
  }
  /// The set that comes last, which charges most.
  size_t lastSet() const { return sets.size() - 1; }
  /// The share of the time in which the busiest engine of one sort is busy: 0 to 1.
  double busy(bool computing, size_t set = 0) const {
    double most = 0;
    for (size_t i = 0; i < engines.size(); ++i)
      if (engines[i].computes == computing)
        most = std::max(most, sets[set].engineShare(i));
    return most;
  }
  /// The sum over the engines of one sort.
  int64_t cyclesOf(const LayerTime &layer, bool computing, size_t set = 0) const {
    int64_t sum = 0;
    for (size_t i = 0; i < engines.size(); ++i)
      if (engines[i].computes == computing)
        sum += layer.cycles[set][i];
    return sum;
  }
  /// Whether the busiest engine computes.
  bool isComputeBound(size_t set) const {
    const std::vector<int64_t> &cycles = sets[set].engineCycles;
    const auto busiest = std::ranges::max_element(cycles);
    return busiest != cycles.end() &&
           engines[static_cast<size_t>(busiest - cycles.begin())].computes;
  }
  /// Multiply-accumulate steps per byte of global memory; 0 where no byte is moved.
  double intensity() const {
    return globalBytes == 0 ? 0 : static_cast<double>(macs) / static_cast<double>(globalBytes);
  }
};

} // namespace tpuc::model

#endif // TPUC_MODEL_TIMINGRESULT_H
