//===- Footprint.h - Bytes by memory space ----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_FOOTPRINT_H
#define TPUC_CODEGEN_FOOTPRINT_H

#include "tpuc/Target/Target.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace tpuc::codegen {

/// `bytes` rounded up to a multiple of `alignment`, which is a power of two.
constexpr int64_t alignedTo(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) & -alignment;
}

/// Bytes in each lane, by the memory spaces of a target in their order: what is taken, or what may
/// be. Spaces that the target does not have count as 0 bytes.
class Footprint {
public:
  constexpr Footprint() = default;
  /// In the space of tiles.
  constexpr Footprint(int64_t tileBytes) { bytes[kTileSpace] = tileBytes; }

  /// All that a target has.
  static Footprint capacityOf(const TargetInfo &target) {
    Footprint all;
    for (size_t space = 0; space < target.memory.spaces.size(); ++space)
      all.bytes[space] = target.memory.spaces[space].bytes;
    return all;
  }

  constexpr int64_t &operator[](size_t space) { return bytes[space]; }
  constexpr int64_t operator[](size_t space) const { return bytes[space]; }
  constexpr bool operator==(const Footprint &) const = default;

  /// The number of the first space that has fewer bytes in `capacity`; none if all fit.
  constexpr std::optional<unsigned> overflow(const Footprint &capacity) const {
    for (unsigned space = 0; space < kMostSpaces; ++space)
      if (bytes[space] > capacity.bytes[space])
        return space;
    return std::nullopt;
  }
  constexpr bool fits(const Footprint &capacity) const { return !overflow(capacity); }

  constexpr Footprint &operator+=(const Footprint &other) {
    for (size_t space = 0; space < kMostSpaces; ++space)
      bytes[space] += other.bytes[space];
    return *this;
  }
  friend constexpr Footprint operator+(Footprint a, const Footprint &b) { return a += b; }

  /// The larger of both in each space.
  constexpr void growTo(const Footprint &other) {
    for (size_t space = 0; space < kMostSpaces; ++space)
      bytes[space] = std::max(bytes[space], other.bytes[space]);
  }

  /// `parts` of `whole` equal parts of each space, rounded down.
  constexpr Footprint share(int64_t parts, int64_t whole) const {
    Footprint part;
    for (size_t space = 0; space < kMostSpaces; ++space)
      part.bytes[space] = bytes[space] * parts / whole;
    return part;
  }

private:
  std::array<int64_t, kMostSpaces> bytes = {};
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_FOOTPRINT_H
