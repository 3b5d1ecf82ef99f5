//===- DecomposeMovement.cpp - Ops that move elements, as other moves -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

#include <utility>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// The parts that only a concatenation of `groups` equal ones joins along the channels of several
/// images, and nothing else reads that. Empty for others: parts of one image lie in place.
static ValueRange joinedParts(Value value, int64_t groups) {
  auto concat = value.getDefiningOp<tpu::ConcatOp>();
  if (!concat || !concat->hasOneUse() || concat.getDoRelu() || OpMaker::dimsOf(value)[0] == 1 ||
      OpMaker::frontAxis(concat.getAxis(), value) != 1 ||
      static_cast<int64_t>(concat.getInputs().size()) != groups ||
      !llvm::all_equal(concat.getInputs().getTypes()) ||
      OpMaker::typeOf(concat.getInputs().front()).getElementType() !=
          OpMaker::typeOf(value).getElementType())
    return {};
  return concat.getInputs();
}

/// [N, g * n, ...] as [N, g, n, ...] with the two swapped: output[b, j * g + i] = input[b, i * n +
/// j].
bool codegen::decomposeShuffleChannel(OpMaker &maker) {
  auto op = dyn_cast<tpu::ShuffleChannelOp>(maker.op);
  if (!op)
    return false;
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  const auto groups = static_cast<int64_t>(op.getGroup());
  if (dims.size() < 2 || dims[1] % groups != 0)
    return false;
  // What lies behind the channels moves as one.
  const int64_t inner = ShapedType::getNumElements(dims.drop_front(2));
  // Channels of parts that are joined are put side by side at once. Where channels are so short
  // that each costs far more than its elements, it takes less to join them first and to turn
  // matrices.
  const auto movedIn = [&, bytes = globalBytes(op.getInput().getType())](int64_t rows) {
    return maker.backend.transferCycles(bytes, rows);
  };
  const ValueRange parts = joinedParts(op.getInput(), groups);
  if (!parts.empty() && 2 * movedIn(dims[0] * dims[1]) <= 3 * movedIn(dims[0])) {
    SmallVector<Value> apart;
    for (auto [index, part] : llvm::enumerate(parts))
      apart.push_back(maker.reshaped(part, {dims[0], dims[1] / groups, 1, inner},
                                     ("part" + Twine(index)).str()));
    maker.replace(0, maker.reshaped(maker.joined(apart, 2, "interleaved"), dims, "shuffled"));
    return true;
  }
  const SmallVector<int64_t> parted = {dims[0], groups, dims[1] / groups, inner};
  const Value swapped =
      maker.permuted(maker.reshaped(op.getInput(), parted, "groups"), {0, 2, 1, 3}, "swapped");
  maker.replace(0, maker.reshaped(swapped, dims, "shuffled"));
  return true;
}

bool codegen::decomposeExpand(OpMaker &maker) {
  auto op = dyn_cast<tpu::ExpandOp>(maker.op);
  if (!op || !OpMaker::isFloat(op.getInput()) || OpMaker::constantOf(op.getInput()))
    return false;
  const ArrayRef<int64_t> out = OpMaker::dimsOf(op.getOutput());
  const RankedTensorType type = OpMaker::typeOf(op.getInput());
  // So many dimensions in front are the input's; behind them it has one element.
  size_t own = out.size();
  for (int64_t inner = 1;
       own > 0 && inner != ShapedType::getNumElements(out) / type.getNumElements();)
    inner *= out[--own];
  const ArrayRef<int64_t> kept = out.take_front(own);
  const size_t repeated = out.size() - own;
  if (own < 2 || repeated == 0 || type.getShape().size() < repeated ||
      ShapedType::getNumElements(kept) != type.getNumElements() ||
      ShapedType::getNumElements(type.getShape().take_back(repeated)) != 1)
    return false;
  // The ones are loaded, too, and stay in every lane.
  constexpr int64_t kFewestNumbers = 8, kMostOnes = int64_t{1} << 14;
  if (type.getNumElements() < kFewestNumbers ||
      ShapedType::getNumElements(out.drop_front(own)) > kMostOnes)
    return false;
  SmallVector<int64_t> numberDims(kept), onesDims(own, 1);
  numberDims.append(repeated, 1);
  llvm::append_range(onesDims, out.drop_front(own));
  Tensor ones(DataType::F32, Shape(std::span(onesDims.data(), onesDims.size())));
  std::ranges::fill(ones.mutableData<float>(), 1.0F);
  const Value numbers = maker.reshaped(op.getInput(), numberDims, "numbers");
  const Value made =
      maker.make<tpu::MulOp>("repeated", out, {numbers, maker.weight(ones, "ones", numbers)});
  if (!fittingPlaceOf(made.getDefiningOp(), maker.backend) || !maker.isLocal(made)) {
    eraseUnused(made.getDefiningOp());
    return false;
  }
  maker.replace(0, maker.finished(made, 0));
  return true;
}

