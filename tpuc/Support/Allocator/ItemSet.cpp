//===- ItemSet.cpp - What the solvers place -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Allocator/ItemSet.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

using namespace tpuc;
using namespace tpuc::alloc;

namespace {

constexpr int64_t kModulusLimit = int64_t(1) << 62;

/// For every buffer its outermost container and the distance from there.
std::vector<Part> findContainers(const AllocationProblem &problem) {
  size_t count = problem.buffers.size();
  std::vector<Part> up(count);
  for (size_t i = 0; i < count; ++i)
    up[i] = {i, 0};
  for (const SubBuffer &sub : problem.subBuffers)
    up[sub.buffer] = {sub.container, sub.offset};
  std::vector<size_t> path;
  for (size_t i = 0; i < count; ++i) {
    path.clear();
    size_t at = i;
    for (; up[at].buffer != at; at = up[at].buffer)
      path.push_back(at);
    // From the outermost inwards, so that each link already says the whole way.
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
      size_t parent = up[*it].buffer;
      if (parent != at)
        up[*it] = {at, up[*it].delta + up[parent].delta};
    }
  }
  return up;
}

/// x with x = r1 (mod m1) and x = r2 (mod m2) as (lcm, x), or nothing. Moduli below 2^62.
std::optional<std::pair<int64_t, int64_t>> intersect(int64_t m1, int64_t r1, int64_t m2,
                                                     int64_t r2) {
  if (m1 < m2) {
    std::swap(m1, m2);
    std::swap(r1, r2);
  }
  int64_t divisor = std::gcd(m1, m2);
  if ((r1 - r2) % divisor != 0 || m1 / divisor > kModulusLimit / m2)
    return std::nullopt;
  // Extended Euclid: the inverse of m1/divisor modulo m2/divisor.
  int64_t modulus = m2 / divisor;
  __int128 oldR = m1 / divisor % modulus, r = modulus, oldS = 1, s = 0;
  while (r != 0) {
    __int128 quotient = oldR / r;
    oldR = std::exchange(r, oldR - quotient * r);
    oldS = std::exchange(s, oldS - quotient * s);
  }
  __int128 steps = (r2 - r1) / divisor % modulus * (oldS % modulus) % modulus;
  if (steps < 0)
    steps += modulus;
  int64_t lcm = m1 / divisor * m2;
  return std::pair(lcm, static_cast<int64_t>((r1 + steps * m1) % lcm));
}

/// Whether parts as long as the whole item follow each other without a gap in time.
bool coversItsHull(const Item &item, const std::vector<Buffer> &buffers) {
  std::vector<std::pair<int64_t, int64_t>> full;
  for (const Part &part : item.parts)
    if (buffers[part.buffer].size == item.extent)
      full.emplace_back(buffers[part.buffer].lower, buffers[part.buffer].upper);
  std::sort(full.begin(), full.end());
  int64_t reached = item.lower;
  for (auto [lower, upper] : full) {
    if (lower > reached)
      return false;
    reached = std::max(reached, upper);
  }
  return reached == item.upper;
}

} // namespace

Expected<ItemSet> ItemSet::build(const AllocationProblem &problem) {
  if (auto ok = checkProblem(problem); !ok)
    return propagate(ok);
  ItemSet set(problem);
  const std::vector<Buffer> &buffers = problem.buffers;
  std::vector<Part> containers = findContainers(problem);
  set.itemOfBuffer.resize(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i)
    if (containers[i].buffer == i) {
      set.itemOfBuffer[i] = set.list.size();
      Item item;
      item.parts.push_back({i, 0});
      item.extent = buffers[i].size;
      item.lower = buffers[i].lower;
      item.upper = buffers[i].upper;
      set.list.push_back(std::move(item));
    }
  for (size_t i = 0; i < buffers.size(); ++i)
    if (containers[i].buffer != i) {
      set.itemOfBuffer[i] = set.itemOfBuffer[containers[i].buffer];
      Item &item = set.list[set.itemOfBuffer[i]];
      item.parts.push_back({i, containers[i].delta});
      item.lower = std::min(item.lower, buffers[i].lower);
      item.upper = std::max(item.upper, buffers[i].upper);
    }
  for (Item &item : set.list) {
    item.isRectangle = coversItsHull(item, buffers);
    if (auto ok = set.mergeConstraints(item); !ok)
      return propagate(ok);
  }
  if (!problem.mayOverlap.empty())
    set.groupsOfBuffer.resize(buffers.size());
  for (size_t group = 0; group < problem.mayOverlap.size(); ++group)
    for (size_t buffer : problem.mayOverlap[group])
      set.groupsOfBuffer[buffer].push_back(group);
  return set;
}

