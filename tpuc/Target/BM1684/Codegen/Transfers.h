//===- Transfers.h - Loads, stores and moves of ops ----------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_CODEGEN_TRANSFERS_H
#define TPUC_TARGET_BM1684_CODEGEN_TRANSFERS_H

#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Target/BM1684/Codegen/BM1684Layout.h"
#include "tpuc/Target/BM168x/Codegen/Moves.h"

namespace tpuc::bm1684::backend {

/// Brings the tile of operand `index` from the tensor that begins at `address`.
Expected<void> loadOperand(Builder &builder, const codegen::TiledOp &tiled, unsigned index,
                           int64_t address);
/// Makes that tile of the packed images that it left in the tile's room, if it did.
Expected<void> unpackOperand(Builder &builder, const codegen::TiledOp &tiled, unsigned index);
/// Packs the tile of the result in its room, if it has room and that is faster.
Expected<void> packResult(Builder &builder, const codegen::TiledOp &tiled);
/// Brings the tile of the result, or what `packResult` made of it, to the tensor that begins at
/// `address`.
Expected<void> storeResult(Builder &builder, const codegen::TiledOp &tiled, int64_t address);

/// Errors (without `where`): rows that no transfer stacks.
Expected<void> checkPackedRows(tpu::PackRowsOp rows);

/// Errors (without `where`) say which form of a move is not known.
Expected<void> checkMove(mlir::Operation *op);
/// The transfers of a move, whose tensors have addresses as encodings.
Expected<void> emitMove(Builder &builder, mlir::Operation *op);

} // namespace tpuc::bm1684::backend

#endif // TPUC_TARGET_BM1684_CODEGEN_TRANSFERS_H
