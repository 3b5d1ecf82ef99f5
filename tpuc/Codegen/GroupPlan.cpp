//===- GroupPlan.cpp - Layers that run together in local memory ---------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/GroupPlan.h"
#include "tpuc/Codegen/GroupSteps.h"
#include "tpuc/Codegen/Joins.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/SlicePlan.h"
#include "tpuc/Dialect/Top/Names.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

int64_t GroupPlan::numSlices() const {
  int64_t count = 1;
  for (unsigned sections : counts)
    count *= sections;
  return count;
}

int64_t GroupPlan::computeCycles() const {
  return numSlices() * std::accumulate(cycles.begin(), cycles.end(), int64_t{0});
}

int64_t GroupPlan::transferCycles() const {
  int64_t sum = 0;
  for (const GroupTensor &tensor : tensors)
    if (tensor.isLoaded() || tensor.isStored)
      sum += tensor.cycles * (tensor.isLoaded() ? tensor.numVersions : numSlices());
  for (const PartMove &move : moves)
    sum += move.cycles;
  return sum;
}

SlicedOp GroupPlan::slicedOp(unsigned layer, const SectionCounts &number) const {
  const SliceModel &model = *models[layer];
  const GroupTensor &result = tensors[results[layer]];
  const Slice output = sliceAt(result.sections, number);
  SlicedOp sliced{.op = layers[layer],
                  .model = &model,
                  .operands = {},
                  .result = {output, result.address},
                  // Layers are measured one after the other.
                  .scratchAddress = layer < scratchAddresses.size() ? scratchAddresses[layer] : 0,
                  .scratchBytes = layer < scratchBytes.size() ? scratchBytes[layer] : 0};
  for (auto [index, operand] : llvm::enumerate(model.operands)) {
    LocalSlice local;
    const int tensor = operands[layer][index];
    if (operand.isPresent)
      local.slice = operand.slice(output);
    if (tensor >= 0) {
      const GroupTensor &held = tensors[static_cast<size_t>(tensor)];
      local.address = held.address;
      if (const Slice all = sliceAt(held.sections, number); all != local.slice && !held.isPooled)
        local.held = all;
    }
    sliced.operands.push_back(local);
  }
  for (const PartMove &move : moves)
    if (move.layer == layer)
      sliced.operands[move.operand].isPlaced = true;
  return sliced;
}

unsigned GroupPlan::carrierIndex(const GroupTensor &tensor) const {
  return tensor.maker ? layers[*tensor.maker]->getNumOperands() : tensor.readers.front().operand;
}

SlicedOp GroupPlan::carrier(const GroupTensor &tensor, const SectionCounts &number) const {
  const unsigned layer = tensor.maker ? *tensor.maker : tensor.readers.front().layer;
  SlicedOp sliced = slicedOp(layer, number);
  if (!tensor.maker)
    sliced.operands[carrierIndex(tensor)] = {sliceAt(tensor.sections, number), tensor.address};
  return sliced;
}

void GroupPlan::joinLives() {
  if (llvm::none_of(tensors, [](const GroupTensor &tensor) { return tensor.container; }))
    return;
  // Makers stand in front of what contains their results.
  for (unsigned result : results) {
    for (const GroupTensor &part : tensors)
      if (part.container == result) {
        tensors[result].firstStep = std::min(tensors[result].firstStep, part.firstStep);
        tensors[result].lastStep = std::max(tensors[result].lastStep, part.lastStep);
      }
  }
  for (unsigned result : llvm::reverse(results))
    for (GroupTensor &part : tensors)
      if (part.container == result) {
        part.firstStep = tensors[result].firstStep;
        part.lastStep = tensors[result].lastStep;
      }
}

namespace {

/// What is measured of the tensors and layers at the end of a group, as long as their slices are
/// the same as in a shorter group with the same end.
class KnownMeasures {
public:
  /// `tail`: the shorter group; null if there is none.
  KnownMeasures(const GroupPlan &plan, const GroupPlan *tail)
      : plan(plan), tail(tail), numFront(tail ? plan.layers.size() - tail->layers.size() : 0) {}

  /// The same tensor; null if nothing is known.
  const GroupTensor *of(const GroupTensor &tensor) const {
    const unsigned layer = tensor.maker ? *tensor.maker : tensor.readers.front().layer;
    if (!tail || layer < numFront)
      return nullptr;
    const GroupTensor &known = tensor.maker ? tail->tensors[tail->results[layer - numFront]]
                                            : operandOf(layer, tensor.readers.front().operand);
    const bool isSame = known.maker.has_value() == tensor.maker.has_value() &&
                        known.isStored == tensor.isStored && isAlike(known, tensor);
    return isSame ? &known : nullptr;
  }

