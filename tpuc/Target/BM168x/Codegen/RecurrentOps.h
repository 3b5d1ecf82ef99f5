//===- RecurrentOps.h - Ops of recurrent cells ------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Recurrent cells in the form in which kernels take them: one result (see `decomposeRecurrent`).
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_CODEGEN_RECURRENTOPS_H
#define TPUC_TARGET_BM168X_CODEGEN_RECURRENTOPS_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/BM168x/Recurrence.h"

namespace tpuc::bm168x::backend {

/// Whether it is a recurrent cell. Of its operands the filters, and behind them the bias, are
/// rows of channels.
bool isRecurrent(mlir::Operation *op);

/// Operands of all cells; those from the first row of channels to the bias lie as rows.
enum RecurrentOperand : unsigned {
  kRecurrentInput,
  kRecurrentFilter,
  kRecurrentWeight,
  kRecurrentBias,
  kRecurrentLengths,
  kRecurrentHidden,
  kRecurrentCell,
  kRecurrentPeephole
};

/// How operand `index` or the result of a cell lies, in a chip's terms.
template <typename Form> Form recurrentForm(mlir::Operation *op, unsigned index) {
  if (index == op->getNumOperands())
    return Form::Transposed;
  if (index == kRecurrentLengths || index == kRecurrentPeephole)
    return Form::Absent;
  return index >= kRecurrentFilter && index <= kRecurrentBias ? Form::PerChannel : Form::Transposed;
}

/// What a recurrence has of its op: all but tensors, addresses and scratch.
struct RecurrentTraits {
  CellKind kind = CellKind::Lstm;
  int64_t batch = 1, directions = 1;
  bool isReversed = false, resetsProduct = false, givesCell = false;
};
RecurrentTraits recurrentTraits(mlir::Operation *op);

/// The recurrence of a cell. `operandOf` gives an operand that is there as a tensor in local
/// memory, `resultOf` the result.
template <typename Recurrence>
Recurrence recurrenceOf(const codegen::TiledOp &tiled, const auto &operandOf,
                        const auto &resultOf) {
  const auto given = [&](unsigned index) {
    const auto operands = tiled.op->getOperands();
    const bool isThere =
        index < operands.size() && !mlir::isa<mlir::NoneType>(operands[index].getType());
    return isThere ? std::optional(operandOf(tiled, index)) : std::nullopt;
  };
  const RecurrentTraits traits = recurrentTraits(tiled.op);
  Recurrence recurrence;
  recurrence.kind = traits.kind;
  recurrence.batch = traits.batch;
  recurrence.directions = traits.directions;
  recurrence.isReversed = traits.isReversed;
  recurrence.resetsProduct = traits.resetsProduct;
  recurrence.givesCell = traits.givesCell;
  recurrence.input = operandOf(tiled, kRecurrentInput);
  recurrence.output = resultOf(tiled);
  recurrence.filterAddress = operandOf(tiled, kRecurrentFilter).address;
  recurrence.recurrenceAddress = operandOf(tiled, kRecurrentWeight).address;
  if (const auto bias = given(kRecurrentBias))
    recurrence.biasAddress = bias->address;
  recurrence.initialHidden = given(kRecurrentHidden);
  recurrence.initialCell = given(kRecurrentCell);
  recurrence.scratch = {static_cast<uint32_t>(tiled.scratchAddress),
                        static_cast<uint32_t>(tiled.scratchBytes)};
  return recurrence;
}

} // namespace tpuc::bm168x::backend

#endif // TPUC_TARGET_BM168X_CODEGEN_RECURRENTOPS_H
