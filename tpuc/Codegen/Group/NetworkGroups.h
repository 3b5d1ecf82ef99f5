//===- NetworkGroups.h - The groups of a whole network -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_NETWORKGROUPS_H
#define TPUC_CODEGEN_GROUP_NETWORKGROUPS_H

#include "tpuc/Codegen/Group/GroupSearch.h"
#include "tpuc/Codegen/Group/PlanInfo.h"
#include "tpuc/Codegen/Heuristics.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Place/ResidentConstants.h"
#include "tpuc/Codegen/Schedule/NetworkSchedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>
#include <optional>
#include <string>

namespace tpuc::codegen {

/// How groups are chosen.
struct GroupOptions {
  /// 0: one layer in a group; 1: the least estimated cycles; 2: the least simulated ones; 3: as 2,
  /// for longer.
  int64_t opt = 1;
  /// The time limit of `opt` 3; 0 for none.
  int64_t seconds = 0;
  /// 0: as many as the process may run on. The groups do not depend on it.
  unsigned numThreads = 0;
  /// A file whose groups are taken instead; empty for none.
  std::string file = {};
  Heuristics heuristics = {};
};

/// The groups of one sub-network of the chip, and when they run.
struct SubNetGroups {
  SubNet subNet = {};
  /// Those of its layers that are computed in local memory.
  std::vector<mlir::Operation *> layers = {};
  /// `items` point to them: they may be moved together, not copied.
  std::vector<GroupPlan> groups = {};
  std::vector<ScheduleItem> items = {};
  /// `NetworkSchedule::poolUnits`.
  llvm::SmallVector<int64_t> poolUnits = {};
  /// All that may be chosen, and what was; none where they were read, or each layer has its own.
  std::shared_ptr<GroupPlanner> planner = nullptr;
  std::shared_ptr<GroupTable> table = nullptr;
  Partition partition = {};
  /// Those that take the fewest estimated cycles, where others were chosen for less memory.
  std::optional<Partition> fastest = std::nullopt;
  bool isCrowded = false;
  /// Percent of the memory that the schedule tries to fill, and that it has filled.
  int64_t mostFill = kMostFill, fill = kMostFill;
  LoadOrder order = LoadOrder::AsEarly;
};

struct NetworkGroups {
  std::vector<SubNetGroups> parts;
  /// What stays in its memory space for the whole network, and where that begins.
  ResidentConstants pool;
  int64_t poolAddress = 0;

  PoolPlace place() const { return {.pool = pool, .address = poolAddress}; }
};

/// What a run with some groups takes.
struct RunCost {
  /// The mean over the sets of timing parameters of its cycles, divided by those of another run.
  double ratio = 1;
  /// Of global memory.
  int64_t bytes = 0;
};

/// The number of the run that needs the least global memory of those that take at most a percent
/// longer than the fastest; of several the first.
size_t leastMemory(llvm::ArrayRef<RunCost> runs);

/// The groups of all sub-networks of the chip. Where what they need does not find its place, they
/// are chosen again for a smaller memory; then nothing is kept for the whole network. At last the
/// groups that stand in the way are divided, down to one layer in each. Errors: those of the file;
/// layers that do not fit local memory.
Expected<NetworkGroups> chooseGroups(mlir::func::FuncOp main, const GroupOptions &options,
                                     const Backend &backend);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_NETWORKGROUPS_H
