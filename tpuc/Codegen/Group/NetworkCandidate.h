//===- NetworkCandidate.h - How long a network would run -----------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_NETWORKCANDIDATE_H
#define TPUC_CODEGEN_GROUP_NETWORKCANDIDATE_H

#include "tpuc/Codegen/Schedule/NetworkSchedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <limits>

namespace tpuc::codegen {

/// The mean over all sets of parameters of what the cycles of a run are to those of another.
double meanRatio(llvm::ArrayRef<int64_t> cycles, llvm::ArrayRef<int64_t> reference);

/// Whether by no set of parameters a run takes more cycles than another.
bool isNowhereSlower(llvm::ArrayRef<int64_t> cycles, llvm::ArrayRef<int64_t> reference);

/// Tries groups: schedules them, emits their commands and asks the chip's timing simulator. The
/// tensors of the network have addresses (`assignTrialAddresses`).
class NetworkCandidate {
public:
  /// `layers`: those of a sub-network of `main`. Groups have the local memory in front of the pool.
  NetworkCandidate(mlir::func::FuncOp main, llvm::ArrayRef<mlir::Operation *> layers,
                   const PoolPlace &pool, const Backend &backend, const Heuristics &heuristics)
      : main(main), layers(layers), pool(pool), backend(backend), heuristics(heuristics) {}

  /// What a candidate may not exceed.
  struct Limits {
    /// `NetworkSchedule::fill`.
    int64_t fill = kMostFill;
    /// For the allocator.
    uint64_t work = kAllocatorWork;
    /// Of global memory (`plannedBytes`).
    int64_t bytes = std::numeric_limits<int64_t>::max();
  };
  struct Result {
    /// Of a run, by each set of parameters (`Backend::runCycles`).
    llvm::SmallVector<int64_t> cycles;
    /// What it needs of what `Limits` limit.
    int64_t fill = 0, bytes = 0;
    /// How many there are (`Emitter::numCommands`).
    int64_t commands = 0;
  };
  /// Errors: there is no room for these groups.
  Expected<Result> run(std::vector<GroupPlan> groups, const Limits &limits) const;
  /// About the cycles of `groups` that follow each other, and of what stands between them, without
  /// places and commands. `areAll`: they are those of all layers.
  Expected<int64_t> estimate(llvm::ArrayRef<const GroupPlan *> groups, bool areAll) const;

private:
  mlir::func::FuncOp main;
  llvm::ArrayRef<mlir::Operation *> layers;
  const PoolPlace &pool;
  const Backend &backend;
  Heuristics heuristics;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_NETWORKCANDIDATE_H
