//===- TimingReport.cpp - Time lines of both engines, by layer ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/TimingReport.h"

namespace tpuc::bm1684x {

model::TimingResult timingResult(const TimingReports &reports, const CommandLayers &layers) {
  const bm168x::NamedReport named[] = {
      {timingModelName(TimingModel::Vendor), &reports.vendor},
      {timingModelName(TimingModel::Conservative), &reports.conservative}};
  return bm168x::timingResult(named, clockHz(), layers);
}

} // namespace tpuc::bm1684x
