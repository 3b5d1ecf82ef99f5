//===- NetworkTrial.h - How long a network would run -----------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_NETWORKTRIAL_H
#define TPUC_CODEGEN_NETWORKTRIAL_H

#include "tpuc/Codegen/PlanInfo.h"

namespace tpuc::codegen {

/// Tries groups: schedules them, emits their commands and asks the chip's timing simulator. The
/// tensors of the network have addresses (`assignTrialAddresses`).
class NetworkTrial {
public:
  /// `layers`: those of a sub-network. Groups have the local memory in front of the pool.
  NetworkTrial(llvm::ArrayRef<mlir::Operation *> layers, const PoolPlace &pool,
               const Backend &backend, const Heuristics &heuristics)
      : layers(layers), pool(pool), backend(backend), heuristics(heuristics) {}

  struct Result {
    /// Of a run, by each set of parameters (`Backend::runCycles`).
    llvm::SmallVector<int64_t> cycles;
    /// `NetworkSchedule::fill`.
    int64_t fill = 0;
  };
  /// Schedules with `mostFill` at most. Errors: there is no room for these groups.
  Expected<Result> run(std::vector<GroupPlan> groups, int64_t mostFill) const;
  /// About the same, without places and commands.
  Expected<int64_t> estimate(std::vector<GroupPlan> groups) const;

private:
  llvm::ArrayRef<mlir::Operation *> layers;
  const PoolPlace &pool;
  const Backend &backend;
  Heuristics heuristics;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_NETWORKTRIAL_H
