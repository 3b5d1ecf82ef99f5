//===- OpKinds.cpp - Ops that take the same time ------------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/OpKinds.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Pointers to what the context keeps once, and numbers.
class KindKey {
public:
  explicit KindKey(Operation *op);
  StringRef bytes() const {
    return {reinterpret_cast<const char *>(words.data()), words.size() * sizeof(words[0])};
  }

private:
  void add(const void *pointer) { words.push_back(reinterpret_cast<uintptr_t>(pointer)); }
  void addOp(Operation *op) {
    add(op->getName().getAsOpaquePointer());
    add(op->getAttrDictionary().getAsOpaquePointer());
  }
  void addMaker(Value value);
  void addNumber(top::WeightOp weight);

  SmallVector<uint64_t, 32> words;
};

/// The value of a constant of one element, which may be a part of commands.
void KindKey::addNumber(top::WeightOp weight) {
  auto type = dyn_cast<RankedTensorType>(weight.getOutput().getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1)
    return;
  Expected<Tensor> tensor = weight.read();
  if (!tensor)
    return;
  for (std::byte each : tensor->rawBytes())
    words.push_back(static_cast<uint64_t>(each));
}

/// What makes a value; of a constant all ops that it goes through.
void KindKey::addMaker(Value value) {
  for (Operation *op = value.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp()) {
    addOp(op);
    for (Type type : op->getOperandTypes())
      add(type.getAsOpaquePointer());
    if (auto weight = dyn_cast<top::WeightOp>(op))
      addNumber(weight);
    if (!isa<tpu::UnpackOp, tpu::LoadOp>(op))
      return;
  }
}

KindKey::KindKey(Operation *op) {
  addOp(op);
  for (Type type : op->getResultTypes())
    add(type.getAsOpaquePointer());
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    // Ends what is said of the operand before.
    add(nullptr);
    // Which operand is the first that is the same value.
    words.push_back(
        static_cast<uint64_t>(llvm::find(op->getOperands(), operand) - op->getOperands().begin()));
    add(operand.getType().getAsOpaquePointer());
    addMaker(operand);
  }
}

} // namespace

int64_t OpKinds::of(Operation *op) {
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(op); found != known.end())
      return found->second;
  }
  const int64_t number = ofChanging(op);
  const std::lock_guard lock(mutex);
  return known.try_emplace(op, number).first->second;
}

void OpKinds::forgetOps() {
  const std::lock_guard lock(mutex);
  known.clear();
}

int64_t OpKinds::ofChanging(Operation *op) {
  const KindKey key(op);
  const std::lock_guard lock(mutex);
  return numbers.try_emplace(key.bytes(), static_cast<int64_t>(numbers.size())).first->second;
}
