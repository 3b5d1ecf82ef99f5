//===- GroupSteps.h - When a group loads, computes and stores -------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_SCHEDULE_GROUPSTEPS_H
#define TPUC_CODEGEN_SCHEDULE_GROUPSTEPS_H

#include "tpuc/Codegen/CapacityRange.h"
#include "tpuc/Codegen/Group/GroupPlan.h"

namespace tpuc::codegen {

/// One unit of time: a layer computes, while loads and stores of this unit run beside it.
struct ScheduleUnit {
  /// Of the layer, and those of them in which it needs the engine that transfers.
  int64_t cycles = 0, moveCycles = 0;
  /// Of transfers whose time is fixed: loads, and stores of what the unit before made.
  int64_t loadCycles = 0, storeCycles = 0;
  /// Earlier tiles of the same group, which are over when the unit begins.
  int64_t earlierCycles = 0;
  /// What is in use.
  Footprint bytes = {};
};

/// A load that may be brought forward.
struct MovableLoad {
  /// In its memory space.
  int64_t bytes = 0;
  int64_t cycles = 0;
  /// The first and the last unit that need it; in front of the first one where its room is
  /// counted otherwise.
  int64_t need = 0, last = 0;
  /// From which unit on its room is counted already, where that is before it is needed.
  std::optional<int64_t> counted = std::nullopt;
  /// The first unit in which it may be loaded.
  int64_t earliest = 0;
  unsigned space = kTileSpace;
  /// The unit in which it is loaded: the result.
  int64_t unit = 0;

  /// Up to which unit it takes room that is not counted yet, if it comes before.
  int64_t uncountedEnd() const { return counted.value_or(need); }
};

/// So many units before it is needed a load may be issued at most: further ahead hardly anything
/// is gained, but everything in between has to find a place beside it.
inline constexpr int64_t kMostAhead = 512;

/// Where loads stand beside transfers that layers wait for: those of layers themselves, and
/// stores of what is loaded again at once.
enum class LoadOrder : uint8_t {
  AsEarly, ///< In front of them, wherever the engine is idle but for them.
  /// Behind them, if in front they would delay layers longer than behind. That counts what any
  /// load to come would be late for all that is transferred before.
  BehindUrgent,
  /// The same, but each load counts by itself: others may find room sooner or later.
  EachBehindUrgent,
};

/// Chooses the unit of each load, in the order in which they are given (that of their needs),
/// past those that cannot be loaded yet: one unit before it is needed, or as much earlier as the
/// transfer engine would be idle, up to `kMostAhead`, if the tensor fits the part `room` of
/// `capacity` from then on; in the unit that needs it where there is no room before, or as
/// `order` says. `units` holds the bytes of everything else. Returns the cycles until both
/// engines are done. `range` becomes narrower by all that is compared with `capacity` and `room`,
/// where these are the same. Errors: what is needed in a unit does not fit.
Expected<int64_t> scheduleLoads(llvm::MutableArrayRef<ScheduleUnit> units,
                                llvm::MutableArrayRef<MovableLoad> loads, const Footprint &capacity,
                                const Footprint &room, LoadOrder order = LoadOrder::AsEarly,
                                CapacityRange *range = nullptr);

/// Adds what the layers of a group take, and the moves of parts of concatenations, to the units
/// of its steps.
void addCycles(const GroupPlan &plan, llvm::function_ref<ScheduleUnit &(int64_t step)> unitOf);

/// Decides in which steps the tensors of `plan` are loaded, stored and alive, and estimates the
/// cycles of the group. With several tiles, constants stay, the next tile is loaded while one
/// computes and the last one stored, as far as there is room. Without `overlaps`, transfers of
/// tiles and computation take turns. `range` becomes narrower by all that is compared with
/// `capacity`. Errors: no room at all.
Expected<void> planSteps(GroupPlan &plan, const Footprint &capacity, bool overlaps = true,
                         CapacityRange *range = nullptr);

/// The first and the last layer that read a tensor.
std::pair<int64_t, int64_t> readSteps(const GroupTensor &tensor);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_SCHEDULE_GROUPSTEPS_H
