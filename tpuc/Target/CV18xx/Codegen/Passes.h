//===- Passes.h - What only these chips gain by --------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_PASSES_H
#define TPUC_TARGET_CV18XX_CODEGEN_PASSES_H

#include "tpuc/Codegen/Backend.h"

namespace tpuc::cv18xx::backend {

/// The passes of this folder, in the order in which they run:
///
/// * finite-constants: infinite numbers of constants become 2^100 with their sign, for the chip
/// takes
///   them for a number of no sign. They hide scores.
/// * gather-to-slice: what constant indices name is a part of a tensor where they rise by equal
///   steps; there is no command that reads indices.
/// * average-to-conv: an average of integers over windows of one size becomes a depthwise
///   convolution with a filter of ones, which has the multiplier of the average. The chip's own
///   average multiplies by 8 bits, and takes those. The mean of whole pictures is one of them.
/// * move-through-lanes: a move that exchanges the innermost dimensions has its order changed in
///   local memory where that takes less time by all sets of timing parameters (LaneMoves.h).
llvm::ArrayRef<codegen::OptionalPass> ownPasses();

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_PASSES_H
