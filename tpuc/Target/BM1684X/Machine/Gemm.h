//===- Gemm.h - Tiled sums of products ------------------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_GEMM_H
#define TPUC_TARGET_BM1684X_MACHINE_GEMM_H

#include "tpuc/Target/BM1684X/Machine/Exec.h"

#include <cmath>

namespace tpuc::bm1684x {

/// f32: products go alternately to two sums, in the order of the depth.
struct FloatSums {
  using Weight = float;
  using Column = float;
  using Sum = float;
  static constexpr int64_t kDepth = 64;
  static constexpr bool kHasOdd = true;
  /// The first product goes to the odd sum.
  bool startsOdd = false;

  void add(const Kernels &k, int64_t rows, int64_t depth, int64_t vectors, const float *w,
           int64_t wStride, const float *x, float *sums, float *odd) const {
    static_assert(kDepth % 2 == 0);
    k.gemmFloat(rows, depth, vectors, w, wStride, x, startsOdd, sums, odd);
  }
};

/// f16 and bf16: blocks of 32 products, each summed exactly and rounded once.
struct BlockSums {
  using Weight = float;
  using Column = float;
  using Sum = float;
  static constexpr int64_t kDepth = kBlock;
  static constexpr bool kHasOdd = false;

  void add(const Kernels &k, int64_t rows, int64_t depth, int64_t vectors, const float *w,
           int64_t wStride, const float *x, float *sums, float *) const {
    k.gemmBlock(rows, depth, vectors, w, wStride, x, sums);
  }
};

/// 8-bit integers, widened to 16: sums wrap in 32 bits.
struct IntSums {
  using Weight = int16_t;
  using Column = int16_t;
  using Sum = int32_t;
  static constexpr int64_t kDepth = 64;
  static constexpr bool kHasOdd = false;

  void add(const Kernels &k, int64_t rows, int64_t depth, int64_t vectors, const int16_t *w,
           int64_t wStride, const int16_t *x, int32_t *sums, int32_t *) const {
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
///   start(tile, row, sums, odd)                     the first values of a row's sums
///   finish(tile, row, sums)                         takes them
/// The work is cut without regard to the number of threads.
template <typename Job> void runGemm(Exec &exec, const Job &job) {
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
    std::vector<Sum> sums(static_cast<size_t>(groupRows * kTile));
    std::vector<Sum> odd(Sums::kHasOdd ? sums.size() : 0);
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
                  Sums::kHasOdd ? &odd[static_cast<size_t>(r * kTile)] : nullptr);
      for (int64_t s = 0; s < job.numSegments; ++s) {
        job.fill(state, s, x.data());
        job.sums.add(exec.kernels, rows, job.depth(s), ceilDiv(tile.count, kVector),
                     job.weights.data() + firstRow * wStride + s * Sums::kDepth, wStride, x.data(),
                     sums.data(), odd.data());
      }
      if constexpr (Sums::kHasOdd)
        exec.kernels.arithFloat(RowOp::Add, rows * kTile, sums.data(), odd.data(), sums.data());
      for (int64_t r = 0; r < rows; ++r)
        job.finish(tile, firstRow + r, &sums[static_cast<size_t>(r * kTile)]);
    }
  };
  // About ten products per nanosecond, and a nanosecond for each element of a column.
  overIndices(exec, tiles * groups, wStride * kTile * (groupRows / 10 + 1), task);
}

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_GEMM_H
