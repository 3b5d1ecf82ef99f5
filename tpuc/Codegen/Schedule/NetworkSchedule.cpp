//===- NetworkSchedule.cpp - All groups on one time line ----------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Schedule/NetworkSchedule.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Place/KnownPlaces.h"
#include "tpuc/Codegen/Schedule/GroupSteps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"

#include <numeric>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// How much later than necessary a group may begin, so that it does not meet what is left of the
/// one in front. Units in which nothing is computed take no time.
constexpr int64_t kMaxDelay = 256;

/// Units, both included.
struct Interval {
  int64_t first = 0, last = 0;
};

/// Whether the schedule of the network may still choose when a tensor is loaded: constants that
/// never change, and in groups of one tile everything.
bool isMovable(const GroupPlan &group, const GroupTensor &tensor) {
  return tensor.isLoaded() && !tensor.container && tensor.numVersions == 1 &&
         (group.numTiles() == 1 || tensor.isConstant);
}

/// Whether it may choose when the first of several tiles is loaded: constants that would come
/// while the group in front runs.
bool mayBeginEarly(const GroupPlan &group, const GroupTensor &tensor) {
  return tensor.isLoaded() && !tensor.container && tensor.isConstant && tensor.numVersions > 1 &&
         tensor.transferStep < 0;
}

/// The steps in which a movable load must be there: while it is read, in groups of several tiles
/// always.
Interval neededSteps(const GroupPlan &group, const GroupTensor &tensor) {
  if (group.numTiles() > 1)
    return {0, group.period() - 1};
  const auto [first, last] = readSteps(tensor);
  return {first, last};
}

/// Steps in which a tensor, or its tiles in turn, occupy its place.
SmallVector<Interval> occupied(const GroupPlan &group, const GroupTensor &tensor) {
  const int64_t period = group.period();
  const Interval life = {tensor.firstStep, tensor.lastStep};
  if (group.numTiles() == 1)
    return {life};
  if (group.isAlwaysAlive(tensor))
    return {{std::min<int64_t>(life.first, 0), std::max(life.last, period - 1)}};
  SmallVector<Interval> intervals;
  // The tiles before and behind, inside the period; the first and the last one, outside of it.
  for (int64_t shift : {-period, int64_t{0}, period}) {
    const Interval part = {std::max<int64_t>(life.first + shift, 0),
                           std::min(life.last + shift, period - 1)};
    if (part.first <= part.last)
      intervals.push_back(part);
  }
  if (life.first < 0)
    intervals.push_back({life.first, -1});
  if (life.last >= period)
    intervals.push_back({period, life.last});
  return intervals;
}

/// What a group takes that cannot be moved, in each step from `first` on.
struct Occupancy {
  explicit Occupancy(const GroupPlan &group);
  /// Of a move, which takes one unit.
  explicit Occupancy(const Footprint &needed) : bytes({needed}) {}

  int64_t first = 0;
  std::vector<Footprint> bytes;

private:
  void add(Interval steps, unsigned space, int64_t amount);
};

Occupancy::Occupancy(const GroupPlan &group) {
  for (const GroupTensor &tensor : group.tensors)
    first = std::min(first, tensor.firstStep);
  for (auto [layer, scratch] : llvm::enumerate(group.scratchBytes))
    add({static_cast<int64_t>(layer), static_cast<int64_t>(layer)}, kTileSpace, scratch);
  for (const GroupTensor &tensor : group.tensors) {
    SmallVector<Interval> intervals = occupied(group, tensor);
    if (isMovable(group, tensor))
      intervals = {neededSteps(group, tensor)};
    for (const Interval &interval : intervals)
      add(interval, tensor.space, group.ownBytes(tensor));
  }
}

void Occupancy::add(Interval steps, unsigned space, int64_t amount) {
  bytes.resize(std::max(bytes.size(), static_cast<size_t>(steps.last - first + 1)));
  for (int64_t step = steps.first; step <= steps.last; ++step)
    bytes[static_cast<size_t>(step - first)][space] += amount;
}

using GroupSet = llvm::SmallPtrSet<const GroupPlan *, 4>;

class Scheduler {
public:
  Scheduler(ArrayRef<Operation *> layers, ArrayRef<const GroupPlan *> groups,
            const Backend &backend, const PoolPlace &pool, const Heuristics &heuristics,
            LoadOrder order = LoadOrder::AsEarly)
      : layers(layers), groups(groups), backend(backend), pool(pool.pool),
        capacity(pool.capacity(backend.info())), heuristics(heuristics), order(order) {}

