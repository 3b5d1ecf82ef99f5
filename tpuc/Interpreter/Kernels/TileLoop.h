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
/// Taps for which a tile's sources are looked up at once.
inline constexpr int64_t kMaxTaps = 32;

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

/// Brings the factors behind those of `args` into the cache while about `tiles` tiles are computed:
/// these are what the next tiles read.
class PrefetchPlan {
public:
  PrefetchPlan(TileArgs &args, int64_t columnBlocks, int64_t tiles) {
    terms = args.taps * ((args.blocks - 1) * kBlock + args.lastTerms);
    const int64_t bytes = terms * columnBlocks * kBlock * static_cast<int64_t>(sizeof(float));
    next = reinterpret_cast<const char *>(args.weights) + bytes;
    args.prefetchStep = bytes / (terms * std::max<int64_t>(tiles, 1));
  }
  /// To be called for each call of a tile.
  void advance(TileArgs &args) {
    args.prefetch = next;
    next += args.prefetchStep * terms * args.repeats;
  }

private:
  int64_t terms;
  const char *next;
};

/// How many of `units` rows or pixels make a strip, when each strip is `groups` pieces of a
/// parallel loop that cost `costPerUnit` for each unit: few strips, as each reads all factors
/// again, but pieces enough to share and at most `most` units; all of about one size, a multiple of
/// `tile`.
inline int64_t stripOf(int64_t units, int64_t groups, int64_t costPerUnit, int64_t tile,
                       int64_t most) {
  constexpr int64_t kPieces = 8;
  constexpr int64_t kPieceCost = 1 << 18;
  const int64_t worthwhile = units * groups * costPerUnit / kPieceCost;
  const int64_t wanted = (std::min(kPieces, worthwhile) + groups - 1) / groups;
  const int64_t strips = std::max({int64_t(1), wanted, (units + most - 1) / most});
  const int64_t size = (units + strips - 1) / strips;
  return (size + tile - 1) / tile * tile;
}

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_TILELOOP_H
