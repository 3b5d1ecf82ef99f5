//===- KnownGroups.h - Networks whose groups have been chosen ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_KNOWNGROUPS_H
#define TPUC_CODEGEN_GROUP_KNOWNGROUPS_H

#include "tpuc/Codegen/Group/NetworkGroups.h"

namespace tpuc::codegen {

/// The groups of a network.
struct KnownGroups {
  /// Which constants are resident: the number of the pool among those that are tried.
  size_t pool = 0;
  /// The memory that groups may use.
  Footprint limit = {};
  /// Of each sub-network: its groups, up to how many percent of memory loads are brought forward,
  /// and where these stand.
  struct Part {
    Partition partition = {};
    int64_t fill = 0;
    LoadOrder order = LoadOrder::AsEarly;
  };
  std::vector<Part> parts = {};
};

/// Equal for networks that get the same groups with the same options: their ops are of the same
/// kinds (OpKinds.h) in the same order, and read the same of each other.
KnownCosts::Key networkKey(mlir::func::FuncOp main, const GroupOptions &options,
                           const Backend &backend);

/// What says which groups were chosen.
KnownGroups knownOf(llvm::ArrayRef<SubNetGroups> parts, size_t pool);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_KNOWNGROUPS_H
