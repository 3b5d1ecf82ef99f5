//===- NetworkSchedule.h - All groups on one time line --------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The groups of a network and the ops that move data between them follow each other on one line of
// time units. A group stands for its last tile only: what overlaps it from outside comes after the
// tiles before. In each unit one layer computes, and beside it runs what was loaded for later or
// is stored from before; local memory is given out for the whole line at once, so weights can come
// while the group in front still computes.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_SCHEDULE_NETWORKSCHEDULE_H
#define TPUC_CODEGEN_SCHEDULE_NETWORKSCHEDULE_H

#include "tpuc/Codegen/Group/PlanInfo.h"
#include "tpuc/Codegen/Schedule/GroupSteps.h"

#include "llvm/ADT/MapVector.h"

namespace tpuc::codegen {

/// Of a piece of the pool that nothing needs: it has no unit of time.
inline constexpr int64_t kNever = -1;

/// What runs on the line.
struct ScheduleItem {
  /// An op that moves data, or none.
  mlir::Operation *move = nullptr;
  const GroupPlan *group = nullptr;
  int64_t start = 0;

  int64_t period() const { return group ? group->period() : 1; }
};

/// Percent of local memory up to which loads may be brought forward.
inline constexpr int64_t kMostFill = 100;

/// Work for the allocator of local memory: it is asked again with fewer loads brought forward where
/// it finds nothing.
inline constexpr uint64_t kAllocatorWork = 8'000'000;

/// A sub-network on one line of time units.
struct NetworkSchedule {
  std::vector<ScheduleItem> items;
  /// When each piece of the pool is loaded: a unit of the group that needs it first, of its first
  /// tile, or one in front of it. `kNever` those that nothing here needs.
  llvm::SmallVector<int64_t> poolUnits;
  /// As full as memory may be made by loads that are brought forward, in percent, so that
  /// everything finds its place.
  int64_t fill = kMostFill;
  /// Whether some layers need more room than that: then groups that need less may be faster.
  bool isCrowded = false;
};

/// Orders `groups` of `layers`, a sub-network, and those of these that move data, chooses when each
/// begins, brings loads of constants forward, and gives everything its place in its memory space,
/// there in front of the pool. What is fuller than `mostFill` is not tried; `work` is for one try.
/// Errors: there is no room; `unplaced` then has the numbers of the groups that stand where the
/// last try found none, as far as that is known.
Expected<NetworkSchedule>
scheduleNetwork(llvm::ArrayRef<mlir::Operation *> layers, llvm::MutableArrayRef<GroupPlan> groups,
                const Backend &backend, const PoolPlace &pool, const Heuristics &heuristics = {},
                int64_t mostFill = kMostFill, uint64_t work = kAllocatorWork,
                LoadOrder order = LoadOrder::AsEarly,
                llvm::SmallVectorImpl<size_t> *unplaced = nullptr);

/// How long that takes by estimate, if everything finds its place. Errors: there is no room.
Expected<int64_t> estimateNetwork(llvm::ArrayRef<mlir::Operation *> layers,
                                  llvm::ArrayRef<const GroupPlan *> groups, const Backend &backend,
                                  const PoolPlace &pool, const Heuristics &heuristics = {});

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_SCHEDULE_NETWORKSCHEDULE_H
