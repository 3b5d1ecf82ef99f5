//===- TileLoop.h - What loops over tiles share -----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_TILELOOP_H
#define TPUC_INTERPRETER_KERNELS_TILELOOP_H

#include "tpuc/Interpreter/Kernels/PostOps.h"

#include <algorithm>
#include <limits>

namespace tpuc::kernels {

/// Pixels of the largest tile.
inline constexpr int64_t kMaxTile = 12;

/// Blocks of terms whose factors stay in the first-level cache while pixels go by, for tiles of
/// `columnBlocks` blocks.
inline int64_t chunkBlocks(int64_t columnBlocks) { return 32 / columnBlocks; }

/// The bounds of a first post-op that clips: tiles do that before they store.
struct Clamp {
  bool isOn = false;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  explicit Clamp(const std::vector<PostOp> &ops) {
    if (!ops.empty() && ops.front().kind == PostOp::Kind::Clip) {
      isOn = true;
      low = ops.front().a;
      high = ops.front().b;
    }
  }
  /// The post-ops that are left.
  std::vector<PostOp> rest(const std::vector<PostOp> &ops) const {
    return {ops.begin() + (isOn ? 1 : 0), ops.end()};
  }
};

/// The largest tile of `columnBlocks` blocks that there is for at most `pixels` pixels.
inline int64_t tileOf(const SimdKernels &simd, int64_t columnBlocks, int64_t pixels) {
  int64_t size = std::min(pixels, simd.maxPixels[static_cast<size_t>(columnBlocks - 1)]);
  while (!simd.tile[static_cast<size_t>(columnBlocks - 1)][static_cast<size_t>(size - 1)])
    --size;
  return size;
}

/// How many of `units` rows or pixels make a strip: enough work for a piece of a parallel loop,
/// between `least` and `most`, all strips of about one size.
inline int64_t stripOf(int64_t units, int64_t costPerUnit, int64_t least, int64_t most) {
  constexpr int64_t kPieceCost = 1 << 20;
  const int64_t wanted = std::clamp(kPieceCost / std::max<int64_t>(costPerUnit, 1), least, most);
  const int64_t strips = (units + wanted - 1) / wanted;
  return (units + strips - 1) / strips;
}

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_TILELOOP_H
