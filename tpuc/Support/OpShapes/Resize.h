//===- Resize.h - Shapes of resized tensors ---------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_OPSHAPES_RESIZE_H
#define TPUC_SUPPORT_OPSHAPES_RESIZE_H

#include "tpuc/Support/OpShapes/Dims.h"

namespace tpuc::shapes {

/// What a resampling comes to, one entry for each axis of the input.
struct ResizeShape {
  Dims output;
  std::vector<double> scales; ///< 1 for axes that stay; NaN where the extent is not known.
};

/// What the attributes of a resampling say of its shapes.
struct ResizeSpec {
  std::optional<Dims> axes;
  std::string policy = "stretch";
};

/// The result of a resampling for an input of these extents. At most one of `scales` and `sizes`
/// may hold entries, one for each of its axes; with neither the result is dynamic along these. From
/// scales: output = floor(input * scale). From sizes: the scale that gives it, or with a policy the
/// smallest (not_larger) or largest (not_smaller) of all of them, and then output = floor(input *
/// scale + 1/2). Errors (without `where`): entries that do not fit the axes; scales that are not
/// positive.
Expected<ResizeShape> resizeShape(const ResizeSpec &spec, std::span<const int64_t> input,
                                  std::span<const double> scales, std::span<const int64_t> sizes);

/// The axes that are resampled, counted from the front of `rank` ones.
Expected<Dims> resizeAxes(const ResizeSpec &spec, int64_t rank);

} // namespace tpuc::shapes

#endif // TPUC_SUPPORT_OPSHAPES_RESIZE_H
