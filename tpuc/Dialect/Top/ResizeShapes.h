//===- ResizeShapes.h - Shapes of resampling --------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_RESIZESHAPES_H
#define TPUC_DIALECT_TOP_RESIZESHAPES_H

#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Support/Error.h"

namespace tpuc::top {

/// What a resampling comes to, one entry for each axis of the input.
struct ResizeShape {
  Dims output;
  std::vector<double> scales; ///< 1 for axes that stay; NaN where the extent is not known.
};

/// What the attributes of a resampling say of its shapes.
struct ResizeSpec {
  std::optional<mlir::ArrayAttr> axes;
  llvm::StringRef policy = "stretch";
};
template <typename Op> ResizeSpec resizeSpec(Op op) {
  return {op.getAxes(), op.getKeepAspectRatioPolicy()};
}

/// The result of a resampling for an input of these extents. At most one of `scales` and `sizes`
/// may hold entries, one for each of its axes; with neither the result is dynamic along these. From
/// scales: output = floor(input * scale). From sizes: the scale that gives it, or with a policy the
/// smallest (not_larger) or largest (not_smaller) of all of them, and then output = floor(input *
/// scale + 1/2). Errors (without `where`): entries that do not fit the axes; scales that are not
/// positive.
Expected<ResizeShape> resizeShape(const ResizeSpec &spec, llvm::ArrayRef<int64_t> input,
                                  llvm::ArrayRef<double> scales, llvm::ArrayRef<int64_t> sizes);

/// The axes that are resampled, counted from the front of `rank` ones.
Expected<Dims> resizeAxes(const ResizeSpec &spec, int64_t rank);

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_RESIZESHAPES_H
