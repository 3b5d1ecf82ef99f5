//===- MatrixOps.h - Kernels of products of computed matrices - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_MATRIXOPS_H
#define TPUC_TARGET_CV18XX_CODEGEN_MATRIXOPS_H

#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Target/CV18xx/Codegen/Site.h"

namespace tpuc::cv18xx::backend {

// Errors (without `where`) say what the chip cannot do.

/// A product of two computed matrices, or of several pairs.
Expected<void> emitProducts(tpu::MatMulOp op, const Site &site);

/// Operands and results of these, which are matrices in local memory (`Form::Matrix`).
Expected<void> loadMatrices(Builder &builder, const codegen::TiledOp &tiled, unsigned index,
                            int64_t address);
Expected<void> storeMatrices(Builder &builder, const codegen::TiledOp &tiled, int64_t address);

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_MATRIXOPS_H
