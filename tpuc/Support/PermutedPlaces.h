//===- PermutedPlaces.h - Elements in another order ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_PERMUTEDPLACES_H
#define TPUC_SUPPORT_PERMUTEDPLACES_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tpuc {

/// `places`, the elements of a tensor of extents `dims`, in the order of the dimensions `order`, a
/// permutation of 0 to rank - 1. There is one dimension at least.
template <typename Place>
std::vector<Place> permutedPlaces(const std::vector<Place> &places, std::span<const int64_t> dims,
                                  std::span<const int64_t> order) {
  std::vector<int64_t> steps(dims.size(), 1);
  for (size_t axis = dims.size() - 1; axis-- > 0;)
    steps[axis] = steps[axis + 1] * dims[axis + 1];
  std::vector<int64_t> at(order.size(), 0);
  std::vector<Place> moved;
  moved.reserve(places.size());
  for (size_t count = 0; count < places.size(); ++count) {
    int64_t from = 0;
    for (size_t axis = 0; axis < order.size(); ++axis)
      from += at[axis] * steps[static_cast<size_t>(order[axis])];
    moved.push_back(places[static_cast<size_t>(from)]);
    for (size_t axis = order.size(); axis-- > 0;) {
      if (++at[axis] < dims[static_cast<size_t>(order[axis])])
        break;
      at[axis] = 0;
    }
  }
  return moved;
}

} // namespace tpuc

#endif // TPUC_SUPPORT_PERMUTEDPLACES_H