Expected<void> ItemSet::mergeConstraints(Item &item) const {
  const AllocationProblem &problem = *source;
  for (const Part &part : item.parts) {
    const Buffer &buffer = problem.buffers[part.buffer];
    const auto where = [&] { return describeBuffer(problem, part.buffer); };
    int64_t residue = (buffer.alignment - part.delta % buffer.alignment) % buffer.alignment;
    auto both = intersect(item.modulus, item.residue, buffer.alignment, residue);
    if (!both)
      return makeError(where(),
                       fmt::format("at {} inside {} cannot be aligned to {}", part.delta,
                                   describeBuffer(problem, item.parts[0].buffer), buffer.alignment),
                       "alignments that agree");
    std::tie(item.modulus, item.residue) = *both;
    if (buffer.fixedOffset) {
      int64_t offset = *buffer.fixedOffset - part.delta;
      if (offset < 0 || (item.fixedOffset && *item.fixedOffset != offset))
        return makeError(where(), fmt::format("is fixed at {}", *buffer.fixedOffset),
                         "a fixed offset that its container can follow");
      item.fixedOffset = offset;
    }
    if (problem.bankSize > 0 && !buffer.mayCrossBanks && buffer.size > 0)
      item.bankParts.push_back(part);
  }
  // Banks that the container keeps, all inside it keep.
  if (!item.bankParts.empty() && item.bankParts[0].buffer == item.parts[0].buffer)
    item.bankParts.resize(1);
  if (item.fixedOffset) {
    int64_t offset = *std::exchange(item.fixedOffset, std::nullopt);
    auto self = static_cast<size_t>(&item - list.data());
    if (nextOffset(self, offset) != offset)
      return makeError(describeBuffer(problem, item.parts[0].buffer),
                       fmt::format("is taken to offset {} by a fixed part", offset),
                       "one that alignments and banks of all parts allow");
    item.fixedOffset = offset;
  }
  if (nextOffset(static_cast<size_t>(&item - list.data()), 0) == kNoOffset)
    return makeError(describeBuffer(problem, item.parts[0].buffer),
                     "fits no offset with its sub-buffers", "alignments and banks that agree");
  return {};
}

bool ItemSet::mayOverlap(size_t bufferA, size_t bufferB) const {
  if (groupsOfBuffer.empty())
    return false;
  const std::vector<size_t> &a = groupsOfBuffer[bufferA];
  const std::vector<size_t> &b = groupsOfBuffer[bufferB];
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

int64_t ItemSet::nextOffset(size_t index, int64_t from) const {
  const Item &item = list[index];
  if (item.fixedOffset)
    return from <= *item.fixedOffset ? *item.fixedOffset : kNoOffset;
  // A few banks decide nearly always; combinations that fit only far away count as none.
  constexpr int kMaxSteps = 1 << 16;
  int64_t bank = source->bankSize;
  for (int step = 0; step < kMaxSteps && from < kModulusLimit; ++step) {
    int64_t excess = (from - item.residue) % item.modulus;
    if (excess != 0)
      from += excess < 0 ? -excess : item.modulus - excess;
    int64_t moved = from;
    for (const Part &part : item.bankParts) {
      int64_t start = moved + part.delta;
      if (start % bank + source->buffers[part.buffer].size > bank)
        moved += bank - start % bank;
    }
    if (moved == from)
      return from;
    from = moved;
  }
  return kNoOffset;
}

/// Bytes of the parts that live at this time, their sizes rounded up to multiples of the grain.
int64_t ItemSet::occupiedBytes(const Item &item, int64_t time, int64_t grain) const {
  const auto rounded = [&](int64_t bytes) { return (bytes + grain - 1) / grain * grain; };
  if (item.parts.size() == 1) {
    const Buffer &buffer = source->buffers[item.parts.front().buffer];
    return buffer.lower <= time && time < buffer.upper ? rounded(buffer.size) : 0;
  }
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const Part &part : item.parts) {
    const Buffer &buffer = source->buffers[part.buffer];
    if (buffer.lower <= time && time < buffer.upper)
      ranges.emplace_back(part.delta, part.delta + rounded(buffer.size));
  }
  std::sort(ranges.begin(), ranges.end());
  int64_t bytes = 0, reached = 0;
  for (auto [begin, end] : ranges) {
    bytes += std::max<int64_t>(0, end - std::max(begin, reached));
    reached = std::max(reached, end);
  }
  return bytes;
}

