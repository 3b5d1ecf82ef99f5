//===- Allocator.h - Addresses for buffers ----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives addresses to buffers with fixed lifetimes so that the highest one in use is low: for chip
// local memory, global memory and the interpreter.
//
// First the buffers are placed in a few fixed orders, which is nearly linear and often already as
// good as can be; only where that misses the capacity (or the lower bound, when minimizing) a
// search follows. The same problem and options give the same allocation on every machine and in
// every run: what limits the search is work counted, not time.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_ALLOCATOR_ALLOCATOR_H
#define TPUC_SUPPORT_ALLOCATOR_ALLOCATOR_H

#include "tpuc/Support/Allocator/AllocationProblem.h"
#include "tpuc/Support/Allocator/SkylineSearch.h"

namespace tpuc::alloc {

/// Each can be switched off by itself; with all of them off the buffers are placed in the order in
/// which they are given.
struct AllocatorHeuristics {
  /// Orders for placing one after the other, largest first.
  bool placeBySize = true;
  bool placeByArea = true;
  bool placeByLifetime = true;
  /// Earliest start first, larger first among those.
  bool placeByStart = true;
  /// The skyline search, where there are no more items than AllocatorOptions::maxSearchedItems.
  bool skylineSearch = true;
  SearchHeuristics search;
  /// When the strategies of the search have all been tried, they are tried again with varied
  /// orders and more work.
  bool varyOrders = true;
  /// Better orders for placing are looked for, step by step.
  bool improveOrder = true;
};

struct AllocatorOptions {
  /// Stop at the first allocation of at most this height; 0: make the height as small as possible.
  int64_t capacity = 0;
  /// When minimizing: a height at most this far above the lower bound is good enough. Where sizes
  /// are not multiples of their alignments, the lower bound itself is seldom met.
  int64_t tolerance = 0;
  /// How much the searches may do, in buffers and sections looked at: 10^9 are a few seconds. 0: no
  /// search.
  uint64_t workLimit = 500'000'000;
  /// The skyline search takes memory proportional to the square of this.
  size_t maxSearchedItems = 4096;
  AllocatorHeuristics heuristics;
};

struct Allocation {
  /// One per buffer.
  std::vector<int64_t> offsets;
  /// The largest offset + size.
  int64_t height = 0;
  /// The largest load over time: no allocation is lower.
  int64_t maxLoad = 0;
  /// What is known after the search: no allocation is lower. At least maxLoad.
  int64_t lowerBound = 0;
  /// The work that the searches did.
  uint64_t work = 0;

  /// Proven to be as low as possible.
  bool isOptimal() const { return height == lowerBound; }
  /// Asked for a capacity, it may turn out that the allocation does not fit.
  bool fits(int64_t capacity) const { return height <= capacity; }
};

/// The best allocation found; whether it meets the capacity is the caller's to ask. Every result
/// has passed validateAllocation. Errors: a problem that contradicts itself (checkProblem, aliases
/// that cannot be aligned, fixed buffers in each other's way).
Expected<Allocation> allocate(const AllocationProblem &problem,
                              const AllocatorOptions &options = {});

} // namespace tpuc::alloc

#endif // TPUC_SUPPORT_ALLOCATOR_ALLOCATOR_H
