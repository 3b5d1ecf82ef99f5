//===- TimingCost.h - What the cost formulas share ------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_TIMINGCOST_H
#define TPUC_TARGET_BM1684X_MACHINE_TIMINGCOST_H

#include "tpuc/Target/BM1684X/Machine/Timing.h"

namespace tpuc::bm1684x::detail {

using bm168x::product;

/// The formulas of one engine. No value where none is known.
std::optional<CommandCost> tiuCost(const Command &command, const TimingInfo &timing);
std::optional<CommandCost> gdmaCost(const Command &command, const TimingInfo &timing);

} // namespace tpuc::bm1684x::detail

#endif // TPUC_TARGET_BM1684X_MACHINE_TIMINGCOST_H