  /// `own`: the groups themselves, which get their steps and places.
  Expected<NetworkSchedule> run(MutableArrayRef<GroupPlan> own, int64_t mostFill, uint64_t work);
  Expected<int64_t> estimate();
  /// The numbers of the groups that stood in the way where the last try found no room.
  SmallVector<size_t> unplaced() const;

private:
  Expected<void> collect();
  int64_t available(Value value) const;
  Expected<void> start(ScheduleItem &item);
  bool fitsAt(const Occupancy &group, int64_t start) const;
  Expected<void> findRoom(const Occupancy &occupancy, ScheduleItem &item) const;
  void occupy(const Occupancy &group, int64_t start);
  void buildUnits();
  Expected<bool> place(int64_t limit);
  SmallVector<int64_t> poolNeeds() const;
  Expected<int64_t> moveLoads(const Footprint &room);
  /// One of the groups, to be changed.
  GroupPlan &changing(const GroupPlan &group) const { return own[&group - own.data()]; }
  Footprint neededBytes() const;
  Expected<bool> allocate(unsigned space, uint64_t work);
  Expected<bool> allocate(uint64_t work);

  ArrayRef<Operation *> layers;
  ArrayRef<const GroupPlan *> groups;
  /// None where there is only an estimate.
  MutableArrayRef<GroupPlan> own;
  const Backend &backend;
  const ResidentConstants &pool;
  Footprint capacity;
  Heuristics heuristics;
  LoadOrder order;
  std::vector<ScheduleItem> items;
  SmallVector<int64_t> poolUnits;
  /// The unit in which a tensor of global memory is complete.
  llvm::DenseMap<Value, int64_t> complete;
  std::vector<Footprint> bytes;
  std::vector<ScheduleUnit> units;
  int64_t end = 0;
  /// Of the loads that were moved last.
  std::vector<MovableLoad> loads;
  /// Those that stood in the way when something found no room last.
  GroupSet crowded;
};

int64_t Scheduler::available(Value value) const {
  auto found = complete.find(value);
  return found == complete.end() ? -1 : found->second;
}

bool Scheduler::fitsAt(const Occupancy &group, int64_t start) const {
  if (start + group.first < 0)
    return false;
  for (auto [step, amount] : llvm::enumerate(group.bytes)) {
    const size_t unit = static_cast<size_t>(start + group.first) + step;
    if (!(unit < bytes.size() ? bytes[unit] + amount : amount).fits(capacity))
      return false;
  }
  return true;
}

void Scheduler::occupy(const Occupancy &group, int64_t start) {
  const auto first = static_cast<size_t>(start + group.first);
  bytes.resize(std::max(bytes.size(), first + group.bytes.size()));
  for (auto [step, amount] : llvm::enumerate(group.bytes))
    bytes[first + step] += amount;
}

/// Lets an item begin so late that it does not meet what is left in front of it.
Expected<void> Scheduler::findRoom(const Occupancy &occupancy, ScheduleItem &item) const {
  for (int64_t delay = 0; !fitsAt(occupancy, item.start); ++delay, ++item.start)
    if (delay == kMaxDelay)
      return makeError("layer '" + layerName(item.group ? item.group->layers.front() : item.move) +
                           "'",
                       "it does not fit local memory behind the group in front");
  return {};
}

Expected<void> Scheduler::start(ScheduleItem &item) {
  item.start = end;
  if (item.move) {
    for (Value operand : item.move->getOperands())
      item.start = std::max(item.start, available(operand) + 1);
    if (backend.takesLocalMemory(item.move)) {
      const Occupancy all(capacity);
      if (Expected<void> placed = findRoom(all, item); !placed)
        return placed;
      occupy(all, item.start);
    }
    for (Value result : item.move->getResults())
      complete[result] = item.start;
    end = item.start + 1;
    return {};
  }
  const GroupPlan &group = *item.group;
  for (const GroupTensor &tensor : group.tensors)
    if (tensor.isLoaded() && !tensor.isConstant)
      item.start = std::max(item.start, available(tensor.value) + 1 -
                                            (isMovable(group, tensor) ? readSteps(tensor).first
                                                                      : tensor.transferStep));
  // Nothing begins before the network does.
  for (const GroupTensor &tensor : group.tensors)
    item.start = std::max(item.start, -tensor.firstStep);
  const Occupancy occupancy(group);
  if (Expected<void> placed = findRoom(occupancy, item); !placed)
    return placed;
  occupy(occupancy, item.start);
  end = item.start + group.period();
  for (const GroupTensor &tensor : group.tensors)
    if (tensor.isStored)
      complete[tensor.value] = item.start + tensor.transferStep;
  return {};
}

