//===- FirstFit.cpp - Placing items in a given order ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Allocator/FirstFit.h"

#include <algorithm>

using namespace tpuc;
using namespace tpuc::alloc;

FirstFit::FirstFit(const ItemSet &items) : set(&items) {
  const std::vector<Buffer> &buffers = set->problem().buffers;
  deltas.resize(buffers.size());
  for (const Item &item : set->items())
    for (const Part &part : item.parts)
      deltas[part.buffer] = part.delta;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].size > 0)
      byLower.push_back(i);
  std::sort(byLower.begin(), byLower.end(), [&](size_t a, size_t b) {
    return std::pair(buffers[a].lower, a) < std::pair(buffers[b].lower, b);
  });
  for (size_t buffer : byLower)
    living.push_back({set->itemOf(buffer), deltas[buffer], buffers[buffer].size});
  while (leaves < byLower.size())
    leaves *= 2;
  latestUpper.assign(2 * leaves, INT64_MIN);
  for (size_t i = 0; i < byLower.size(); ++i) {
    lowers.push_back(buffers[byLower[i]].lower);
    latestUpper[leaves + i] = buffers[byLower[i]].upper;
  }
  for (size_t node = leaves - 1; node > 0; --node)
    latestUpper[node] = std::max(latestUpper[2 * node], latestUpper[2 * node + 1]);
}

/// Visits the first `prefix` buffers that live beyond `time`; the node spans [begin, end).
template <typename F>
void FirstFit::visitLongLived(size_t node, size_t begin, size_t end, size_t prefix, int64_t time,
                              F &visit) const {
  ++visits;
  if (begin >= prefix || latestUpper[node] <= time)
    return;
  if (end - begin == 1) {
    visit(begin);
    return;
  }
  size_t middle = begin + (end - begin) / 2;
  visitLongLived(2 * node, begin, middle, prefix, time, visit);
  visitLongLived(2 * node + 1, middle, end, prefix, time, visit);
}

template <typename F>
void FirstFit::forEachOverlapping(int64_t lower, int64_t upper, F visit) const {
  size_t first = std::lower_bound(lowers.begin(), lowers.end(), lower) - lowers.begin();
  visitLongLived(1, 0, leaves, first, lower, visit);
  for (size_t i = first; i < lowers.size() && lowers[i] < upper; ++i)
    visit(i);
}

/// How many conflicts are remembered in all: some 50 MB.
static constexpr size_t kMostRemembered = size_t{1} << 21;

/// Searches place the same items again and again; often the first order does, which needs those of
/// each item only once.
const FirstFit::Conflicts &FirstFit::conflictsOf(size_t index) {
  if (conflicts.empty())
    conflicts.resize(set->items().size());
  Conflicts &own = conflicts[index];
  if (own.isKnown)
    return own;
  const bool isRemembered = own.count && numRemembered < kMostRemembered;
  Conflicts &found = isRemembered ? own : passing;
  const std::vector<Buffer> &buffers = set->problem().buffers;
  const uint64_t start = visits;
  // What placing an item costs even where it meets no other.
  visits += 32;
  found.list.clear();
  found.list.reserve(own.count.value_or(0));
  for (const Part &part : set->items()[index].parts) {
    const Buffer &buffer = buffers[part.buffer];
    if (buffer.size == 0)
      continue;
    forEachOverlapping(buffer.lower, buffer.upper, [&](size_t position) {
      ++visits;
      const Living &other = living[position];
      if (other.item != index && !set->mayOverlap(part.buffer, byLower[position]))
        found.list.push_back({other.item, other.delta - part.delta - buffer.size,
                              other.delta + other.size - part.delta});
    });
  }
  found.isKnown = isRemembered;
  found.cost = visits - start;
  visits = start;
  own.count = found.list.size();
  numRemembered += isRemembered ? found.list.size() : 0;
  return found;
}

/// The lowest offset that is outside of all that is blocked; of that, nothing is left.
int64_t FirstFit::lowestFree(size_t index) {
  int64_t offset = set->nextOffset(index, 0);
  // What ends below the offset does not matter any more.
  for (bool isMoved = true; isMoved;) {
    isMoved = false;
    size_t left = 0;
    for (const auto &[before, after] : blocked) {
      if (after <= offset)
        continue;
      if (before < offset) {
        offset = set->nextOffset(index, after);
        isMoved = true;
      } else {
        blocked[left++] = {before, after};
      }
    }
    blocked.resize(left);
  }
  return offset;
}

bool FirstFit::placeItem(size_t index) {
  const Conflicts &found = conflictsOf(index);
  visits += found.cost;
  blocked.clear();
  for (const Conflict &conflict : found.list)
    if (const int64_t offset = itemOffsets[conflict.other]; offset != kNoOffset)
      blocked.emplace_back(offset + conflict.before, offset + conflict.after);
  itemOffsets[index] = lowestFree(index);
  return itemOffsets[index] != kNoOffset;
}

bool FirstFit::place(const std::vector<size_t> &order, int64_t most) {
  itemOffsets.assign(set->items().size(), kNoOffset);
  bool isPlaced = true;
  for (bool fixedOnes : {true, false})
    for (size_t item : order) {
      if (set->items()[item].fixedOffset.has_value() != fixedOnes)
        continue;
      if (!isPlaced) {
        visits += conflictsOf(item).cost;
        continue;
      }
      if (!placeItem(item)) {
        failed = item;
        return false;
      }
      isPlaced = itemOffsets[item] + set->items()[item].extent <= most;
    }
  return isPlaced;
}

int64_t FirstFit::height() const {
  int64_t height = 0;
  for (size_t i = 0; i < itemOffsets.size(); ++i)
    height = std::max(height, itemOffsets[i] + set->items()[i].extent);
  return height;
}

std::vector<size_t> FirstFit::itemsUnderThePeak() {
  const std::vector<Item> &items = set->items();
  std::vector<size_t> found;
  std::vector<char> known(items.size(), 0);
  const auto add = [&](size_t item) {
    if (known[item])
      return;
    known[item] = 1;
    found.push_back(item);
  };
  const int64_t top = height();
  for (size_t i = 0; i < items.size(); ++i)
    if (itemOffsets[i] + items[i].extent == top)
      add(i);
  for (size_t next = 0; next < found.size(); ++next) {
    const size_t index = found[next];
    const int64_t bottom = itemOffsets[index];
    const Conflicts &around = conflictsOf(index);
    visits += around.cost;
    for (const Conflict &conflict : around.list) {
      const int64_t end = itemOffsets[conflict.other] + conflict.after;
      if (end >= 0 && end <= bottom && set->nextOffset(index, end) == bottom)
        add(conflict.other);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}
