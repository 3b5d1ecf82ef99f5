//===- Tile.h - A part of a tensor ------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_TILE_TILE_H
#define TPUC_CODEGEN_TILE_TILE_H

#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>

namespace tpuc::codegen {

/// The axes of a tensor as it is tiled and laid out.
enum Axis : unsigned { kAxisN, kAxisC, kAxisD, kAxisH, kAxisW };
inline constexpr unsigned kNumAxes = 5;
/// "n", "c", "d", "h", "w".
llvm::StringRef axisName(unsigned axis);

using AxisExtents = std::array<int64_t, kNumAxes>;

/// Elements [begin, begin + size) of an axis.
struct Range {
  int64_t begin = 0;
  int64_t size = 1;
  int64_t end() const { return begin + size; }
  bool operator==(const Range &) const = default;
};

/// A part of a tensor: one range for each axis.
using Tile = std::array<Range, kNumAxes>;
Tile wholeTile(const AxisExtents &extents);
int64_t numElements(const Tile &tile);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_TILE_TILE_H
