//===- Allocator.cpp - Addresses for buffers ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Allocator/Allocator.h"
#include "tpuc/Support/Allocator/AllocationValidator.h"
#include "tpuc/Support/Allocator/FirstFit.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <random>
#include <tuple>

using namespace tpuc;
using namespace tpuc::alloc;

namespace {

using Order = std::vector<size_t>;

/// The strategies that are tried in turn. None solves every problem; they fail on different ones.
std::vector<SearchStrategy> listStrategies() {
  using enum SectionRule;
  using enum OrderKey;
  return {
      {ValleyFewest, {Load, Width, Area}},    {ValleyTightest, {Load, Width, Area}},
      {ValleyNarrowest, {Load, Width, Area}}, {LowestTightest, {Load, Width, Area}},
      {LowestRanked, {Load, Width, Area}},    {LowestFewest, {Load, Width, Area}},
      {ValleyNarrowest, {Width, Area, Load}}, {ValleyFewest, {Width, Area, Load}},
      {ValleyFewest, {Size, Area, Width}},    {ValleyFewest, {Area, Size, Width}},
      {LowestTightest, {Load, Area, Width}},  {ValleyFewest, {Load, Area, Width}},
  };
}

class Allocator {
public:
  Allocator(const ItemSet &itemSet, const AllocatorOptions &chosen)
      : set(itemSet), options(chosen), placer(itemSet), step(itemSet.granularity()),
        maxLoad(itemSet.maxLoad()), lowerBound(roundUpToStep(itemSet.lowerBound())) {}

  Expected<Allocation> run();

private:
  int64_t roundUpToStep(int64_t h) const { return (h + step - 1) / step * step; }
  int64_t heightOf(const std::vector<int64_t> &offsets) const;
  bool isDone() const {
    return placed && (height <= options.capacity || height - lowerBound <= options.tolerance);
  }
  uint64_t workDone() const { return search ? search->work() + orderWork : orderWork; }
  uint64_t workLeft() const { return options.workLimit - std::min(options.workLimit, workDone()); }
  std::vector<Order> listOrders() const;
  bool placeInOrders();
  void searchSkyline();
  bool searchAt(int64_t capacity, uint64_t share, uint64_t round);
  void minimizeOnce(uint64_t share, uint64_t round);
  void improveOrder(uint64_t limit);
  void keep(const std::vector<int64_t> &offsets, int64_t newHeight);

