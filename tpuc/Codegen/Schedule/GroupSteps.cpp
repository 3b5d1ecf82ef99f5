//===- GroupSteps.cpp - When a group loads, computes and stores ---------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Schedule/GroupSteps.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

std::pair<int64_t, int64_t> codegen::readSteps(const GroupTensor &tensor) {
  std::pair<int64_t, int64_t> steps = {std::numeric_limits<int64_t>::max(), -1};
  for (const GroupTensor::User &user : tensor.users) {
    steps.first = std::min<int64_t>(steps.first, user.layer);
    steps.second = std::max<int64_t>(steps.second, user.layer);
  }
  return steps;
}

static tl::unexpected<Error> tooLarge(const Footprint &needed, const Footprint &capacity) {
  const unsigned space = needed.overflow(capacity).value_or(kTileSpace);
  const std::string name =
      space == kTileSpace ? "local memory" : "memory space " + std::to_string(space);
  return makeError("", std::to_string(needed[space]) + " bytes of " + name + " at a time",
                   "at most " + std::to_string(capacity[space]));
}

void codegen::addCycles(const GroupPlan &plan,
                        llvm::function_ref<ScheduleUnit &(int64_t step)> unitOf) {
  for (auto [step, cycles] : llvm::enumerate(plan.cycles)) {
    ScheduleUnit &unit = unitOf(static_cast<int64_t>(step));
    unit.cycles += cycles;
    unit.moveCycles += plan.moveCycles[step];
  }
  for (const GroupPlan::PartMove &move : plan.moves) {
    ScheduleUnit &unit = unitOf(move.step);
    if (move.isEarly()) {
      unit.storeCycles += move.cycles;
      continue;
    }
    unit.cycles += move.cycles;
    unit.moveCycles += move.cycles;
  }
}

namespace {

/// Says which loads would hold up transfers that layers wait for: those of layers themselves, and
/// loads that come as soon as what they load is stored, with that store.
class UrgentTransfers {
public:
  UrgentTransfers(ArrayRef<ScheduleUnit> units, ArrayRef<MovableLoad> loads, LoadOrder order);
  /// Whether load `index`, which would begin at the time `now` in front of unit `number`, had
  /// better follow the next urgent transfer: in front of it, it would delay that and all behind it,
  /// and behind it, the loads to come. `next` is the first load that is not issued, and `begin` the
  /// time at which the unit begins.
  bool holdUp(size_t index, size_t next, int64_t number, int64_t now, int64_t begin) const;

private:
  ArrayRef<MovableLoad> loads;
  bool countsAll;
  /// For each unit, the cycles of both engines in front of it, if neither waits, and the first
  /// unit from it on with an urgent transfer.
  std::vector<int64_t> computed, transferred, urgent;
  /// The cycles of loads in front of each; by how much at least one load from it on would be late
  /// if all were transferred from time 0 on, and layers computed.
  std::vector<int64_t> loaded, lateness;
};

UrgentTransfers::UrgentTransfers(ArrayRef<ScheduleUnit> units, ArrayRef<MovableLoad> loads,
                                 LoadOrder order)
    : loads(loads), countsAll(order == LoadOrder::BehindUrgent), computed(units.size() + 1),
      transferred(units.size() + 1), urgent(units.size() + 1, static_cast<int64_t>(units.size())),
      loaded(loads.size() + 1),
      lateness(loads.size() + 1, std::numeric_limits<int64_t>::min() / 2) {
  std::vector<bool> isUrgent(units.size());
  for (auto [number, unit] : llvm::enumerate(units)) {
    computed[number + 1] = computed[number] + unit.earlierCycles + unit.cycles;
    transferred[number + 1] =
        transferred[number] + unit.loadCycles + unit.storeCycles + unit.moveCycles;
    isUrgent[number] = unit.moveCycles > 0;
  }
  for (const MovableLoad &load : loads)
    if (const auto first = static_cast<size_t>(load.earliest);
        first > 0 && load.need - load.earliest <= 1 && units[first - 1].storeCycles > 0)
      isUrgent[first] = isUrgent[first - 1] = true;
  for (size_t number = units.size(); number-- > 0;)
    urgent[number] = isUrgent[number] ? static_cast<int64_t>(number) : urgent[number + 1];
  for (auto [index, load] : llvm::enumerate(loads))
    loaded[index + 1] = loaded[index] + load.cycles;
  for (size_t index = loads.size(); index-- > 0;) {
    const auto need = static_cast<size_t>(std::max<int64_t>(loads[index].need, 0));
    lateness[index] =
        std::max(lateness[index + 1], loaded[index + 1] + transferred[need] - computed[need]);
  }
}

bool UrgentTransfers::holdUp(size_t index, size_t next, int64_t number, int64_t now,
                             int64_t begin) const {
  const auto unit = static_cast<size_t>(number);
  const int64_t behind = urgent[unit];
  if (behind >= loads[index].need)
    return false;
  const int64_t ready = begin + computed[static_cast<size_t>(behind)] - computed[unit];
  const int64_t delay = now + loads[index].cycles - ready;
  if (delay <= 0)
    return false;
  // By how much layers would wait for loads, from the time on at which these begin.
  const auto need = static_cast<size_t>(loads[index].need);
  const int64_t latest = countsAll ? lateness[next] - loaded[next]
                                   : loads[index].cycles + transferred[need] - computed[need];
  const int64_t late = latest - transferred[unit] + computed[unit] - begin;
  const int64_t after = std::max(now, ready);
  return std::max(after - ready, after + late) < std::max(delay, now + late);
}

} // namespace

