//===- PlanInfo.h - What the ops of a group say of its plan ----------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_PLANINFO_H
#define TPUC_CODEGEN_GROUP_PLANINFO_H

#include "tpuc/Codegen/Group/GroupPlan.h"
#include "tpuc/Codegen/Place/ResidentConstants.h"

namespace tpuc::codegen {

/// The short constants that stay in their memory space, and where their rows begin.
struct PoolPlace {
  const ResidentConstants &pool;
  int64_t address = 0;

  /// What is left of memory spaces.
  Footprint capacity(const TargetInfo &target) const {
    Footprint left = Footprint::capacityOf(target);
    left[pool.space] = address;
    return left;
  }
};

/// What is loaded, in the order in which it is due, for one layer constants first, which wait for
/// nothing.
llvm::SmallVector<const GroupTensor *> loadsInOrder(const GroupPlan &plan);

/// The tensor in global memory that a load brings: of a packed constant what is packed. Since the
/// plan was made, groups may have taken the place of layers.
mlir::Value loadedValue(const GroupPlan &plan, const GroupTensor &tensor);

/// The `ginfo` of a load, of a layer, and of a store; without `id`.
GroupInfo loadInfo(const GroupPlan &plan, const GroupTensor &tensor, const PoolPlace &place);
GroupInfo layerInfo(const GroupPlan &plan, unsigned layer);
GroupInfo storeInfo(const GroupPlan &plan, const GroupTensor &tensor);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_PLANINFO_H
