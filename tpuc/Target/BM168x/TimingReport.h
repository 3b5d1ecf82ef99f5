//===- TimingReport.h - Time lines of both engines, by layer -- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_TIMINGREPORT_H
#define TPUC_TARGET_BM168X_TIMINGREPORT_H

#include "tpuc/Model/TimingResult.h"
#include "tpuc/Target/BM168x/Timing.h"

namespace tpuc::bm168x {

/// The layer of each command, in the order of the streams. Empty names, and commands beyond the
/// end, belong to no layer.
struct CommandLayers {
  std::vector<std::string> tiu, gdma;
};

/// The same commands under one set of timing parameters.
struct NamedReport {
  std::string_view name;
  const TimingReport *report;
};

/// What the reports, of which there is at least one, say of every command, kind of commands and
/// layer, in the form that all chips have. Engines are TIU and GDMA. Kinds and layers are sorted by
/// the first report.
model::TimingResult timingResult(std::span<const NamedReport> reports, double clockHz,
                                 const CommandLayers &layers = {});

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_TIMINGREPORT_H
