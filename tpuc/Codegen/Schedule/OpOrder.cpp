//===- OpOrder.cpp - Orders of ops and what they keep alive ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Schedule/OpOrder.h"
#include "tpuc/Codegen/Layers.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

static SmallVector<Value> readBy(Operation *op) {
  llvm::SetVector<Value> values;
  op->walk([&](Operation *inner) {
    for (Value value : inner->getOperands())
      if (!(value.getDefiningOp() && isConstant(value.getDefiningOp())) &&
          !op->isAncestor(value.getParentBlock()->getParentOp()))
        values.insert(value);
  });
  return values.takeVector();
}

Liveness::Liveness(Block &block) {
  for (Operation *op : orderOf(block)) {
    read[op] = readBy(op);
    for (Value operand : reads(op))
      ++users[operand];
  }
  for (Value value : block.getTerminator()->getOperands())
    ++users[value];
}

int64_t Liveness::growth(Operation *op) const {
  int64_t bytes = 0;
  for (Value result : op->getResults())
    bytes += users.contains(result) ? globalBytes(result.getType()) : 0;
  for (Value value : reads(op))
    if (users.lookup(value) == 1)
      bytes -= globalBytes(value.getType());
  return bytes;
}

void Liveness::run(Operation *op) {
  for (Value result : op->getResults())
    alive += globalBytes(result.getType());
  peak = std::max(peak, alive);
  for (Value result : op->getResults())
    if (!users.contains(result))
      alive -= globalBytes(result.getType());
  for (Value value : reads(op))
    if (--users[value] == 0)
      alive -= globalBytes(value.getType());
  sum += alive;
}

SmallVector<Operation *> codegen::orderOf(Block &block) {
  SmallVector<Operation *> order;
  for (Operation &op : block.without_terminator())
    if (!isConstant(&op))
      order.push_back(&op);
  return order;
}

std::pair<int64_t, int64_t> codegen::memoryOf(Block &block, ArrayRef<Operation *> order) {
  Liveness liveness(block);
  for (Operation *op : order)
    liveness.run(op);
  return {liveness.peak, liveness.sum};
}

/// Constants in front of their first user, which `op` is.
static void moveConstants(Operation *op, Operation *before, llvm::DenseSet<Operation *> &moved) {
  op->walk([&](Operation *inner) {
    for (Value value : inner->getOperands()) {
      Operation *producer = value.getDefiningOp();
      if (!producer || producer->getBlock() != before->getBlock() || !isConstant(producer) ||
          !moved.insert(producer).second)
        continue;
      moveConstants(producer, before, moved);
      producer->moveBefore(before);
    }
  });
}

void codegen::putInOrder(Block &block, ArrayRef<Operation *> order) {
  llvm::DenseSet<Operation *> moved;
  for (Operation *op : order) {
    op->moveBefore(block.getTerminator());
    moveConstants(op, op, moved);
  }
  moveConstants(block.getTerminator(), block.getTerminator(), moved);
}