/// Groups stand where their last layer does.
Expected<void> Scheduler::collect() {
  llvm::DenseMap<Operation *, const GroupPlan *> lastOf;
  llvm::DenseSet<Operation *> members;
  for (const GroupPlan *group : groups) {
    lastOf[group->layers.back()] = group;
    members.insert(group->layers.begin(), group->layers.end());
  }
  for (Operation *op : layers) {
    if (auto found = lastOf.find(op); found != lastOf.end()) {
      items.push_back({.group = found->second});
    } else if (!members.contains(op)) {
      Expected<Place> place = backend.placeOf(op);
      if (place && *place == Place::Alias) {
        for (Value result : op->getResults())
          complete[result] = available(op->getOperand(0));
        continue;
      }
      items.push_back({.move = op});
    } else {
      continue;
    }
    if (Expected<void> started = start(items.back()); !started) {
      for (const ScheduleItem &item : ArrayRef(items).take_back(2))
        crowded.insert(item.group);
      return started;
    }
  }
  return {};
}

void Scheduler::buildUnits() {
  units.assign(static_cast<size_t>(end) + 3, {});
  // The movable loads are counted where they are needed; scheduleLoads does that itself.
  for (size_t unit = 0; unit < units.size() && unit < bytes.size(); ++unit)
    units[unit].bytes = bytes[unit];
  for (const ScheduleItem &item : items) {
    if (!item.group)
      continue;
    const GroupPlan &group = *item.group;
    int64_t compute = 0;
    int64_t transfers = 0;
    const auto at = [&](int64_t step) -> ScheduleUnit & {
      return units[static_cast<size_t>(item.start + step)];
    };
    addCycles(group, at);
    for (int64_t cycles : group.cycles)
      compute += cycles;
    for (const GroupTensor &tensor : group.tensors) {
      if (isMovable(group, tensor)) {
        const Interval needed = neededSteps(group, tensor);
        for (int64_t step = needed.first; step <= needed.last; ++step)
          at(step).bytes[tensor.space] -= tensor.bytes;
      } else if (tensor.isLoaded()) {
        if (!mayBeginEarly(group, tensor))
          at(tensor.transferStep).loadCycles += tensor.cycles;
        transfers += tensor.cycles;
      }
      if (tensor.isStored) {
        at(tensor.transferStep).storeCycles += tensor.cycles;
        transfers += tensor.cycles;
      }
    }
    at(0).earlierCycles = (group.numTiles() - 1) * std::max(compute, transfers);
  }
}

/// The most bytes that are needed in a unit, in each space.
Footprint Scheduler::neededBytes() const {
  std::vector<Footprint> needed;
  for (const ScheduleUnit &unit : units)
    needed.push_back(unit.bytes);
  // Moves take everything however little room there is.
  for (const ScheduleItem &item : items)
    if (item.move && backend.takesLocalMemory(item.move))
      needed[static_cast<size_t>(item.start)] = {};
  for (const MovableLoad &load : loads)
    for (int64_t unit = load.need; unit <= load.last; ++unit)
      needed[static_cast<size_t>(unit)][load.space] += load.bytes;
  Footprint most;
  for (const Footprint &each : needed)
    most.growTo(each);
  return most;
}

/// The first units that need the pieces of the pool, in groups of several tiles all.
SmallVector<int64_t> Scheduler::poolNeeds() const {
  SmallVector<int64_t> needs(pool.rows.ends.size(), kNever);
  for (const ScheduleItem &item : items) {
    if (!item.group)
      continue;
    for (const GroupTensor &tensor : item.group->tensors) {
      if (!tensor.isResident)
        continue;
      const int64_t offset = pool.offsets.lookup(loadedValue(*item.group, tensor));
      int64_t &need = needs[pool.rows.pieceAt(offset)];
      const int64_t unit = item.start + neededSteps(*item.group, tensor).first;
      need = need == kNever ? unit : std::min(need, unit);
    }
  }
  return needs;
}

