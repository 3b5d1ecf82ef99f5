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
#include "tpuc/Support/OpShapes/Resize.h"

namespace tpuc::top {

using shapes::resizeAxes;
using shapes::ResizeShape;
using shapes::resizeShape;
using shapes::ResizeSpec;

/// What the attributes of an op that resizes say.
template <typename Op> ResizeSpec resizeSpec(Op op) {
  return {intVector(op.getAxes()), op.getKeepAspectRatioPolicy().str()};
}

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_RESIZESHAPES_H
