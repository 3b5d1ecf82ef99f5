//===- Gemm.h - Tiled sums of products ------------------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_GEMM_H
#define TPUC_TARGET_BM168X_GEMM_H

#include "tpuc/Target/BM168x/Kernels.h"
#include "tpuc/Target/BM168x/Parallel.h"
#include "tpuc/Target/BM168x/Views.h"

#include <cmath>
#include <type_traits>
#include <vector>

namespace tpuc::bm168x {

/// f32: products go alternately to two sums, in the order of the depth.
struct FloatSums {
  using Weight = float;
  using Column = float;
  using Sum = float;
  static constexpr int64_t kDepth = 64;
  static constexpr int64_t kNumSums = 2;
  /// The first product goes to the odd sum.
  bool startsOdd = false;

  void add(const Kernels &k, int64_t rows, int64_t depth, int64_t vectors, const float *w,
           int64_t wStride, const float *x, float *sums, int64_t next) const {
    static_assert(kDepth % 2 == 0);
    k.gemmFloat(rows, depth, vectors, w, wStride, x, startsOdd, sums, sums + next);
  }
};

/// f32: products go to four sums in turn, a0 to a3 in the order of the depth, which give
/// (a0 + a2) + (a1 + a3). Segments hold the even places of the depth first: `split` says where.
struct FourFloatSums {
  using Weight = float;
  using Column = float;
  using Sum = float;
  static constexpr int64_t kDepth = 64;
  static constexpr int64_t kNumSums = 4;

  /// Where the product `k` of a segment stands in it.
  static constexpr int64_t split(int64_t k) { return k / 2 + k % 2 * (kDepth / 2); }

  void add(const Kernels &k, int64_t rows, int64_t depth, int64_t vectors, const float *w,
           int64_t wStride, const float *x, float *sums, int64_t next) const {
    static_assert(kDepth % 4 == 0);
    constexpr int64_t kHalf = kDepth / 2;
    k.gemmFloat(rows, ceilDiv(depth, 2), vectors, w, wStride, x, false, sums, sums + next);
    k.gemmFloat(rows, depth / 2, vectors, w + kHalf, wStride, x + kHalf * kTile, false,
                sums + 2 * next, sums + 3 * next);
  }
};

/// f16 and bf16: blocks of 32 products, each summed exactly and rounded once.
struct BlockSums {
  using Weight = float;
  using Column = float;
  using Sum = float;
  static constexpr int64_t kDepth = kBlock;
  static constexpr int64_t kNumSums = 1;

  void add(const Kernels &k, int64_t rows, int64_t depth, int64_t vectors, const float *w,
           int64_t wStride, const float *x, float *sums, int64_t) const {
    k.gemmBlock(rows, depth, vectors, w, wStride, x, sums);
  }
};

/// 8-bit integers, widened to 16: sums wrap in 32 bits.
struct IntSums {
  using Weight = int16_t;
  using Column = int16_t;
  using Sum = int32_t;
  static constexpr int64_t kDepth = 64;
  static constexpr int64_t kNumSums = 1;

