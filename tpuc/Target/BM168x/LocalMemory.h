//===- LocalMemory.h - The lanes of a chip of the family ------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_LOCALMEMORY_H
#define TPUC_TARGET_BM168X_LOCALMEMORY_H

#include <cstdint>

namespace tpuc::bm168x {

inline constexpr unsigned kLanes = 64;

/// The local memory of a chip of the family.
struct LocalMemory {
  /// Where transfers find it; lane l begins l * laneBytes behind that.
  uint64_t base;
  uint32_t laneBytes;
  /// Bytes that one lane computes at a time; aligned layouts start channels at multiples of it.
  uint32_t lineBytes;

  constexpr uint64_t bytes() const { return uint64_t{kLanes} * laneBytes; }
  /// Whether an absolute address is in it.
  constexpr bool contains(uint64_t address) const {
    return address >= base && address < base + bytes();
  }
};

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_LOCALMEMORY_H
