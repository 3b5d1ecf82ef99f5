//===- AllocationProblem.cpp - Buffers that want addresses ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Allocator/AllocationProblem.h"

#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::alloc;

namespace {

constexpr int64_t kOffsetLimit = int64_t(1) << 62;

Expected<void> checkBuffer(const AllocationProblem &problem, size_t index) {
  const Buffer &buffer = problem.buffers[index];
  const auto where = [&] { return describeBuffer(problem, index); };
  if (buffer.lower >= buffer.upper)
    return makeError(where(), fmt::format("lives in [{}, {})", buffer.lower, buffer.upper),
                     "lower < upper");
  if (buffer.size < 0)
    return makeError(where(), fmt::format("has size {}", buffer.size), "a size >= 0");
  if (buffer.alignment < 1)
    return makeError(where(), fmt::format("has alignment {}", buffer.alignment),
                     "an alignment >= 1");
  if (!buffer.mayCrossBanks && problem.bankSize > 0 && buffer.size > problem.bankSize)
    return makeError(where(), fmt::format("has size {}", buffer.size),
                     fmt::format("at most one bank ({})", problem.bankSize));
  if (!buffer.fixedOffset)
    return {};
  int64_t offset = *buffer.fixedOffset;
  if (offset < 0 || offset % buffer.alignment != 0)
    return makeError(where(), fmt::format("is fixed at offset {}", offset),
                     fmt::format("a multiple of {} that is >= 0", buffer.alignment));
  if (!buffer.mayCrossBanks && problem.bankSize > 0 &&
      offset % problem.bankSize + buffer.size > problem.bankSize)
    return makeError(where(), fmt::format("is fixed at offset {}, across banks", offset),
                     fmt::format("{} bytes inside a bank of {}", buffer.size, problem.bankSize));
  return {};
}

Expected<void> checkSubBuffers(const AllocationProblem &problem) {
  constexpr size_t kNone = SIZE_MAX;
  size_t count = problem.buffers.size();
  std::vector<size_t> containerOf(count, kNone);
  for (const SubBuffer &sub : problem.subBuffers) {
    if (sub.buffer >= count || sub.container >= count)
      return makeError("sub-buffers", fmt::format("buffer {} inside {}", sub.buffer, sub.container),
                       fmt::format("numbers below {}", count));
    const auto where = [&] { return describeBuffer(problem, sub.buffer); };
    if (containerOf[sub.buffer] != kNone)
      return makeError(where(), "lies inside two containers", "one");
    containerOf[sub.buffer] = sub.container;
    int64_t room = problem.buffers[sub.container].size - problem.buffers[sub.buffer].size;
    if (sub.offset < 0 || sub.offset > room)
      return makeError(
          where(),
          fmt::format("lies at {} inside {}", sub.offset, describeBuffer(problem, sub.container)),
          fmt::format("an offset in 0..{}", room));
  }
  // Each walk marks what it met with its own number, so all walks together are linear.
  std::vector<size_t> walkOf(count, kNone);
  for (size_t start = 0; start < count; ++start)
    for (size_t at = start; at != kNone && walkOf[at] != start; at = containerOf[at]) {
      if (walkOf[at] != kNone)
        break;
      walkOf[at] = start;
      if (containerOf[at] != kNone && walkOf[containerOf[at]] == start)
        return makeError(describeBuffer(problem, at), "lies inside itself", "no cycle");
    }
  return {};
}

} // namespace

std::string tpuc::alloc::describeBuffer(const AllocationProblem &problem, size_t buffer) {
  const std::string &name = problem.buffers[buffer].name;
  return name.empty() ? fmt::format("buffer #{}", buffer) : fmt::format("buffer '{}'", name);
}

Expected<void> tpuc::alloc::checkProblem(const AllocationProblem &problem) {
  if (problem.bankSize < 0 || problem.bankSize >= kOffsetLimit)
    return makeError("bank size", fmt::format("{}", problem.bankSize), "0 (none) or a size");
  // Whatever the order, the first offset that fits lies below the sum of these.
  int64_t reach = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (auto ok = checkBuffer(problem, i); !ok)
      return ok;
    const Buffer &buffer = problem.buffers[i];
    for (int64_t part :
         {buffer.size, buffer.alignment, buffer.fixedOffset.value_or(0), problem.bankSize}) {
      if (part > kOffsetLimit - reach)
        return makeError(describeBuffer(problem, i),
                         "takes the sum of sizes, alignments and banks beyond 2^62",
                         "a smaller problem");
      reach += part;
    }
  }
  if (auto ok = checkSubBuffers(problem); !ok)
    return ok;
  for (const std::vector<size_t> &group : problem.mayOverlap)
    for (size_t buffer : group)
      if (buffer >= problem.buffers.size())
        return makeError("buffers that may overlap", fmt::format("number {}", buffer),
                         fmt::format("a number below {}", problem.buffers.size()));
  return {};
}
