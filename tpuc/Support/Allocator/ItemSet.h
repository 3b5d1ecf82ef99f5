//===- ItemSet.h - What the solvers place -----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the solvers place: a problem's buffers, those that hang together as sub-buffers merged into
// one item, and what can be asked about them.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_ALLOCATOR_ITEMSET_H
#define TPUC_SUPPORT_ALLOCATOR_ITEMSET_H

#include "tpuc/Support/Allocator/AllocationProblem.h"

namespace tpuc::alloc {

/// A buffer as a part of an item: the buffer lies at the item's offset + delta.
struct Part {
  size_t buffer = 0;
  int64_t delta = 0;
};

struct Item {
  /// The outermost container (delta 0) comes first.
  std::vector<Part> parts;
  /// Bytes from the item's offset to its end: the size of the outermost container.
  int64_t extent = 0;
  /// From the first to the last moment at which a part lives.
  int64_t lower = 0;
  int64_t upper = 0;
  /// All alignments together: the offset is residue modulo modulus.
  int64_t modulus = 1;
  int64_t residue = 0;
  std::optional<int64_t> fixedOffset;
  /// The parts that must stay inside one bank each.
  std::vector<Part> bankParts;
  /// The item takes all of its extent during all of [lower, upper).
  bool isRectangle = false;
};

/// No offset at all.
inline constexpr int64_t kNoOffset = INT64_MAX;

class ItemSet {
public:
  /// Errors: those of checkProblem, and alignments or fixed offsets of sub-buffers that contradict
  /// each other. The problem must outlive the set.
  static Expected<ItemSet> build(const AllocationProblem &problem);

  const AllocationProblem &problem() const { return *source; }
  const std::vector<Item> &items() const { return list; }
  size_t itemOf(size_t buffer) const { return itemOfBuffer[buffer]; }
  /// Whether two buffers of different items may overlap.
  bool mayOverlap(size_t bufferA, size_t bufferB) const;
  bool hasOverlapGroups() const { return !groupsOfBuffer.empty(); }

  /// The smallest offset >= from >= 0 that the item itself allows, or kNoOffset.
  int64_t nextOffset(size_t item, int64_t from) const;
  /// The largest load over time: at each moment each item takes the union of its living parts,
  /// items that may overlap (in one or more steps) together the largest of them.
  int64_t maxLoad() const { return loadInGrains(1); }
  /// What no allocation can be lower than: the largest load, that of sizes rounded up to what all
  /// offsets are multiples of (only the topmost item need not be rounded), the end of a fixed item.
  int64_t lowerBound() const;
  /// The largest number that divides all extents, alignments, banks and fixed offsets: the heights
  /// of packed allocations are multiples of it.
  int64_t granularity() const;
  /// The offsets of all buffers from those of all items.
  std::vector<int64_t> bufferOffsets(const std::vector<int64_t> &itemOffsets) const;

private:
  explicit ItemSet(const AllocationProblem &problem) : source(&problem) {}
  Expected<void> mergeConstraints(Item &item) const;
  int64_t loadOfApart(int64_t grain) const;
  int64_t loadInGrains(int64_t grain) const;
  int64_t occupiedBytes(const Item &item, int64_t time, int64_t grain) const;

  const AllocationProblem *source;
  std::vector<Item> list;
  std::vector<size_t> itemOfBuffer;
  /// Empty where the problem has no groups; else sorted numbers of groups per buffer.
  std::vector<std::vector<size_t>> groupsOfBuffer;
};

} // namespace tpuc::alloc

#endif // TPUC_SUPPORT_ALLOCATOR_ITEMSET_H
