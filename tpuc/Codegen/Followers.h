//===- Followers.h - Threads that go one behind the other -----------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_FOLLOWERS_H
#define TPUC_CODEGEN_FOLLOWERS_H

#include <atomic>
#include <vector>

namespace tpuc::codegen {

/// Threads that go through the same numbers downwards, each behind another one: what that one did
/// at a number is there for the one that has awaited it.
class Followers {
public:
  /// All numbers are below `begin`.
  Followers(size_t count, unsigned begin) : places(count) {
    for (std::atomic<unsigned> &place : places)
      place.store(begin, std::memory_order_relaxed);
  }

  /// Waits until `leader` has left `number`.
  void await(size_t leader, unsigned number) {
    for (unsigned place; (place = places[leader].load(std::memory_order_acquire)) > number;)
      places[leader].wait(place, std::memory_order_acquire);
  }
  void leave(size_t follower, unsigned number) {
    places[follower].store(number, std::memory_order_release);
    places[follower].notify_all();
  }

private:
  /// What each has left last.
  std::vector<std::atomic<unsigned>> places;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_FOLLOWERS_H
