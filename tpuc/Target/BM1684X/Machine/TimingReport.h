//===- TimingReport.h - Time lines for people and programs ---- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_TIMINGREPORT_H
#define TPUC_TARGET_BM1684X_MACHINE_TIMINGREPORT_H

#include "tpuc/Target/BM1684X/Machine/Timing.h"

#include <nlohmann/json_fwd.hpp>

namespace tpuc::bm1684x {

/// The layer of each command, in the order of the streams. Empty names, and commands beyond the
/// end, belong to no layer.
struct CommandLayers {
  std::vector<std::string> tiu, gdma;
};

/// What the commands of one layer take, in cycles of each engine. The engines overlap, so the
/// layers' times add up to more than that of the run.
struct LayerTime {
  /// Empty for the commands that belong to no layer.
  std::string name;
  int64_t numTiu = 0, numGdma = 0;
  struct Cycles {
    int64_t tiu = 0, gdma = 0;
  };
  Cycles vendor, conservative;
  int64_t macs = 0;
  /// What the products would take at the peak of their types.
  double macCycles = 0;
  /// Moved and filled.
  int64_t bytes = 0;
};

/// In the order in which the layers begin, then what belongs to no layer and takes time; nothing
/// where no layer is named.
std::vector<LayerTime> timingByLayer(const TimingReports &reports, const CommandLayers &layers);

/// For chrome://tracing and ui.perfetto.dev: one process for each set of parameters, one thread for
/// each engine; the commands of a layer lie below the layer's name. Times are in microseconds, at
/// 1 GHz. Bytes of names that are not UTF-8 become U+FFFD.
std::string timingTrace(const TimingReports &reports, const CommandLayers &layers = {});

/// One line per command, the TIU's first, then a line `total`; the header names the columns. Fields
/// with commas or quotes are quoted.
std::string timingCsv(const TimingReports &reports, const CommandLayers &layers = {});

/// The totals, the use of both engines and of global memory, the bounds, the kinds of commands by
/// their time, and the layers, where there are any; lines end with \n.
std::string timingSummary(const TimingReports &reports, const CommandLayers &layers = {});

/// The same figures as an object: `vendor`, `conservative`, `kinds`, `layers`.
nlohmann::ordered_json timingJson(const TimingReports &reports, const CommandLayers &layers = {});

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_TIMINGREPORT_H