  void add(const Kernels &k, int64_t rows, int64_t depth, int64_t vectors, const int16_t *w,
           int64_t wStride, const int16_t *x, int32_t *sums, int64_t) const {
    k.gemmInt(rows, ceilDiv(depth, 2), vectors, w, wStride / 2, x, sums);
  }
};

/// Stores sums that follow each other. Unlike other commands, those that use this keep the signs of
/// NaNs in 16 bits.
inline void storeSums(const Kernels &k, Prec prec, uint8_t *to, int64_t count, const float *sums) {
  k.storeFloat(prec, to, 1, count, sums);
  if (prec == Prec::F32)
    return;
  constexpr uint8_t kSign = 0x80;
  for (int64_t i = 0; i < count; ++i)
    if (sums[i] != sums[i] && std::signbit(sums[i]))
      to[i * 2 + 1] |= kSign;
}

/// Columns [first, first + count) of one batch.
struct ColumnTile {
  int64_t batch;
  int64_t first;
  int64_t count;
};

/// Computes [batches][rows][columns] sums over a depth that is cut into segments of at most
/// Sums::kDepth. The job has
///   sums           what is summed and how
///   batches, rows, columns, numSegments
///   weights        [rows][numSegments * kDepth], unused places zero
///   depth(segment)
///   prepare(tile) -> state                          once per tile
///   fill(state, segment, x)                         x: [depth][kTile], pairs for IntSums
///   start(tile, row, sums, second)                  the first values of a row's first two sums;
///                                                   others begin at 0
///   finish(tile, row, sums)                         takes them
/// The work is cut without regard to the number of threads.
template <typename Job> void runGemm(ThreadPool &pool, const Kernels &kernels, const Job &job) {
  using Sums = std::remove_cvref_t<decltype(job.sums)>;
  using Sum = typename Sums::Sum;
  constexpr int64_t kEnoughTasks = 8;
  constexpr int64_t kLeastRows = 16;
  int64_t tiles = ceilDiv(job.columns, kTile) * job.batches;
  int64_t groups = std::clamp<int64_t>(kEnoughTasks / tiles, 1, ceilDiv(job.rows, kLeastRows));
  int64_t groupRows = ceilDiv(job.rows, groups);
  int64_t wStride = job.numSegments * Sums::kDepth;
  auto task = [&](int64_t begin, int64_t end) {
    ScopedFlush flush;
    // The sums of all rows, then the second sums of all rows, and so on.
    const int64_t next = groupRows * kTile;
    std::vector<Sum> sums(static_cast<size_t>(next * Sums::kNumSums));
    std::vector<typename Sums::Column> x(static_cast<size_t>(Sums::kDepth * kTile));
    for (int64_t index = begin; index < end; ++index) {
      int64_t tileIndex = index / groups;
      int64_t firstRow = index % groups * groupRows;
      int64_t rows = std::min(groupRows, job.rows - firstRow);
      if (rows <= 0)
        continue;
      int64_t tilesPerBatch = ceilDiv(job.columns, kTile);
      int64_t first = tileIndex % tilesPerBatch * kTile;
      ColumnTile tile = {tileIndex / tilesPerBatch, first, std::min(kTile, job.columns - first)};
      auto state = job.prepare(tile);
      for (int64_t r = 0; r < rows; ++r)
        job.start(tile, firstRow + r, &sums[static_cast<size_t>(r * kTile)],
                  Sums::kNumSums > 1 ? &sums[static_cast<size_t>(next + r * kTile)] : nullptr);
      if constexpr (Sums::kNumSums > 2)
        std::fill(sums.begin() + 2 * next, sums.end(), Sum{0});
      for (int64_t s = 0; s < job.numSegments; ++s) {
        job.fill(state, s, x.data());
        job.sums.add(kernels, rows, job.depth(s), ceilDiv(tile.count, kVector),
                     job.weights.data() + firstRow * wStride + s * Sums::kDepth, wStride, x.data(),
                     sums.data(), next);
      }
      if constexpr (Sums::kNumSums > 1) {
        const auto combine = [&](int64_t into, int64_t other) {
          float *to = sums.data() + into * next;
          kernels.arithFloat(RowOp::Add, rows * kTile, to, sums.data() + other * next, to);
        };
        combine(0, 1);
        if constexpr (Sums::kNumSums > 2) {
          combine(2, 3);
          combine(0, 2);
        }
      }
      for (int64_t r = 0; r < rows; ++r)
        job.finish(tile, firstRow + r, &sums[static_cast<size_t>(r * kTile)]);
    }
  };
  // About ten products per nanosecond, and a nanosecond for each element of a column.
  overIndices(pool, tiles * groups, wStride * kTile * (groupRows / 10 + 1), task);
}

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_GEMM_H
