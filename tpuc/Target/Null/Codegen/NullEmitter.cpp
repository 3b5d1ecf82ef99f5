//===- NullEmitter.cpp - Commands of null ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Null/Codegen/NullEmitter.h"
#include "tpuc/Target/Null/Codegen/NullCosts.h"
#include "tpuc/Target/Null/Codegen/NullLayout.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::Null {

void NullEmitter::add(Command command, const TiledOp *tiled) {
  ++number;
  if (!keeps)
    return;
  if (tiled) {
    command.tiled = *tiled;
    command.model = std::make_shared<const TileModel>(*tiled->model);
    command.tiled.model = command.model.get();
  }
  stream.push_back(std::move(command));
}

/// Where operand `index`, or the result, lies; none for what has no place.
std::vector<LocalRange> NullEmitter::rangesOf(const TiledOp &tiled, unsigned index,
                                              bool isWritten) const {
  const bool isResult = index == tiled.op->getNumOperands();
  const LocalTile &place = isResult ? tiled.result : tiled.operands[index];
  const TensorLayout &tensor = layoutOf(*tiled.model).operand(index);
  if (!tensor.isLoaded)
    return {};
  const LaneLayout layout(target, tensor, place.held.value_or(place.tile));
  return {{tensor.space, place.address, place.address + layout.bytes(), isWritten}};
}

void NullEmitter::count(EngineRole role, int64_t cycles, std::span<const LocalRange> ranges) {
  all.cycles[*target.engineOf(role)] += cycles;
  clocks.add(role, cycles, ranges);
}

Expected<void> NullEmitter::load(const TiledOp &tiled, unsigned index, int64_t global) {
  count(EngineRole::Transfer, transferCost(target, tiled, index),
        rangesOf(tiled, index, /*isWritten=*/true));
  add({.kind = Command::Kind::Load, .operand = index, .global = global}, &tiled);
  return {};
}

Expected<void> NullEmitter::compute(const TiledOp &tiled) {
  std::vector<LocalRange> ranges = {{kTileSpace, tiled.scratchAddress,
                                     tiled.scratchAddress + tiled.scratchBytes,
                                     /*isWritten=*/true}};
  for (unsigned index = 0; index <= tiled.op->getNumOperands(); ++index)
    llvm::append_range(ranges,
                       rangesOf(tiled, index, /*isWritten=*/index == tiled.op->getNumOperands()));
  count(EngineRole::Compute, computeCost(target, tiled), ranges);
  add({.kind = Command::Kind::Compute}, &tiled);
  return {};
}

Expected<void> NullEmitter::store(const TiledOp &tiled, int64_t global) {
  const unsigned result = tiled.op->getNumOperands();
  count(EngineRole::Transfer, transferCost(target, tiled, result),
        rangesOf(tiled, result, /*isWritten=*/false));
  add({.kind = Command::Kind::Store, .global = global}, &tiled);
  return {};
}

Expected<void> NullEmitter::loadPool(unsigned space, int64_t global, int64_t local, int64_t bytes) {
  const LocalRange range = {space, local, local + bytes, /*isWritten=*/true};
  count(EngineRole::Transfer,
        transferCost(target, bytes * target.memory.spaces[space].lanes,
                     target.memory.spaces[space].lanes),
        {&range, 1});
  add({.kind = Command::Kind::LoadPool,
       .space = space,
       .global = global,
       .local = local,
       .bytes = bytes});
  return {};
}

Expected<void> NullEmitter::move(Operation *op) {
  count(EngineRole::Transfer, moveCost(target, op), {});
  add({.kind = Command::Kind::Move, .op = op});
  return {};
}

Expected<void> NullEmitter::endSubNet() {
  clocks.join();
  ended.push_back(std::move(stream));
  stream.clear();
  return {};
}

Expected<void> NullEmitter::finish(model::CompiledModel &) {
  return makeError("module", "there is no file format for " + std::string(target.name));
}

} // namespace tpuc::Null
