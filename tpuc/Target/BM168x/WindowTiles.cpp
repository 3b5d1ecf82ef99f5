//===- WindowTiles.cpp - What tiles of results see of an image ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/WindowTiles.h"

namespace tpuc::bm168x {

WindowTile makeWindowTile(const Window &window, int64_t hStride, int64_t wStride,
                          const ColumnTile &tile) {
  WindowTile result{tile.batch, tile.count, {}};
  result.runs.resize(static_cast<size_t>(window.kernel[0] * window.kernel[1]));
  for (int64_t position = 0; position < window.kernel[0] * window.kernel[1]; ++position) {
    std::vector<TileRun> &runs = result.runs[static_cast<size_t>(position)];
    int64_t ky = position / window.kernel[1];
    int64_t kx = position % window.kernel[1];
    int64_t row = tile.first / window.result[1];
    int64_t column = tile.first % window.result[1];
    int32_t y = window.source(0, row, ky);
    for (int64_t i = 0; i < tile.count; ++i, ++column) {
      if (column == window.result[1]) {
        column = 0;
        y = window.source(0, ++row, ky);
      }
      int32_t x = window.source(1, column, kx);
      // A place that lies in the padding of either axis is padding.
      int32_t source = y == kPadValue || x == kPadValue ? kPadValue
                       : y < 0 || x < 0                 ? kInsertValue
                                        : static_cast<int32_t>(y * hStride + x * wStride);
      TileRun *last = runs.empty() ? nullptr : &runs.back();
      if (last && source < 0 && last->source == source) {
        ++last->count;
        continue;
      }
      if (last && source >= 0 && last->source >= 0) {
        int32_t step = source - (last->source + (last->count - 1) * last->step);
        if (last->count == 1 || step == last->step) {
          last->step = step;
          ++last->count;
          continue;
        }
      }
      runs.push_back({source, 0, static_cast<int32_t>(i), 1});
    }
  }
  return result;
}

} // namespace tpuc::bm168x
