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

  /// The cycles of a run by each set of parameters (`Backend::runCycles`). Errors: there is no room
  /// for these groups.
  Expected<llvm::SmallVector<int64_t>> run(std::vector<GroupPlan> groups) const;
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
