//===- WindowTiles.h - What tiles of results see of an image -- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_WINDOWTILES_H
#define TPUC_TARGET_BM168X_WINDOWTILES_H

#include "tpuc/Target/BM168x/Gemm.h"
#include "tpuc/Target/BM168x/Window.h"

#include <cstring>

namespace tpuc::bm168x {

/// Columns of a tile whose elements lie `step` apart in a channel, or that hold a filler.
struct TileRun {
  int32_t source; ///< Element offset, kPadValue or kInsertValue.
  int32_t step;
  int32_t first;
  int32_t count;
};

/// What a tile of result pixels sees at each position of the kernel.
struct WindowTile {
  int64_t batch;
  int64_t count; ///< Pixels.
  std::vector<std::vector<TileRun>> runs;
};

/// `tile` counts pixels. Strides count elements of the image.
WindowTile makeWindowTile(const Window &window, int64_t hStride, int64_t wStride,
                          const ColumnTile &tile);

/// The elements of a channel that the tile sees at a position of the kernel, as raw bits.
template <typename T>
void gatherRuns(const std::vector<TileRun> &runs, const uint8_t *channel, uint32_t pad,
                uint32_t insert, T *out) {
  for (const TileRun &run : runs) {
    T *to = out + run.first;
    if (run.source < 0) {
      auto value = static_cast<T>(run.source == kPadValue ? pad : insert);
      for (int32_t i = 0; i < run.count; ++i)
        to[i] = value;
      continue;
    }
    const uint8_t *from = channel + run.source * static_cast<int64_t>(sizeof(T));
    if (run.step == 1 || run.count == 1) {
      std::memcpy(to, from, static_cast<size_t>(run.count) * sizeof(T));
      continue;
    }
    for (int32_t i = 0; i < run.count; ++i)
      std::memcpy(to + i,
                  from + static_cast<int64_t>(i) * run.step * static_cast<int64_t>(sizeof(T)),
                  sizeof(T));
  }
}

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_WINDOWTILES_H
