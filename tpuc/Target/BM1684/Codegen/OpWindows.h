//===- OpWindows.h - Windows of ops --------------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_CODEGEN_OPWINDOWS_H
#define TPUC_TARGET_BM1684_CODEGEN_OPWINDOWS_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/BM1684/Kernels/Windows.h"

namespace tpuc::bm1684::backend {

/// The window of a convolution or pool over the tile that `tiled` is: pads are those at the
/// tile's edges. Errors: more than two dimensions.
Expected<Window2d> windowOf(const codegen::TiledOp &tiled);
/// That of a convolution. Errors: also other numbers than 0 around the input.
Expected<Window2d> convolutionWindowOf(const codegen::TiledOp &tiled);
/// The groups of channels of the tile of a convolution: of a depthwise one, which has one channel
/// in each, as many as its result has channels, `channels`.
int64_t groupsOf(const codegen::TiledOp &tiled, int64_t channels);
/// That of a transposed convolution, as `Convolution` has it. Errors: also groups.
Expected<Window2d> transposedWindowOf(const codegen::TiledOp &tiled);
/// The fused ReLU.
Activation activationOf(mlir::Operation *op);

} // namespace tpuc::bm1684::backend

#endif // TPUC_TARGET_BM1684_CODEGEN_OPWINDOWS_H