Expected<int64_t> codegen::scheduleLoads(MutableArrayRef<ScheduleUnit> units,
                                         MutableArrayRef<MovableLoad> loads,
                                         const Footprint &capacity, const Footprint &room,
                                         LoadOrder order, CapacityRange *range) {
  CapacityRange unused;
  CapacityRange &asked = range ? *range : unused;
  const auto at = [&](int64_t unit) -> ScheduleUnit & { return units[static_cast<size_t>(unit)]; };
  for (MovableLoad &load : loads)
    for (int64_t unit = load.need; unit <= load.last; ++unit)
      at(unit).bytes[load.space] += load.bytes;
  for (const ScheduleUnit &unit : units)
    if (!asked.fits(unit.bytes, capacity))
      return tooLarge(unit.bytes, capacity);

  const auto hasRoom = [&](const MovableLoad &load, int64_t from) {
    // Of all that fits, the most says as much.
    int64_t most = 0;
    for (int64_t unit = from; unit < load.uncountedEnd(); ++unit) {
      const int64_t needed = at(unit).bytes[load.space] + load.bytes;
      most = std::max(most, needed);
      if (needed > room[load.space])
        break;
    }
    return asked.fits(most, room, load.space);
  };
  std::optional<UrgentTransfers> urgent;
  if (order != LoadOrder::AsEarly)
    urgent.emplace(units, loads, order);
  int64_t compute = 0;
  int64_t transfer = 0;
  // Each load's end once it is issued; the first that is not.
  std::vector<std::optional<int64_t>> ends(loads.size());
  size_t next = 0;
  const auto issue = [&](size_t index, int64_t unit) {
    MovableLoad &load = loads[index];
    for (int64_t taken = unit; taken < load.uncountedEnd(); ++taken)
      at(taken).bytes[load.space] += load.bytes;
    load.unit = unit;
    ends[index] = transfer = std::max(transfer, compute) + load.cycles;
    while (next < loads.size() && ends[next])
      ++next;
  };
  // The first that can be issued, past those whose tensors are not there yet.
  const auto following = [&](int64_t unit) {
    for (size_t index = next; index < loads.size(); ++index) {
      if (loads[index].need > unit + kMostAhead)
        break;
      if (!ends[index] && loads[index].earliest <= unit)
        return index;
    }
    return loads.size();
  };
  // When the loads of the unit before are there.
  int64_t fixedEnd = 0;
  size_t needed = 0;
  int64_t neededEnd = 0;
  for (int64_t number = 0; number < static_cast<int64_t>(units.size()); ++number) {
    const ScheduleUnit &unit = at(number);
    if (unit.earlierCycles > 0)
      compute = transfer = std::max(compute, transfer) + unit.earlierCycles;
    while (next < loads.size() && loads[next].need <= number)
      issue(next, number);
    for (; needed < loads.size() && loads[needed].need <= number; ++needed)
      neededEnd = std::max(neededEnd, *ends[needed]);
    const int64_t begin = std::max({compute, fixedEnd, neededEnd});
    int64_t end = begin + unit.cycles;
    const auto mayCome = [&](size_t index) {
      return loads[index].need <= number + 1 ||
             (transfer < end &&
              !(urgent && urgent->holdUp(index, next, number, std::max(transfer, compute), begin)));
    };
    for (size_t index = following(number);
         index < loads.size() && mayCome(index) && hasRoom(loads[index], number);
         index = following(number))
      issue(index, number);
    if (urgent && unit.moveCycles > 0) {
      end = std::max(begin, transfer) + unit.cycles;
      transfer = std::max(begin, transfer) + unit.moveCycles;
    }
    fixedEnd = 0;
    if (unit.loadCycles > 0)
      fixedEnd = transfer = std::max(transfer, compute) + unit.loadCycles;
    if (unit.storeCycles > 0)
      transfer = std::max(transfer, compute) + unit.storeCycles;
    // A unit in which nothing is computed does not wait for anything.
    if (unit.cycles > 0)
      compute = end;
  }
  return std::max(compute, transfer);
}