  struct Work {
    int64_t cycles = 0, scratchBytes = 0;
  };
  /// What a slice of a layer takes; none if nothing is known.
  std::optional<Work> of(unsigned layer) const {
    if (!tail || layer < numFront)
      return std::nullopt;
    const size_t known = layer - numFront;
    if (!isAlike(tail->tensors[tail->results[known]], plan.tensors[plan.results[layer]]))
      return std::nullopt;
    for (auto [operand, tensor] : llvm::enumerate(plan.operands[layer]))
      if (tensor >= 0 &&
          !isAlike(operandOf(layer, operand), plan.tensors[static_cast<size_t>(tensor)]))
        return std::nullopt;
    return Work{tail->cycles[known], tail->scratchBytes[known]};
  }

private:
  static bool isAlike(const GroupTensor &known, const GroupTensor &tensor) {
    return known.isPooled == tensor.isPooled && known.sections == tensor.sections;
  }
  const GroupTensor &operandOf(unsigned layer, size_t operand) const {
    return tail->tensors[static_cast<size_t>(tail->operands[layer - numFront][operand])];
  }

  const GroupPlan &plan;
  const GroupPlan *tail;
  size_t numFront;
};

} // namespace

namespace tpuc::codegen {

/// A plan in the making.
class GroupDraft {
public:
  GroupDraft(GroupPlanner &planner, ArrayRef<Operation *> layers) : planner(planner) {
    plan.layers.assign(layers.begin(), layers.end());
  }

  /// Finds the tensors that flow between the layers and from outside.
  Expected<void> connect(ArrayRef<Company> companies);
  /// Cuts the results that others need into `counts` parts, and everything else after them.
  Expected<void> cut(const SectionCounts &counts);
  /// The same cuts as a layer that runs alone has.
  void takeCuts(const SlicePlan &slices);
  /// Sizes and cycles. `tail`: the same cuts of the layers at the end, measured.
  Expected<void> measure(const GroupPlan *tail = nullptr);

  GroupPlan plan;
  /// After an error: it is the same one with other layers in front.
  bool isHopeless = false;

private:
  Expected<void> connectOperand(unsigned layer, unsigned index);
  Expected<void> contain(unsigned layer);
  Expected<void> checkJoins() const;
  std::optional<unsigned> loadedLike(unsigned layer, unsigned index) const;
  Expected<void> cutTensor(GroupTensor &tensor, unsigned axis, unsigned count);
  Expected<void> checkOverlap(const GroupTensor &tensor, unsigned axis) const;
  Expected<void> measureTensor(GroupTensor &tensor, ArrayRef<SectionCounts> numbers,
                               const KnownMeasures &known);
  Expected<void> measureLayer(unsigned layer, const KnownMeasures &known);
  Expected<void> measureMove(GroupPlan::PartMove &move);
  int64_t leastRoom(unsigned layer) const;
  /// Sections that cost the same.
  struct Kind {
    unsigned section = 0;
    int64_t count = 0;
  };
  SmallVector<Kind> kindsAlong(unsigned layer, unsigned axis) const;
  tl::unexpected<Error> refuse(unsigned layer, const std::string &found) const {
    return makeError("", "layer '" + layerName(plan.layers[layer]) + "': " + found);
  }

  GroupPlanner &planner;
  llvm::DenseMap<Value, unsigned> made;
};

} // namespace tpuc::codegen

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

/// How often another slice takes the place of one, in the order of `numbers`.
static int64_t versionsOf(const Sections &sections, ArrayRef<SectionCounts> numbers) {
  if (llvm::all_of(sections, [](const auto &along) { return along.size() == 1; }))
    return 1;
  int64_t versions = 0;
  std::optional<Slice> last;
  for (const SectionCounts &number : numbers) {
    const Slice slice = sliceAt(sections, number);
    versions += last != slice ? 1 : 0;
    last = slice;
  }
  return versions;
}