/// Whether an activation changes nothing of what `type` can store.
static bool isWithin(quant::UniformQuantizedType type, double limit) {
  const IntegerRange stored = tpu::rangeOf(type);
  const tpu::StoredRange kept = tpu::reluRange(type, /*doRelu=*/true, limit);
  return kept.low <= stored.lowest && std::cmp_greater_equal(kept.high, stored.highest);
}

/// Gives the op that makes `part` the activation, where nobody else reads the part, the op could
/// have one and has none, and the target still computes it.
static bool activateProducer(const Backend &backend, Value part, const NamedAttrList &activation) {
  Operation *producer = part.getDefiningOp();
  const auto own = producer ? producer->getAttrOfType<BoolAttr>("do_relu") : BoolAttr();
  if (!own || own.getValue() || producer->getNumResults() != 1 || !part.hasOneUse())
    return false;
  const DictionaryAttr before = producer->getAttrDictionary();
  for (const NamedAttribute &attribute : activation)
    producer->setAttr(attribute.getName(), attribute.getValue());
  if (backend.placeOf(producer))
    return true;
  producer->setAttrs(before);
  return false;
}

/// What a part is behind the activation.
static Value activated(OpMaker &maker, Value part, const NamedAttrList &activation,
                       StringRef what) {
  if (activateProducer(maker.backend, part, activation))
    return part;
  NamedAttrList limit;
  if (Attribute value = activation.get("relu_limit"))
    limit.set("relu_limit", value);
  return maker.makeLike<tpu::ReluOp>(what, part, limit);
}

/// A concatenation with an activation: without it where the stored type has no room for less, else
/// of parts that have it.
bool codegen::decomposeActivatedConcat(OpMaker &maker) {
  auto op = dyn_cast<tpu::ConcatOp>(maker.op);
  if (!op || !op.getDoRelu())
    return false;
  const NamedAttrList attributes(op->getAttrs());
  SmallVector<Value> parts = llvm::to_vector(op.getInputs());
  if (quant::UniformQuantizedType type = tpu::quantizedType(op.getOutput())) {
    if (!isWithin(type, op.getReluLimit().convertToDouble()))
      return false;
  } else if (OpMaker::isFloat(op.getOutput())) {
    for (auto [index, part] : llvm::enumerate(parts))
      part = activated(maker, part, OpMaker::activationOf(attributes),
                       ("part" + llvm::Twine(index)).str());
  } else {
    return false;
  }
  maker.replace(0, maker.make(tpu::ConcatOp::getOperationName(), "parts",
                              Type(OpMaker::typeOf(op.getOutput())), parts,
                              OpMaker::withoutActivation(attributes)));
  return true;
}

bool codegen::decomposeNarrowConcat(OpMaker &maker) {
  // Fewer are transferred as soon as they are computed with.
  constexpr int64_t kFewestRows = 8;
  auto op = dyn_cast<tpu::ConcatOp>(maker.op);
  if (!op || op.getDoRelu())
    return false;
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getOutput());
  const size_t along = OpMaker::frontAxis(op.getAxis(), op.getOutput());
  const int64_t rows = ShapedType::getNumElements(dims.take_front(along));
  const bool isOfColumns = dims.size() == 3 && along == 2;
  if (isOfColumns || rows < kFewestRows || llvm::any_of(op.getInputs(), OpMaker::constantOf))
    return false;
  SmallVector<Value> parts;
  for (auto [index, input] : llvm::enumerate(op.getInputs()))
    parts.push_back(maker.reshaped(input, {1, rows, OpMaker::typeOf(input).getNumElements() / rows},
                                   "columns" + std::to_string(index)));
  const Value joined = maker.joined(parts, 2, "joined");
  if (!maker.isLocal(joined)) {
    eraseUnused(joined.getDefiningOp());
    return false;
  }
  maker.replace(0, maker.reshaped(joined, dims, "shaped"));
  return true;
}
