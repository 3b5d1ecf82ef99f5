//===- GroupSearch.h - Which layers run together --------------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUPSEARCH_H
#define TPUC_CODEGEN_GROUPSEARCH_H

#include "tpuc/Codegen/GroupPlan.h"

namespace tpuc::codegen {

/// Those of `layers` that compute in local memory, in order, and with `withJoins` the
/// concatenations that groups may contain. Errors name the op.
Expected<std::vector<mlir::Operation *>> localLayers(llvm::ArrayRef<mlir::Operation *> layers,
                                                     const Backend &backend, bool withJoins);

/// Whether layers that follow each other in `block` may be put in the place of the last one:
/// nothing between them reads what they make.
bool standsTogether(llvm::ArrayRef<mlir::Operation *> layers);

/// A group for each layer.
Expected<std::vector<GroupPlan>> separateGroups(llvm::ArrayRef<mlir::Operation *> layers,
                                                GroupPlanner &planner);

/// From the tail to the head: behind each layer the groups are known that take the fewest cycles,
/// so its group is the one that takes the fewest together with those behind it. Concatenations that
/// stand in no group are left out.
Expected<std::vector<GroupPlan>> bestGroups(llvm::ArrayRef<mlir::Operation *> layers,
                                            GroupPlanner &planner, const Backend &backend);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUPSEARCH_H
