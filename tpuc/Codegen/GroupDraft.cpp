//===- GroupDraft.cpp - Which tensors a group has, and how they are cut -------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/GroupDraft.h"
#include "tpuc/Codegen/Joins.h"
#include "tpuc/Codegen/Layers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// A tensor that is loaded already in the form that this operand needs.
std::optional<unsigned> GroupDraft::loadedLike(unsigned layer, unsigned index) const {
  Operation *op = plan.layers[layer];
  for (auto [number, tensor] : llvm::enumerate(plan.tensors)) {
    if (tensor.value != op->getOperand(index) || tensor.maker || tensor.isPooled)
      continue;
    const GroupTensor::Reader other = tensor.readers.front();
    if (plan.models[other.layer]->operands[other.operand].extents ==
            plan.models[layer]->operands[index].extents &&
        planner.backend.liesAlike(plan.layers[other.layer], other.operand, op, index))
      return static_cast<unsigned>(number);
  }
  return std::nullopt;
}

Expected<void> GroupDraft::connectOperand(unsigned layer, unsigned index) {
  Operation *op = plan.layers[layer];
  OpOperand &operand = op->getOpOperand(index);
  if (!plan.models[layer]->operands[index].isPresent || !planner.isLoaded(operand))
    return {};
  int &tensor = plan.operands[layer][index];
  if (auto found = made.find(operand.get()); found != made.end()) {
    const unsigned maker = *plan.tensors[found->second].maker;
    if (plan.models[maker]->result != plan.models[layer]->operands[index].extents ||
        !planner.backend.liesAlike(plan.layers[maker], plan.layers[maker]->getNumOperands(), op,
                                   index))
      return refuse(layer,
                    "its input does not lie as '" + layerName(plan.layers[maker]) + "' leaves it");
    tensor = static_cast<int>(found->second);
  } else if (std::optional<unsigned> loaded = loadedLike(layer, index)) {
    tensor = static_cast<int>(*loaded);
  } else {
    tensor = static_cast<int>(plan.tensors.size());
    Operation *source = operand.get().getDefiningOp();
    plan.tensors.push_back({.value = operand.get(),
                            .isConstant = source && isConstant(source),
                            .isPooled = planner.pooled.contains(&operand)});
  }
  plan.tensors[static_cast<size_t>(tensor)].readers.push_back({layer, index});
  return {};
}

Expected<void> GroupDraft::connect(ArrayRef<Company> companies) {
  const llvm::DenseSet<Operation *> members(plan.layers.begin(), plan.layers.end());
  for (auto [number, op] : llvm::enumerate(plan.layers)) {
    const auto layer = static_cast<unsigned>(number);
    Expected<std::shared_ptr<const SliceModel>> model = planner.model(op, companies[number]);
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
    plan.tensors.push_back({.value = result, .maker = layer, .isStored = isStored});
    if (isJoin(op, planner.backend))
      if (Expected<void> contained = contain(layer); !contained)
        return contained;
  }
  return {};
}

/// The operands of a concatenation lie in its result, those apart that it has to move.
Expected<void> GroupDraft::contain(unsigned layer) {
  for (auto [index, operand] : llvm::enumerate(plan.operands[layer])) {
    GroupTensor &part = plan.tensors[static_cast<size_t>(operand)];
    if (!liesInJoin(plan.layers[layer], static_cast<unsigned>(index), planner.backend)) {
      if (part.maker)
        plan.moves.push_back({.layer = layer, .operand = static_cast<unsigned>(index)});
      continue;
    }
    if (part.container)
      return refuse(layer, "an input is a part of another concatenation");
    part.container = plan.results[layer];
  }
  return {};
}

