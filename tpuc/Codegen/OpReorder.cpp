//===- OpReorder.cpp - An order of the ops with little memory alive ------------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/StructureOps.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_OPREORDER
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The ops of a block that are not constants, in an order, and the bytes alive meanwhile.
class Liveness {
public:
  explicit Liveness(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (isConstant(&op))
        continue;
      read[&op] = readBy(&op);
      for (Value operand : reads(&op))
        ++readers[operand];
    }
    for (Value value : block.getTerminator()->getOperands())
      ++readers[value];
  }

  /// What an op reads that is no constant, each value once; bodies read values from around them.
  ArrayRef<Value> reads(Operation *op) const { return read.find(op)->second; }

  /// How many bytes more are alive behind `op` than before it.
  int64_t growth(Operation *op) const {
    int64_t bytes = 0;
    for (Value result : op->getResults())
      bytes += readers.contains(result) ? globalBytes(result.getType()) : 0;
    for (Value value : reads(op))
      if (readers.lookup(value) == 1)
        bytes -= globalBytes(value.getType());
    return bytes;
  }

  void run(Operation *op) {
    for (Value result : op->getResults())
      alive += globalBytes(result.getType());
    peak = std::max(peak, alive);
    for (Value result : op->getResults())
      if (!readers.contains(result))
        alive -= globalBytes(result.getType());
    for (Value value : reads(op))
      if (--readers[value] == 0)
        alive -= globalBytes(value.getType());
    sum += alive;
  }

  int64_t peak = 0;
  /// Of the bytes alive behind each op.
  int64_t sum = 0;

private:
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

  llvm::DenseMap<Operation *, SmallVector<Value>> read;
  llvm::DenseMap<Value, int64_t> readers;
  int64_t alive = 0;
};

/// The most bytes alive at once, then all over time.
std::pair<int64_t, int64_t> memoryOf(Block &block, ArrayRef<Operation *> order) {
  Liveness liveness(block);
  for (Operation *op : order)
    liveness.run(op);
  return {liveness.peak, liveness.sum};
}

int64_t subNetOf(Operation *op) {
  auto id = op->getAttrOfType<IntegerAttr>(kSubNetId);
  return id ? id.getInt() : 0;
}

/// Always the op that leaves the fewest bytes alive, sub-network by sub-network.
SmallVector<Operation *> leastAlive(Block &block, ArrayRef<Operation *> source) {
  Liveness liveness(block);
  llvm::DenseMap<Operation *, int64_t> missing;
  llvm::DenseMap<Value, SmallVector<Operation *>> readersOf;
  llvm::DenseMap<Operation *, size_t> position;
  SmallVector<Operation *> ready;
  for (auto [index, op] : llvm::enumerate(source)) {
    position[op] = index;
    for (Value value : liveness.reads(op))
      if (value.getDefiningOp()) {
        ++missing[op];
        readersOf[value].push_back(op);
      }
    if (missing.lookup(op) == 0)
      ready.push_back(op);
  }
  SmallVector<Operation *> order;
  while (!ready.empty()) {
    auto *next = llvm::min_element(ready, [&](Operation *a, Operation *b) {
      // Inputs are there before anything runs.
      const auto key = [&](Operation *op) {
        return std::tuple(!isa<top::InputOp>(op), subNetOf(op), liveness.growth(op), position[op]);
      };
      return key(a) < key(b);
    });
    Operation *op = *next;
    ready.erase(next);
    order.push_back(op);
    liveness.run(op);
    for (Value result : op->getResults())
      for (Operation *reader : readersOf.lookup(result))
        if (--missing[reader] == 0)
          ready.push_back(reader);
  }
  return order;
}

/// Constants in front of their first reader, which `op` is.
void moveConstants(Operation *op, Operation *before, llvm::DenseSet<Operation *> &moved) {
  op->walk([&](Operation *inner) {
    for (Value value : inner->getOperands()) {
      Operation *maker = value.getDefiningOp();
      if (!maker || maker->getBlock() != before->getBlock() || !isConstant(maker) ||
          !moved.insert(maker).second)
        continue;
      moveConstants(maker, before, moved);
      maker->moveBefore(before);
    }
  });
}

struct OpReorderPass : codegen::impl::OpReorderBase<OpReorderPass> {
  using Base::Base;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    Block &block = main.front();
    SmallVector<Operation *> order;
    for (Operation &op : block.without_terminator())
      if (!isConstant(&op))
        order.push_back(&op);
    SmallVector<Operation *> changed = leastAlive(block, order);
    if (memoryOf(block, changed) < memoryOf(block, order))
      order = std::move(changed);
    llvm::DenseSet<Operation *> moved;
    for (Operation *op : order) {
      op->moveBefore(block.getTerminator());
      moveConstants(op, op, moved);
    }
    moveConstants(block.getTerminator(), block.getTerminator(), moved);
  }
};

} // namespace
