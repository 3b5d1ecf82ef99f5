//===- NetworkGroups.cpp - The groups of a whole network ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/NetworkGroups.h"
#include "tpuc/Codegen/AddressAssign.h"
#include "tpuc/Codegen/GroupFile.h"
#include "tpuc/Codegen/GroupMemory.h"
#include "tpuc/Codegen/NetworkEmitter.h"
#include "tpuc/Codegen/NetworkSearch.h"
#include "tpuc/Interpreter/Evaluate.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

using Parts = std::vector<SubNetGroups>;

/// The percent of local memory for which groups are chosen as well as for all of it.
constexpr int64_t kSmaller = 90;

/// Those of several groups that need the least global memory may take as many times the cycles of
/// the fastest.
constexpr double kSlower = 1.01;

bool isWeighed(ArrayRef<SubNetGroups> parts) {
  return llvm::any_of(parts, [](const SubNetGroups &part) { return part.fastest.has_value(); });
}

bool isCrowded(ArrayRef<SubNetGroups> parts) {
  return llvm::any_of(parts, [](const SubNetGroups &part) { return part.isCrowded; });
}

/// Chooses groups beside what is kept for the whole network.
class GroupChooser {
public:
  GroupChooser(func::FuncOp main, ArrayRef<SubNetGroups> bare, const PoolPlace &place,
               const GroupOptions &options, const Backend &backend)
      : main(main), bare(bare), place(place), options(options), backend(backend) {}

  /// Groups, their times and places, in `percent` of the memory.
  Expected<Parts> plan(int64_t percent) const;

  /// Takes the groups that the timing simulator prefers. The estimates of groups do not know what
  /// runs beside their neighbours.
  Expected<Parts> preferred(Parts planned) const;

  /// Looks for groups that it prefers to those.
  Expected<Parts> searched(Parts planned) const;

private:
  /// What a run takes.
  struct Costs {
    SmallVector<int64_t> cycles;
    int64_t bytes = 0;
  };

  Expected<void> choose(SubNetGroups &part, std::shared_ptr<GroupPlanner> planner) const;
  Expected<void> take(SubNetGroups &part, Division division) const;
  Expected<void> takeFastest(SubNetGroups &part) const;
  Expected<void> search(SubNetGroups &part) const;
  Expected<void> load(Parts &parts, GroupPlanner &planner) const;
  Expected<void> schedule(SubNetGroups &part) const;
  std::optional<Parts> fastestOf(ArrayRef<SubNetGroups> parts) const;
  std::vector<Parts> othersOf(ArrayRef<SubNetGroups> parts) const;
  Expected<Costs> costsOf(ArrayRef<SubNetGroups> parts) const;
  Expected<size_t> bestOf(ArrayRef<Parts> candidates) const;

  func::FuncOp main;
  /// The sub-networks and their layers, without groups.
  ArrayRef<SubNetGroups> bare;
  const PoolPlace &place;
  const GroupOptions &options;
  const Backend &backend;
};

