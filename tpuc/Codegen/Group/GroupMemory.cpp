//===- GroupMemory.cpp - Groups that need less global memory -------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupMemory.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

#include <map>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// So many percent of memory are worth one of cycles.
constexpr double kMemoryOfCycles = 8;

/// Each change that is tried looks at all ops. Together they look at about as many as this: in long
/// networks few changes are tried.
constexpr size_t kMostOps = 2'000'000;

/// What a group, or an op that moves data, reads and writes of global memory.
struct Traffic {
  SmallVector<Value> reads, writes;
};

/// A group, or an op that moves data.
struct MemoryItem {
  /// The last of its layers.
  Operation *last = nullptr;
  const Traffic *traffic = nullptr;
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
    const bool isTiled =
        llvm::any_of(tensor.axisTiles, [](const auto &axisTiles) { return axisTiles.size() > 1; });
    lastLoad = std::max(lastLoad,
                        tensor.transferStep + (isTiled ? plan.numTiles() - 1 : 0) * plan.period());
  }
  return lastLoad <= firstStore;
}

/// What is asked again for every partition, each found out once.
class MemoryFacts {
public:
  MemoryFacts(ArrayRef<Operation *> ops, GroupTable &table, const Backend &backend)
      : table(table), backend(backend), own(ops.begin(), ops.end()) {}

  /// Whether a group loads before it stores.
  bool loadsFirst(const GroupChoice &choice) {
    const auto [entry, isNew] = orders.try_emplace(choice, false);
    if (isNew)
      if (Expected<GroupPlan> plan = table.plan(choice))
        entry->second = ::loadsFirst(*plan);
    return entry->second;
  }

  /// Whether an op names the memory of its operand.
  bool isAlias(Operation *op) {
    const auto [entry, isNew] = aliases.try_emplace(op, isa<top::InputOp>(op));
    if (isNew && !entry->second) {
      Expected<Place> place = backend.placeOf(op);
      entry->second = place && *place == Place::Alias;
    }
    return entry->second;
  }

  const Traffic *trafficOf(ArrayRef<Operation *> members) {
    std::unique_ptr<Traffic> &known = traffic[{members.front(), members.size()}];
    if (!known)
      known = std::make_unique<Traffic>(Traffic{reads(members), writes(members)});
    return known.get();
  }

  /// Whether something outside of the sub-network reads a tensor, perhaps under another name.
  bool leaves(Value value) {
    if (auto found = left.find(value); found != left.end())
      return found->second;
    bool isRead = false;
    SmallVector<Value> names = {value};
    for (size_t next = 0; next < names.size(); ++next)
      for (Operation *user : names[next].getUsers()) {
        if (!user->hasTrait<OpTrait::IsTerminator>() && isAlias(user))
          llvm::append_range(names, user->getResults());
        else
          isRead = isRead || !own.contains(user);
      }
    return left[value] = isRead;
  }

private:
  /// The tensor in whose memory a value lies.
  Value root(Value value);
  SmallVector<Value> reads(ArrayRef<Operation *> members);
  static SmallVector<Value> writes(ArrayRef<Operation *> members);

  GroupTable &table;
  const Backend &backend;
  /// The ops of the sub-network.
  llvm::DenseSet<Operation *> own;
  std::map<GroupChoice, bool> orders;
  llvm::DenseMap<Operation *, bool> aliases;
  /// By the first layer and the number of layers, which follow each other.
  llvm::DenseMap<std::pair<Operation *, size_t>, std::unique_ptr<Traffic>> traffic;
  llvm::DenseMap<Value, bool> left;
};

/// What lives in global memory while a sub-network runs.
class MemoryLine {
public:
  MemoryLine(ArrayRef<Operation *> ops, const GroupTable &table, MemoryFacts &facts,
             const Partition &partition)
      : facts(facts) {
    collect(ops, table, partition);
    setEnds();
  }
  MemoryPeak peak() const;

private:
  void collect(ArrayRef<Operation *> ops, const GroupTable &table, const Partition &partition);
  void setEnds();

