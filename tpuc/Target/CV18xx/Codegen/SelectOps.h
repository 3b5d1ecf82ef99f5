//===- SelectOps.h - Kernels of comparisons and choices ------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_SELECTOPS_H
#define TPUC_TARGET_CV18XX_CODEGEN_SELECTOPS_H

#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Target/CV18xx/Codegen/Site.h"

namespace tpuc::cv18xx::backend {

// Truth values are bytes, 0 or 1. In lanes they are made and read as BF16, from and to which a
// transfer converts. Errors (without `where`) say what the chip cannot do.

Expected<void> emitOf(tpu::CompareOp op, const Site &site);
Expected<void> emitOf(tpu::CompareConstOp op, const Site &site);
Expected<void> emitOf(tpu::WhereOp op, const Site &site);
Expected<void> emitOf(tpu::LogicalNotOp op, const Site &site);
Expected<void> emitOf(tpu::LogicalBinaryOp op, const Site &site);
Expected<void> emitOf(tpu::DtypeCastOp op, const Site &site);

/// Whether an op is one of these: their tensors have several types.
bool isSelection(mlir::Operation *op);
/// What they want in each lane for a tile of this shape; 0 for other ops.
int64_t scratchOfSelection(const Chip &chip, mlir::Operation *op, const Extents &result);

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_SELECTOPS_H
