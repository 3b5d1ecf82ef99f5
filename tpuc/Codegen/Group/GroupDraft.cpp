//===- GroupDraft.cpp - Which tensors a group has, and how they are tiled -------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupDraft.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/InPlaceConcat.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// A tensor that is loaded already in the form that this operand needs.
std::optional<unsigned> GroupDraft::loadedLike(unsigned layer, unsigned index) const {
  Operation *op = plan.layers[layer];
  const TileModel &model = *plan.models[layer];
  for (auto [number, tensor] : llvm::enumerate(plan.tensors)) {
    if (tensor.value != op->getOperand(index) || tensor.producer || tensor.isResident)
      continue;
    const GroupTensor::User other = tensor.users.front();
    const TileModel &otherModel = *plan.models[other.layer];
    if (otherModel.operands[other.operand].extents == model.operands[index].extents &&
        otherModel.layoutOf(other.operand).liesLike(model.layoutOf(index)))
      return static_cast<unsigned>(number);
  }
  return std::nullopt;
}

Expected<void> GroupDraft::connectOperand(unsigned layer, unsigned index) {
  Operation *op = plan.layers[layer];
  OpOperand &operand = op->getOpOperand(index);
  const TileModel &model = *plan.models[layer];
  if (!model.operands[index].isPresent || !model.layoutOf(index).isLoaded)
    return {};
  int &tensor = plan.operands[layer][index];
  if (auto found = made.find(operand.get()); found != made.end()) {
    const unsigned producer = *plan.tensors[found->second].producer;
    const TileModel &maker = *plan.models[producer];
    if (maker.result != model.operands[index].extents ||
        !maker.layoutOf(plan.layers[producer]->getNumOperands()).liesLike(model.layoutOf(index)))
      return refuse(layer, "its input does not lie as '" + layerName(plan.layers[producer]) +
                               "' leaves it");
    tensor = static_cast<int>(found->second);
  } else if (std::optional<unsigned> loaded = loadedLike(layer, index)) {
    tensor = static_cast<int>(*loaded);
  } else {
    tensor = static_cast<int>(plan.tensors.size());
    Operation *source = operand.get().getDefiningOp();
    plan.tensors.push_back({.value = operand.get(),
                            .space = model.layoutOf(index).space,
                            .isConstant = source && isConstant(source),
                            .isResident = planner.resident.contains(&operand)});
  }
  plan.tensors[static_cast<size_t>(tensor)].users.push_back({layer, index});
  return {};
}

Expected<void> GroupDraft::connect(ArrayRef<TileLayout> layouts) {
  const llvm::DenseSet<Operation *> members(plan.layers.begin(), plan.layers.end());
  const size_t numLayers = plan.layers.size();
  plan.models.reserve(numLayers);
  plan.operands.reserve(numLayers);
  plan.results.reserve(numLayers);
  plan.tensors.reserve(3 * numLayers);
  for (auto [number, op] : llvm::enumerate(plan.layers)) {
    const auto layer = static_cast<unsigned>(number);
    Expected<std::shared_ptr<const TileModel>> model = planner.model(op, layouts[number]);
    if (!model)
      return refuse(layer, model.error().message());
    plan.models.push_back(std::move(*model));
    plan.operands.emplace_back(op->getNumOperands(), -1);
    for (unsigned index = 0; index < op->getNumOperands(); ++index)
      if (Expected<void> connected = connectOperand(layer, index); !connected)
        return connected;
    Value result = givenResult(op);
    made[result] = static_cast<unsigned>(plan.tensors.size());
    plan.results.push_back(static_cast<unsigned>(plan.tensors.size()));
    const bool isStored = result.use_empty() || llvm::any_of(result.getUsers(), [&](Operation *u) {
                            return !members.contains(u);
                          });
    plan.tensors.push_back({.value = result, .producer = layer, .isStored = isStored});
    if (isInPlaceConcat(op, planner.backend))
      if (Expected<void> contained = contain(layer); !contained)
        return contained;
  }
  // Drafts of other tilings are copies of this one.
  made = llvm::DenseMap<Value, unsigned>();
  return {};
}

