//===- SliceRange.h - What a slice takes of a dimension ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_SLICERANGE_H
#define TPUC_SUPPORT_SLICERANGE_H

#include <algorithm>
#include <cstdint>

namespace tpuc {

/// The elements `start + i * step` for i in [0, count) of a dimension.
struct SliceRange {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

/// Every `step`-th element from `start` to before `end` of a dimension of `extent` elements, as
/// numpy and ONNX's Slice cut it: negative offsets count from the end, offsets beyond the ends are
/// moved to them. `step` must not be 0; all other values are allowed.
inline SliceRange sliceRange(int64_t extent, int64_t start, int64_t end, int64_t step) {
  // The last element before the first one is -1, and no step needs to be larger than the extent.
  int64_t lowest = step > 0 ? 0 : -1;
  int64_t highest = step > 0 ? extent : extent - 1;
  auto place = [&](int64_t offset) {
    return std::clamp(offset < 0 ? offset + extent : offset, lowest, highest);
  };
  SliceRange range;
  int64_t longest = std::max(extent, int64_t(1));
  range.step = std::clamp(step, -longest, longest);
  range.start = place(start);
  int64_t distance = step > 0 ? place(end) - range.start : range.start - place(end);
  int64_t stride = step > 0 ? range.step : -range.step;
  range.count = distance > 0 ? (distance - 1) / stride + 1 : 0;
  return range;
}

} // namespace tpuc

#endif // TPUC_SUPPORT_SLICERANGE_H