/// Loads that may move, in the order of the first unit that needs them, of one unit those first
/// that wait for nothing; those that come before they are needed fill memory spaces up to `room`.
/// The estimated cycles of the run.
Expected<int64_t> Scheduler::moveLoads(const Footprint &room) {
  struct Load {
    MovableLoad load;
    /// None: a piece of the pool.
    const GroupTensor *tensor;
    const GroupPlan *group;
    /// Of the group; of the pool, which piece.
    int64_t start;
  };
  std::vector<Load> moved;
  poolUnits = poolNeeds();
  for (auto [piece, need] : llvm::enumerate(poolUnits)) {
    const auto [begin, end] = pool.rows.piece(piece);
    const int64_t lanes = backend.info().memory.spaces[pool.space].lanes;
    if (need != kNever)
      moved.push_back({{.cycles = backend.transferCycles((end - begin) * lanes, lanes),
                        .need = need,
                        .last = need},
                       nullptr,
                       nullptr,
                       static_cast<int64_t>(piece)});
  }
  for (const ScheduleItem &item : items) {
    if (!item.group)
      continue;
    const GroupPlan &group = *item.group;
    const int64_t earliest = heuristics.earlyConstants ? 0 : std::max<int64_t>(item.start - 1, 0);
    for (const GroupTensor &tensor : group.tensors) {
      if (mayBeginEarly(group, tensor)) {
        const int64_t unit = item.start + tensor.transferStep;
        moved.push_back({{.bytes = tensor.bytes,
                          .cycles = tensor.cycles,
                          .need = unit + 1,
                          .last = unit,
                          .counted = unit,
                          .earliest = std::min(earliest, unit),
                          .space = tensor.space},
                         &tensor,
                         &group,
                         item.start});
      }
      if (!isMovable(group, tensor))
        continue;
      const Interval needed = neededSteps(group, tensor);
      moved.push_back({{.bytes = tensor.bytes,
                        .cycles = tensor.cycles,
                        .need = item.start + needed.first,
                        .last = item.start + needed.last,
                        .earliest = tensor.isConstant ? earliest : available(tensor.value) + 1,
                        .space = tensor.space},
                       &tensor,
                       &group,
                       item.start});
    }
  }
  llvm::stable_sort(moved, [](const Load &a, const Load &b) {
    return std::pair(a.load.need, a.load.earliest) < std::pair(b.load.need, b.load.earliest);
  });
  loads.clear();
  for (const Load &load : moved)
    loads.push_back(load.load);
  std::vector<ScheduleUnit> used = units;
  Expected<int64_t> cycles = scheduleLoads(used, loads, capacity, room, order);
  if (!cycles)
    return propagate(cycles);
  for (auto [load, made] : llvm::zip_equal(loads, moved)) {
    if (!made.tensor) {
      poolUnits[static_cast<size_t>(made.start)] = load.unit;
      continue;
    }
    if (own.empty())
      continue;
    GroupTensor &tensor = changing(*made.group).tensors[made.tensor - made.group->tensors.data()];
    if (load.counted) {
      tensor.earlyStep = std::min(load.unit - made.start, tensor.transferStep);
      continue;
    }
    tensor.transferStep = tensor.firstStep = load.unit - made.start;
    tensor.lastStep = load.last - made.start;
  }
  return cycles;
}

/// The owners of buffers that an allocation places beyond a capacity. Where none of these has
/// several layers: of all that lie there at the same time.
GroupSet crowdedBy(ArrayRef<alloc::Buffer> buffers, ArrayRef<const GroupPlan *> owners,
                   const alloc::Allocation &allocation, int64_t capacity) {
  GroupSet owning;
  std::vector<const alloc::Buffer *> beyond;
  for (auto [buffer, owner, offset] : llvm::zip_equal(buffers, owners, allocation.offsets))
    if (offset + buffer.size > capacity) {
      owning.insert(owner);
      beyond.push_back(&buffer);
    }
  if (llvm::any_of(owning, [](const GroupPlan *group) { return group->layers.size() > 1; }))
    return owning;
  for (auto [buffer, owner] : llvm::zip_equal(buffers, owners))
    for (const alloc::Buffer *other : beyond)
      if (other->lower < buffer.upper && buffer.lower < other->upper)
        owning.insert(owner);
  return owning;
}

SmallVector<size_t> Scheduler::unplaced() const {
  SmallVector<size_t> numbers;
  for (auto [number, group] : llvm::enumerate(groups))
    if (crowded.contains(group))
      numbers.push_back(number);
  return numbers;
}

