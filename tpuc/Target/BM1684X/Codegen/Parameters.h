//===- Parameters.h - What integer kernels read beside constants ------ -*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_PARAMETERS_H
#define TPUC_TARGET_BM1684X_CODEGEN_PARAMETERS_H

#include "tpuc/Target/BM1684X/Codegen/BM1684XLayout.h"
#include "tpuc/Target/BM1684X/Kernels/Quantized.h"

namespace tpuc::bm1684x::backend {

/// How the integers that `op` computes become its result: one entry, or one for each channel (of
/// averages: each count). Errors: a requantization that the chip does otherwise.
Expected<std::vector<Requantize>> requantizationsOf(mlir::Operation *op);

/// Zero point and bounds of the result. Errors: one that is not quantized.
Expected<Requantize> resultBounds(mlir::Operation *op);

/// What all of these have in common, zero point and bounds of the result. Whoever asks often need
/// not read thousands of factors.
Expected<Requantize> requantizationBounds(mlir::Operation *op);

/// How often a convolution of integers rounds: by its `quant_mode`. Once for others.
Roundings roundingsOf(mlir::Operation *op);

/// The factor of an op that has a shift alone.
Expected<Requantize> shiftOf(mlir::Operation *op);

/// Whether the sums of a convolution begin with a bias.
bool hasBias(mlir::Operation *op);

/// The words that operand 1 of an op carries: of convolutions and slopes kRequantWords for each
/// channel, of matrix products kColumnRows rows. Errors: constants that cannot be read, and what
/// `requantizationsOf` says.
Expected<std::vector<int32_t>> parameterWords(mlir::Operation *op, const BM1684XLayout &layout);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_PARAMETERS_H
