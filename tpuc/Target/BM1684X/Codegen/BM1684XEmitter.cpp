//===- BM1684XEmitter.cpp - Commands of the BM1684X ---------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/BM1684XEmitter.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Target/BM1684X/Codegen/Loads.h"
#include "tpuc/Target/BM1684X/Codegen/Moves.h"
#include "tpuc/Target/BM1684X/Codegen/OpKernels.h"
#include "tpuc/Target/BM1684X/Codegen/Stores.h"
#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684X/Machine/Streams.h"
#include "tpuc/Target/BM1684X/Machine/Timing.h"
#include "tpuc/Target/BM1684X/TargetInfo.h"
#include "tpuc/Target/BM168x/Codegen/ModelFile.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

/// `done`, with the layer's name where the error has none.
static Expected<void> named(Operation *op, Expected<void> done) {
  if (!done && done.error().where.empty())
    done.error().where = "layer '" + layerName(op) + "'";
  return done;
}

void BM1684XEmitter::beginLayer(Operation *op) { builder.beginLayer(layerName(op)); }

Expected<void> BM1684XEmitter::load(const TiledOp &tiled, unsigned index, int64_t global) {
  return named(tiled.op, loadOperand(builder, tiled, index, global));
}

Expected<void> BM1684XEmitter::compute(const TiledOp &tiled) {
  Kernels kernels = kernelsOf(tiled);
  if (!kernels)
    return named(tiled.op, propagate(kernels));
  for (const Kernel &kernel : *kernels)
    if (Expected<void> emitted = named(tiled.op, kernel.emit(builder)); !emitted)
      return emitted;
  return {};
}

Expected<void> BM1684XEmitter::store(const TiledOp &tiled, int64_t global) {
  return named(tiled.op, storeResult(builder, tiled, global));
}

Expected<void> BM1684XEmitter::loadPool(unsigned /*space*/, int64_t global, int64_t local,
                                        int64_t bytes) {
  builder.beginLayer("");
  constexpr int64_t kWord = 4;
  const Extents rows = {1, kLanes, 1, bytes / kWord};
  return emitLoad(builder, globalTensor(DataType::I32, rows, static_cast<uint64_t>(global)),
                  localTensor(DataType::I32, rows, static_cast<uint32_t>(local), Layout::Compact));
}

Expected<codegen::Cost> BM1684XEmitter::cost() {
  Expected<std::vector<CommandStreams>> groups = builder.finishGroups();
  if (!groups)
    return propagate(groups);
  codegen::Cost sum;
  const auto add = [&](EngineRole role, const std::vector<Command> &commands) -> Expected<void> {
    for (const Command &command : commands) {
      Expected<CommandCost> cost =
          commandCost(command, timingParameters(TimingModel::Vendor), "a command");
      if (!cost)
        return propagate(cost);
      sum.cycles[*chipInfo().engineOf(role)] += cost->cycles;
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

Expected<SmallVector<int64_t>> BM1684XEmitter::runCycles() const {
  int64_t vendor = 0;
  int64_t conservative = 0;
  for (const std::vector<CommandStreams> &groups : subNets)
    for (const CommandStreams &group : groups) {
      Expected<TimingReports> reports = simulateTimings(group.tiu, group.gdma, "the commands");
      if (!reports)
        return propagate(reports);
      vendor += reports->vendor.totalCycles;
      conservative += reports->conservative.totalCycles;
    }
  return SmallVector<int64_t>{vendor, conservative};
}

Expected<void> BM1684XEmitter::move(Operation *op) { return named(op, emitMove(builder, op)); }

void BM1684XEmitter::endLayer(Operation *op) {
  // Neither stacked rows nor what is stored turned are anywhere in global memory.
  if (isa<tpu::PackRowsOp>(op) || tpu::storedRows(op) ||
      (tpu::storedTurned(op) && !isa<tpu::PermuteOp>(op)))
    return;
  const auto names = tensorNames(op);
  for (auto [name, result] : llvm::zip_equal(names, op->getResults())) {
    std::optional<int64_t> address = codegen::addressOf(result.getType());
    std::optional<DataType> type = storageDataType(result.getType());
    const std::optional<bm168x::CommandPlace> place = builder.placeBehind(Engine::Gdma);
    if (!address || !type || !place)
      continue;
    model::InnerTensor inner;
    inner.subNet = static_cast<uint32_t>(subNets.size());
    inner.group = place->group;
    inner.stream = kDmaStreamNumber;
    inner.after = place->count;
    inner.tensor.name = name;
    inner.tensor.setType(*type);
    const auto dims = cast<RankedTensorType>(result.getType()).getShape();
    inner.tensor.shape.assign(dims.begin(), dims.end());
    inner.tensor.address = static_cast<uint64_t>(*address);
    tensors.push_back(std::move(inner));
  }
}

Expected<void> BM1684XEmitter::endSubNet() {
  Expected<std::vector<CommandStreams>> made = builder.finishGroups();
  if (!made)
    return propagate(made);
  for (const CommandStreams &group : *made)
    numEnded += static_cast<int64_t>(group.tiu.size() + group.gdma.size());
  subNets.push_back(std::move(*made));
  return {};
}

Expected<void> BM1684XEmitter::finish(model::CompiledModel &model) {
  bm168x::backend::addCommands(kCommandTable, subNets, std::move(tensors), model);
  return {};
}

} // namespace tpuc::bm1684x::backend