/// Whether everything in a memory space has found its place.
Expected<bool> Scheduler::allocate(unsigned space, uint64_t work) {
  alloc::AllocationProblem problem;
  std::vector<std::pair<int64_t *, size_t>> results;
  // The groups that buffers belong to.
  std::vector<const GroupPlan *> owners;
  const auto add = [&](const GroupPlan &owner, int64_t size, Interval interval) {
    alloc::Buffer buffer;
    buffer.lower = interval.first;
    buffer.upper = interval.last + 1;
    buffer.size = size;
    buffer.alignment = localAlignment(backend.info(), space);
    problem.buffers.push_back(std::move(buffer));
    owners.push_back(&owner);
    return problem.buffers.size() - 1;
  };
  for (const ScheduleItem &item : items) {
    if (!item.group)
      continue;
    GroupPlan &group = changing(*item.group);
    if (space == kTileSpace)
      for (auto [layer, scratch] : llvm::enumerate(group.scratchBytes)) {
        const int64_t unit = item.start + static_cast<int64_t>(layer);
        results.emplace_back(&group.scratchAddresses[layer], add(group, scratch, {unit, unit}));
      }
    for (GroupTensor &tensor : group.tensors) {
      if (tensor.space != space || tensor.isResident || tensor.container)
        continue;
      std::optional<size_t> first;
      for (Interval interval : occupied(group, tensor)) {
        const size_t part = add(group, tensor.bytes * tensor.buffers,
                                {item.start + interval.first, item.start + interval.last});
        if (first)
          problem.subBuffers.push_back({.buffer = part, .container = *first, .offset = 0});
        else
          first = part;
      }
      // The first tile has the first of the places.
      if (tensor.earlyStep && *tensor.earlyStep < tensor.transferStep)
        problem.subBuffers.push_back(
            {.buffer = add(group, tensor.bytes,
                           {item.start + *tensor.earlyStep, item.start + tensor.transferStep - 1}),
             .container = *first,
             .offset = 0});
      results.emplace_back(&tensor.address, *first);
    }
  }
  if (space != kTileSpace && problem.buffers.empty())
    return true;
  alloc::AllocatorOptions options;
  options.capacity = capacity[space];
  options.workLimit = work;
  Expected<std::shared_ptr<const alloc::Allocation>> found =
      allocateOnce(problem, options, *backend.known());
  if (!found)
    return propagate(found);
  const alloc::Allocation &allocation = **found;
  if (!allocation.fits(capacity[space])) {
    crowded = crowdedBy(problem.buffers, owners, allocation, capacity[space]);
    return false;
  }
  for (auto [address, buffer] : results)
    *address = allocation.offsets[buffer];
  return true;
}

Expected<bool> Scheduler::allocate(uint64_t work) {
  for (unsigned space = 0; space < backend.info().memory.spaces.size(); ++space)
    if (Expected<bool> isInPlace = allocate(space, work); !isInPlace || !*isInPlace)
      return isInPlace;
  return true;
}

Expected<NetworkSchedule> Scheduler::run(MutableArrayRef<GroupPlan> changed, int64_t mostFill,
                                         uint64_t work) {
  own = changed;
  if (Expected<void> collected = collect(); !collected)
    return propagate(collected);
  buildUnits();
  // The more is loaded early, the harder it is to place.
  for (int64_t fill :
       {kMostFill, int64_t{97}, int64_t{94}, int64_t{88}, int64_t{80}, int64_t{70}, int64_t{50}}) {
    if (fill > mostFill)
      continue;
    const Footprint room = capacity.share(fill, 100);
    if (Expected<int64_t> moved = moveLoads(room); !moved)
      continue;
    Expected<bool> isInPlace = allocate(work);
    if (!isInPlace)
      return propagate(isInPlace);
    if (*isInPlace)
      return NetworkSchedule{.items = std::move(items),
                             .poolUnits = std::move(poolUnits),
                             .fill = fill,
                             .isCrowded = !neededBytes().fits(room)};
  }
  return makeError("module", "the slices of its groups do not fit " +
                                 std::to_string(capacity[kTileSpace]) + " bytes of local memory");
}

Expected<int64_t> Scheduler::estimate() {
  if (Expected<void> collected = collect(); !collected)
    return propagate(collected);
  buildUnits();
  return moveLoads(capacity);
}

} // namespace

Expected<int64_t> codegen::estimateNetwork(ArrayRef<Operation *> layers,
                                           ArrayRef<const GroupPlan *> groups,
                                           const Backend &backend, const PoolPlace &pool,
                                           const Heuristics &heuristics) {
  return Scheduler(layers, groups, backend, pool, heuristics).estimate();
}

Expected<NetworkSchedule> codegen::scheduleNetwork(ArrayRef<Operation *> layers,
                                                   MutableArrayRef<GroupPlan> groups,
                                                   const Backend &backend, const PoolPlace &pool,
                                                   const Heuristics &heuristics, int64_t mostFill,
                                                   uint64_t work, LoadOrder order,
                                                   SmallVectorImpl<size_t> *unplaced) {
  SmallVector<const GroupPlan *> planned;
  for (const GroupPlan &group : groups)
    planned.push_back(&group);
  Scheduler scheduler(layers, planned, backend, pool, heuristics, order);
  Expected<NetworkSchedule> made = scheduler.run(groups, mostFill, work);
  if (!made && unplaced)
    *unplaced = scheduler.unplaced();
  return made;
}
