//===- GroupTimes.h - When a group reads and writes global memory ----*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_GROUPTIMES_H
#define TPUC_CODEGEN_GROUP_GROUPTIMES_H

#include "tpuc/Codegen/Group/GroupPlan.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

namespace tpuc::codegen {

/// The order of the transfers of a group. The engine that moves data works in order: at each of the
/// times that are counted here, first loads, then stores.
class GroupTimes {
public:
  /// Errors name the member: it does not say what it holds.
  static Expected<GroupTimes> of(tpu::GroupOp group);
  /// Those of a group that is planned and scheduled.
  static GroupTimes of(const GroupPlan &plan);

  /// A tensor in global memory, and the times from its first tile to its last one.
  struct Transfer {
    mlir::Value value;
    int64_t first = 0, last = 0;
    bool isStored = false;
  };
  llvm::ArrayRef<Transfer> transfers() const { return all; }
  /// How many times there are.
  int64_t count() const { return numTimes; }

private:
  /// Numbers the steps in which something is transferred.
  explicit GroupTimes(std::vector<Transfer> inSteps);

  std::vector<Transfer> all;
  int64_t numTimes = 0;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_GROUPTIMES_H
