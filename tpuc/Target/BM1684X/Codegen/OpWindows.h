//===- OpWindows.h - Windows of convolutions and pools ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_OPWINDOWS_H
#define TPUC_TARGET_BM1684X_CODEGEN_OPWINDOWS_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/BM1684X/Kernels/Convolution.h"

namespace tpuc::bm1684x::backend {

/// The strides of a convolution or pool along h and w. Of three dimensions those of the first two.
std::array<int64_t, 2> strideOf(mlir::Operation *op);

/// The window of a convolution or pool over the tile that `tiled` is: pads are those at the
/// tile's edges. Errors: more than two dimensions.
Expected<Window2d> windowOf(const codegen::TiledOp &tiled);
/// That of a transposed convolution, as `emitDeconvolution` has it. Errors: also groups.
Expected<Window2d> transposedWindowOf(const codegen::TiledOp &tiled);

/// Whether a transposed convolution is computed phase after phase (`hasPhases`). Integers whose
/// zero point is not 0: of few phases, as each needs a bias of its own.
bool isInPhases(mlir::Operation *op, const codegen::TileModel &model);
/// Whether the taps of one that is take the place of channels.
bool hasTapsAsChannels(mlir::Operation *op);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_OPWINDOWS_H
