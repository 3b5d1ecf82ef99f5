//===- GroupMemory.h - Groups that need less global memory -----------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_GROUPMEMORY_H
#define TPUC_CODEGEN_GROUP_GROUPMEMORY_H

#include "tpuc/Codegen/Group/GroupSearch.h"

namespace tpuc::codegen {

/// About how much global memory tensors between groups need at a time, whatever is lost where they
/// are put.
struct MemoryPeak {
  int64_t bytes = 0;
  /// Beside how many groups and moves so much is alive.
  size_t times = 0;
  /// The number of the group beside which most is alive; none where that is a move of data.
  std::optional<size_t> group = std::nullopt;
  /// The last op of that group, or the move; null where nothing is alive.
  mlir::Operation *op = nullptr;
};

/// That of a division of `ops`, a sub-network whose layers in local memory `table` knows.
MemoryPeak memoryPeak(llvm::ArrayRef<mlir::Operation *> ops, GroupTable &table,
                      const Partition &partition, const Backend &backend);

/// The partition with other tilings of groups at the peak, or one or two groups in their place and
/// that of a few neighbours, as long as eight percent of memory are saved for each percent of
/// cycles that the groups take more by estimate. Where several groups need as much, all of them
/// change.
Partition withLessMemory(llvm::ArrayRef<mlir::Operation *> ops, GroupTable &table,
                         Partition partition, const Backend &backend);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_GROUPMEMORY_H
