//===- Transfers.cpp - Loads, stores and moves of ops ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Codegen/Transfers.h"

using namespace tpuc::codegen;

namespace tpuc::bm1684::backend {

Expected<void> loadOperand(Builder &builder, const TiledOp &tiled, unsigned index,
                           int64_t address) {
  const TensorLayout &layout = layoutOf(tiled).operand(index);
  const LocalTile &tile = tiled.operands[index];
  if (layout.form == OperandForm::Absent)
    return {};
  const GlobalTensor from = layout.global(tile.tile, address);
  LocalTensor to = layout.local(tile);
  if (layout.form == OperandForm::PerChannel)
    to = localTensor(from.type, from.shape, to.address, Layout::Compact);
  const bool isTurned =
      layout.form == OperandForm::Transposed || layout.form == OperandForm::Turned;
  return isTurned ? emitLoadTurned(builder, from, to) : emitLoad(builder, from, to);
}

Expected<void> storeResult(Builder &builder, const TiledOp &tiled, int64_t address) {
  const TensorLayout &layout = layoutOf(tiled).result();
  const LocalTensor from = layout.local(tiled.result);
  const GlobalTensor to = layout.global(tiled.result.tile, address);
  return layout.form == OperandForm::Transposed ? emitStoreTurned(builder, from, to)
                                                : emitStore(builder, from, to);
}

static constexpr bm168x::backend::TransferForms kForms = {
    .takes = [](DataType type) { return precOf(type).has_value(); }};

Expected<void> checkMove(mlir::Operation *op) { return bm168x::backend::checkMove(kForms, op); }

Expected<void> emitMove(Builder &builder, mlir::Operation *op) {
  return bm168x::backend::emitMove(
      {.forms = kForms,
       .copy = [&](const GlobalTensor &from,
                   const GlobalTensor &to) { return emitGlobalCopy(builder, from, to); },
       .turn = {},
       .fill =
           [&](const GlobalTensor &to, double value) {
             return emitGlobalFill(builder, to, immediateBits(to.type, value));
           },
       .gather = {}},
      op);
}

} // namespace tpuc::bm1684::backend
