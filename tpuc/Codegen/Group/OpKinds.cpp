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

/// By what they say, which holds in any context. Their numbers take long to write as text. So the
/// usual attributes and types are bytes: their kind, how many numbers follow, and these. The
/// others, of which there are few, are text.
class ContentKey {
public:
  explicit ContentKey(MLIRContext *context) : context(context) {}

  void add(OperationName name) { addText(name.getStringRef()); }
  void add(Attribute attribute);
  void add(Type type);
  void add(uint64_t number) { addBytes(&number, sizeof(number)); }
  StringRef bytes() const { return content; }

private:
  enum Kind : uint8_t {
    None,
    Text,
    Dictionary,
    Array,
    Integer,
    Float,
    String,
    Numbers,
    Tensor,
    Plain
  };

  void begin(Kind kind) { content.push_back(static_cast<char>(kind)); }
  void addBytes(const void *bytes, size_t count) {
    content.append(StringRef(static_cast<const char *>(bytes), count));
  }
  void addText(StringRef text) {
    add(uint64_t{text.size()});
    content.append(text);
  }
  void addBits(const APInt &bits) {
    add(uint64_t{bits.getNumWords()});
    addBytes(bits.getRawData(), bits.getNumWords() * sizeof(APInt::WordType));
  }
  /// As text.
  void addPrinted(auto what);

  MLIRContext *context;
  /// Only if anything is printed.
  std::optional<AsmState> state;
  SmallString<512> content;
};

void ContentKey::addPrinted(auto what) {
  if (!state)
    state.emplace(context);
  SmallString<64> text;
  llvm::raw_svector_ostream stream(text);
  what.print(stream, *state);
  begin(Text);
  addText(text);
}

void ContentKey::add(Attribute attribute) {
  if (!attribute) {
    begin(None);
  } else if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    begin(Dictionary);
    add(uint64_t{dictionary.size()});
    for (const NamedAttribute &each : dictionary) {
      addText(each.getName());
      add(each.getValue());
    }
  } else if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    begin(Array);
    add(uint64_t{array.size()});
    for (Attribute each : array)
      add(each);
  } else if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    begin(Integer);
    add(integer.getType());
    addBits(integer.getValue());
  } else if (auto number = dyn_cast<FloatAttr>(attribute)) {
    begin(Float);
    add(number.getType());
    addBits(number.getValue().bitcastToAPInt());
  } else if (auto text = dyn_cast<StringAttr>(attribute)) {
    begin(String);
    add(text.getType());
    addText(text.getValue());
  } else if (auto numbers = dyn_cast<DenseArrayAttr>(attribute)) {
    begin(Numbers);
    add(numbers.getElementType());
    add(static_cast<uint64_t>(numbers.getSize()));
    addBytes(numbers.getRawData().data(), numbers.getRawData().size());
  } else {
    addPrinted(attribute);
  }
}

void ContentKey::add(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    begin(Tensor);
    add(static_cast<uint64_t>(tensor.getRank()));
    addBytes(tensor.getShape().data(), tensor.getShape().size() * sizeof(int64_t));
    add(tensor.getElementType());
    add(tensor.getEncoding());
  } else if (isa<FloatType, NoneType, IndexType>(type)) {
    begin(Plain);
    add(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(type.getTypeID().getAsOpaquePointer())));
  } else if (auto integer = dyn_cast<IntegerType>(type)) {
    begin(Integer);
    add(uint64_t{integer.getWidth()});
    add(static_cast<uint64_t>(integer.getSignedness()));
  } else {
    addPrinted(type);
  }
}

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

int64_t KindNumbers::of(StringRef content) {
  const llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits({reinterpret_cast<const uint8_t *>(content.data()), content.size()});
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
  ContentKey content(op->getContext());
  Description(op, content);
  const int64_t number = numbers->of(content.bytes());
  const std::lock_guard lock(mutex);
  return seen.try_emplace(place.bytes(), number).first->second;
}
