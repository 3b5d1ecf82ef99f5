//===- FamilyEmitter.cpp - Commands of a network for a chip of the family -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Codegen/FamilyEmitter.h"
#include "tpuc/Codegen/Emit/PlacedResults.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Target/BM168x/Codegen/ModelFile.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm168x::backend {

Expected<void> FamilyEmitter::named(Operation *op, Expected<void> done) {
  if (!done && done.error().where.empty())
    done.error().where = "layer '" + layerName(op) + "'";
  return done;
}

void FamilyEmitter::beginLayer(Operation *op) { builder.beginLayer(layerName(op)); }

void FamilyEmitter::endLayer(Operation *op) {
  const std::optional<CommandPlace> place = builder.placeBehind(Engine::Gdma);
  if (!place || !isInMemory(op))
    return;
  // The place of the transfers' stream among those of a group.
  constexpr uint32_t kDmaStream = 1;
  for (model::TensorInfo &tensor : placedResults(op)) {
    model::InnerTensor &inner = tensors.emplace_back();
    inner.subNet = static_cast<uint32_t>(subNets.size());
    inner.group = place->group;
    inner.stream = kDmaStream;
    inner.after = place->count;
    inner.tensor = std::move(tensor);
  }
}

Expected<void> FamilyEmitter::endSubNet() {
  Expected<std::vector<CommandStreams>> made = builder.finishGroups();
  if (!made)
    return propagate(made);
  for (const CommandStreams &group : *made)
    numEnded += static_cast<int64_t>(group.tiu.size() + group.gdma.size());
  subNets.push_back(std::move(*made));
  return {};
}

Expected<void> FamilyEmitter::finish(model::CompiledModel &model) {
  addCommands(table, subNets, std::move(tensors), model);
  return {};
}

Expected<codegen::Cost> FamilyEmitter::cost() {
  Expected<std::vector<CommandStreams>> groups = builder.finishGroups();
  if (!groups)
    return propagate(groups);
  codegen::Cost sum;
  const auto add = [&](EngineRole role,
                       const std::vector<mc::Command> &commands) -> Expected<void> {
    for (const mc::Command &command : commands) {
      Expected<CommandCost> cost = costOf(command);
      if (!cost)
        return propagate(cost);
      sum.cycles[*info.engineOf(role)] += cost->cycles;
    }
    return {};
  };
  for (const CommandStreams &group : *groups)
    for (auto [role, commands] :
         {std::pair(EngineRole::Compute, &group.tiu), std::pair(EngineRole::Transfer, &group.gdma)})
      if (Expected<void> added = add(role, *commands); !added)
        return propagate(added);
  return sum;
}

Expected<SmallVector<int64_t>> FamilyEmitter::runCycles() const {
  SmallVector<int64_t> sum = {0, 0};
  for (const std::vector<CommandStreams> &groups : subNets)
    for (const CommandStreams &group : groups) {
      Expected<std::array<int64_t, 2>> cycles = cyclesOf(group);
      if (!cycles)
        return propagate(cycles);
      for (auto [all, one] : llvm::zip_equal(sum, *cycles))
        all += one;
    }
  return sum;
}

} // namespace tpuc::bm168x::backend
