//===- NetworkSearch.h - Groups chosen by the timing simulator -------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_NETWORKSEARCH_H
#define TPUC_CODEGEN_NETWORKSEARCH_H

#include "tpuc/Codegen/GroupSearch.h"
#include "tpuc/Codegen/NetworkTrial.h"

namespace tpuc::codegen {

/// How much a search may do.
struct SearchEffort {
  /// Networks that are tried.
  int64_t trials = 0;
};

/// Looks for groups with which the network runs in fewer cycles than with `start`, the best by
/// estimate. Errors: `start` itself cannot be tried.
Expected<Division> searchGroups(GroupTable &table, const NetworkTrial &trial,
                                const SearchEffort &effort);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_NETWORKSEARCH_H