/// The operands of a concatenation lie in its result, those apart that it has to move.
Expected<void> GroupDraft::contain(unsigned layer) {
  for (auto [index, operand] : llvm::enumerate(plan.operands[layer])) {
    GroupTensor &part = plan.tensors[static_cast<size_t>(operand)];
    if (!liesInPlace(plan.layers[layer], static_cast<unsigned>(index), planner.backend)) {
      if (part.producer)
        plan.moves.push_back({.layer = layer, .operand = static_cast<unsigned>(index)});
      continue;
    }
    if (part.container)
      return refuse(layer, "an input is a part of another concatenation");
    part.container = plan.results[layer];
  }
  return {};
}

/// Rows of a part lie as those of the whole only if they are the same ones, of one image: the next
/// one of the whole is as far away as all its channels take.
Expected<void> GroupDraft::checkJoins() const {
  for (const GroupTensor &part : plan.tensors) {
    if (!part.container)
      continue;
    const GroupTensor &whole = plan.tensors[*part.container];
    if (llvm::any_of(whole.axisTiles[kAxisN], [](const Range &images) { return images.size > 1; }))
      return refuse(*whole.producer, "a tile has several images, whose parts lie apart");
    for (unsigned axis : {kAxisN, kAxisD, kAxisH, kAxisW})
      if (part.axisTiles[axis] != whole.axisTiles[axis])
        return refuse(*whole.producer,
                      "an input is needed in other slices along " + axisName(axis).str());
  }
  return {};
}

/// `extent` elements in exactly `count` parts that begin at multiples of `unit`.
static Expected<SmallVector<Range>> parts(int64_t extent, int64_t count, int64_t unit) {
  const auto units = static_cast<int64_t>(llvm::divideCeil(extent, unit));
  if (units < count)
    return makeError("", std::to_string(extent) + " elements in " + std::to_string(count) +
                             " parts of multiples of " + std::to_string(unit));
  SmallVector<Range> ranges;
  for (int64_t part = 0; part < count; ++part) {
    const int64_t begin = part * units / count * unit;
    const int64_t end = std::min(extent, (part + 1) * units / count * unit);
    ranges.push_back({begin, end - begin});
  }
  return ranges;
}

static void widen(Range &range, Range other) {
  const int64_t end = std::max(range.end(), other.end());
  range.begin = std::min(range.begin, other.begin);
  range.size = end - range.begin;
}

/// How long a tensor is along an axis, and what its parts begin at multiples of.
std::pair<int64_t, int64_t> GroupDraft::extentAndUnit(const GroupTensor &tensor,
                                                      unsigned axis) const {
  if (!tensor.producer) {
    const GroupTensor::User &user = tensor.users.front();
    return {plan.models[user.layer]->operands[user.operand].extents[axis], 1};
  }
  const TileModel &model = *plan.models[*tensor.producer];
  return {model.result[axis], std::max(model.unit[axis], planner.backend.tileUnit(
                                                             plan.layers[*tensor.producer], axis))};
}

