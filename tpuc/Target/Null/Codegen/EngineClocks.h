//===- EngineClocks.h - When null's engines are done ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_NULL_CODEGEN_ENGINECLOCKS_H
#define TPUC_TARGET_NULL_CODEGEN_ENGINECLOCKS_H

#include "tpuc/Target/Target.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tpuc::Null {

/// Bytes of every lane of a memory space that a command reads or writes, from `begin` to before
/// `end`.
struct LocalRange {
  unsigned space;
  int64_t begin, end;
  bool isWritten;
};

/// Each engine takes its commands in order. A command waits for those of the other engine that come
/// before it and touch bytes that one of the two writes. Tensors in global memory are touched by
/// the transfers only.
class EngineClocks {
public:
  void add(EngineRole engine, int64_t cycles, std::span<const LocalRange> ranges) {
    const auto own = static_cast<size_t>(engine);
    std::vector<Command> &others = pending[1 - own];
    int64_t start = ends[own];
    // Those that are done when the engine is free need not be looked at again.
    std::erase_if(others, [&](const Command &other) { return other.end <= start; });
    for (const Command &other : others)
      if (conflict(ranges, other.ranges))
        start = std::max(start, other.end);
    ends[own] = start + cycles;
    pending[own].push_back({ends[own], {ranges.begin(), ranges.end()}});
  }

  /// The cycle at which both engines are done.
  int64_t end() const { return std::max(ends[0], ends[1]); }
  /// What comes next waits for both engines.
  void join() {
    ends = {end(), end()};
    pending = {};
  }

private:
  struct Command {
    int64_t end;
    std::vector<LocalRange> ranges;
  };

  static bool conflict(std::span<const LocalRange> one, std::span<const LocalRange> two) {
    return std::ranges::any_of(one, [&](const LocalRange &a) {
      return std::ranges::any_of(two, [&](const LocalRange &b) {
        return (a.isWritten || b.isWritten) && a.space == b.space && a.begin < b.end &&
               b.begin < a.end;
      });
    });
  }

  std::array<int64_t, 2> ends{};
  std::array<std::vector<Command>, 2> pending;
};

} // namespace tpuc::Null

#endif // TPUC_TARGET_NULL_CODEGEN_ENGINECLOCKS_H
