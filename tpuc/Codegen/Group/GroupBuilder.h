//===- GroupBuilder.h - The ops of a planned group -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_GROUPBUILDER_H
#define TPUC_CODEGEN_GROUP_GROUPBUILDER_H

#include "tpuc/Codegen/Group/PlanInfo.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

namespace tpuc::codegen {

/// Puts the layers of a plan into a group that stands in the place of the last of them, with the
/// loads and stores that the plan names. What reads them reads the group.
tpu::GroupOp buildGroup(const GroupPlan &plan, const PoolPlace &pool);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_GROUPBUILDER_H
