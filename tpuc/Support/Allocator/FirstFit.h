//===- FirstFit.h - Placing items in a given order --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Placing items one after the other, each at the lowest offset that is free: any order gives an
// allocation, a good order a good one. Works for every kind of constraint.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_ALLOCATOR_FIRSTFIT_H
#define TPUC_SUPPORT_ALLOCATOR_FIRSTFIT_H

#include "tpuc/Support/Allocator/ItemSet.h"

namespace tpuc::alloc {

class FirstFit {
public:
  /// The set must outlive the placer.
  explicit FirstFit(const ItemSet &set);

  /// Places the items in the given order (each once), those with fixed offsets first. Fails,
  /// returning false, where an item finds no offset (two fixed ones in each other's way, say), or
  /// ends above `most`. Costs O(n log n + pairs of buffers that live together).
  bool place(const std::vector<size_t> &order, int64_t most = INT64_MAX);
  /// One per item, after a successful place.
  const std::vector<int64_t> &offsets() const { return itemOffsets; }
  /// The item that found no offset, after place has failed.
  size_t failedItem() const { return failed; }
  int64_t height() const;
  /// Pairs of buffers that were looked at so far, as if none were remembered and no placing ended
  /// early: a measure of time that is the same on every machine.
  uint64_t work() const { return visits; }

  /// The items that lie without a gap under the highest ones: only by moving one of these can the
  /// height shrink. In ascending order.
  std::vector<size_t> itemsUnderThePeak();

private:
  template <typename F> void forEachOverlapping(int64_t lower, int64_t upper, F visit) const;
  template <typename F>
  void visitLongLived(size_t node, size_t begin, size_t end, size_t prefix, int64_t time,
                      F &visit) const;
  /// What keeps an item and a buffer of another one apart: offsets of the item strictly between
  /// the two numbers, counted from the offset of the other item, are taken.
  struct Conflict {
    size_t other = 0;
    int64_t before = 0, after = 0;
  };
  struct Conflicts {
    bool isKnown = false;
    /// How many there are, once they have been looked for.
    std::optional<size_t> count = std::nullopt;
    std::vector<Conflict> list;
    /// What finding them costs.
    uint64_t cost = 0;
  };
  const Conflicts &conflictsOf(size_t item);
  int64_t lowestFree(size_t item);
  bool placeItem(size_t item);

  const ItemSet *set;
  /// Buffers of more than no bytes by the start of their lives; a heap-ordered tree of the latest
  /// ends over them finds those that already live at some moment.
  std::vector<size_t> byLower;
  /// What conflicts depend on, in the same order.
  struct Living {
    size_t item = 0;
    int64_t delta = 0, size = 0;
  };
  std::vector<Living> living;
  std::vector<int64_t> lowers;
  std::vector<int64_t> latestUpper;
  size_t leaves = 1;
  /// Of each buffer inside its item.
  std::vector<int64_t> deltas;
  std::vector<int64_t> itemOffsets;
  /// What was found of each item the second time, as far as there is room for it; and of another
  /// one.
  std::vector<Conflicts> conflicts;
  size_t numRemembered = 0;
  Conflicts passing;
  std::vector<std::pair<int64_t, int64_t>> blocked;
  size_t failed = 0;
  mutable uint64_t visits = 0;
};

} // namespace tpuc::alloc

#endif // TPUC_SUPPORT_ALLOCATOR_FIRSTFIT_H