  MemoryFacts &facts;
  std::vector<MemoryItem> items;
  /// The number of the last item that reads a tensor; of what leaves the sub-network, that behind
  /// all.
  llvm::DenseMap<Value, size_t> ends;
};

Value MemoryFacts::root(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isConstant(op) || !isAlias(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Groups stand where their last layer does.
void MemoryLine::collect(ArrayRef<Operation *> ops, const GroupTable &table,
                         const Partition &partition) {
  llvm::DenseMap<Operation *, size_t> lastOf;
  llvm::DenseSet<Operation *> members;
  for (auto [number, choice] : llvm::enumerate(partition)) {
    if (choice.isAlone && table.isFree(choice.first))
      continue;
    const ArrayRef<Operation *> layers = table.layersOf(choice);
    lastOf[layers.back()] = number;
    members.insert(layers.begin(), layers.end());
  }
  for (Operation *op : ops) {
    if (auto found = lastOf.find(op); found != lastOf.end()) {
      const GroupChoice &choice = partition[found->second];
      items.push_back({.last = op,
                       .traffic = facts.trafficOf(table.layersOf(choice)),
                       .group = found->second,
                       .isApart = facts.loadsFirst(choice)});
    } else if (!members.contains(op) && !facts.isAlias(op)) {
      items.push_back({.last = op,
                       .traffic = facts.trafficOf(op),
                       .isApart = isa<tpu::ConcatOp, tpu::SplitOp>(op)});
    }
  }
}

SmallVector<Value> MemoryFacts::reads(ArrayRef<Operation *> members) {
  llvm::SetVector<Value> values;
  for (Operation *op : members)
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!(producer && (isConstant(producer) || llvm::is_contained(members, producer))))
        values.insert(root(operand));
    }
  return values.takeVector();
}

SmallVector<Value> MemoryFacts::writes(ArrayRef<Operation *> members) {
  SmallVector<Value> values;
  for (Operation *op : members)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !llvm::is_contained(members, user); }))
        values.push_back(result);
  return values;
}

void MemoryLine::setEnds() {
  for (auto [number, item] : llvm::enumerate(items))
    for (Value value : item.traffic->reads)
      ends[value] = number;
  for (const MemoryItem &item : items)
    for (Value result : item.traffic->writes)
      if (facts.leaves(result))
        ends[result] = items.size();
}

MemoryPeak MemoryLine::peak() const {
  const auto bytesOf = [](Value value) { return globalBytes(value.getType()); };
  int64_t alive = 0;
  llvm::DenseSet<Value> made;
  for (const MemoryItem &item : items)
    for (Value value : item.traffic->writes)
      made.insert(value);
  // What is made outside is there from the beginning.
  for (const auto &[value, end] : ends)
    alive += made.contains(value) ? 0 : bytesOf(value);
  MemoryPeak peak;
  for (auto [number, item] : llvm::enumerate(items)) {
    int64_t results = 0;
    int64_t dying = 0;
    for (Value value : item.traffic->writes)
      results += bytesOf(value);
    for (Value value : item.traffic->reads)
      dying += ends.lookup(value) == number ? bytesOf(value) : 0;
    const int64_t most = item.isApart ? std::max(alive, alive + results - dying) : alive + results;
    if (most > peak.bytes)
      peak = {.bytes = most, .group = item.group, .op = item.last};
    peak.times += most == peak.bytes ? 1 : 0;
    alive += results - dying;
  }
  return peak;
}

/// Groups that follow each other in a partition, and others with the same layers.
struct Change {
  size_t first = 0, count = 1;
  Partition groups;
};

