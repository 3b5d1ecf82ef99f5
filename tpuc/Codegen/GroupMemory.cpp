//===- GroupMemory.cpp - Groups that need less global memory -------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/GroupMemory.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// So many percent of memory are worth one of cycles.
constexpr double kMemoryOfCycles = 8;

/// A group, or an op that moves data.
struct MemoryItem {
  SmallVector<Operation *> members;
  std::optional<size_t> group = std::nullopt;
  /// All operands are read before a result is written, or lie in it.
  bool isApart = false;
};

/// Whether a group loads all that others make before it stores anything.
bool loadsFirst(const GroupPlan &plan) {
  int64_t lastLoad = std::numeric_limits<int64_t>::min();
  int64_t firstStore = std::numeric_limits<int64_t>::max();
  for (const GroupTensor &tensor : plan.tensors) {
    if (tensor.isStored)
      firstStore = std::min(firstStore, tensor.transferStep);
    if (!tensor.isLoaded() || tensor.isConstant)
      continue;
    const bool isCut =
        llvm::any_of(tensor.sections, [](const auto &sections) { return sections.size() > 1; });
    lastLoad = std::max(lastLoad,
                        tensor.transferStep + (isCut ? plan.numSlices() - 1 : 0) * plan.period());
  }
  return lastLoad <= firstStore;
}

/// What lives in global memory while a sub-network runs.
class MemoryLine {
public:
  MemoryLine(ArrayRef<Operation *> ops, GroupTable &table, const Division &division,
             const Backend &backend)
      : backend(backend) {
    collect(ops, table, division);
    setEnds();
  }
  MemoryPeak peak() const;

private:
  void collect(ArrayRef<Operation *> ops, GroupTable &table, const Division &division);
  void setEnds();
  /// The tensor in whose memory a value lies.
  Value root(Value value) const;
  SmallVector<Value> reads(const MemoryItem &item) const;
  SmallVector<Value> writes(const MemoryItem &item) const;

  const Backend &backend;
  std::vector<MemoryItem> items;
  /// The number of the last item that reads a tensor; of what leaves the sub-network, that behind
  /// all.
  llvm::DenseMap<Value, size_t> ends;
};

bool isAlias(Operation *op, const Backend &backend) {
  if (isa<top::InputOp>(op))
    return true;
  Expected<Place> place = backend.placeOf(op);
  return place && *place == Place::Alias;
}

Value MemoryLine::root(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    if (isConstant(op) || !isAlias(op, backend))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Groups stand where their last layer does.
void MemoryLine::collect(ArrayRef<Operation *> ops, GroupTable &table, const Division &division) {
  llvm::DenseMap<Operation *, size_t> lastOf;
  llvm::DenseSet<Operation *> members;
  for (auto [number, choice] : llvm::enumerate(division)) {
    if (choice.isAlone && table.isFree(choice.first))
      continue;
    const ArrayRef<Operation *> layers = table.layersOf(choice);
    lastOf[layers.back()] = number;
    members.insert(layers.begin(), layers.end());
  }
  for (Operation *op : ops) {
    if (auto found = lastOf.find(op); found != lastOf.end()) {
      const GroupChoice &choice = division[found->second];
      Expected<GroupPlan> plan = table.plan(choice);
      const ArrayRef<Operation *> layers = table.layersOf(choice);
      items.push_back({.members = {layers.begin(), layers.end()},
                       .group = found->second,
                       .isApart = plan && loadsFirst(*plan)});
    } else if (!members.contains(op) && !isAlias(op, backend)) {
      items.push_back({.members = {op}, .isApart = isa<tpu::ConcatOp, tpu::SplitOp>(op)});
    }
  }
}

SmallVector<Value> MemoryLine::reads(const MemoryItem &item) const {
  llvm::SetVector<Value> values;
  for (Operation *op : item.members)
    for (Value operand : op->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (!(maker && (isConstant(maker) || llvm::is_contained(item.members, maker))))
        values.insert(root(operand));
    }
  return values.takeVector();
}

SmallVector<Value> MemoryLine::writes(const MemoryItem &item) const {
  SmallVector<Value> values;
  for (Operation *op : item.members)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !llvm::is_contained(item.members, user); }))
        values.push_back(result);
  return values;
}

