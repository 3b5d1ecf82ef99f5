//===- GroupFile.h - Groups as a file that can be edited ------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_GROUPFILE_H
#define TPUC_CODEGEN_GROUP_GROUPFILE_H

#include "tpuc/Codegen/Group/GroupPlan.h"
#include "tpuc/Support/OutputFile.h"

namespace tpuc::codegen {

/// The groups as JSON, in their order:
///
///     {"groups": [
///       {"layers": ["conv1", "relu1", "pool1"], "n": 1, "h": 4},
///       {"layers": ["fc"], "c": 8}
///     ]}
///
/// n, c, d, h, w are the parts of each result that others read; those of 1 may be left out.
Expected<OutputFile> writeGroups(llvm::ArrayRef<GroupPlan> groups, const std::string &path);

/// The groups that a file asks for. Every layer of `layers` is in one group, and those of a group
/// follow each other; concatenations may be in none. Errors name the file: what is no such JSON, a
/// layer that is not there, missing, or in two groups, groups that are not possible.
Expected<std::vector<GroupPlan>> readGroups(const std::string &path,
                                            llvm::ArrayRef<mlir::Operation *> layers,
                                            GroupPlanner &planner, const Backend &backend);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_GROUPFILE_H
