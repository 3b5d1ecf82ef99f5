//===- StateTable.h - States known to fail ----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bounded set of states of a search, each with the largest capacity at which it failed.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_ALLOCATOR_STATETABLE_H
#define TPUC_SUPPORT_ALLOCATOR_STATETABLE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tpuc::alloc {

/// States are known by 64-bit codes alone: two states of one code are taken for the same, which
/// among the million that are kept at most happens once in millions of runs, and can then cost an
/// allocation that exists, never make a wrong one. Grows up to 2^20 entries, then forgets.
class StateTable {
public:
  /// Whether the state is known to fail at this capacity.
  bool contains(uint64_t code, int64_t capacity) const {
    if (entries.empty())
      return false;
    const Entry &entry = entries[code & (entries.size() - 1)];
    return entry.code == code && entry.capacity >= capacity;
  }

  /// Remembers that the state fails at this capacity, and so at all below.
  void insert(uint64_t code, int64_t capacity) {
    if (2 * used >= entries.size() && entries.size() < kMaxEntries)
      grow();
    Entry &entry = entries[code & (entries.size() - 1)];
    used += entry.capacity < 0;
    entry.capacity = entry.code == code ? std::max(entry.capacity, capacity) : capacity;
    entry.code = code;
  }

private:
  static constexpr size_t kMinEntries = size_t(1) << 10;
  static constexpr size_t kMaxEntries = size_t(1) << 20;
  struct Entry {
    uint64_t code = 0;
    int64_t capacity = -1;
  };

  void grow() {
    std::vector<Entry> old(std::max(kMinEntries, 4 * entries.size()));
    old.swap(entries);
    used = 0;
    for (const Entry &entry : old)
      if (entry.capacity >= 0) {
        Entry &slot = entries[entry.code & (entries.size() - 1)];
        used += slot.capacity < 0;
        slot = entry;
      }
  }

  std::vector<Entry> entries;
  size_t used = 0;
};

} // namespace tpuc::alloc

#endif // TPUC_SUPPORT_ALLOCATOR_STATETABLE_H
