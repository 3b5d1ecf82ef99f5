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

/// Equal for networks that get the same groups with the same options: their ops are of the same
/// kinds (OpKinds.h) in the same order, and read the same of each other.
KnownCosts::Key networkKey(mlir::func::FuncOp main, const GroupOptions &options,
                           const Backend &backend);

/// What says which groups were chosen.
KnownGroups knownOf(llvm::ArrayRef<SubNetGroups> parts, size_t pool);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_KNOWNGROUPS_H