Expected<void> GroupDraft::measureTensor(GroupTensor &tensor, ArrayRef<SectionCounts> numbers,
                                         const KnownMeasures &known) {
  if (const GroupTensor *same = known.of(tensor)) {
    tensor.bytes = same->bytes;
    tensor.numVersions = same->numVersions;
    tensor.cycles = same->cycles;
    return {};
  }
  // The longest section of each axis bounds every slice.
  Slice longest;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    longest[axis] =
        *llvm::max_element(tensor.sections[axis], [](Range a, Range b) { return a.size < b.size; });
  const unsigned layer = tensor.maker ? *tensor.maker : tensor.readers.front().layer;
  const unsigned index = plan.carrierIndex(tensor);
  tensor.bytes = tensor.isPooled
                     ? 0
                     : alignedLocally(planner.costs.bytes(plan.layers[layer], *plan.models[layer],
                                                          index, longest),
                                      planner.backend.info());
  if (tensor.isPooled) {
    tensor.numVersions = 1;
    return {};
  }
  tensor.numVersions = versionsOf(tensor.sections, numbers);
  if (!tensor.isLoaded() && !tensor.isStored)
    return {};
  std::optional<int64_t> cycles =
      planner.costs.transfer(plan.carrier(tensor, numbers[numbers.size() / 2]), index);
  if (!cycles)
    return refuse(layer, "the transfer of a slice is not possible");
  tensor.cycles = *cycles;
  return {};
}

/// The sections along an axis of which a layer costs the same, with one that stands for each kind.
SmallVector<GroupDraft::Kind> GroupDraft::kindsAlong(unsigned layer, unsigned axis) const {
  const SliceModel &model = *plan.models[layer];
  const SmallVector<Range> &results = plan.tensors[plan.results[layer]].sections[axis];
  const auto at = [](const SmallVector<Range> &sections, unsigned section) {
    return sections[std::min<size_t>(section, sections.size() - 1)];
  };
  if (plan.counts[axis] == 1)
    return {{.section = 0, .count = 1}};
  SmallVector<Kind> kinds;
  SmallVector<CostKey, 4> keys;
  for (unsigned section = 0; section < plan.counts[axis]; ++section) {
    AxisSlice slice{.result = at(results, section)};
    for (auto [operand, tensor] : llvm::zip_equal(model.operands, plan.operands[layer])) {
      if (!operand.isPresent)
        continue;
      const Range needed = operand.padded(axis, slice.result).range;
      const GroupTensor *held = tensor < 0 ? nullptr : &plan.tensors[static_cast<size_t>(tensor)];
      slice.operands.emplace_back(
          needed, held && !held->isPooled ? at(held->sections[axis], section) : needed);
    }
    CostKey key;
    slice.appendTo(key, model, axis);
    const auto *known = llvm::find(keys, key);
    if (known == keys.end()) {
      keys.push_back(std::move(key));
      kinds.push_back({.section = section, .count = 1});
    } else {
      ++kinds[static_cast<size_t>(known - keys.begin())].count;
    }
  }
  return kinds;
}

Expected<void> GroupDraft::measureLayer(unsigned layer, const KnownMeasures &known) {
  if (std::optional<KnownMeasures::Work> same = known.of(layer)) {
    plan.cycles.push_back(same->cycles);
    plan.scratchBytes.push_back(same->scratchBytes);
    return {};
  }
  int64_t cycles = 0;
  int64_t scratch = 0;
  std::array<SmallVector<Kind>, kNumAxes> kinds;
  SectionCounts numKinds;
  for (unsigned axis = 0; axis < kNumAxes; ++axis) {
    kinds[axis] = kindsAlong(layer, axis);
    numKinds[axis] = static_cast<unsigned>(kinds[axis].size());
  }
  for (const SectionCounts &kind : sliceNumbers(numKinds)) {
    SectionCounts number;
    int64_t count = 1;
    for (unsigned axis = 0; axis < kNumAxes; ++axis) {
      number[axis] = kinds[axis][kind[axis]].section;
      count *= kinds[axis][kind[axis]].count;
    }
    std::optional<GroupCosts::Work> work = planner.costs.compute(plan.slicedOp(layer, number));
    if (!work)
      return refuse(layer, "the chip does not compute such a slice");
    cycles += count * work->cycles;
    scratch = std::max(scratch, work->scratchBytes);
  }
  plan.cycles.push_back(cycles / plan.numSlices());
  plan.scratchBytes.push_back(alignedLocally(scratch, planner.backend.info()));
  return {};
}