namespace {

/// How far loads and stores run beside computation.
enum class Overlap : uint8_t {
  Doubled, ///< As long as they take, in two places.
  Timed,   ///< As long as they take, in one place where layers follow that need none.
  Tiles,   ///< As Doubled, but what stays for several tiles waits until it is needed.
  OneStep, ///< One step.
  None,    ///< They take turns.
};

bool takesTime(Overlap overlap) { return overlap <= Overlap::Tiles; }

/// Runs tiles of a group on two engines that work in order: what is in step t of tile s happens
/// at the time s * period + t, of one time loads come first and stores last.
class TileRun {
public:
  explicit TileRun(const GroupPlan &plan);
  /// The cycles of the first `count` tiles.
  int64_t run(int64_t count);

private:
  /// When a place of a tensor has what it holds, and when the last one is done with that.
  struct Place {
    int64_t ready = 0, free = 0;
  };
  /// A tensor: its first place, and how many it has; how often another tile takes the place of one.
  struct Held {
    size_t first = 0;
    int64_t buffers = 1, versions = 1;
  };
  /// A load or a store of a tensor, so many periods behind the start of its tile.
  struct Transfer {
    unsigned tensor = 0;
    int64_t periods = 0;
  };
  int64_t versionOf(const Held &held, int64_t tile) const {
    if (held.versions == numTiles)
      return tile;
    return held.versions == 1 ? 0 : tile * held.versions / numTiles;
  }
  Place &placeOf(size_t tensor, int64_t tile) {
    const Held &held = tensors[tensor];
    return places[held.first + (held.buffers == 1
                                    ? 0
                                    : static_cast<size_t>(versionOf(held, tile) % held.buffers))];
  }
  void load(const Transfer &load, int64_t tile);
  void store(const Transfer &store, int64_t tile);
  void compute(size_t step, int64_t tile);
  int64_t periodOf(int64_t time) const { return llvm::divideFloorSigned(time, period); }
  void sortTransfers();

