//===- RecurrentKernels.cpp - Kernels of recurrent cells ------------------------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/RecurrentKernels.h"
#include "tpuc/Dialect/Tpu/RecurrentOps.h"
#include "tpuc/Target/BM1684X/Codegen/SlicedOperands.h"
#include "tpuc/Target/BM1684X/Kernels/Recurrence.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// Operands behind the first, as all three ops have them.
enum : unsigned { kFilter = 1, kRecurrence, kBias, kLengths, kInitialHidden, kInitialCell };

/// A tensor of rows over lanes, [1, lanes, 1, columns]: what the cell calls channels and steps.
std::optional<LocalTensor> given(const TiledOp &tiled, unsigned index) {
  if (!isPresent(tiled.op, index))
    return std::nullopt;
  return operandOf(tiled, index);
}

} // namespace

Kernels recurrentKernels(const TiledOp &tiled) {
  Operation *op = tiled.op;
  Recurrence recurrence;
  recurrence.input = operandOf(tiled, 0);
  recurrence.output = resultOf(tiled);
  recurrence.filterAddress = addressOf(tiled, kFilter);
  recurrence.recurrenceAddress = addressOf(tiled, kRecurrence);
  if (isPresent(op, kBias))
    recurrence.biasAddress = addressOf(tiled, kBias);
  recurrence.initialHidden = given(tiled, kInitialHidden);
  recurrence.initialCell = given(tiled, kInitialCell);
  recurrence.batch = cast<RankedTensorType>(op->getOperand(0).getType()).getShape()[1];
  const auto direction = op->getAttrOfType<StringAttr>("direction");
  recurrence.isReversed = direction && direction.getValue() == "reverse";
  recurrence.givesCell = isa<NoneType>(op->getResult(0).getType());
  recurrence.scratch = scratchRoom(tiled);
  if (auto gru = dyn_cast<tpu::GRUOp>(op)) {
    recurrence.kind = CellKind::Gru;
    recurrence.resetsProduct = gru.getLinearBeforeReset();
  } else {
    recurrence.kind = isa<tpu::LSTMOp>(op) ? CellKind::Lstm : CellKind::Rnn;
  }
  return one<recurrenceScratch, emitRecurrence>(recurrence);
}

} // namespace tpuc::bm1684x::backend
