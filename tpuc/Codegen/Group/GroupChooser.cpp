//===- GroupChooser.cpp - Groups by estimate, and when they run -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupChooser.h"
#include "tpuc/Codegen/Group/GroupFile.h"
#include "tpuc/Codegen/Group/GroupMemory.h"
#include "tpuc/Dialect/Top/Names.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// Groups with the least work of both engines, however much of it runs side by side.
static constexpr GroupWeights kWork = {.estimate = 0, .compute = 0.5, .transfers = 0.5};
/// Networks of more layers have too many groups for these to be worth a second schedule.
static constexpr size_t kMostOfLessWork = 384;

std::vector<Operation *> codegen::layersOf(ArrayRef<SubNetGroups> parts) {
  std::vector<Operation *> layers;
  for (const SubNetGroups &part : parts)
    llvm::append_range(layers, part.layers);
  return layers;
}

/// The groups of the file, each for the sub-network that its layers are in.
Expected<void> GroupChooser::load(Parts &parts, GroupPlanner &planner) const {
  Expected<std::vector<GroupPlan>> groups =
      readGroups(options.file, layersOf(parts), planner, backend);
  if (!groups)
    return propagate(groups);
  for (GroupPlan &group : *groups)
    for (SubNetGroups &part : parts) {
      const auto isHere = [&](Operation *layer) { return llvm::is_contained(part.layers, layer); };
      if (!isHere(group.layers.front()))
        continue;
      if (!llvm::all_of(group.layers, isHere))
        return makeError(options.file, "the group of '" + layerName(group.layers.front()) +
                                           "' is in several sub-networks");
      part.groups.push_back(std::move(group));
      break;
    }
  return {};
}

/// Makes the plans of a partition.
Expected<void> GroupChooser::take(SubNetGroups &part, Partition partition) const {
  Expected<std::vector<GroupPlan>> plans = part.table->plans(partition);
  if (!plans)
    return propagate(plans);
  part.groups = std::move(*plans);
  part.partition = std::move(partition);
  return {};
}

/// The fastest groups by estimate instead of those that need less memory.
Expected<void> GroupChooser::takeFastest(SubNetGroups &part) const {
  if (part.fastest)
    if (Expected<void> taken = take(part, *std::exchange(part.fastest, std::nullopt)); !taken)
      return taken;
  return schedule(part);
}

Expected<void> GroupChooser::choose(SubNetGroups &part,
                                    std::shared_ptr<GroupPlanner> planner) const {
  if (options.opt == 0) {
    Expected<std::vector<GroupPlan>> plans = separateGroups(part.layers, *planner);
    if (!plans)
      return propagate(plans);
    part.groups = std::move(*plans);
    return {};
  }
  part.planner = std::move(planner);
  part.table = std::make_shared<GroupTable>(part.layers, *part.planner, backend);
  if (Expected<void> filled = part.table->fill(threads); !filled)
    return filled;
  Partition best = part.table->best({});
  Partition smaller = withLessMemory(part.subNet.layers, *part.table, best, backend);
  if (smaller != best)
    part.fastest = std::move(best);
  return take(part, std::move(smaller));
}

/// When the groups of a part run.
Expected<void> GroupChooser::schedule(SubNetGroups &part, SmallVectorImpl<size_t> *unplaced) const {
  Expected<NetworkSchedule> made =
      scheduleNetwork(part.subNet.layers, part.groups, backend, place, options.heuristics,
                      part.mostFill, kAllocatorWork, part.order, unplaced);
  if (!made)
    return propagate(made);
  part.items = std::move(made->items);
  part.poolUnits = std::move(made->poolUnits);
  part.fill = made->fill;
  part.isCrowded = made->isCrowded;
  return {};
}

/// Groups of a partition with those divided that `unplaced` names among its plans; all that can be,
/// where none of those can.
static Partition finer(const GroupTable &table, const Partition &partition,
                       ArrayRef<size_t> unplaced) {
  const auto divide = [&](auto &&isInTheWay) {
    Partition made;
    size_t number = 0;
    for (const GroupChoice &choice : partition) {
      const bool hasPlan = !(choice.isAlone && table.isFree(choice.first));
      if (choice.count > 1 && isInTheWay(number))
        llvm::append_range(made, table.divided(choice));
      else
        made.push_back(choice);
      number += hasPlan ? 1 : 0;
    }
    return made;
  };
  Partition made = divide([&](size_t number) { return llvm::is_contained(unplaced, number); });
  return made != partition ? made : divide([](size_t) { return true; });
}