/// The groups of the file, each for the sub-network that its layers are in.
Expected<void> GroupChooser::load(Parts &parts, GroupPlanner &planner) const {
  std::vector<Operation *> layers;
  for (const SubNetGroups &part : parts)
    llvm::append_range(layers, part.layers);
  Expected<std::vector<GroupPlan>> groups = readGroups(options.file, layers, planner, backend);
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

/// Makes the plans of a division.
Expected<void> GroupChooser::take(SubNetGroups &part, Division division) const {
  Expected<std::vector<GroupPlan>> plans = part.table->plans(division);
  if (!plans)
    return propagate(plans);
  part.groups = std::move(*plans);
  part.division = std::move(division);
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
  if (Expected<void> filled = part.table->fill(); !filled)
    return filled;
  Division best = part.table->best({});
  Division smaller = withLessMemory(part.subNet.layers, *part.table, best, backend);
  if (smaller != best)
    part.fastest = std::move(best);
  return take(part, std::move(smaller));
}

/// When the groups of a part run.
Expected<void> GroupChooser::schedule(SubNetGroups &part) const {
  Expected<NetworkSchedule> made = scheduleNetwork(
      part.subNet.layers, part.groups, backend, place.address, options.heuristics, part.mostFill);
  if (!made)
    return propagate(made);
  part.items = std::move(made->items);
  part.isCrowded = made->isCrowded;
  return {};
}

Expected<Parts> GroupChooser::plan(int64_t percent) const {
  Parts parts(bare.begin(), bare.end());
  const auto planner = std::make_shared<GroupPlanner>(backend, place.address * percent / 100,
                                                      place.pool.operands, options.heuristics);
  if (!options.file.empty())
    if (Expected<void> loaded = load(parts, *planner); !loaded)
      return propagate(loaded);
  for (SubNetGroups &part : parts) {
    if (options.file.empty())
      if (Expected<void> chosen = choose(part, planner); !chosen)
        return propagate(chosen);
    Expected<void> scheduled = schedule(part);
    if (!scheduled && part.fastest)
      scheduled = takeFastest(part);
    if (!scheduled)
      return propagate(scheduled);
  }
  return parts;
}

/// The parts with their fastest groups; none where those do not find their places.
std::optional<Parts> GroupChooser::fastestOf(ArrayRef<SubNetGroups> parts) const {
  Parts others(bare.begin(), bare.end());
  for (auto [other, part] : llvm::zip_equal(others, parts)) {
    other.planner = part.planner;
    other.table = part.table;
    other.division = part.division;
    other.groups = part.groups;
    other.fastest = part.fastest;
    if (!takeFastest(other))
      return std::nullopt;
  }
  return others;
}

/// Other groups than those planned: the fastest, and where memory is crowded those for a smaller
/// one, too.
std::vector<Parts> GroupChooser::othersOf(ArrayRef<SubNetGroups> parts) const {
  std::vector<Parts> made;
  const auto addFastest = [&](ArrayRef<SubNetGroups> of) {
    if (!isWeighed(of))
      return true;
    std::optional<Parts> fastest = fastestOf(of);
    if (fastest)
      made.push_back(std::move(*fastest));
    return fastest.has_value();
  };
  if (addFastest(parts) && !isCrowded(parts))
    return made;
  if (Expected<Parts> smaller = plan(kSmaller)) {
    addFastest(*smaller);
    made.push_back(std::move(*smaller));
  }
  return made;
}

/// The cycles of a run of all sub-networks, by each set of parameters, and its global memory;
/// tensors have addresses.
Expected<GroupChooser::Costs> GroupChooser::costsOf(ArrayRef<SubNetGroups> parts) const {
  Costs costs;
  SmallVector<const GroupPlan *> planned;
  for (const SubNetGroups &part : parts) {
    Expected<SmallVector<int64_t>> cycles = backend.runCycles(
        [&](Emitter &emitter) { return emitPlanned(part.items, place, backend, emitter); });
    if (!cycles)
      return propagate(cycles);
    costs.cycles.resize(cycles->size());
    for (auto [sum, own] : llvm::zip_equal(costs.cycles, *cycles))
      sum += own;
    for (const GroupPlan &group : part.groups)
      planned.push_back(&group);
  }
  Expected<int64_t> bytes = plannedBytes(main, planned, backend);
  if (!bytes)
    return propagate(bytes);
  costs.bytes = *bytes;
  return costs;
}

/// The number of the candidate that needs the least memory of those that are about as fast as the
/// fastest, by the mean over the sets of parameters of what their cycles are to those of the first.
/// Tensors have addresses.
Expected<size_t> GroupChooser::bestOf(ArrayRef<Parts> candidates) const {
  SmallVector<int64_t> first;
  SmallVector<std::pair<int64_t, double>> costs;
  double least = std::numeric_limits<double>::infinity();
  for (const Parts &parts : candidates) {
    Expected<Costs> own = costsOf(parts);
    if (!own)
      return propagate(own);
    if (first.empty())
      first = own->cycles;
    double ratio = 0;
    for (auto [cycles, reference] : llvm::zip_equal(own->cycles, first))
      ratio += static_cast<double>(cycles) / static_cast<double>(reference);
    costs.emplace_back(own->bytes, ratio);
    least = std::min(least, ratio);
  }
  size_t best = costs.size();
  for (auto [number, cost] : llvm::enumerate(costs))
    if (cost.second <= least * kSlower && (best == costs.size() || cost < costs[best]))
      best = number;
  return best;
}

Expected<Parts> GroupChooser::preferred(Parts planned) const {
  std::vector<Parts> candidates = othersOf(planned);
  if (candidates.empty())
    return planned;
  candidates.insert(candidates.begin(), std::move(planned));
  if (Expected<void> assigned = assignTrialAddresses(main, backend); !assigned)
    return propagate(assigned);
  Expected<size_t> best = bestOf(candidates);
  dropAddresses(main);
  if (!best)
    return propagate(best);
  return std::move(candidates[*best]);
}

Expected<void> GroupChooser::search(SubNetGroups &part) const {
  const NetworkTrial trial(main, part.subNet.layers, place, backend, options.heuristics);
  Expected<FoundGroups> found =
      searchGroups(*part.table, part.division, trial,
                   {.isThorough = options.opt == 3, .time = std::chrono::seconds(options.seconds)});
  if (!found)
    return propagate(found);
  part.mostFill = found->fill;
  if (Expected<void> taken = take(part, std::move(found->division)); !taken)
    return taken;
  return schedule(part);
}

/// The simulator is asked about commands, which need addresses.
Expected<Parts> GroupChooser::searched(Parts planned) const {
  if (Expected<void> assigned = assignTrialAddresses(main, backend); !assigned)
    return propagate(assigned);
  Expected<void> done;
  for (SubNetGroups &part : planned)
    if (done)
      done = search(part);
  dropAddresses(main);
  if (!done)
    return propagate(done);
  return planned;
}

/// The sub-networks of the chip and their layers, without groups.
Expected<Parts> bareParts(func::FuncOp main, const GroupOptions &options, const Backend &backend) {
  const bool withJoins = options.heuristics.joins && (options.opt != 0 || !options.file.empty());
  Parts parts;
  for (SubNet &subNet : subNetsOf(main.front())) {
    if (subNet.isCpu)
      continue;
    Expected<std::vector<Operation *>> layers = localLayers(subNet.layers, backend, withJoins);
    if (!layers)
      return propagate(layers);
    parts.push_back({.subNet = std::move(subNet), .layers = std::move(*layers)});
  }
  return parts;
}

ConstantPool shortConstants(ArrayRef<SubNetGroups> parts, const Backend &backend) {
  std::vector<Operation *> layers;
  for (const SubNetGroups &part : parts)
    llvm::append_range(layers, part.layers);
  return poolConstants(layers, backend);
}

} // namespace

