//===- NetworkSearch.h - Groups chosen by the timing simulator -------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_NETWORKSEARCH_H
#define TPUC_CODEGEN_GROUP_NETWORKSEARCH_H

#include "tpuc/Codegen/Group/GroupSearch.h"
#include "tpuc/Codegen/Group/NetworkCandidate.h"
#include "tpuc/Support/Progress.h"

#include <chrono>

namespace tpuc::codegen {

/// How much a search may do.
struct SearchEffort {
  /// Until it finds nothing better; else a fixed number of candidates.
  bool isThorough = false;
  /// When it stops at the latest; 0: no limit.
  std::chrono::milliseconds time{0};
  /// Counts the candidates, if there is one.
  Progress *progress = nullptr;
};

/// What a search has found, or begins with.
struct FoundGroups {
  Partition partition;
  /// What a run of it takes. Beyond its `fill` the schedule need not try.
  NetworkCandidate::Result run = {};
};

/// Looks for groups with which the network runs in fewer cycles than with `known`, whose run takes
/// what `NetworkCandidate::run` says without limits: the
/// ones that are best by estimate, and by other weights, then changes of a few groups at a time,
/// the most promising first by the estimate of the schedule. What counts is the simulated run by
/// all sets of parameters: by none what is found is worse than `known`, and by the first none that
/// is taken is worse than the one before. Nothing is taken that needs more global memory than
/// `known` (`NetworkCandidate::Result::bytes`). The same table and groups give the same partition
/// with any number of threads, if the time does not run out.
FoundGroups searchGroups(GroupTable &table, FoundGroups known, const NetworkCandidate &candidate,
                         const SearchEffort &effort, ThreadPool &threads);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_NETWORKSEARCH_H