  const GroupPlan &plan;
  const int64_t period, numTiles;
  std::vector<Place> places;
  std::vector<Held> tensors;
  /// The loads of each step, then its stores; where those of each begin, and where all end.
  std::vector<Transfer> transfers;
  std::vector<unsigned> begins;
  /// The periods in which something happens to the first tile.
  int64_t first = 0, last = 0;
  int64_t computeEnd = 0, transferEnd = 0;
};

TileRun::TileRun(const GroupPlan &plan)
    : plan(plan), period(plan.period()), numTiles(plan.numTiles()) {
  size_t numPlaces = 0;
  tensors.reserve(plan.tensors.size());
  for (const GroupTensor &tensor : plan.tensors) {
    tensors.push_back({.first = numPlaces,
                       .buffers = tensor.buffers,
                       .versions = tensor.producer ? numTiles : tensor.numVersions});
    numPlaces += static_cast<size_t>(tensor.buffers);
  }
  places.resize(numPlaces);
  sortTransfers();
}

/// Those of one step and kind are in the order of their tensors.
void TileRun::sortTransfers() {
  const auto bucketOf = [&](const GroupTensor &tensor) {
    const int64_t step = tensor.transferStep - periodOf(tensor.transferStep) * period;
    return static_cast<size_t>(2 * step + (tensor.isStored ? 1 : 0));
  };
  begins.assign(static_cast<size_t>(2 * period) + 1, 0);
  const auto isMoved = [](const GroupTensor &tensor) {
    return tensor.isLoaded() || tensor.isStored;
  };
  for (const GroupTensor &tensor : plan.tensors)
    if (isMoved(tensor))
      ++begins[bucketOf(tensor)];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  transfers.resize(begins.back());
  for (size_t index = plan.tensors.size(); index-- > 0;) {
    const GroupTensor &tensor = plan.tensors[index];
    if (!isMoved(tensor))
      continue;
    const int64_t periods = periodOf(tensor.transferStep);
    transfers[--begins[bucketOf(tensor)]] = {static_cast<unsigned>(index), periods};
    first = std::min(first, periods);
    last = std::max(last, periods);
  }
}

void TileRun::load(const Transfer &load, int64_t tile) {
  const Held &held = tensors[load.tensor];
  if (tile != 0 && versionOf(held, tile) == versionOf(held, tile - 1))
    return;
  Place &place = placeOf(load.tensor, tile);
  transferEnd = std::max(transferEnd, place.free) + plan.tensors[load.tensor].cycles;
  place.ready = transferEnd;
}

void TileRun::store(const Transfer &store, int64_t tile) {
  Place &place = placeOf(store.tensor, tile);
  transferEnd = std::max(transferEnd, place.ready) + plan.tensors[store.tensor].cycles;
  place.free = transferEnd;
}

void TileRun::compute(size_t step, int64_t tile) {
  Place &result = placeOf(plan.results[step], tile);
  int64_t begin = std::max(computeEnd, result.free);
  for (int operand : plan.operands[step])
    if (operand >= 0)
      begin = std::max(begin, placeOf(static_cast<size_t>(operand), tile).ready);
  computeEnd = begin + plan.cycles[step];
  result.ready = computeEnd;
  for (int operand : plan.operands[step])
    if (operand >= 0) {
      Place &place = placeOf(static_cast<size_t>(operand), tile);
      place.free = std::max(place.free, computeEnd);
    }
}

int64_t TileRun::run(int64_t count) {
  places.assign(places.size(), {});
  computeEnd = transferEnd = 0;
  for (int64_t now = first; now < last + count; ++now)
    for (size_t step = 0; step < static_cast<size_t>(period); ++step) {
      const auto all = ArrayRef(transfers);
      const auto from = [&](size_t bucket) {
        return all.slice(begins[bucket], begins[bucket + 1] - begins[bucket]);
      };
      // The tile that is at a step now, if there is one.
      const auto isTile = [&](int64_t tile) { return tile >= 0 && tile < count; };
      for (const Transfer &transfer : from(2 * step))
        if (isTile(now - transfer.periods))
          load(transfer, now - transfer.periods);
      if (isTile(now))
        compute(step, now);
      for (const Transfer &transfer : from(2 * step + 1))
        if (isTile(now - transfer.periods))
          store(transfer, now - transfer.periods);
    }
  return std::max(computeEnd, transferEnd);
}

/// The cycles of all tiles of a group whose steps are known. Many run as the last of a few.
int64_t tileCycles(const GroupPlan &plan) {
  constexpr int64_t kFew = 6;
  const int64_t tiles = plan.numTiles();
  TileRun run(plan);
  const int64_t few = run.run(std::min(tiles, kFew));
  if (tiles <= kFew)
    return few;
  return few + (tiles - kFew) * (few - run.run(kFew - 2)) / 2;
}

class StepPlanner {
public:
  StepPlanner(GroupPlan &plan, const Footprint &capacity, CapacityRange &range)
      : plan(plan), capacity(capacity), range(range), starts({0}) {
    for (int64_t cycles : plan.cycles)
      starts.push_back(starts.back() + cycles);
  }

