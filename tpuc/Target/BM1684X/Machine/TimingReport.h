//===- TimingReport.h - Time lines of both engines, by layer -- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_TIMINGREPORT_H
#define TPUC_TARGET_BM1684X_MACHINE_TIMINGREPORT_H

#include "tpuc/Target/BM1684X/Machine/Timing.h"
#include "tpuc/Target/BM168x/TimingReport.h"

namespace tpuc::bm1684x {

using bm168x::CommandLayers;

/// What the reports say of every command, kind of commands and layer. Sets of parameters are
/// `vendor` and `conservative`.
model::TimingResult timingResult(const TimingReports &reports, const CommandLayers &layers = {});

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_TIMINGREPORT_H
