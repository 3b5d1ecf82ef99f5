//===- Operands.h - How the operands of ops lie on the BM1684X ------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_OPERANDS_H
#define TPUC_TARGET_BM1684X_CODEGEN_OPERANDS_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/GlobalTensor.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

namespace tpuc::bm1684x::backend {

/// How an operand or a result lies in local memory.
enum class OperandForm : uint8_t {
  Absent,     ///< Not loaded: left out, or a number in a command.
  Tensor,     ///< [n, c, h, w], channels (or rows of a matrix) over lanes.
  PerChannel, ///< A row for each channel, packed: filters, biases and slopes.
  Transposed, ///< The same as Tensor of a matrix that lies transposed in global memory.
  Columns,    ///< A constant right operand, transposed: [n, columns, 1, rows].
  EveryLane,  ///< [1, 64, 1, w], the same in all lanes.
  PixelRow,   ///< The channels of one pixel as [1, 1, 1, c], in the first lane.
};

/// Of operand `index` of `op`; its result is number `op->getNumOperands()`.
OperandForm operandForm(mlir::Operation *op, unsigned index);

/// Whether the right operand of a product lies in local memory as [columns, rows].
bool liesTurned(tpu::MatMulOp op);

/// The type in which operand `index` or the result is stored.
DataType elementTypeOf(mlir::Operation *op, unsigned index);

/// A tile of it in local memory.
LocalTensor localOperand(mlir::Operation *op, const codegen::TileModel &model, unsigned index,
                         const codegen::LocalTile &tile);

/// Bytes that the tile takes in each lane, with the parameters that it carries.
int64_t localOperandBytes(mlir::Operation *op, const codegen::TileModel &model, unsigned index,
                          const codegen::Tile &tile);

/// The same tile in the tensor that begins at `address` of global memory, of the same shape as
/// `localOperand` gives it (of EveryLane one lane, of Transposed rows and columns exchanged).
GlobalTensor globalOperand(mlir::Operation *op, const codegen::TileModel &model, unsigned index,
                           const codegen::Tile &tile, int64_t address);

/// Brings the tile from the tensor that begins at `address` to `local`.
Expected<void> loadOperand(Builder &builder, mlir::Operation *op, const codegen::TileModel &model,
                           unsigned index, const codegen::LocalTile &local, int64_t address);

/// Stores a tile of a result of which `rows` rows lie side by side as channels, one below the
/// other, in the tensor that begins at `address`.
Expected<void> storeRows(Builder &builder, const codegen::TiledOp &tiled, int64_t rows,
                         int64_t address);

/// Stores a tile of a result [n, c, h, w] as [n, groups, h, w, c / groups] in the tensor that
/// begins at `address`.
Expected<void> storeTurned(Builder &builder, const codegen::TiledOp &tiled, int64_t groups,
                           int64_t address);

/// Where the parameters lie that a tile of operand `index` carries (`carriesParameters`): the
/// words of each channel [1, channels, 1, 4] Aligned, or the rows of words of each column.
uint32_t parameterAddress(mlir::Operation *op, const codegen::TileModel &model, unsigned index,
                          const codegen::LocalTile &local);

/// How a constant operand is kept; none: as it is. Errors: constants that cannot be read.
Expected<std::optional<codegen::PackedLayout>> packedLayout(mlir::OpOperand &operand);

/// See Backend::residentAlignment.
std::optional<int64_t> residentAlignment(mlir::OpOperand &operand);

/// Whether operand `index` is the same in every run.
bool isConstantOperand(mlir::Operation *op, unsigned index);

/// The elements of a constant operand as the network has them, before it is packed.
Expected<Tensor> readConstant(mlir::Operation *op, unsigned index);

/// The number that all elements of a constant operand are; none unless it has one element.
std::optional<double> scalarOperand(mlir::Operation *op, unsigned index);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_OPERANDS_H
