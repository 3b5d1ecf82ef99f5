//===- WindowClone.cpp - A part of a network to try things on ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/WindowClone.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/MainFunction.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// What `op` and the ops in its regions read that is made outside of it.
static SmallVector<Value> readsOf(Operation *op) {
  SmallVector<Value> values;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        values.push_back(operand);
  });
  return values;
}

/// `ops`, what makes their operands, and the constants that these read, in the order of the block.
static SmallVector<Operation *> withProducers(ArrayRef<Operation *> ops) {
  llvm::SetVector<Operation *> all(ops.begin(), ops.end());
  const size_t numOwn = all.size();
  for (size_t next = 0; next < all.size(); ++next)
    for (Value value : readsOf(all[next]))
      if (Operation *producer = value.getDefiningOp();
          producer && producer->getBlock() == ops.front()->getBlock() &&
          (next < numOwn || isConstant(producer)))
        all.insert(producer);
  SmallVector<Operation *> sorted(all.begin(), all.end());
  llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return sorted;
}

WindowClone::WindowClone(ArrayRef<Operation *> ops) {
  auto network = ops.front()->getParentOfType<ModuleOp>();
  clone = ModuleOp::create(network.getLoc());
  (*clone)->setDiscardableAttrs(network->getDiscardableAttrDictionary());
  OpBuilder builder = OpBuilder::atBlockEnd(clone->getBody());
  auto main =
      builder.create<func::FuncOp>(network.getLoc(), "main", builder.getFunctionType({}, {}));
  Block *body = main.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  const SmallVector<Operation *> originals = withProducers(ops);
  for (Operation *op : originals) {
    for (Value value : readsOf(op))
      if (!mapping.contains(value))
        mapping.map(value, body->addArgument(value.getType(), value.getLoc()));
    builder.clone(*op, mapping);
  }
  SmallVector<Value> returned;
  Block &block = *ops.front()->getBlock();
  for (Operation *op : originals)
    for (OpOperand &use : op->getUses())
      if (!isConstant(op) && !of(block.findAncestorOpInBlock(*use.getOwner())))
        returned.push_back(mapping.lookup(use.get()));
  builder.create<func::ReturnOp>(network.getLoc(), returned);
  top::updateFunctionType(main);
}

Block &WindowClone::block() { return (*clone->getOps<func::FuncOp>().begin()).front(); }
