//===- CapacityRange.h - In which memory the same comes of it ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_CAPACITYRANGE_H
#define TPUC_CODEGEN_CAPACITYRANGE_H

#include "tpuc/Codegen/Footprint.h"

#include <limits>

namespace tpuc::codegen {

/// The capacities with which every question that was asked, whether something fits, has the same
/// answer. What depends on a capacity by these questions alone is then the same, too.
class CapacityRange {
public:
  CapacityRange() { below.fill(kMost); }

  /// `needed.fits(capacity)`, remembered. All questions are about one capacity, or two with the
  /// same answers, of less than 2 GiB.
  bool fits(const Footprint &needed, const Footprint &capacity) {
    if (const std::optional<unsigned> space = needed.overflow(capacity))
      return fits(needed[*space], capacity, *space);
    for (size_t space = 0; space < kMostSpaces; ++space)
      least[space] = std::max(least[space], static_cast<int32_t>(needed[space]));
    return true;
  }
  /// The same of one space.
  bool fits(int64_t needed, const Footprint &capacity, unsigned space) {
    const auto bytes = static_cast<int32_t>(std::min<int64_t>(needed, kMost));
    if (needed > capacity[space]) {
      below[space] = std::min(below[space], bytes);
      return false;
    }
    least[space] = std::max(least[space], bytes);
    return true;
  }
  /// As if all questions of the other one had been asked here.
  void narrowTo(const CapacityRange &other) {
    for (size_t space = 0; space < kMostSpaces; ++space) {
      least[space] = std::max(least[space], other.least[space]);
      below[space] = std::min(below[space], other.below[space]);
    }
  }
  bool contains(const Footprint &capacity) const {
    for (size_t space = 0; space < kMostSpaces; ++space)
      if (capacity[space] < least[space] || capacity[space] >= below[space])
        return false;
    return true;
  }

private:
  static constexpr int32_t kMost = std::numeric_limits<int32_t>::max();

  /// The most that did fit, and the least that did not. There is one for each group that is known,
  /// so they are short.
  std::array<int32_t, kMostSpaces> least = {}, below = {};
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_CAPACITYRANGE_H
