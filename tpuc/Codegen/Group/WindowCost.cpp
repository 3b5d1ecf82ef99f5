//===- WindowCost.cpp - What a part of a network takes -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/WindowCost.h"
#include "tpuc/Codegen/Footprint.h"
#include "tpuc/Codegen/Layers.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// The op so many layers in front of `op`, or behind it; null at the end of the network.
static Operation *layerBeside(Operation *op, int64_t layers, bool isBehind) {
  while (op && layers > 0) {
    op = isBehind ? op->getNextNode() : op->getPrevNode();
    layers -= op && isLayer(op) ? 1 : 0;
  }
  return op && op->hasTrait<OpTrait::IsTerminator>() ? nullptr : op;
}

OpWindow codegen::windowAround(Operation *first, Operation *last, int64_t before, int64_t behind) {
  OpWindow window;
  window.begin = layerBeside(first, before, /*isBehind=*/false);
  window.end = layerBeside(last, behind, /*isBehind=*/true);
  Operation *each = window.begin ? window.begin : &first->getBlock()->front();
  for (; each && each != window.end && !each->hasTrait<OpTrait::IsTerminator>();
       each = each->getNextNode())
    window.ops.push_back(each);
  if (window.end)
    window.ops.push_back(window.end);
  return window;
}

WindowKey codegen::windowKey(const OpWindow &window, Operation *op, OpKinds &kinds) {
  llvm::MapVector<Operation *, int64_t> numbers;
  for (Operation *each : window.ops)
    numbers.try_emplace(each, static_cast<int64_t>(numbers.size()));
  WindowKey key = {window.begin ? 1 : 0, window.end ? 1 : 0, numbers.lookup(op)};
  llvm::DenseMap<Value, int64_t> outside;
  for (auto [each, number] : numbers) {
    key.push_back(kinds.ofChanging(each));
    for (Value operand : each->getOperands()) {
      const auto *maker = numbers.find(operand.getDefiningOp());
      key.push_back(maker != numbers.end()
                        ? maker->second
                        : -1 - outside.try_emplace(operand, outside.size()).first->second);
    }
    for (Value result : each->getResults())
      key.push_back(llvm::count_if(result.getUsers(),
                                   [&](Operation *user) { return !numbers.contains(user); }));
  }
  return key;
}

WindowCosts::WindowCosts(const Backend &backend)
    : backend(backend), planner(backend, Footprint::capacityOf(backend.info()), {}) {}

std::optional<double> WindowCosts::of(const OpWindow &window, WindowClone &clone,
                                      GroupPrice price) {
  SmallVector<Operation *> ops;
  Operation *begin = clone.of(window.begin);
  Operation *end = clone.of(window.end);
  for (Operation *each = begin ? begin->getNextNode() : &clone.block().front(); each && each != end;
       each = each->getNextNode())
    if (isLayer(each) && !each->use_empty())
      ops.push_back(each);
  // What the host computes is where it was.
  llvm::erase_if(ops, [&](Operation *each) { return !backend.placeOf(each); });
  Expected<std::vector<Operation *>> layers = localLayers(ops, backend, /*withConcats=*/true);
  if (!layers)
    return std::nullopt;
  // Those of the last copy are gone.
  planner.forgetOps();
  GroupTable table(*layers, planner, backend);
  ThreadPool alone(1);
  if (!table.fill(alone))
    return std::nullopt;
  double sum = 0;
  for (const GroupChoice &choice : table.best({})) {
    // There may be several of one choice: the first one counts.
    const std::vector<GroupTable::Option> options = table.known(choice.first, choice.count);
    const auto option = llvm::find_if(
        options, [&](const GroupTable::Option &each) { return each.choice == choice; });
    sum += price(option != options.end() ? *option : GroupTable::Option{.choice = choice},
                 table.layersOf(choice));
  }
  return sum;
}

std::optional<int64_t> codegen::layerCost(Operation *op, const Backend &backend) {
  const Expected<Place> place = backend.placeOf(op);
  if (!place || *place != Place::Local)
    return std::nullopt;
  GroupPlanner planner(backend, Footprint::capacityOf(backend.info()), {});
  GroupTable table(op, planner, backend);
  ThreadPool alone(1);
  if (!table.fill(alone))
    return std::nullopt;
  return table.estimateOf(table.best({}).front());
}
