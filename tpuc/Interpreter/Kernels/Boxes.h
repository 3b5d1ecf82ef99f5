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

namespace tpuc::kernels {

/// e to the power of x, which extents are multiplied by. Rounded once: the same on all processors.
inline float exponential(float x) { return static_cast<float>(std::exp(static_cast<double>(x))); }

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

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_BOXES_H
