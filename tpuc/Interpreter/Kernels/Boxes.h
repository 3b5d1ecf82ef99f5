//===- Boxes.h - Boxes that overlap --------------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_BOXES_H
#define TPUC_INTERPRETER_KERNELS_BOXES_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

namespace tpuc::kernels {

/// e to the power of x, which extents are multiplied by. Rounded once: the same on all processors.
inline float exponential(float x) { return static_cast<float>(std::exp(static_cast<double>(x))); }

/// 1 / (1 + e^-x) in double precision, rounded once: the same on all processors.
inline float sigmoid(float x) {
  return static_cast<float>(1 / (1 + std::exp(-static_cast<double>(x))));
}

/// Two corners; a box whose corners are turned is empty.
struct Box {
  float top, left, bottom, right;

  float height() const { return bottom - top; }
  float width() const { return right - left; }
  float area() const { return height() * width(); }
};

/// The area of the intersection divided by that of the union; 0 if a box is empty.
inline float overlap(const Box &a, const Box &b) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0)
    return 0;
  const float common = height * width;
  return common / (a.area() + b.area() - common);
}

/// A box that may be kept.
struct Candidate {
  Box box;
  float score;
  int64_t label; ///< Boxes of other labels do not compete with it.
  int64_t place; ///< Where it comes from, for what else is asked of it.
};

/// The best of `candidates`, at most `keep`, in descending order of their scores and equal ones as
/// they come: without those for which `overlaps`, of boxes or candidates, says so of one before
/// with the same label.
template <typename Overlaps>
std::vector<Candidate> bestOf(std::vector<Candidate> candidates, int64_t keep,
                              const Overlaps &overlaps) {
  std::ranges::stable_sort(candidates, std::ranges::greater(), &Candidate::score);
  std::vector<Candidate> kept;
  for (const Candidate &candidate : candidates) {
    if (std::ssize(kept) == keep)
      break;
    if (std::ranges::none_of(kept, [&](const Candidate &other) {
          if (other.label != candidate.label)
            return false;
          if constexpr (std::is_invocable_v<Overlaps, const Candidate &, const Candidate &>)
            return overlaps(other, candidate);
          else
            return overlaps(other.box, candidate.box);
        }))
      kept.push_back(candidate);
  }
  return kept;
}

inline bool isFinite(const Box &box) {
  return std::isfinite(box.top) && std::isfinite(box.left) && std::isfinite(box.bottom) &&
         std::isfinite(box.right);
}

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_BOXES_H
