//===- OperandTiles.h - Tiles of operands in both memories ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_OPERANDTILES_H
#define TPUC_TARGET_BM1684X_CODEGEN_OPERANDTILES_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/BM1684X/Kernels/GlobalTensor.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

namespace tpuc::bm1684x::backend {

/// A tile of operand `index` of `op`, or of its result, in local memory.
LocalTensor localOperand(mlir::Operation *op, const codegen::TileModel &model, unsigned index,
                         const codegen::LocalTile &tile);

/// Bytes that the tile takes in each lane, with the parameters that it carries.
int64_t localOperandBytes(mlir::Operation *op, const codegen::TileModel &model, unsigned index,
                          const codegen::Tile &tile);

/// The same tile in the tensor that begins at `address` of global memory, of the same shape as
/// `localOperand` gives it (of EveryLane one lane, of Transposed rows and columns exchanged).
GlobalTensor globalOperand(mlir::Operation *op, const codegen::TileModel &model, unsigned index,
                           const codegen::Tile &tile, int64_t address);

/// Where the parameters lie that a tile of operand `index` carries (`carriesParameters`): the
/// words of each channel [1, channels, 1, 4] Aligned, or the rows of words of each column.
uint32_t parameterAddress(mlir::Operation *op, const codegen::TileModel &model, unsigned index,
                          const codegen::LocalTile &local);

/// The rows of words that a tile of a constant matrix carries, [kColumnRows, lanes, 1, columns].
LocalTensor localColumnWords(mlir::Operation *op, const codegen::TileModel &model, unsigned index,
                             const codegen::LocalTile &local);

/// Those of `columns` in the matrix that begins at `address` of global memory, of one lane.
GlobalTensor columnWords(const codegen::OperandModel &matrix, codegen::Range columns,
                         int64_t address);

/// Where the rows of words stand behind a constant matrix of `count` bytes.
int64_t columnWordsAt(int64_t count);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_OPERANDTILES_H
