//===- AllocationValidator.cpp - Judge of allocations ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Allocator/AllocationValidator.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <utility>

using namespace tpuc;
using namespace tpuc::alloc;

namespace {

Expected<void> checkOne(const AllocationProblem &problem, size_t index, int64_t offset,
                        int64_t capacity) {
  const Buffer &buffer = problem.buffers[index];
  const auto where = [&] { return describeBuffer(problem, index); };
  const auto found = [&] { return fmt::format("lies at offset {}", offset); };
  if (offset < 0)
    return makeError(where(), found(), "an offset >= 0");
  if (offset > INT64_MAX - buffer.size)
    return makeError(where(), found(), "an end below 2^63");
  if (offset % buffer.alignment != 0)
    return makeError(where(), found(), fmt::format("a multiple of {}", buffer.alignment));
  if (buffer.fixedOffset && offset != *buffer.fixedOffset)
    return makeError(where(), found(), fmt::format("the fixed offset {}", *buffer.fixedOffset));
  if (capacity > 0 && offset + buffer.size > capacity)
    return makeError(where(), fmt::format("ends at {}", offset + buffer.size),
                     fmt::format("at most the capacity of {}", capacity));
  if (problem.bankSize > 0 && !buffer.mayCrossBanks && buffer.size > 0 &&
      offset / problem.bankSize != (offset + buffer.size - 1) / problem.bankSize)
    return makeError(where(), fmt::format("{} with {} bytes, across banks", found(), buffer.size),
                     fmt::format("no crossing of a multiple of {}", problem.bankSize));
  return {};
}

/// For every buffer the outermost container.
std::vector<size_t> findOutermost(const AllocationProblem &problem) {
  std::vector<size_t> outer(problem.buffers.size());
  std::iota(outer.begin(), outer.end(), size_t(0));
  for (const SubBuffer &sub : problem.subBuffers)
    outer[sub.buffer] = sub.container;
  for (size_t &top : outer)
    while (outer[top] != top)
      top = outer[top];
  return outer;
}

} // namespace

Expected<int64_t> tpuc::alloc::validateAllocation(const AllocationProblem &problem,
                                                  std::span<const int64_t> offsets,
                                                  int64_t capacity) {
  if (auto ok = checkProblem(problem); !ok)
    return propagate(ok);
  const std::vector<Buffer> &buffers = problem.buffers;
  if (offsets.size() != buffers.size())
    return makeError("allocation", fmt::format("{} offsets", offsets.size()),
                     fmt::format("one for each of {} buffers", buffers.size()));
  int64_t height = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (auto ok = checkOne(problem, i, offsets[i], capacity); !ok)
      return propagate(ok);
    height = std::max(height, offsets[i] + buffers[i].size);
  }
  for (const SubBuffer &sub : problem.subBuffers)
    if (offsets[sub.buffer] != offsets[sub.container] + sub.offset)
      return makeError(describeBuffer(problem, sub.buffer),
                       fmt::format("lies at offset {}", offsets[sub.buffer]),
                       fmt::format("{}, which is {} inside {}", offsets[sub.container] + sub.offset,
                                   sub.offset, describeBuffer(problem, sub.container)));

  std::set<std::pair<size_t, size_t>> allowed;
  for (const std::vector<size_t> &group : problem.mayOverlap)
    for (size_t a : group)
      for (size_t b : group)
        allowed.emplace(a, b);
  std::vector<size_t> outer = findOutermost(problem);
  std::vector<size_t> byLower(buffers.size());
  std::iota(byLower.begin(), byLower.end(), size_t(0));
  std::sort(byLower.begin(), byLower.end(), [&](size_t a, size_t b) {
    return std::pair(buffers[a].lower, a) < std::pair(buffers[b].lower, b);
  });
  std::vector<size_t> alive;
  for (size_t b : byLower) {
    std::erase_if(alive, [&](size_t a) { return buffers[a].upper <= buffers[b].lower; });
    for (size_t a : alive) {
      bool disjoint = buffers[a].size == 0 || buffers[b].size == 0 ||
                      offsets[a] + buffers[a].size <= offsets[b] ||
                      offsets[b] + buffers[b].size <= offsets[a];
      if (!disjoint && outer[a] != outer[b] && !allowed.contains({a, b}))
        return makeError(describeBuffer(problem, b),
                         fmt::format("in [{}, {}) overlaps {} in [{}, {}) from time {} on",
                                     offsets[b], offsets[b] + buffers[b].size,
                                     describeBuffer(problem, a), offsets[a],
                                     offsets[a] + buffers[a].size, buffers[b].lower),
                         "disjoint ranges");
    }
    alive.push_back(b);
  }
  return height;
}