int64_t ItemSet::lowerBound() const {
  int64_t bound = maxLoad();
  int64_t grain = 0;
  for (const Item &item : list) {
    grain = std::gcd(grain, item.fixedOffset.value_or(item.residue));
    if (!item.fixedOffset)
      grain = std::gcd(grain, item.modulus);
    else
      bound = std::max(bound, *item.fixedOffset + item.extent);
    for (const Part &part : item.parts)
      grain = std::gcd(grain, part.delta);
  }
  if (grain <= 1)
    return bound;
  int64_t rounding = 0;
  for (const Buffer &buffer : source->buffers)
    rounding = std::max(rounding, (grain - buffer.size % grain) % grain);
  return std::max(bound, loadInGrains(grain) - rounding);
}

/// The largest load of items that are always apart: the sum of all that live.
int64_t ItemSet::loadOfApart(int64_t grain) const {
  // What begins or ends at a moment.
  std::vector<std::pair<int64_t, int64_t>> changes;
  changes.reserve(2 * source->buffers.size());
  std::vector<int64_t> times;
  for (const Item &item : list) {
    times.clear();
    for (const Part &part : item.parts) {
      times.push_back(source->buffers[part.buffer].lower);
      times.push_back(source->buffers[part.buffer].upper);
    }
    if (times.size() > 2)
      std::sort(times.begin(), times.end());
    int64_t before = 0;
    for (size_t i = 0; i < times.size(); ++i) {
      if (i > 0 && times[i] == times[i - 1])
        continue;
      const int64_t bytes = occupiedBytes(item, times[i], grain);
      changes.emplace_back(times[i], bytes - before);
      before = bytes;
    }
  }
  std::sort(changes.begin(), changes.end());
  int64_t load = 0, most = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    load += changes[i].second;
    if (i + 1 == changes.size() || changes[i + 1].first != changes[i].first)
      most = std::max(most, load);
  }
  return most;
}

int64_t ItemSet::loadInGrains(int64_t grain) const {
  if (source->mayOverlap.empty())
    return loadOfApart(grain);
  // Items joined by a group, in one or more steps.
  std::vector<size_t> leader(list.size());
  std::iota(leader.begin(), leader.end(), size_t(0));
  auto find = [&](size_t item) {
    while (leader[item] != item)
      item = leader[item] = leader[leader[item]];
    return item;
  };
  for (const std::vector<size_t> &group : source->mayOverlap)
    for (size_t buffer : group)
      leader[find(itemOfBuffer[buffer])] = find(itemOfBuffer[group[0]]);

  struct Change {
    int64_t time;
    size_t item;
    int64_t from, to;
    auto operator<=>(const Change &) const = default;
  };
  std::vector<Change> changes;
  int64_t bound = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    std::vector<int64_t> times;
    for (const Part &part : list[i].parts) {
      times.push_back(source->buffers[part.buffer].lower);
      times.push_back(source->buffers[part.buffer].upper);
    }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    int64_t before = 0;
    for (int64_t time : times) {
      int64_t bytes = occupiedBytes(list[i], time, grain);
      changes.push_back({time, i, before, bytes});
      before = bytes;
    }
  }
  std::sort(changes.begin(), changes.end());
  std::map<size_t, std::multiset<int64_t>> living;
  int64_t load = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    const Change &change = changes[i];
    std::multiset<int64_t> &sizes = living[find(change.item)];
    load -= sizes.empty() ? 0 : *sizes.rbegin();
    if (change.from > 0)
      sizes.erase(sizes.find(change.from));
    if (change.to > 0)
      sizes.insert(change.to);
    load += sizes.empty() ? 0 : *sizes.rbegin();
    if (i + 1 == changes.size() || changes[i + 1].time != change.time)
      bound = std::max(bound, load);
  }
  return bound;
}

int64_t ItemSet::granularity() const {
  int64_t divisor = source->bankSize;
  for (const Item &item : list) {
    divisor = std::gcd(divisor, item.extent);
    divisor = std::gcd(divisor, item.fixedOffset.value_or(0));
    if (item.modulus > 1)
      divisor = std::gcd(std::gcd(divisor, item.modulus), item.residue);
    for (const Part &part : item.parts) {
      divisor = std::gcd(divisor, part.delta);
      divisor = std::gcd(divisor, source->buffers[part.buffer].size);
    }
  }
  return std::max<int64_t>(divisor, 1);
}

std::vector<int64_t> ItemSet::bufferOffsets(const std::vector<int64_t> &itemOffsets) const {
  std::vector<int64_t> offsets(source->buffers.size());
  for (size_t i = 0; i < list.size(); ++i)
    for (const Part &part : list[i].parts)
      offsets[part.buffer] = itemOffsets[i] + part.delta;
  return offsets;
}
