//===- RewriteOps.cpp - Passes over the ops of one kind --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

void codegen::eraseUnused(Operation *op) {
  llvm::SetVector<Operation *> unused;
  unused.insert(op);
  while (!unused.empty()) {
    Operation *next = unused.pop_back_val();
    if (!next->use_empty() || isa<top::InputOp>(next))
      continue;
    for (Value operand : next->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        unused.insert(producer);
    next->erase();
  }
}

void codegen::replaceWeight(OpOperand &use, const Tensor &tensor, StringRef suffix) {
  auto weight = use.get().getDefiningOp<top::WeightOp>();
  OpBuilder builder(use.getOwner());
  auto made = top::WeightOp::create(builder, weight->getParentOfType<ModuleOp>(),
                                    weight.name() + suffix.str(), tensor);
  const Shape &shape = tensor.shape();
  made.getOutput().setType(
      RankedTensorType::get(SmallVector<int64_t>(shape.begin(), shape.end()),
                            cast<RankedTensorType>(weight.getOutput().getType()).getElementType()));
  use.set(made.getOutput());
  if (weight->use_empty())
    weight->erase();
}
