//===- OperandForm.h - In which form operands lie ---------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_OPERANDFORM_H
#define TPUC_TARGET_BM1684X_CODEGEN_OPERANDFORM_H

#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Support/DataType.h"
#include "tpuc/Target/BM168x/Codegen/RecurrentOps.h"

namespace tpuc::bm1684x::backend {

/// How an operand or a result lies in local memory.
enum class OperandForm : uint8_t {
  Absent,     ///< Not loaded: left out, or a number in a command.
  Tensor,     ///< [n, c, h, w], channels (or rows of a matrix) over lanes.
  PerChannel, ///< A row for each channel, packed: filters, biases, slopes, factors, addends.
  Transposed, ///< The same as Tensor of a matrix that lies transposed in global memory.
  Columns,    ///< A constant right operand, transposed: [n, columns, 1, rows].
  EveryLane,  ///< [n, 64, 1, w], the same in all lanes.
  PixelRow,   ///< The channels of one pixel as [1, 1, 1, c], in the first lane.
};

/// Of operand `index` of `op`; its result is number `op->getNumOperands()`.
OperandForm operandForm(mlir::Operation *op, unsigned index);

/// Whether the right operand of a product lies in local memory as [columns, rows].
bool liesTurned(tpu::MatMulOp op);

/// The type in which operand `index` or the result is stored.
DataType elementTypeOf(mlir::Operation *op, unsigned index);

/// Whether an op computes with stored integers: its first operand is quantized.
bool isQuantized(mlir::Operation *op);

/// Whether constant operand `index` carries parameters behind its elements: filters of integer
/// convolutions and slopes the requantization parameters of each channel, matrices the rows of
/// words of each column.
bool carriesParameters(mlir::Operation *op, unsigned index);

/// Whether a constant operand of an element-wise op of floats is one number for each of more
/// channels than there are lanes. As a tensor it would be loaded number by number. Fewer stand the
/// same in both forms, and rows of matrices can read them.
bool isChannelConstant(mlir::Operation *op, unsigned index);

/// Whether an op is a concatenation of columns, some so few that transfers take a row of them as
/// long as a longer one: they are joined in local memory.
bool isColumnConcat(mlir::Operation *op);

using bm168x::backend::isRecurrent;
using bm168x::backend::kRecurrentBias;

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_OPERANDFORM_H
