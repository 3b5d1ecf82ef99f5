//===- ResizeTaps.h - What a resize reads along an axis ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_RESIZETAPS_H
#define TPUC_INTERPRETER_KERNELS_RESIZETAPS_H

#include "tpuc/Interpreter/Kernels/Resize.h"

namespace tpuc::kernels {

/// For each output position along an axis: the taps of the input and their weights.
struct Taps {
  int64_t perOutput = 1;
  std::vector<int64_t> positions;
  std::vector<double> weights;
  std::vector<bool> outside; ///< Empty: none is.
};

/// The taps of `resize` along `axis` from `in` to `out` elements; their positions lie within the
/// input.
Taps tapsAlong(const ResizeParams &params, size_t axis, int64_t in, int64_t out);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_RESIZETAPS_H
