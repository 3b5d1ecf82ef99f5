//===- Signal.h - Shapes of transforms of signals ---------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_OPSHAPES_SIGNAL_H
#define TPUC_SUPPORT_OPSHAPES_SIGNAL_H

#include "tpuc/Support/OpShapes/Dims.h"

namespace tpuc::shapes {

/// What the attributes of a DFT say.
struct DftSpec {
  bool inverse = false;
  bool onesided = false;
};

// The same functions serve shape inference and evaluation, which knows all extents. Extents that
// are not known are kDynamic. Errors (without `where`): operands that do not fit.

struct DftShape {
  size_t axis;
  int64_t length; ///< N.
  Dims output;
};
/// `axis` counts from the front or the back; `length`: the operand, none if it is left out,
/// kDynamic if it is not known.
Expected<DftShape> dftShape(const DftSpec &spec, std::span<const int64_t> input, int64_t axis,
                            std::optional<int64_t> length);

struct StftShape {
  int64_t length; ///< L.
  Dims output;
};
/// `window`: its extents; `length`: as above.
Expected<StftShape> stftShape(bool onesided, std::span<const int64_t> input, int64_t step,
                              const std::optional<Dims> &window, std::optional<int64_t> length);

} // namespace tpuc::shapes

#endif // TPUC_SUPPORT_OPSHAPES_SIGNAL_H