/// Rows of a part lie as those of the whole only if they are the same ones.
Expected<void> GroupDraft::checkJoins() const {
  for (const GroupTensor &part : plan.tensors) {
    if (!part.container)
      continue;
    const GroupTensor &whole = plan.tensors[*part.container];
    for (unsigned axis : {kAxisN, kAxisD, kAxisH, kAxisW})
      if (part.sections[axis] != whole.sections[axis])
        return refuse(*whole.maker,
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

/// What all readers need, and what is stored, in whole units.
Expected<void> GroupDraft::cutTensor(GroupTensor &tensor, unsigned axis, unsigned count) {
  SmallVector<Range> &sections = tensor.sections[axis];
  sections.clear();
  int64_t extent = 0;
  int64_t unit = 1;
  if (tensor.maker) {
    const SliceModel &model = *plan.models[*tensor.maker];
    extent = model.result[axis];
    unit = std::max(model.unit[axis], planner.backend.cutUnit(plan.layers[*tensor.maker], axis));
    if (tensor.isStored) {
      Expected<SmallVector<Range>> own = parts(extent, count, unit);
      if (!own)
        return refuse(*tensor.maker, own.error().message());
      sections = std::move(*own);
    }
  } else {
    const GroupTensor::Reader &reader = tensor.readers.front();
    extent = plan.models[reader.layer]->operands[reader.operand].extents[axis];
  }
  for (const GroupTensor::Reader &reader : tensor.readers) {
    const SmallVector<Range> &outputs = plan.tensors[plan.results[reader.layer]].sections[axis];
    const OperandModel &operand = plan.models[reader.layer]->operands[reader.operand];
    const bool isFirst = sections.empty();
    sections.resize(count);
    for (unsigned section = 0; section < count; ++section) {
      const Range output = outputs[std::min<size_t>(section, outputs.size() - 1)];
      const Range needed = operand.padded(axis, output).range;
      if (isFirst)
        sections[section] = needed;
      else
        widen(sections[section], needed);
    }
  }
  for (Range &range : sections) {
    const int64_t begin = range.begin / unit * unit;
    const int64_t end = std::min<int64_t>(
        extent, llvm::alignTo(static_cast<uint64_t>(range.end()), static_cast<uint64_t>(unit)));
    range = {begin, end - begin};
  }
  if (llvm::all_equal(sections))
    sections.resize(1);
  if (tensor.maker && !plan.models[*tensor.maker]->isCuttable[axis] &&
      (sections.size() > 1 || sections[0].size != extent))
    return refuse(*tensor.maker, "cannot be cut along " + axisName(axis).str());
  return sections.size() > 1 ? checkOverlap(tensor, axis) : Expected<void>();
}

/// Parts that repeat more than half of the tensor are not worth it.
Expected<void> GroupDraft::checkOverlap(const GroupTensor &tensor, unsigned axis) const {
  int64_t sum = 0;
  int64_t end = 0;
  for (const Range &range : tensor.sections[axis]) {
    sum += range.size;
    end = std::max(end, range.end());
  }
  const int64_t covered = end - tensor.sections[axis].front().begin;
  if (2 * (sum - covered) <= covered)
    return {};
  const unsigned layer = tensor.maker ? *tensor.maker : tensor.readers.front().layer;
  return refuse(layer, "its slices along " + axisName(axis).str() + " repeat " +
                           std::to_string(sum - covered) + " of " + std::to_string(covered) +
                           " elements");
}

Expected<void> GroupDraft::cut(const SectionCounts &counts) {
  plan.counts = counts;
  if (plan.numSlices() > 1)
    plan.moves.clear();
  // Readers before what they read: results in reverse, then what is loaded.
  SmallVector<GroupTensor *> order;
  for (unsigned result : llvm::reverse(plan.results))
    order.push_back(&plan.tensors[result]);
  for (GroupTensor &tensor : plan.tensors)
    if (!tensor.maker)
      order.push_back(&tensor);
  for (GroupTensor *tensor : order)
    for (unsigned axis = 0; axis < kNumAxes; ++axis)
      if (Expected<void> done = cutTensor(*tensor, axis, counts[axis]); !done) {
        // All readers of what a layer makes are behind it.
        isHopeless = tensor->maker.has_value();
        return done;
      }
  return checkJoins();
}

void GroupDraft::takeCuts(const SlicePlan &slices) {
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    plan.counts[axis] = static_cast<unsigned>(slices.result.sections[axis].size());
  for (GroupTensor &tensor : plan.tensors) {
    tensor.sections = tensor.maker ? slices.result.sections
                                   : slices.operands[tensor.readers.front().operand]->sections;
    for (SmallVector<Range> &sections : tensor.sections)
      if (llvm::all_equal(sections))
        sections.resize(1);
  }
}