  Expected<void> plain();
  Expected<void> sliced(Overlap overlap);

private:
  Expected<void> plainWith(int64_t storeDelay, bool movesEarly);
  void setMoves(bool areEarly);
  void setMade(Overlap overlap);
  void setLoaded(Overlap overlap);
  void setBuffers();
  int64_t stepAt(int64_t time) const;
  bool staysFor(const GroupTensor &tensor) const {
    return tensor.isLoaded() && tensor.numVersions < plan.numTiles();
  }
  int64_t computeCycles() const { return starts.back(); }
  int64_t startOf(int64_t step) const { return starts[static_cast<size_t>(step)]; }
  /// How long a tile may be alive.
  int64_t longestLife(Overlap overlap) const {
    const bool hasTwo =
        overlap == Overlap::Doubled || overlap == Overlap::Tiles || plan.period() <= 2;
    return hasTwo ? 2 * plan.period() : plan.period();
  }

  GroupPlan &plan;
  Footprint capacity;
  CapacityRange &range;
  /// When each layer begins, and when the last one ends, if none waits for transfers.
  SmallVector<int64_t> starts;
};

/// When parts of concatenations are brought to their lanes: each as late as it is done before the
/// next one has to be, or as the concatenation needs it.
void StepPlanner::setMoves(bool areEarly) {
  int64_t busyFrom = computeCycles();
  for (GroupPlan::PartMove &move : llvm::reverse(plan.moves)) {
    const auto concat = static_cast<int64_t>(move.layer);
    move.step = concat;
    busyFrom = std::min(busyFrom, startOf(concat)) - move.cycles;
    const int tensor = plan.operands[move.layer][move.operand];
    const auto producer = static_cast<int64_t>(*plan.tensors[static_cast<size_t>(tensor)].producer);
    const int64_t step = std::max(stepAt(busyFrom) - 1, producer);
    if (!areEarly || step >= concat - 1)
      continue;
    move.step = step;
    GroupTensor &whole = plan.tensors[plan.results[move.layer]];
    whole.firstStep = std::min(whole.firstStep, step);
  }
}

/// One tile: units are the steps from -1 on, and one behind the last layer.
Expected<void> StepPlanner::plainWith(int64_t storeDelay, bool movesEarly) {
  const int64_t period = plan.period();
  std::vector<ScheduleUnit> units(static_cast<size_t>(period) + 3);
  const auto at = [&](int64_t step) -> ScheduleUnit & {
    return units[static_cast<size_t>(step + 1)];
  };
  for (int64_t step = 0; step < period; ++step)
    at(step).bytes = plan.scratchBytes[static_cast<size_t>(step)];
  std::vector<MovableLoad> loads;
  std::vector<GroupTensor *> loaded;
  for (GroupTensor &tensor : plan.tensors) {
    const auto [need, last] = readSteps(tensor);
    tensor.buffers = 1;
    tensor.lastStep = last;
    if (tensor.isLoaded() && !tensor.container) {
      loaded.push_back(&tensor);
      continue;
    }
    if (tensor.isLoaded()) {
      tensor.firstStep = tensor.transferStep = need - 1;
      at(need - 1).loadCycles += tensor.cycles;
    }
    if (!tensor.producer)
      continue;
    tensor.firstStep = *tensor.producer;
    tensor.lastStep = std::max(last, tensor.firstStep);
    if (tensor.isStored) {
      tensor.transferStep = tensor.firstStep + storeDelay;
      tensor.lastStep = std::max(last, tensor.transferStep);
      at(tensor.transferStep).storeCycles += tensor.cycles;
    }
  }
  setMoves(movesEarly);
  addCycles(plan, at);
  plan.mergeLifetimes();
  for (const GroupTensor &tensor : plan.tensors)
    if (tensor.producer)
      for (int64_t step = tensor.firstStep; step <= tensor.lastStep; ++step)
        at(step).bytes[tensor.space] += plan.ownBytes(tensor);
  llvm::stable_sort(loaded, [](const GroupTensor *a, const GroupTensor *b) {
    return readSteps(*a).first < readSteps(*b).first;
  });
  for (const GroupTensor *tensor : loaded) {
    const auto [need, last] = readSteps(*tensor);
    loads.push_back({.bytes = tensor->bytes,
                     .cycles = tensor->cycles,
                     .need = need + 1,
                     .last = last + 1,
                     .space = tensor->space});
  }
  Expected<int64_t> cycles =
      scheduleLoads(units, loads, capacity, /*room=*/capacity, LoadOrder::AsEarly, &range);
  if (!cycles)
    return propagate(cycles);
  for (auto [load, tensor] : llvm::zip_equal(loads, loaded))
    tensor->transferStep = tensor->firstStep = load.unit - 1;
  plan.estimate = *cycles;
  return {};
}

Expected<void> StepPlanner::plain() {
  if (plainWith(/*storeDelay=*/1, /*movesEarly=*/true))
    return {};
  if (!plan.moves.empty() && plainWith(/*storeDelay=*/1, /*movesEarly=*/false))
    return {};
  return plainWith(/*storeDelay=*/0, /*movesEarly=*/false);
}

/// The step that runs at a time; times below 0 are those of the tile before.
int64_t StepPlanner::stepAt(int64_t time) const {
  const int64_t all = std::max<int64_t>(computeCycles(), 1);
  const int64_t tile = llvm::divideFloorSigned(time, all);
  const int64_t within = time - tile * all;
  const auto *behind = std::upper_bound(starts.begin(), std::prev(starts.end()), within);
  return tile * plan.period() + (behind - starts.begin()) - 1;
}

void StepPlanner::setMade(Overlap overlap) {
  int64_t busyUntil = 0;
  for (unsigned result : plan.results) {
    GroupTensor &tensor = plan.tensors[result];
    tensor.firstStep = *tensor.producer;
    tensor.lastStep = std::max(readSteps(tensor).second, tensor.firstStep);
    if (!tensor.isStored)
      continue;
    tensor.transferStep = tensor.firstStep + (overlap == Overlap::None ? 0 : 1);
    int64_t until = tensor.transferStep;
    if (takesTime(overlap)) {
      busyUntil = std::max(busyUntil, startOf(tensor.firstStep + 1)) + tensor.cycles;
      until = std::clamp(stepAt(busyUntil), until,
                         std::max(until, tensor.firstStep + longestLife(overlap) - 1));
    }
    tensor.lastStep = std::max(tensor.lastStep, until);
  }
}

/// Loads of tiles in the reverse order of their needs, each ending where the next one begins.
void StepPlanner::setLoaded(Overlap overlap) {
  SmallVector<GroupTensor *> loaded;
  for (GroupTensor &tensor : plan.tensors)
    if (tensor.isLoaded())
      loaded.push_back(&tensor);
  llvm::stable_sort(loaded, [](const GroupTensor *a, const GroupTensor *b) {
    return readSteps(*a).first > readSteps(*b).first;
  });
  int64_t busyFrom = computeCycles();
  for (GroupTensor *tensor : loaded) {
    const auto [need, last] = readSteps(*tensor);
    const bool waits = overlap == Overlap::Tiles && staysFor(*tensor) && tensor->numVersions > 1;
    tensor->transferStep = need - (overlap == Overlap::None || waits ? 0 : 1);
    tensor->lastStep = last;
    if (staysFor(*tensor)) {
      tensor->firstStep = std::min<int64_t>(tensor->transferStep, 0);
      tensor->lastStep = plan.period() - 1;
      continue;
    }
    if (takesTime(overlap)) {
      busyFrom = std::min(busyFrom, startOf(need)) - tensor->cycles;
      tensor->transferStep =
          std::clamp(stepAt(busyFrom), last - longestLife(overlap) + 1, tensor->transferStep);
    }
    tensor->firstStep = tensor->transferStep;
  }
}

void StepPlanner::setBuffers() {
  for (GroupTensor &tensor : plan.tensors) {
    const int64_t life = tensor.lastStep - tensor.firstStep + 1;
    tensor.buffers = static_cast<int64_t>(llvm::divideCeil(life, plan.period()));
    if (staysFor(tensor))
      tensor.buffers = tensor.numVersions > 1 ? tensor.buffers : 1;
  }
}

Expected<void> StepPlanner::sliced(Overlap overlap) {
  setMade(overlap);
  setLoaded(overlap);
  for (const GroupTensor &tensor : plan.tensors)
    if (tensor.container && staysFor(tensor))
      return makeError("", "a part of a concatenation that is the same in several slices");
  plan.mergeLifetimes();
  setBuffers();
  Footprint peak;
  for (const Footprint &each : localLoad(plan))
    peak.growTo(each);
  if (!range.fits(peak, capacity))
    return tooLarge(peak, capacity);
  plan.estimate = tileCycles(plan);
  return {};
}

} // namespace