Expected<NetworkGroups> codegen::chooseGroups(func::FuncOp main, const GroupOptions &options,
                                              const Backend &backend) {
  Expected<Parts> bare = bareParts(main, options, backend);
  if (!bare)
    return propagate(bare);
  std::optional<Error> failure;
  SmallVector<ConstantPool> pools(1);
  if (options.heuristics.constantPool)
    pools.insert(pools.begin(), shortConstants(*bare, backend));
  for (const ConstantPool &pool : pools) {
    const PoolPlace place = {
        .pool = pool, .address = int64_t{backend.info().memory.localBytesPerLane} - pool.bytes};
    const GroupChooser chooser(main, *bare, place, options, backend);
    for (int64_t percent : {100, 90, 75, 50}) {
      Expected<Parts> parts = chooser.plan(percent);
      if (!parts) {
        if (!failure)
          failure = parts.error();
        continue;
      }
      const bool isFree = options.opt > 0 && options.file.empty();
      if (isFree && percent == 100)
        parts = chooser.preferred(std::move(*parts));
      if (isFree && options.opt > 1 && parts)
        parts = chooser.searched(std::move(*parts));
      if (!parts)
        return propagate(parts);
      return NetworkGroups{.parts = std::move(*parts), .pool = pool, .poolAddress = place.address};
    }
  }
  return tl::unexpected<Error>(*failure);
}
