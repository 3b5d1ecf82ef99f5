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
#include "tpuc/Codegen/GroupSearch.h"
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

/// Groups that need less global memory may take as many times the cycles of others.
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

private:
  Expected<void> choose(SubNetGroups &part, GroupPlanner &planner) const;
  Expected<void> search(SubNetGroups &part, GroupTable &table) const;
  Expected<void> load(Parts &parts, GroupPlanner &planner) const;
  Expected<void> schedule(SubNetGroups &part) const;
  std::optional<Parts> fastestOf(ArrayRef<SubNetGroups> parts) const;
  std::vector<Parts> othersOf(ArrayRef<SubNetGroups> parts) const;
  Expected<SmallVector<int64_t>> cyclesOf(ArrayRef<SubNetGroups> parts) const;
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

/// Groups that the timing simulator prefers. It is asked about commands, which need addresses.
Expected<void> GroupChooser::search(SubNetGroups &part, GroupTable &table) const {
  if (Expected<void> assigned = assignTrialAddresses(main, backend); !assigned)
    return assigned;
  const NetworkTrial trial(part.subNet.layers, place, backend, options.heuristics);
  Expected<FoundGroups> found =
      searchGroups(table, trial,
                   {.isThorough = options.opt == 3, .time = std::chrono::seconds(options.seconds)});
  dropAddresses(main);
  if (!found)
    return propagate(found);
  part.mostFill = found->fill;
  Expected<std::vector<GroupPlan>> plans = table.plans(found->division);
  if (!plans)
    return propagate(plans);
  part.groups = std::move(*plans);
  return {};
}

Expected<void> GroupChooser::choose(SubNetGroups &part, GroupPlanner &planner) const {
  const auto take = [](std::vector<GroupPlan> &to,
                       Expected<std::vector<GroupPlan>> plans) -> Expected<void> {
    if (!plans)
      return propagate(plans);
    to = std::move(*plans);
    return {};
  };
  if (options.opt == 0)
    return take(part.groups, separateGroups(part.layers, planner));
  GroupTable table(part.layers, planner, backend);
  if (Expected<void> filled = table.fill(); !filled)
    return filled;
  if (options.opt > 1)
    return search(part, table);
  const Division best = table.best({});
  const Division smaller = withLessMemory(part.subNet.layers, table, best, backend);
  if (smaller != best)
    if (Expected<void> taken = take(part.fastest.emplace(), table.plans(best)); !taken)
      return taken;
  return take(part.groups, table.plans(smaller));
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
  GroupPlanner planner(backend, place.address * percent / 100, place.pool.operands,
                       options.heuristics);
  if (!options.file.empty())
    if (Expected<void> loaded = load(parts, planner); !loaded)
      return propagate(loaded);
  for (SubNetGroups &part : parts) {
    if (options.file.empty())
      if (Expected<void> chosen = choose(part, planner); !chosen)
        return propagate(chosen);
    Expected<void> scheduled = schedule(part);
    if (!scheduled && part.fastest) {
      part.groups = std::move(*part.fastest);
      part.fastest.reset();
      scheduled = schedule(part);
    }
    if (!scheduled)
      return propagate(scheduled);
  }
  return parts;
}

/// The parts with their fastest groups; none where those do not find their places.
std::optional<Parts> GroupChooser::fastestOf(ArrayRef<SubNetGroups> parts) const {
  Parts others(bare.begin(), bare.end());
  for (auto [other, part] : llvm::zip_equal(others, parts)) {
    other.groups = part.fastest ? *part.fastest : part.groups;
    if (!schedule(other))
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

/// The cycles of a run of all sub-networks, by each set of parameters; tensors have addresses.
Expected<SmallVector<int64_t>> GroupChooser::cyclesOf(ArrayRef<SubNetGroups> parts) const {
  SmallVector<int64_t> sums;
  for (const SubNetGroups &part : parts) {
    Expected<SmallVector<int64_t>> cycles = backend.runCycles(
        [&](Emitter &emitter) { return emitPlanned(part.items, place, backend, emitter); });
    if (!cycles)
      return cycles;
    sums.resize(cycles->size());
    for (auto [sum, own] : llvm::zip_equal(sums, *cycles))
      sum += own;
  }
  return sums;
}

/// The number of the candidate that takes the fewest cycles, in the mean over the sets of
/// parameters of what they are to those of the first. Tensors have addresses.
Expected<size_t> GroupChooser::bestOf(ArrayRef<Parts> candidates) const {
  SmallVector<int64_t> first;
  size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (auto [number, parts] : llvm::enumerate(candidates)) {
    Expected<SmallVector<int64_t>> cycles = cyclesOf(parts);
    if (!cycles)
      return propagate(cycles);
    if (number == 0)
      first = *cycles;
    double ratio = 0;
    for (auto [own, reference] : llvm::zip_equal(*cycles, first))
      ratio += static_cast<double>(own) / static_cast<double>(reference);
    if (isWeighed(parts))
      ratio /= kSlower;
    if (ratio >= least)
      continue;
    least = ratio;
    best = number;
  }
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
      if (options.opt == 1 && percent == 100 && options.file.empty())
        parts = chooser.preferred(std::move(*parts));
      if (!parts)
        return propagate(parts);
      return NetworkGroups{.parts = std::move(*parts), .pool = pool, .poolAddress = place.address};
    }
  }
  return tl::unexpected<Error>(*failure);
}