/// What all users need, and what is stored, in whole units.
Expected<void> GroupDraft::tileTensor(GroupTensor &tensor, unsigned axis, unsigned count) {
  SmallVector<Range> &axisTiles = tensor.axisTiles[axis];
  axisTiles.clear();
  const auto [extent, unit] = extentAndUnit(tensor, axis);
  if (tensor.isStored && count == 1 && extent > 0) {
    // There is no more of it.
    axisTiles.push_back({0, extent});
    return {};
  }
  if (tensor.isStored) {
    Expected<SmallVector<Range>> own = parts(extent, count, unit);
    if (!own)
      return refuse(*tensor.producer, own.error().message());
    axisTiles = std::move(*own);
  }
  for (const GroupTensor::User &user : tensor.users) {
    const SmallVector<Range> &outputs = plan.tensors[plan.results[user.layer]].axisTiles[axis];
    const OperandModel &operand = plan.models[user.layer]->operands[user.operand];
    const bool isFirst = axisTiles.empty();
    // Of equal parts, one stands for all.
    const bool isOne = outputs.size() == 1 && axisTiles.size() <= 1;
    axisTiles.resize(isOne ? 1 : count, isFirst ? Range() : axisTiles.front());
    for (unsigned axisTile = 0; axisTile < axisTiles.size(); ++axisTile) {
      const Range output = outputs[std::min<size_t>(axisTile, outputs.size() - 1)];
      const Range needed = operand.padded(axis, output).range;
      if (isFirst)
        axisTiles[axisTile] = needed;
      else
        widen(axisTiles[axisTile], needed);
    }
  }
  for (Range &range : axisTiles) {
    const int64_t begin = range.begin / unit * unit;
    const int64_t end = std::min<int64_t>(
        extent, llvm::alignTo(static_cast<uint64_t>(range.end()), static_cast<uint64_t>(unit)));
    range = {begin, end - begin};
  }
  if (llvm::all_equal(axisTiles))
    axisTiles.resize(1);
  if (tensor.producer && !plan.models[*tensor.producer]->isTileable[axis] &&
      (axisTiles.size() > 1 || axisTiles[0].size != extent))
    return refuse(*tensor.producer, "cannot be cut along " + axisName(axis).str());
  return axisTiles.size() > 1 ? checkOverlap(tensor, axis) : Expected<void>();
}

/// Parts that repeat more than half of the tensor are not worth it.
Expected<void> GroupDraft::checkOverlap(const GroupTensor &tensor, unsigned axis) const {
  int64_t sum = 0;
  int64_t end = 0;
  for (const Range &range : tensor.axisTiles[axis]) {
    sum += range.size;
    end = std::max(end, range.end());
  }
  const int64_t covered = end - tensor.axisTiles[axis].front().begin;
  if (2 * (sum - covered) <= covered)
    return {};
  const unsigned layer = tensor.producer ? *tensor.producer : tensor.users.front().layer;
  return refuse(layer, "its slices along " + axisName(axis).str() + " repeat " +
                           std::to_string(sum - covered) + " of " + std::to_string(covered) +
                           " elements");
}

Expected<void> GroupDraft::cut(const TileCounts &counts, const GroupPlan *tail) {
  plan.counts = counts;
  if (plan.numTiles() > 1)
    plan.moves.clear();
  // Users before what they read: results in reverse, then what is loaded.
  SmallVector<GroupTensor *> order;
  for (unsigned result : llvm::reverse(plan.results))
    order.push_back(&plan.tensors[result]);
  for (GroupTensor &tensor : plan.tensors)
    if (!tensor.producer)
      order.push_back(&tensor);
  const KnownMeasures known(plan, tail);
  for (GroupTensor *tensor : order) {
    if (const GroupTensor *same = known.of(*tensor)) {
      tensor->axisTiles = same->axisTiles;
      continue;
    }
    for (unsigned axis = 0; axis < kNumAxes; ++axis)
      if (Expected<void> done = tileTensor(*tensor, axis, counts[axis]); !done) {
        // All users of what a layer makes are behind it.
        isHopeless = tensor->producer.has_value();
        return done;
      }
  }
  return checkJoins();
}

void GroupDraft::takeTilings(const LayerTiles &tiles) {
  plan.order = tiles.order;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    plan.counts[axis] = static_cast<unsigned>(tiles.result[axis].size());
  for (GroupTensor &tensor : plan.tensors) {
    tensor.axisTiles =
        tensor.producer ? tiles.result : tiles.operands[tensor.users.front().operand];
    for (SmallVector<Range> &axisTiles : tensor.axisTiles)
      if (llvm::all_equal(axisTiles))
        axisTiles.resize(1);
  }
}
