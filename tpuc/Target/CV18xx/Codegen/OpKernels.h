//===- OpKernels.h - From ops to the kernels that compute them  -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_OPKERNELS_H
#define TPUC_TARGET_CV18XX_CODEGEN_OPKERNELS_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/CV18xx/Kernels/Builder.h"

namespace tpuc::cv18xx::backend {

/// Whether there is a kernel for ops of this kind, in some form.
bool hasKernel(mlir::Operation *op);

/// Bytes that the kernel needs for itself in each lane.
int64_t scratchOf(const Chip &chip, const codegen::TiledOp &tiled);

// Errors (without `where`) say what the chip cannot do.

Expected<void> emitOp(Builder &builder, const codegen::TiledOp &tiled);
/// Brings operand `index` to its place from the tensor at `address`.
Expected<void> loadOperand(Builder &builder, const codegen::TiledOp &tiled, unsigned index,
                           int64_t address);
Expected<void> storeResult(Builder &builder, const codegen::TiledOp &tiled, int64_t address);

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_OPKERNELS_H
