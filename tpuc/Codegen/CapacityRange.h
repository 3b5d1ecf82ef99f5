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
  /// `needed.fits(capacity)`, remembered. All questions are about one capacity, or two with the
  /// same answers.
  bool fits(const Footprint &needed, const Footprint &capacity) {
    if (const std::optional<unsigned> space = needed.overflow(capacity)) {
      below[*space] = std::min(below[*space], needed[*space]);
      return false;
    }
    least.growTo(needed);
    return true;
  }
  /// The same of one space.
  bool fits(int64_t needed, const Footprint &capacity, unsigned space) {
    if (needed > capacity[space]) {
      below[space] = std::min(below[space], needed);
      return false;
    }
    least[space] = std::max(least[space], needed);
    return true;
  }
  /// As if all questions of the other one had been asked here.
  void narrowTo(const CapacityRange &other) {
    least.growTo(other.least);
    for (size_t space = 0; space < kMostSpaces; ++space)
      below[space] = std::min(below[space], other.below[space]);
  }
  bool contains(const Footprint &capacity) const {
    for (size_t space = 0; space < kMostSpaces; ++space)
      if (capacity[space] < least[space] || capacity[space] >= below[space])
        return false;
    return true;
  }

private:
  /// The most that did fit.
  Footprint least = {};
  /// The least that did not.
  std::array<int64_t, kMostSpaces> below = unlimited();

  static constexpr std::array<int64_t, kMostSpaces> unlimited() {
    std::array<int64_t, kMostSpaces> bytes = {};
    bytes.fill(std::numeric_limits<int64_t>::max());
    return bytes;
  }
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_CAPACITYRANGE_H
