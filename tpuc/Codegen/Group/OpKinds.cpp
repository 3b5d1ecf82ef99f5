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

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// By where the context keeps them.
class PlaceKey {
public:
  void add(OperationName name) { add(name.getAsOpaquePointer()); }
  void add(Attribute attribute) { add(attribute.getAsOpaquePointer()); }
  void add(Type type) { add(type.getAsOpaquePointer()); }
  void add(uint64_t number) { words.push_back(number); }
  StringRef bytes() const {
    return {reinterpret_cast<const char *>(words.data()), words.size() * sizeof(words[0])};
  }

private:
  void add(const void *pointer) { words.push_back(reinterpret_cast<uintptr_t>(pointer)); }

  SmallVector<uint64_t, 32> words;
};

/// The same in words, which hold in any context.
class TextKey {
public:
  explicit TextKey(MLIRContext *context) : state(context) {}

  void add(OperationName name) { stream << name.getStringRef() << '\0'; }
  void add(Attribute attribute) {
    attribute.print(stream, state);
    stream << '\0';
  }
  void add(Type type) {
    type.print(stream, state);
    stream << '\0';
  }
  void add(uint64_t number) { stream << number << '\0'; }
  StringRef bytes() const { return text; }

private:
  AsmState state;
  SmallString<512> text;
  llvm::raw_svector_ostream stream{text};
};

/// What the kind of an op depends on.
template <typename Key> class Description {
public:
  Description(Operation *op, Key &key);

private:
  void addOp(Operation *op) {
    key.add(op->getName());
    key.add(Attribute(op->getAttrDictionary()));
  }
  void addTypes(TypeRange types) {
    key.add(uint64_t{types.size()});
    for (Type type : types)
      key.add(type);
  }
  void addMaker(Value value);
  void addNumber(top::WeightOp weight);

  Key &key;
};

/// The value of a constant of one element, which may be a part of commands.
template <typename Key> void Description<Key>::addNumber(top::WeightOp weight) {
  auto type = dyn_cast<RankedTensorType>(weight.getOutput().getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1)
    return;
  Expected<Tensor> tensor = weight.read();
  if (!tensor)
    return;
  for (std::byte each : tensor->rawBytes())
    key.add(static_cast<uint64_t>(each));
}

/// What makes a value; of a constant all ops that it goes through.
template <typename Key> void Description<Key>::addMaker(Value value) {
  for (Operation *op = value.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp()) {
    addOp(op);
    addTypes(op->getOperandTypes());
    if (auto weight = dyn_cast<top::WeightOp>(op))
      addNumber(weight);
    if (!isa<tpu::UnpackOp, tpu::LoadOp>(op))
      return;
  }
}

template <typename Key> Description<Key>::Description(Operation *op, Key &key) : key(key) {
  addOp(op);
  addTypes(op->getResultTypes());
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    // Numbers what is said of each operand.
    key.add(uint64_t{index});
    // Which operand is the first that is the same value.
    key.add(
        static_cast<uint64_t>(llvm::find(op->getOperands(), operand) - op->getOperands().begin()));
    key.add(operand.getType());
    addMaker(operand);
  }
}

} // namespace

int64_t KindNumbers::of(StringRef text) {
  const llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  const std::lock_guard lock(mutex);
  return numbers
      .try_emplace(std::pair(hash.low64, hash.high64), static_cast<int64_t>(numbers.size()))
      .first->second;
}

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
  PlaceKey place;
  Description(op, place);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = seen.find(place.bytes()); found != seen.end())
      return found->second;
  }
  TextKey text(op->getContext());
  Description(op, text);
  const int64_t number = numbers->of(text.bytes());
  const std::lock_guard lock(mutex);
  return seen.try_emplace(place.bytes(), number).first->second;
}