Expected<void> GroupDraft::measureMove(GroupPlan::PartMove &move) {
  SlicedOp sliced = plan.slicedOp(move.layer, {});
  sliced.operands[move.operand].isPlaced = false;
  std::optional<GroupCosts::Work> work = planner.costs.compute(sliced);
  if (!work)
    return refuse(move.layer, "the chip does not move such a part");
  move.cycles = work->cycles;
  move.step = move.layer;
  return {};
}

/// The bytes of what a layer reads and makes.
int64_t GroupDraft::leastRoom(unsigned layer) const {
  llvm::SmallSet<unsigned, 4> tensors;
  tensors.insert(plan.results[layer]);
  for (int operand : plan.operands[layer])
    if (operand >= 0)
      tensors.insert(static_cast<unsigned>(operand));
  int64_t bytes = 0;
  for (unsigned tensor : tensors)
    if (!plan.tensors[tensor].isPooled && !plan.tensors[tensor].container)
      bytes += plan.tensors[tensor].bytes;
  return bytes;
}

Expected<void> GroupDraft::measure(const GroupPlan *tail) {
  const KnownMeasures known(plan, tail);
  const SmallVector<SectionCounts> numbers = sliceNumbers(plan.counts);
  for (GroupTensor &tensor : plan.tensors)
    if (Expected<void> measured = measureTensor(tensor, numbers, known); !measured)
      return measured;
  for (unsigned layer = 0; layer < plan.layers.size(); ++layer)
    if (leastRoom(layer) > planner.capacity) {
      // Slices do not get shorter by other readers.
      isHopeless = true;
      return refuse(layer, "its slices do not fit local memory");
    }
  for (unsigned layer = 0; layer < plan.layers.size(); ++layer)
    if (Expected<void> measured = measureLayer(layer, known); !measured)
      return measured;
  for (GroupPlan::PartMove &move : plan.moves)
    if (Expected<void> measured = measureMove(move); !measured)
      return measured;
  plan.scratchAddresses.assign(plan.layers.size(), 0);
  return {};
}

Expected<std::shared_ptr<const SliceModel>> GroupPlanner::model(Operation *op, Company company) {
  const std::pair key(op, static_cast<unsigned>(company));
  if (const auto known = models.find(key))
    return *known;
  Expected<SliceModel> made = company != Company::Alone && isJoin(op, backend)
                                  ? joinModel(op)
                                  : sliceModel(op, backend.info(), company);
  if (!made)
    return propagate(made);
  return models.add(key, std::make_shared<const SliceModel>(std::move(*made)));
}

bool GroupPlanner::isLoaded(OpOperand &operand) {
  if (const std::optional<bool> known = areLoaded.find(&operand))
    return *known;
  return areLoaded.add(&operand, backend.isLoaded(operand));
}

SmallVector<Company> GroupPlanner::companiesOf(ArrayRef<Operation *> layers) {
  return codegen::companiesOf(layers, [&](Operation *op) {
    if (const std::optional<bool> known = areFree.find(op))
      return *known;
    return areFree.add(op, takesAnyOrder(op, backend.info()));
  });
}

Expected<GroupPlan> GroupPlanner::alone(Operation *layer) {
  if (const auto known = singles.find(layer))
    return **known;
  GroupDraft draft(*this, layer);
  Expected<SlicePlan> slices = planSlices(layer, backend, capacity);
  if (!slices)
    return propagate(slices);
  if (Expected<void> connected = draft.connect(Company::Alone); !connected)
    return propagate(connected);
  draft.takeCuts(*slices);
  if (Expected<void> measured = draft.measure(); !measured)
    return propagate(measured);
  if (Expected<void> fits = planSteps(draft.plan, capacity, heuristics.overlap); !fits)
    return propagate(fits);
  return *singles.add(layer, std::make_shared<const GroupPlan>(std::move(draft.plan)));
}

Expected<GroupPlan> GroupPlanner::together(ArrayRef<Operation *> layers,
                                           const SectionCounts &counts) {
  GroupDraft draft(*this, layers);
  if (Expected<void> connected = draft.connect(companiesOf(layers)); !connected)
    return propagate(connected);
  if (Expected<void> cut = draft.cut(counts); !cut)
    return propagate(cut);
  if (Expected<void> measured = draft.measure(); !measured)
    return propagate(measured);
  if (Expected<void> fits = planSteps(draft.plan, capacity, heuristics.overlap); !fits)
    return propagate(fits);
  return std::move(draft.plan);
}

