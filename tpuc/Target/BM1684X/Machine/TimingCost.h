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

#include <initializer_list>

namespace tpuc::bm1684x::detail {

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

/// The formulas of one engine. No value where none is known.
std::optional<CommandCost> tiuCost(const Command &command, const TimingInfo &timing);
std::optional<CommandCost> gdmaCost(const Command &command, const TimingInfo &timing);

} // namespace tpuc::bm1684x::detail

#endif // TPUC_TARGET_BM1684X_MACHINE_TIMINGCOST_H
