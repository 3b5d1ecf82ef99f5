//===- RecurrentOps.h - Kernels of recurrent cells ------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_RECURRENTOPS_H
#define TPUC_TARGET_CV18XX_CODEGEN_RECURRENTOPS_H

#include "tpuc/Dialect/Tpu/RecurrentOps.h"
#include "tpuc/Target/CV18xx/Codegen/Site.h"

namespace tpuc::cv18xx::backend {

// Cells of one direction, step by step: filter and recurrence of each gate are products of
// matrices, and the units of a sample are a row in pieces over the lanes. States are BF16. Errors
// (without `where`) say what the chip cannot do.

Expected<void> emitOf(tpu::LSTMOp op, const Site &site);
Expected<void> emitOf(tpu::GRUOp op, const Site &site);
Expected<void> emitOf(tpu::RNNOp op, const Site &site);

/// Bytes that these want in each lane; none of other ops.
int64_t scratchOfCell(const Chip &chip, const codegen::TiledOp &tiled);

// Cells whose filters do not fit the lanes read global memory step by step, and have all of local
// memory meanwhile.

/// Of such a cell.
inline constexpr llvm::StringLiteral kStreamed = "streamed";
bool isStreamed(mlir::Operation *op);
/// Marks a cell that can be computed so.
void planStream(const Chip &chip, mlir::Operation *op);
/// A cell that is marked, whose tensors have addresses.
Expected<void> emitStreamed(Builder &builder, mlir::Operation *op);

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_RECURRENTOPS_H
