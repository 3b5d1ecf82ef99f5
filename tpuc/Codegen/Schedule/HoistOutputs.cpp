//===- HoistOutputs.cpp - Results stored while others are computed --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Detectors have results for several sizes. The largest is there long before the last one is
// computed, and takes longest to convert and to store; the engine that moves data may do so
// meanwhile, in parts, so that what the other layers load does not have to wait for long.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Codegen/Schedule/OpOrder.h"
#include "tpuc/Codegen/Tile/TileModel.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Interpreter/Evaluate.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_HOISTOUTPUTS
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Results that come earlier may need so many percent more memory at once.
constexpr int64_t kMoreMemory = 25;
/// About how many cycles the transfer of a part takes: a result of less than two of them stays
/// where it is. The most parts of a result, which can be shared out over lanes.
constexpr int64_t kPartCycles = 8192, kMostParts = 8;

/// The ops up to a result of the network of which each reads nothing but what the one before makes,
/// and alone.
SmallVector<Operation *> chainTo(Value result, const Liveness &liveness) {
  SmallVector<Operation *> chain;
  for (Operation *op = result.getDefiningOp();
       op && isLayer(op) && op->getNumResults() == 1 && op->getResult(0).hasOneUse() &&
       liveness.reads(op).size() == 1;
       op = liveness.reads(op).front().getDefiningOp())
    chain.insert(chain.begin(), op);
  return chain;
}

/// `order` with a chain right behind what it reads.
SmallVector<Operation *> hoisted(ArrayRef<Operation *> order, ArrayRef<Operation *> chain,
                                 const Liveness &liveness) {
  Operation *behind = liveness.reads(chain.front()).front().getDefiningOp();
  SmallVector<Operation *> made;
  for (Operation *op : order) {
    if (!llvm::is_contained(chain, op))
      made.push_back(op);
    if (op == behind)
      llvm::append_range(made, chain);
  }
  return made;
}

class ResultMover {
public:
  ResultMover(Block &block, const Backend &backend)
      : block(block), backend(backend), order(orderOf(block)) {}

  void run();

private:
  int64_t lanes() const { return backend.info().tiles().lanes; }
  int64_t transferCycles(Value result) const {
    return backend.transferCycles(globalBytes(result.getType()), lanes());
  }
  void hoist(Value result);
  void cut(Value result);
  int64_t numParts(Operation *op, size_t layersBehind) const;
  bool isComputed(Operation *op) const;

  Block &block;
  const Backend &backend;
  SmallVector<Operation *> order;
};

void ResultMover::hoist(Value result) {
  if (!staticType(result) || transferCycles(result) < 2 * kPartCycles)
    return;
  const Liveness liveness(block);
  const SmallVector<Operation *> chain = chainTo(result, liveness);
  if (chain.empty() || !liveness.reads(chain.front()).front().getDefiningOp())
    return;
  SmallVector<Operation *> made = hoisted(order, chain, liveness);
  if (memoryOf(block, made).first <= memoryOf(block, order).first * (100 + kMoreMemory) / 100)
    order = std::move(made);
}

/// In local memory, and not by moving data.
bool ResultMover::isComputed(Operation *op) const {
  if (!op || !isLayer(op))
    return false;
  Expected<Place> place = backend.placeOf(op);
  return place && *place == Place::Local;
}

/// How many parts a layer is cut into: as many as divide it, of a long transfer each, and layers
/// behind to stand between.
int64_t ResultMover::numParts(Operation *op, size_t layersBehind) const {
  const int64_t elements = OpMaker::typeOf(op->getResult(0)).getNumElements();
  const int64_t most = std::min({transferCycles(op->getResult(0)) / kPartCycles, kMostParts,
                                 static_cast<int64_t>(layersBehind)});
  for (int64_t parts = most; parts > 1; --parts)
    if (elements % (parts * lanes()) == 0)
      return parts;
  return 1;
}

/// Makes a result from parts of what it is made of, with about as many layers between each two of
/// them.
void ResultMover::cut(Value result) {
  Operation *op = result.getDefiningOp();
  // What it reads lies in global memory anyway.
  if (!isComputed(op) || !result.hasOneUse() || !isElementwise(op) ||
      Liveness(block).reads(op).size() != 1 || isComputed(op->getOperand(0).getDefiningOp()) ||
      OpMaker::dimsOf(op->getOperand(0)) != OpMaker::dimsOf(result))
    return;
  auto *at = llvm::find(order, op);
  const SmallVector<Operation *> behind(std::next(at), order.end());
  SmallVector<size_t> layers;
  for (auto [index, each] : llvm::enumerate(behind))
    if (isComputed(each))
      layers.push_back(index);
  const int64_t parts = numParts(op, layers.size());
  if (parts == 1)
    return;
  const int64_t size = OpMaker::typeOf(result).getNumElements() / parts;
  OpMaker maker(op, backend);
  SmallVector<Operation *> made;
  const Value flat = maker.reshaped(op->getOperand(0), {parts, size}, "flat");
  made.push_back(flat.getDefiningOp());
  const SmallVector<Value> inputs = maker.split(flat, 0, parts, "in");
  made.push_back(inputs.front().getDefiningOp());
  SmallVector<Operation *> computed;
  SmallVector<Value> results;
  for (auto [number, input] : llvm::enumerate(inputs)) {
    SmallVector<Value> operands(op->getOperands());
    operands.front() = input;
    results.push_back(maker.make(op->getName().getStringRef(), "part" + std::to_string(number),
                                 Type(OpMaker::typeOf(result).clone({1, size})), operands,
                                 op->getAttrs()));
    computed.push_back(results.back().getDefiningOp());
  }
  const Value joined = maker.joined(results, 0, "joined");
  const Value shaped = maker.reshaped(joined, OpMaker::dimsOf(result), "shaped");
  maker.replace(0, shaped);
  // The first part stands half as much further behind, as what it is made of is stored before.
  SmallVector<Operation *> changed(order.begin(), at);
  llvm::append_range(changed, made);
  size_t next = 0;
  const auto placeOf = [&](size_t part) {
    return layers[(2 * part + 3) * layers.size() / (2 * computed.size() + 2)];
  };
  for (auto [index, each] : llvm::enumerate(behind)) {
    while (next < computed.size() && placeOf(next) <= index)
      changed.push_back(computed[next++]);
    changed.push_back(each);
  }
  changed.push_back(joined.getDefiningOp());
  if (shaped != joined)
    changed.push_back(shaped.getDefiningOp());
  op->erase();
  order = std::move(changed);
}

void ResultMover::run() {
  Operation *end = block.getTerminator();
  // Sub-networks take turns.
  if (end->getNumOperands() < 2 || subNetsOf(block).size() != 1)
    return;
  for (Value result : end->getOperands())
    hoist(result);
  SmallVector<unsigned> numbers;
  for (Operation *op : order)
    for (OpOperand &operand : end->getOpOperands())
      if (operand.get().getDefiningOp() == op)
        numbers.push_back(operand.getOperandNumber());
  for (unsigned number : numbers)
    cut(end->getOperand(number));
  putInOrder(block, order);
}

struct HoistOutputsPass : codegen::impl::HoistOutputsBase<HoistOutputsPass> {
  using Base::Base;

  void runOnOperation() override {
    const std::unique_ptr<Backend> backend = backendOrEmit(getOperation());
    if (!backend)
      return signalPassFailure();
    Expected<func::FuncOp> main = top::mainFunction(getOperation());
    if (!main) {
      getOperation().emitError(main.error().message());
      return signalPassFailure();
    }
    ResultMover(main->front(), *backend).run();
  }
};

} // namespace
