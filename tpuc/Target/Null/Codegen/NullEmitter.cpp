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

void NullEmitter::add(Command command, const SlicedOp *sliced) {
  if (!keeps)
    return;
  if (sliced) {
    command.sliced = *sliced;
    command.model = std::make_shared<const SliceModel>(*sliced->model);
    command.sliced.model = command.model.get();
  }
  stream.push_back(std::move(command));
}

Expected<void> NullEmitter::load(const SlicedOp &sliced, unsigned index, int64_t global) {
  moving += transferCost(target, sliced, index);
  add({.kind = Command::Kind::Load, .operand = index, .global = global}, &sliced);
  return {};
}

Expected<void> NullEmitter::compute(const SlicedOp &sliced) {
  computing += computeCost(target, sliced);
  add({.kind = Command::Kind::Compute}, &sliced);
  return {};
}

Expected<void> NullEmitter::store(const SlicedOp &sliced, int64_t global) {
  moving += transferCost(target, sliced, sliced.op->getNumOperands());
  add({.kind = Command::Kind::Store, .global = global}, &sliced);
  return {};
}

Expected<void> NullEmitter::loadPool(int64_t global, int64_t local, int64_t bytes) {
  moving += transferCost(target, bytes * target.memory.lanes, target.memory.lanes);
  add({.kind = Command::Kind::LoadPool, .global = global, .local = local, .bytes = bytes});
  return {};
}

Expected<void> NullEmitter::move(Operation *op) {
  moving += moveCost(target, op);
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
