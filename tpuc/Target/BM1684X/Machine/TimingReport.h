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

namespace tpuc::bm1684x {

/// The layer of each command, in the order of the streams. Empty names, and commands beyond the
/// end, belong to no layer.
struct CommandLayers {
  std::vector<std::string> tiu, gdma;
};

/// For chrome://tracing and ui.perfetto.dev: one process for each set of parameters, one thread for
/// each engine; the commands of a layer lie below the layer's name. Times are in microseconds, at
/// 1 GHz. Bytes of names that are not UTF-8 become U+FFFD.
std::string timingTrace(const TimingReports &reports, const CommandLayers &layers = {});

/// One line per command, the TIU's first, then a line `total`; the header names the columns. Fields
/// with commas or quotes are quoted.
std::string timingCsv(const TimingReports &reports, const CommandLayers &layers = {});

/// The totals, the use of both engines and of global memory, the bounds, and the kinds of commands
/// by their time; lines end with \n.
std::string timingSummary(const TimingReports &reports);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_TIMINGREPORT_H
