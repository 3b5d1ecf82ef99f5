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
#include "tpuc/Target/BM1684X/Kernels/GlobalTensor.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

namespace tpuc::bm1684x::backend {

/// How an operand or a result lies in local memory.
enum class OperandForm : uint8_t {
  Absent,     ///< Not loaded: left out, or a number in a command.
  Tensor,     ///< [n, c, h, w], channels over lanes.
  PerChannel, ///< A row for each channel, packed: filters and biases of convolutions.
  Rows,       ///< [n, rows, 1, columns] of a matrix product, rows over lanes.
  Columns,    ///< The right operand, transposed: [n, columns, 1, rows].
  EveryLane,  ///< [1, 64, 1, w], the same in all lanes.
};

/// Of operand `index` of `op`; its result is number `op->getNumOperands()`.
OperandForm operandForm(mlir::Operation *op, unsigned index);

/// The type in which operand `index` or the result is stored.
DataType elementTypeOf(mlir::Operation *op, unsigned index);

/// A slice of it in local memory.
LocalTensor localOperand(mlir::Operation *op, const codegen::SliceModel &model, unsigned index,
                         const codegen::LocalSlice &slice);

/// The same slice in the tensor that begins at `address` of global memory, of the same shape as
/// `localOperand` gives it (of EveryLane one lane).
GlobalTensor globalOperand(mlir::Operation *op, const codegen::SliceModel &model, unsigned index,
                           const codegen::Slice &slice, int64_t address);

/// How a constant operand is kept; none: as it is.
std::optional<codegen::PackedLayout> packedLayout(mlir::OpOperand &operand);

/// See Backend::poolAlignment.
std::optional<int64_t> poolAlignment(mlir::OpOperand &operand);

/// Whether operand `index` is the same in every run.
bool isConstantOperand(mlir::Operation *op, unsigned index);

/// The number that all elements of a constant operand are; none unless it has one element.
std::optional<double> scalarOperand(mlir::Operation *op, unsigned index);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_OPERANDS_H
