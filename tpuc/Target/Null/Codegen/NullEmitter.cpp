//===- NullEmitter.cpp - Commands of null ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Null/Codegen/NullEmitter.h"
#include "tpuc/Target/Null/Codegen/NullCosts.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::Null {

void NullEmitter::add(Command command, const TiledOp *tiled) {
  if (!keeps)
    return;
  if (tiled) {
    command.tiled = *tiled;
    command.model = std::make_shared<const TileModel>(*tiled->model);
    command.tiled.model = command.model.get();
  }
  stream.push_back(std::move(command));
}

Expected<void> NullEmitter::load(const TiledOp &tiled, unsigned index, int64_t global) {
  count(EngineRole::Transfer, transferCost(target, tiled, index));
  add({.kind = Command::Kind::Load, .operand = index, .global = global}, &tiled);
  return {};
}

Expected<void> NullEmitter::compute(const TiledOp &tiled) {
  count(EngineRole::Compute, computeCost(target, tiled));
  add({.kind = Command::Kind::Compute}, &tiled);
  return {};
}

Expected<void> NullEmitter::store(const TiledOp &tiled, int64_t global) {
  count(EngineRole::Transfer, transferCost(target, tiled, tiled.op->getNumOperands()));
  add({.kind = Command::Kind::Store, .global = global}, &tiled);
  return {};
}

Expected<void> NullEmitter::loadPool(unsigned space, int64_t global, int64_t local, int64_t bytes) {
  count(EngineRole::Transfer, transferCost(target, bytes * target.memory.spaces[space].lanes,
                                           target.memory.spaces[space].lanes));
  add({.kind = Command::Kind::LoadPool,
       .space = space,
       .global = global,
       .local = local,
       .bytes = bytes});
  return {};
}

Expected<void> NullEmitter::move(Operation *op) {
  count(EngineRole::Transfer, moveCost(target, op));
  add({.kind = Command::Kind::Move, .op = op});
  return {};
}

Expected<void> NullEmitter::endSubNet() {
  ended.push_back(std::move(stream));
  stream.clear();
  return {};
}

Expected<void> NullEmitter::finish(model::CompiledModel &) {
  return makeError("module", "there is no file format for " + std::string(target.name));
}

} // namespace tpuc::Null
