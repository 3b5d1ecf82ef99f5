//===- ResizeTaps.h - Which elements a resized tensor is made of ----*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_RESIZETAPS_H
#define TPUC_CODEGEN_DECOMPOSE_RESIZETAPS_H

#include "tpuc/Codegen/Tile/TileModel.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"

#include <vector>

namespace tpuc::codegen {

/// Element i of the result is (1 - secondWeight) * input[first] + secondWeight * input[second].
struct InputTaps {
  int64_t first = 0;
  int64_t second = 0;
  double secondWeight = 0;
};

/// Whether `op`, on 4 dimensions, repeats each element a whole number of times along h and w.
bool repeatsPixels(tpu::InterpOp op);

/// The taps of the elements `output` along dimension 2 + `index` (h, w), counted in the tile
/// `input`. Errors (without `where`): modes that are no weighted sum of two neighbours.
Expected<std::vector<InputTaps>> resizeTaps(tpu::InterpOp op, unsigned index, Range output,
                                            Range input);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_RESIZETAPS_H