/// What the groups [first, first + count) may become: one, or two with any border.
void addChanges(GroupTable &table, const Partition &partition, size_t first, size_t count,
                std::vector<Change> &made) {
  constexpr size_t kWays = 2;
  const unsigned begin = partition[first].first;
  const unsigned end = partition[first + count - 1].end();
  for (const GroupTable::Option &option : table.options(begin, end - begin))
    made.push_back({first, count, {option.choice}});
  for (unsigned middle = begin + 1; middle < end; ++middle) {
    const std::vector<GroupTable::Option> fronts = table.known(begin, middle - begin);
    const std::vector<GroupTable::Option> backs = table.known(middle, end - middle);
    for (const GroupTable::Option &front : ArrayRef(fronts).take_front(kWays))
      for (const GroupTable::Option &back : ArrayRef(backs).take_front(kWays))
        made.push_back({first, count, {front.choice, back.choice}});
  }
}

/// What a group may become, by itself and together with a few on each side; concatenations that
/// stand alone do not count.
std::vector<Change> changesOf(GroupTable &table, const Partition &partition, size_t group) {
  const auto isFree = [&](size_t number) {
    return partition[number].isAlone && table.isFree(partition[number].first);
  };
  constexpr size_t kNeighbours = 3;
  size_t least = group;
  for (size_t met = 0; least > 0 && met < kNeighbours; met += isFree(least) ? 0 : 1)
    --least;
  size_t most = group;
  for (size_t met = 0; most + 1 < partition.size() && met < kNeighbours;
       met += isFree(most) ? 0 : 1)
    ++most;
  std::vector<Change> made;
  for (size_t first = least; first <= group; ++first)
    for (size_t last = group; last <= most; ++last)
      addChanges(table, partition, first, last + 1 - first, made);
  return made;
}

Partition changed(const Partition &partition, const Change &change) {
  const auto first = partition.begin() + static_cast<int64_t>(change.first);
  Partition made(partition.begin(), first);
  llvm::append_range(made, change.groups);
  made.insert(made.end(), first + static_cast<int64_t>(change.count), partition.end());
  return made;
}

} // namespace

MemoryPeak codegen::memoryPeak(ArrayRef<Operation *> ops, GroupTable &table,
                               const Partition &partition, const Backend &backend) {
  MemoryFacts facts(ops, table, backend);
  return MemoryLine(ops, table, facts, partition).peak();
}

Partition codegen::withLessMemory(ArrayRef<Operation *> ops, GroupTable &table, Partition partition,
                                  const Backend &backend) {
  const auto estimateOf = [&](const Partition &groups) {
    int64_t sum = 0;
    for (const GroupChoice &choice : groups)
      sum += table.estimateOf(choice);
    return static_cast<double>(std::max<int64_t>(sum, 1));
  };
  MemoryFacts facts(ops, table, backend);
  const auto peakOf = [&](const Partition &groups) {
    return MemoryLine(ops, table, facts, groups).peak();
  };
  MemoryPeak peak = peakOf(partition);
  double estimate = estimateOf(partition);
  // Another partition with that peak beside fewer groups, on the way to one with a lower peak.
  Partition next = partition;
  size_t left = kMostOps / std::max<size_t>(ops.size(), 1);
  while (left > 0) {
    const MemoryPeak here = peakOf(next);
    if (!here.group)
      break;
    double most = 0;
    Partition best;
    double least = std::numeric_limits<double>::infinity();
    Partition fewer;
    for (const Change &change : changesOf(table, next, *here.group)) {
      if (left == 0)
        break;
      --left;
      Partition groups = changed(next, change);
      const double more = estimateOf(groups) / estimate - 1;
      // No change saves more than all.
      if (kMemoryOfCycles * more > 1)
        continue;
      const MemoryPeak other = peakOf(groups);
      const double saved = 1 - static_cast<double>(other.bytes) / static_cast<double>(peak.bytes);
      const double gain = saved - kMemoryOfCycles * more;
      if (saved > 0 && gain > most) {
        most = gain;
        best = std::move(groups);
      } else if (other.bytes == peak.bytes && other.times < here.times && more < least) {
        least = more;
        fewer = std::move(groups);
      }
    }
    if (best.empty() && fewer.empty())
      break;
    next = best.empty() ? std::move(fewer) : std::move(best);
    if (most > 0) {
      partition = next;
      peak = peakOf(partition);
      estimate = estimateOf(partition);
    }
  }
  return partition;
}
