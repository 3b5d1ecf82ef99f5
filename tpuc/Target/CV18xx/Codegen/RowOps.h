//===- RowOps.h - Kernels of softmaxes, norms, reductions ----- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_ROWOPS_H
#define TPUC_TARGET_CV18XX_CODEGEN_ROWOPS_H

#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Target/CV18xx/Codegen/Site.h"

namespace tpuc::cv18xx::backend {

// Sums and extremes of rows are pools over them. Errors (without `where`) say what the chip cannot
// do.

Expected<void> emitOf(tpu::SoftmaxOp op, const Site &site);
Expected<void> emitOf(tpu::LayerNormOp op, const Site &site);
Expected<void> emitOf(tpu::RMSNormOp op, const Site &site);
Expected<void> emitOf(tpu::InstanceNormOp op, const Site &site);
Expected<void> emitOf(tpu::ReduceOp op, const Site &site);

/// Bytes that these want in each lane for a tile of their input; none of other ops.
int64_t scratchOfRows(const Chip &chip, mlir::Operation *op, const Extents &input);

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_ROWOPS_H