/// Divides groups that stand in the way of others until all find their places: at the latest when
/// each layer is by itself. Errors: even then there is no room.
Expected<void> GroupChooser::scheduleDivided(SubNetGroups &part) const {
  while (true) {
    SmallVector<size_t> unplaced;
    Expected<void> scheduled = schedule(part, &unplaced);
    if (scheduled)
      return scheduled;
    Partition divided = finer(*part.table, part.partition, unplaced);
    if (divided == part.partition)
      return scheduled;
    part.fastest.reset();
    if (Expected<void> taken = take(part, std::move(divided)); !taken)
      return taken;
  }
}

/// The times and places of groups that are chosen.
Expected<Parts> GroupChooser::scheduled(Parts parts, bool divides) const {
  for (SubNetGroups &part : parts) {
    Expected<void> scheduled = divides ? scheduleDivided(part) : schedule(part);
    if (!scheduled && part.fastest)
      scheduled = takeFastest(part);
    if (!scheduled)
      return propagate(scheduled);
  }
  return parts;
}

Expected<Parts> GroupChooser::plan(int64_t percent, std::optional<Parts> *divided) const {
  Parts parts(bare.begin(), bare.end());
  const auto planner =
      std::make_shared<GroupPlanner>(backend, place.capacity(backend.info()).share(percent, 100),
                                     place.pool.operands, options.heuristics);
  if (!options.file.empty())
    if (Expected<void> loaded = load(parts, *planner); !loaded)
      return propagate(loaded);
  if (options.file.empty())
    for (SubNetGroups &part : parts)
      if (Expected<void> chosen = choose(part, planner); !chosen)
        return propagate(chosen);
  Expected<Parts> made = scheduled(parts, /*divides=*/false);
  if (!made && divided)
    if (Expected<Parts> finer = scheduled(std::move(parts), /*divides=*/true))
      *divided = std::move(*finer);
  return made;
}

Expected<Parts> GroupChooser::again(const KnownGroups &known) const {
  Parts parts(bare.begin(), bare.end());
  const auto planner =
      std::make_shared<GroupPlanner>(backend, known.limit, place.pool.operands, options.heuristics);
  for (auto [part, chosen] : llvm::zip_equal(parts, known.parts)) {
    part.planner = planner;
    part.table = std::make_shared<GroupTable>(part.layers, *planner, backend);
    part.mostFill = chosen.fill;
    part.order = chosen.order;
    if (Expected<void> taken = take(part, chosen.partition); !taken)
      return propagate(taken);
    if (Expected<void> done = schedule(part); !done)
      return propagate(done);
  }
  return parts;
}

/// Gives a sub-network without groups those of the same one elsewhere, without when they run.
static void copyGroups(const SubNetGroups &from, SubNetGroups &to) {
  to.planner = from.planner;
  to.table = from.table;
  to.partition = from.partition;
  to.groups = from.groups;
}

/// The parts with their fastest groups; none where those do not find their places.
std::optional<Parts> GroupChooser::fastestOf(ArrayRef<SubNetGroups> parts) const {
  Parts others(bare.begin(), bare.end());
  for (auto [other, part] : llvm::zip_equal(others, parts)) {
    copyGroups(part, other);
    other.fastest = part.fastest;
    if (!takeFastest(other))
      return std::nullopt;
  }
  return others;
}

/// The groups of `kWork` in the same memory; none where those are the same, do not find their
/// places, or there are many layers.
std::optional<Parts> GroupChooser::withLeastWork(ArrayRef<SubNetGroups> parts) const {
  Parts others(bare.begin(), bare.end());
  bool isOther = false;
  for (auto [other, part] : llvm::zip_equal(others, parts)) {
    if (!part.table || part.layers.size() > kMostOfLessWork)
      return std::nullopt;
    other.planner = part.planner;
    other.table = part.table;
    Partition partition = part.table->best(kWork);
    isOther |= partition != part.partition;
    if (!take(other, std::move(partition)) || !schedule(other))
      return std::nullopt;
  }
  return isOther ? std::optional(std::move(others)) : std::nullopt;
}

/// The same groups with loads in another order; none where they do not find their places.
std::optional<Parts> GroupChooser::inOrder(LoadOrder order, ArrayRef<SubNetGroups> parts) const {
  Parts others(bare.begin(), bare.end());
  for (auto [other, part] : llvm::zip_equal(others, parts)) {
    copyGroups(part, other);
    other.mostFill = part.mostFill;
    other.order = order;
    if (!schedule(other))
      return std::nullopt;
  }
  return others;
}