  const ItemSet &set;
  const AllocatorOptions &options;
  FirstFit placer;
  std::optional<SkylineSearch> search;
  /// Packed heights are multiples of it.
  int64_t step;
  int64_t maxLoad;
  int64_t lowerBound;
  /// The search has nothing below this; not a bound for all allocations where it is not exact.
  int64_t searchBound = 0;
  int64_t height = 0;
  bool placed = false;
  std::vector<int64_t> itemOffsets;
  Order bestOrder;
  uint64_t orderWork = 0;
};

void Allocator::keep(const std::vector<int64_t> &offsets, int64_t newHeight) {
  itemOffsets = offsets;
  height = newHeight;
  placed = true;
}

int64_t Allocator::heightOf(const std::vector<int64_t> &offsets) const {
  int64_t top = 0;
  for (size_t item = 0; item < offsets.size(); ++item)
    top = std::max(top, offsets[item] + set.items()[item].extent);
  return top;
}

std::vector<Order> Allocator::listOrders() const {
  const std::vector<Item> &items = set.items();
  Order given(items.size());
  std::iota(given.begin(), given.end(), size_t(0));
  std::vector<Order> orders;
  auto add = [&](bool isOn, auto before) {
    if (!isOn)
      return;
    orders.push_back(given);
    std::sort(orders.back().begin(), orders.back().end(), [&](size_t a, size_t b) {
      bool first = before(items[a], items[b]);
      return first || (a < b && !before(items[b], items[a]));
    });
  };
  auto width = [](const Item &item) { return item.upper - item.lower; };
  add(options.heuristics.placeBySize, [&](const Item &a, const Item &b) {
    return std::pair(a.extent, width(a)) > std::pair(b.extent, width(b));
  });
  add(options.heuristics.placeByLifetime, [&](const Item &a, const Item &b) {
    return std::pair(width(a), a.extent) > std::pair(width(b), b.extent);
  });
  add(options.heuristics.placeByArea, [&](const Item &a, const Item &b) {
    return static_cast<double>(width(a)) * static_cast<double>(a.extent) >
           static_cast<double>(width(b)) * static_cast<double>(b.extent);
  });
  add(options.heuristics.placeByStart, [&](const Item &a, const Item &b) {
    return std::tuple(a.lower, -a.extent) < std::tuple(b.lower, -b.extent);
  });
  if (orders.empty())
    orders.push_back(std::move(given));
  return orders;
}

/// False where an item finds no place, which then holds for every order.
bool Allocator::placeInOrders() {
  for (const Order &order : listOrders()) {
    if (isDone())
      break;
    if (!placer.place(order))
      return false;
    if (!placed || placer.height() < height) {
      keep(placer.offsets(), placer.height());
      bestOrder = order;
    }
  }
  return true;
}

/// Tries every strategy with this much work each; whether one has found an allocation.
bool Allocator::searchAt(int64_t capacity, uint64_t share, uint64_t round) {
  std::vector<SearchStrategy> strategies = listStrategies();
  for (size_t i = 0; i < strategies.size() && workLeft() > 0; ++i) {
    strategies[i].variation = round == 0 ? 0 : round * strategies.size() + i;
    auto outcome = search->run(capacity, strategies[i], std::min(workLeft(), share));
    if (outcome == SkylineSearch::Outcome::Found) {
      keep(search->offsets(), heightOf(search->offsets()));
      return true;
    }
    if (outcome == SkylineSearch::Outcome::Impossible) {
      searchBound = std::max(searchBound, roundUpToStep(capacity + 1));
      return false;
    }
  }
  return false;
}

/// Halves the range between the height that is proven and the one that is found.
void Allocator::minimizeOnce(uint64_t share, uint64_t round) {
  int64_t failed = searchBound / step - 1;
  // The lower bound itself first: it is often met, and then all is done.
  int64_t target = failed + 1;
  while (workLeft() > 0 && !isDone() && target * step < height) {
    if (!searchAt(target * step, share, round))
      failed = target;
    failed = std::max(failed, searchBound / step - 1);
    target = failed + std::max<int64_t>(1, (height / step - failed) / 2);
  }
}

void Allocator::searchSkyline() {
  searchBound = lowerBound;
  int64_t goal = options.capacity > 0 ? options.capacity : INT64_MAX;
  for (uint64_t round = 0; workLeft() > 0 && !isDone(); ++round) {
    if (searchBound >= height || searchBound > goal)
      break;
    bool varies = options.heuristics.varyOrders;
    uint64_t share = round > 0 && !varies
                         ? workLeft()
                         : search->workOfDescent() << std::min<uint64_t>(round, 30);
    if (options.capacity > 0)
      searchAt(options.capacity, share, varies ? round : 0);
    else
      minimizeOnce(share, varies ? round : 0);
  }
  if (search->isExact())
    lowerBound = std::min(searchBound, height);
}

/// Moves one of the items that hold the peak up to another place in the order, and keeps what does
/// not get worse.
void Allocator::improveOrder(uint64_t limit) {
  if (!placer.place(bestOrder))
    return;
  uint64_t start = placer.work();
  std::mt19937_64 random(bestOrder.size());
  Order order = bestOrder;
  int64_t current = placer.height();
  std::vector<size_t> peak = placer.itemsUnderThePeak();
  constexpr uint64_t kMaxIdleSteps = 100;
  uint64_t idleSteps = 0;
  while (orderWork < limit && !isDone() && ++idleSteps < kMaxIdleSteps * order.size()) {
    Order changed = order;
    auto from = std::find(changed.begin(), changed.end(), peak[random() % peak.size()]);
    auto to = changed.begin() + static_cast<int64_t>(random() % changed.size());
    if (from < to)
      std::iter_swap(from, to);
    else
      std::rotate(to, from, from + 1);
    if (placer.place(changed, current)) {
      current = placer.height();
      order = std::move(changed);
      peak = placer.itemsUnderThePeak();
      if (current < height) {
        keep(placer.offsets(), current);
        idleSteps = 0;
      }
    }
    orderWork = placer.work() - start;
  }
}

Expected<Allocation> Allocator::run() {
  if (!placeInOrders())
    return makeError(
        describeBuffer(set.problem(), set.items()[placer.failedItem()].parts[0].buffer),
        "fits no offset beside the buffers with fixed offsets", "fixed offsets that leave room");
  bool searches =
      options.heuristics.skylineSearch && set.items().size() <= options.maxSearchedItems;
  if (!isDone() && workLeft() > 0 && searches)
    search.emplace(set, options.heuristics.search);
  // Where the search sees less than the problem allows, half of the work is for better orders.
  bool exact = search && search->isExact();
  if (!isDone() && workLeft() > 0 && !exact && options.heuristics.improveOrder)
    improveOrder(search ? workLeft() / 2 : workLeft());
  if (search)
    searchSkyline();
  Allocation result;
  result.offsets = set.bufferOffsets(itemOffsets);
  result.maxLoad = maxLoad;
  result.lowerBound = lowerBound;
  result.work = workDone();
  auto valid = validateAllocation(set.problem(), result.offsets);
  if (!valid)
    return propagate(valid);
  result.height = *valid;
  return result;
}

} // namespace

Expected<Allocation> tpuc::alloc::allocate(const AllocationProblem &problem,
                                           const AllocatorOptions &options) {
  if (options.capacity < 0 || options.tolerance < 0)
    return makeError(options.capacity < 0 ? "capacity" : "tolerance",
                     fmt::format("{}", std::min(options.capacity, options.tolerance)),
                     "a number >= 0");
  auto set = ItemSet::build(problem);
  if (!set)
    return propagate(set);
  return Allocator(*set, options).run();
}