void MemoryLine::setEnds() {
  llvm::DenseSet<Operation *> here;
  for (auto [number, item] : llvm::enumerate(items)) {
    here.insert(item.members.begin(), item.members.end());
    for (Value value : reads(item))
      ends[value] = number;
  }
  for (const MemoryItem &item : items)
    for (Operation *op : item.members)
      for (Value result : op->getResults()) {
        // Those that read it under another name, too.
        SmallVector<Value> names = {result};
        for (size_t next = 0; next < names.size(); ++next)
          for (Operation *user : names[next].getUsers()) {
            if (!user->hasTrait<OpTrait::IsTerminator>() && isAlias(user, backend))
              llvm::append_range(names, user->getResults());
            else if (!here.contains(user))
              ends[result] = items.size();
          }
      }
}

MemoryPeak MemoryLine::peak() const {
  const auto bytesOf = [](Value value) { return globalBytes(value.getType()); };
  int64_t alive = 0;
  llvm::DenseSet<Value> made;
  for (const MemoryItem &item : items)
    for (Value value : writes(item))
      made.insert(value);
  // What is made outside is there from the beginning.
  for (const auto &[value, end] : ends)
    alive += made.contains(value) ? 0 : bytesOf(value);
  MemoryPeak peak;
  for (auto [number, item] : llvm::enumerate(items)) {
    int64_t results = 0;
    int64_t dying = 0;
    for (Value value : writes(item))
      results += bytesOf(value);
    for (Value value : reads(item))
      dying += ends.lookup(value) == number ? bytesOf(value) : 0;
    const int64_t most = item.isApart ? std::max(alive, alive + results - dying) : alive + results;
    if (most > peak.bytes)
      peak = {.bytes = most, .group = item.group};
    alive += results - dying;
  }
  return peak;
}

/// What a group may become: the same layers in other parts, or two groups.
std::vector<Division> alternatives(const GroupTable &table, const GroupChoice &group) {
  constexpr size_t kWays = 2;
  std::vector<Division> made;
  for (const GroupTable::Option &option : table.known(group.first, group.count))
    made.push_back({option.choice});
  for (unsigned middle = group.first + 1; middle < group.end(); ++middle)
    for (const GroupTable::Option &front :
         table.known(group.first, middle - group.first).take_front(kWays))
      for (const GroupTable::Option &back :
           table.known(middle, group.end() - middle).take_front(kWays))
        made.push_back({front.choice, back.choice});
  return made;
}

} // namespace

MemoryPeak codegen::memoryPeak(ArrayRef<Operation *> ops, GroupTable &table,
                               const Division &division, const Backend &backend) {
  return MemoryLine(ops, table, division, backend).peak();
}

Division codegen::withLessMemory(ArrayRef<Operation *> ops, GroupTable &table, Division division,
                                 const Backend &backend) {
  const auto estimateOf = [&](const Division &groups) {
    int64_t sum = 0;
    for (const GroupChoice &choice : groups)
      sum += table.estimateOf(choice);
    return static_cast<double>(std::max<int64_t>(sum, 1));
  };
  MemoryPeak peak = memoryPeak(ops, table, division, backend);
  for (bool isOn = true; isOn && peak.group;) {
    isOn = false;
    const auto at = division.begin() + static_cast<int64_t>(*peak.group);
    const double estimate = estimateOf(division);
    double most = 0;
    Division best;
    for (const Division &groups : alternatives(table, *at)) {
      Division changed(division.begin(), at);
      llvm::append_range(changed, groups);
      changed.insert(changed.end(), std::next(at), division.end());
      const double more = estimateOf(changed) / estimate - 1;
      // No change saves more than all.
      if (kMemoryOfCycles * more > 1)
        continue;
      const MemoryPeak other = memoryPeak(ops, table, changed, backend);
      const double saved = 1 - static_cast<double>(other.bytes) / static_cast<double>(peak.bytes);
      if (saved <= 0 || saved - kMemoryOfCycles * more <= most)
        continue;
      most = saved - kMemoryOfCycles * more;
      best = std::move(changed);
    }
    if (best.empty())
      break;
    division = std::move(best);
    peak = memoryPeak(ops, table, division, backend);
    isOn = true;
  }
  return division;
}