SmallVector<Footprint, 6> codegen::localLoad(const GroupPlan &plan) {
  const int64_t period = plan.period();
  SmallVector<Footprint, 6> load(plan.scratchBytes.begin(), plan.scratchBytes.end());
  for (const GroupTensor &tensor : plan.tensors) {
    const int64_t life = std::min(period, tensor.lastStep - tensor.firstStep + 1);
    const int64_t bytes = plan.ownBytes(tensor);
    int64_t within = tensor.firstStep - llvm::divideFloorSigned(tensor.firstStep, period) * period;
    for (int64_t step = 0; step < life; ++step) {
      load[static_cast<size_t>(within)][tensor.space] += bytes;
      within = within + 1 == period ? 0 : within + 1;
    }
  }
  return load;
}

namespace {

/// What is planned of a tensor.
struct StepsOfTensor {
  explicit StepsOfTensor(const GroupTensor &tensor)
      : transfer(tensor.transferStep), first(tensor.firstStep), last(tensor.lastStep),
        buffers(tensor.buffers) {}
  void putInto(GroupTensor &tensor) const {
    tensor.transferStep = transfer;
    tensor.firstStep = first;
    tensor.lastStep = last;
    tensor.buffers = buffers;
  }

  int64_t transfer, first, last, buffers;
};

} // namespace

