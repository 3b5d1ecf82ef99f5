//===- SignalShapes.h - Extents of spectra ----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_SIGNALSHAPES_H
#define TPUC_DIALECT_TOP_SIGNALSHAPES_H

#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/SignalOps.h"
#include "tpuc/Support/Error.h"

namespace tpuc::top {

// The same functions serve shape inference and evaluation, which knows all extents. Extents that
// are not known are kDynamic. Errors (without `where`): operands that do not fit.

struct DftShape {
  size_t axis;
  int64_t length; ///< N.
  Dims output;
};
/// `axis` counts from the front or the back; `length`: the operand, none if it is left out,
/// kDynamic if it is not known.
Expected<DftShape> dftShape(DFTOp op, llvm::ArrayRef<int64_t> input, int64_t axis,
                            std::optional<int64_t> length);

struct StftShape {
  int64_t length; ///< L.
  Dims output;
};
/// `window`: its extents; `length`: as above.
Expected<StftShape> stftShape(STFTOp op, llvm::ArrayRef<int64_t> input, int64_t step,
                              const std::optional<Dims> &window, std::optional<int64_t> length);

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_SIGNALSHAPES_H
