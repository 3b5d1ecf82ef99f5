//===- OpReorder.cpp - An order of the ops with little memory alive ------------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Codegen/Schedule/OpOrder.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/LayerFacts.h"

#include "llvm/ADT/DenseMap.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_OPREORDER
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Always the op that leaves the fewest bytes alive, sub-network by sub-network.
SmallVector<Operation *> leastAlive(Block &block, ArrayRef<Operation *> source) {
  Liveness liveness(block);
  llvm::DenseMap<Operation *, int64_t> missing;
  llvm::DenseMap<Value, SmallVector<Operation *>> usersOf;
  llvm::DenseMap<Operation *, size_t> position;
  SmallVector<Operation *> ready;
  for (auto [index, op] : llvm::enumerate(source)) {
    position[op] = index;
    for (Value value : liveness.reads(op))
      if (value.getDefiningOp()) {
        ++missing[op];
        usersOf[value].push_back(op);
      }
    if (missing.lookup(op) == 0)
      ready.push_back(op);
  }
  SmallVector<Operation *> order;
  while (!ready.empty()) {
    auto *next = llvm::min_element(ready, [&](Operation *a, Operation *b) {
      // Inputs are there before anything runs.
      const auto key = [&](Operation *op) {
        return std::tuple(!isa<top::InputOp>(op), tpu::subNetOf(op), liveness.growth(op),
                          position[op]);
      };
      return key(a) < key(b);
    });
    Operation *op = *next;
    ready.erase(next);
    order.push_back(op);
    liveness.run(op);
    for (Value result : op->getResults())
      for (Operation *user : usersOf.lookup(result))
        if (--missing[user] == 0)
          ready.push_back(user);
  }
  return order;
}

struct OpReorderPass : codegen::impl::OpReorderBase<OpReorderPass> {
  using Base::Base;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    Block &block = main.front();
    SmallVector<Operation *> order = orderOf(block);
    SmallVector<Operation *> changed = leastAlive(block, order);
    if (memoryOf(block, changed) < memoryOf(block, order))
      order = std::move(changed);
    putInOrder(block, order);
  }
};

} // namespace