Expected<void> codegen::planSteps(GroupPlan &plan, const Footprint &capacity, bool overlaps,
                                  CapacityRange *range) {
  CapacityRange unused;
  StepPlanner planner(plan, capacity, range ? *range : unused);
  if (plan.numTiles() == 1)
    return planner.plain();
  std::optional<std::vector<StepsOfTensor>> best;
  int64_t least = 0;
  bool overlapsAll = false;
  Expected<void> planned;
  for (Overlap overlap :
       {Overlap::Doubled, Overlap::Timed, Overlap::Tiles, Overlap::OneStep, Overlap::None}) {
    // Where all overlaps, less is no faster.
    if (best && ((overlapsAll && overlap > Overlap::Timed) || overlap == Overlap::None))
      break;
    if (!overlaps && overlap != Overlap::None)
      continue;
    planned = planner.sliced(overlap);
    if (planned && (!best || plan.estimate < least)) {
      best.emplace(plan.tensors.begin(), plan.tensors.end());
      least = plan.estimate;
    }
    overlapsAll |= best && overlap <= Overlap::Timed;
  }
  if (!best)
    return planned;
  for (auto [steps, tensor] : llvm::zip_equal(*best, plan.tensors))
    steps.putInto(tensor);
  plan.estimate = least;
  return {};
}
