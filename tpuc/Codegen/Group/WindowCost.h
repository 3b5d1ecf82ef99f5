//===- WindowCost.h - What a part of a network takes ----------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_WINDOWCOST_H
#define TPUC_CODEGEN_GROUP_WINDOWCOST_H

#include "tpuc/Codegen/Group/GroupSearch.h"
#include "tpuc/Codegen/Group/OpKinds.h"
#include "tpuc/Codegen/WindowClone.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tpuc::codegen {

/// What is priced of a network for a rewriting of some ops: the layers between two ops, null for
/// the ends. `ops` are these, and what lies between; others that candidates change may be added.
struct OpWindow {
  mlir::Operation *begin = nullptr, *end = nullptr;
  llvm::SmallVector<mlir::Operation *> ops = {};
};

/// From so many layers in front of `first` to so many behind `last`, an op of the same block.
OpWindow windowAround(mlir::Operation *first, mlir::Operation *last, int64_t before,
                      int64_t behind);

/// Numbers that are equal for windows whose estimates are: the kinds of the ops, which of each
/// other they read, which of them read the same from outside, how often others read them, and the
/// place of `op`.
using WindowKey = std::vector<int64_t>;
WindowKey windowKey(const OpWindow &window, mlir::Operation *op, OpKinds &kinds);

/// What a group counts, of `layers`.
using GroupPrice =
    llvm::function_ref<double(const GroupTable::Option &, llvm::ArrayRef<mlir::Operation *>)>;

/// What windows of one network cost. Most layers of a candidate are those of others, and of other
/// windows: what is found out of one holds for all of its kind, in copies, too.
class WindowCosts {
public:
  explicit WindowCosts(const Backend &backend);

  /// What the layers of a window count as `clone` has them, in the groups with the least estimates.
  /// Layers of the host and moves in global memory count nothing. None: a layer that does not fit.
  std::optional<double> of(const OpWindow &window, WindowClone &clone, GroupPrice price);

private:
  const Backend &backend;
  GroupPlanner planner;
};

/// What a layer takes in a group of its own. None: it fits no tile, or the chip does not compute it
/// in local memory.
std::optional<int64_t> layerCost(mlir::Operation *op, const Backend &backend);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_WINDOWCOST_H
