//===- RecurrentOps.cpp - Ops of recurrent cells --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Codegen/RecurrentOps.h"
#include "tpuc/Dialect/Tpu/RecurrentOps.h"

using namespace mlir;

namespace tpuc::bm168x::backend {

bool isRecurrent(Operation *op) { return isa<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>(op); }

RecurrentTraits recurrentTraits(Operation *op) {
  RecurrentTraits traits;
  traits.batch = cast<RankedTensorType>(op->getOperand(kRecurrentInput).getType()).getShape()[1];
  const auto direction = op->getAttrOfType<StringAttr>("direction");
  traits.directions =
      cast<RankedTensorType>(op->getOperand(kRecurrentFilter).getType()).getShape()[0];
  traits.isReversed = direction && direction.getValue() == "reverse";
  traits.givesCell = isa<NoneType>(op->getResult(0).getType());
  if (auto gru = dyn_cast<tpu::GRUOp>(op)) {
    traits.kind = CellKind::Gru;
    traits.resetsProduct = gru.getLinearBeforeReset();
  } else {
    traits.kind = isa<tpu::LSTMOp>(op) ? CellKind::Lstm : CellKind::Rnn;
  }
  return traits;
}

} // namespace tpuc::bm168x::backend
