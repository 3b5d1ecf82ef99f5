//===- WindowGeometry.h - Where the taps of a window fall -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_WINDOWGEOMETRY_H
#define TPUC_INTERPRETER_KERNELS_WINDOWGEOMETRY_H

#include "tpuc/Interpreter/Kernels/Convolution.h"

#include <algorithm>
#include <array>

namespace tpuc::kernels {

/// A sliding window with its spatial dimensions made three. `large` is the side that the window
/// slides over (the input; the output of a transposed one), `small` the one with an element per
/// position.
struct Geometry {
  int64_t batch, smallChannels, largeChannels;
  std::array<int64_t, 3> kernel, strides, dilations, pads, small, large;
  int64_t smallSize, largeSize, kernelSize;

  /// The positions [first, last) along `axis` whose tap `k` lies inside the large side.
  std::pair<int64_t, int64_t> inside(size_t axis, int64_t k) const {
    int64_t start = k * dilations[axis] - pads[axis];
    int64_t stride = strides[axis];
    int64_t first = start >= 0 ? 0 : (-start + stride - 1) / stride;
    int64_t room = large[axis] - start;
    int64_t last = room <= 0 ? 0 : (room + stride - 1) / stride;
    last = std::min(last, small[axis]);
    return {std::min(first, last), last};
  }
};

inline std::array<int64_t, 3> three(std::span<const int64_t> values, int64_t fill) {
  std::array<int64_t, 3> result = {fill, fill, fill};
  std::copy(values.begin(), values.end(), result.end() - values.size());
  return result;
}

inline Geometry geometryOf(const Shape &small, const Shape &large, const WindowParams &window) {
  Geometry geometry{small[0],
                    small[1],
                    large[1],
                    three(window.kernel, 1),
                    three(window.strides, 1),
                    three(window.dilations, 1),
                    three(window.padsBegin, 0),
                    three(small.dims().subspan(2), 1),
                    three(large.dims().subspan(2), 1),
                    0,
                    0,
                    0};
  auto product = [](const std::array<int64_t, 3> &extents) {
    return extents[0] * extents[1] * extents[2];
  };
  geometry.smallSize = product(geometry.small);
  geometry.largeSize = product(geometry.large);
  geometry.kernelSize = product(geometry.kernel);
  return geometry;
}

/// Calls `row(smallOffset, largeOffset, count)` for each row of positions whose tap lies inside;
/// elements of the large side are `strides[2]` apart.
template <typename Row> void forEachRow(const Geometry &g, int64_t tap, Row &&row) {
  std::array<int64_t, 3> k = {tap / (g.kernel[1] * g.kernel[2]), tap / g.kernel[2] % g.kernel[1],
                              tap % g.kernel[2]};
  auto [w0, w1] = g.inside(2, k[2]);
  auto [h0, h1] = g.inside(1, k[1]);
  auto [d0, d1] = g.inside(0, k[0]);
  if (w0 == w1)
    return;
  auto at = [&](size_t axis, int64_t position) {
    return position * g.strides[axis] + k[axis] * g.dilations[axis] - g.pads[axis];
  };
  for (int64_t d = d0; d < d1; ++d)
    for (int64_t h = h0; h < h1; ++h)
      row((d * g.small[1] + h) * g.small[2] + w0,
          (at(0, d) * g.large[1] + at(1, h)) * g.large[2] + at(2, w0), w1 - w0);
}

/// How many of the window's taps at `position` along `axis` lie in [low, high).
inline int64_t tapsWithin(const Geometry &g, size_t axis, int64_t position, int64_t low,
                          int64_t high) {
  int64_t count = 0;
  for (int64_t k = 0; k < g.kernel[axis]; ++k) {
    int64_t at = position * g.strides[axis] + k * g.dilations[axis] - g.pads[axis];
    count += at >= low && at < high ? 1 : 0;
  }
  return count;
}

/// Per position of each axis: how many taps lie within the input, or (padded) its padding too.
inline std::array<std::vector<int64_t>, 3> tapCounts(const Geometry &g, const WindowParams &window,
                                                     bool padded) {
  std::array<int64_t, 3> padsEnd = three(window.padsEnd, 0);
  std::array<std::vector<int64_t>, 3> counts;
  for (size_t axis = 0; axis < 3; ++axis)
    for (int64_t position = 0; position < g.small[axis]; ++position)
      counts[axis].push_back(tapsWithin(g, axis, position, padded ? -g.pads[axis] : 0,
                                        g.large[axis] + (padded ? padsEnd[axis] : 0)));
  return counts;
}

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_WINDOWGEOMETRY_H
