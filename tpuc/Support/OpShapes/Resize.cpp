//===- Resize.cpp - Shapes of resized tensors -----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/OpShapes/Resize.h"
#include "tpuc/Support/Sizes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::shapes;

Expected<Dims> shapes::resizeAxes(const ResizeSpec &spec, int64_t rank) {
  Dims axes;
  if (!spec.axes) {
    for (int64_t axis = 0; axis < rank; ++axis)
      axes.push_back(axis);
    return axes;
  }
  for (int64_t axis : *spec.axes) {
    int64_t front = axis < 0 ? axis + rank : axis;
    if (front < 0 || front >= rank || std::ranges::find(axes, front) != axes.end())
      return makeError("", fmt::format("axes name {}", axis),
                       fmt::format("each of the input's {} axes at most once", rank));
    axes.push_back(front);
  }
  return axes;
}

/// A number that is not negative as an extent, at most Count::kMost.
static int64_t toExtent(double number) {
  return number < 0x1p63 ? static_cast<int64_t>(number) : Count::kMost;
}

Expected<ResizeShape> shapes::resizeShape(const ResizeSpec &spec, std::span<const int64_t> input,
                                          std::span<const double> scales,
                                          std::span<const int64_t> sizes) {
  Expected<Dims> axes = resizeAxes(spec, static_cast<int64_t>(input.size()));
  if (!axes)
    return propagate(axes);
  ResizeShape shape{Dims(input.begin(), input.end()), std::vector<double>(input.size(), 1.0)};
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (scales.empty() && sizes.empty()) {
    for (int64_t axis : *axes) {
      shape.output[axis] = kDynamic;
      shape.scales[axis] = kUnknown;
    }
    return shape;
  }
  size_t given = scales.empty() ? sizes.size() : scales.size();
  if (given != axes->size() || (!scales.empty() && !sizes.empty()))
    return makeError("", fmt::format("{} scales and {} sizes", scales.size(), sizes.size()),
                     fmt::format("either of them for {} axes", axes->size()));
  double common = kUnknown;
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = static_cast<size_t>((*axes)[i]);
    int64_t extent = input[axis];
    if (!scales.empty()) {
      if (!(scales[i] > 0) || scales[i] > 1e9)
        return makeError("", fmt::format("scale {}", scales[i]), "a positive number up to 1e9");
      shape.scales[axis] = scales[i];
      if (extent != kDynamic)
        shape.output[axis] = toExtent(std::floor(static_cast<double>(extent) * scales[i]));
      continue;
    }
    if (sizes[i] < 0)
      return makeError("", fmt::format("size {}", sizes[i]), "at least 0");
    shape.output[axis] = sizes[i];
    shape.scales[axis] = extent == kDynamic ? kUnknown
                         : extent == 0
                             ? 1.0
                             : static_cast<double>(sizes[i]) / static_cast<double>(extent);
    bool isFirst = i == 0;
    if (std::isnan(shape.scales[axis]) || (!isFirst && std::isnan(common)))
      common = kUnknown;
    else if (isFirst)
      common = shape.scales[axis];
    else
      common = spec.policy == "not_larger" ? std::min(common, shape.scales[axis])
                                           : std::max(common, shape.scales[axis]);
  }
  if (sizes.empty() || spec.policy == "stretch")
    return shape;
  for (int64_t axis : *axes) {
    shape.scales[axis] = common;
    bool isKnown = !std::isnan(common) && input[axis] != kDynamic;
    shape.output[axis] =
        isKnown ? toExtent(std::floor(common * static_cast<double>(input[axis]) + 0.5)) : kDynamic;
  }
  return shape;
}