/// Along what layers in company are cut besides n: pictures along h, matrices along their rows,
/// and what is in any order along what each lane has of it.
static unsigned cutAxis(ArrayRef<Company> companies) {
  if (llvm::all_of(companies, [](Company company) { return company == Company::Alone; }))
    return kAxisW;
  return llvm::is_contained(companies, Company::InRows) ? kAxisC : kAxisH;
}

/// The parts that `total` slices make, n first, then along `second`.
static std::optional<SectionCounts> countsFor(const GroupPlan &plan, unsigned second,
                                              const Backend &backend, int64_t total) {
  const std::array<unsigned, 2> axes{kAxisN, second};
  std::array<int64_t, 2> most;
  most.fill(std::numeric_limits<int64_t>::max());
  for (const GroupTensor &tensor : plan.tensors)
    if (tensor.isStored)
      for (auto [limit, axis] : llvm::zip_equal(most, axes)) {
        const int64_t unit = backend.cutUnit(plan.layers[*tensor.maker], axis);
        const int64_t extent = plan.models[*tensor.maker]->result[axis];
        limit = std::min(limit, static_cast<int64_t>(llvm::divideCeil(extent, unit)));
      }
  SectionCounts counts{1, 1, 1, 1, 1};
  const int64_t first = std::min(most[0], total);
  const auto rest = static_cast<int64_t>(llvm::divideCeil(total, first));
  if (rest > most[1])
    return std::nullopt;
  counts[kAxisN] = static_cast<unsigned>(first);
  counts[second] = static_cast<unsigned>(rest);
  return counts;
}

/// A connected group in `counts` parts.
Expected<std::shared_ptr<const GroupPlan>>
GroupPlanner::cutInto(const SectionCounts &counts, const GroupDraft &connected, KnownTails &tails) {
  if (auto known = tails.impossible.find(counts); known != tails.impossible.end())
    return tl::unexpected<Error>(known->second);
  GroupDraft draft = connected;
  Expected<void> done = draft.cut(counts);
  std::shared_ptr<const GroupPlan> &tail = tails.plans[counts];
  if (done)
    done = draft.measure(tail.get());
  if (draft.isHopeless)
    tails.impossible.emplace(counts, done.error());
  if (!done)
    return propagate(done);
  auto plan = std::make_shared<GroupPlan>(std::move(draft.plan));
  tail = plan;
  if (Expected<void> fits = planSteps(*plan, capacity, heuristics.overlap); !fits)
    return propagate(fits);
  return plan;
}

Expected<std::vector<std::shared_ptr<const GroupPlan>>>
GroupPlanner::cuts(ArrayRef<Operation *> layers, int64_t fewest, KnownTails *known) {
  SmallVector<Company> companies = companiesOf(layers);
  const unsigned second = layers.size() == 1 ? unsigned{kAxisH} : cutAxis(companies);
  KnownTails own;
  KnownTails &tails = known ? *known : own;
  const size_t shared = std::min(companies.size(), tails.companies.size());
  if (ArrayRef(companies).take_back(shared) != ArrayRef(tails.companies).take_back(shared))
    tails = {};
  tails.companies = companies;
  GroupDraft connected(*this, layers);
  if (Expected<void> done = connected.connect(companies); !done)
    return propagate(done);
  std::vector<std::shared_ptr<const GroupPlan>> cuts;
  Error failure;
  // Finer slices than the first ones that fit seldom help: they only shorten what is not
  // overlapped. Rows that fit whole are never cut, as that loads their weights again.
  const bool areRows = second == kAxisC;
  int64_t least = std::numeric_limits<int64_t>::max();
  unsigned worse = 0;
  for (int64_t total : {1, 2, 3, 4, 6, 8, 11, 16, 22, 32, 45, 64}) {
    const std::optional<SectionCounts> counts = countsFor(connected.plan, second, backend, total);
    if (!counts || worse == 2 || (!cuts.empty() && areRows))
      break;
    if (3 * total < 2 * fewest)
      continue;
    Expected<std::shared_ptr<const GroupPlan>> plan = cutInto(*counts, connected, tails);
    if (!plan) {
      failure = plan.error();
      continue;
    }
    worse += least <= (*plan)->estimate ? 1 : 0;
    least = std::min(least, (*plan)->estimate);
    cuts.push_back(std::move(*plan));
  }
  if (cuts.empty())
    return tl::unexpected<Error>(std::move(failure));
  return cuts;
}
