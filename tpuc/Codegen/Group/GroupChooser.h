//===- GroupChooser.h - Choosing the groups of a network --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_GROUPCHOOSER_H
#define TPUC_CODEGEN_GROUP_GROUPCHOOSER_H

#include "tpuc/Codegen/Group/KnownGroups.h"
#include "tpuc/Codegen/Group/NetworkSearch.h"

namespace tpuc::codegen {

/// The sub-networks of a network, with or without their groups.
using Parts = std::vector<SubNetGroups>;

class SearchTime;

/// Chooses groups beside what is kept for the whole network.
class GroupChooser {
public:
  GroupChooser(mlir::func::FuncOp main, llvm::ArrayRef<SubNetGroups> bare, const PoolPlace &place,
               const GroupOptions &options, const Backend &backend, ThreadPool &threads)
      : main(main), bare(bare), place(place), options(options), backend(backend), threads(threads) {
  }

  /// Groups, their times and places, in `percent` of the memory. Where groups do not find their
  /// places, `divided` (if given) gets what comes of dividing them; none if that does not help.
  Expected<Parts> plan(int64_t percent, std::optional<Parts> *divided = nullptr) const;

  /// The groups that were chosen for a network of the same kind. Errors: they do not find their
  /// places.
  Expected<Parts> again(const KnownGroups &known) const;

  /// Takes the groups that the timing simulator prefers among those planned for `percent` of the
  /// memory and `divided` ones, or looks for better ones. The estimates of groups do not know what
  /// runs beside their neighbours.
  Expected<Parts> preferred(Parts planned, int64_t percent, std::optional<Parts> divided) const;

private:
  /// Groups, and what a run takes with them.
  struct Candidate {
    Parts parts;
    /// Of each part: cycles and commands.
    std::vector<NetworkCandidate::Result> runs = {};
    std::vector<int64_t> cycles = {};
    /// Beside those of the first one.
    RunCost cost = {};
  };

  Expected<void> choose(SubNetGroups &part, std::shared_ptr<GroupPlanner> planner) const;
  Expected<void> take(SubNetGroups &part, Partition partition) const;
  Expected<void> takeFastest(SubNetGroups &part) const;
  Expected<void> search(SubNetGroups &part, NetworkCandidate::Result &run, SearchTime &time,
                        Progress *progress, ThreadPool &own) const;
  Expected<void> searchFrom(Candidate &start, SearchTime &time, Progress *progress,
                            ThreadPool &own) const;
  Expected<void> searchFrom(std::vector<Candidate> &starts) const;
  Expected<Candidate> searched(std::vector<Candidate> starts) const;
  Expected<void> load(Parts &parts, GroupPlanner &planner) const;
  Expected<void> schedule(SubNetGroups &part,
                          llvm::SmallVectorImpl<size_t> *unplaced = nullptr) const;
  Expected<void> scheduleDivided(SubNetGroups &part) const;
  Expected<Parts> scheduled(Parts parts, bool divides) const;
  std::optional<Parts> fastestOf(llvm::ArrayRef<SubNetGroups> parts) const;
  std::vector<Parts> othersOf(llvm::ArrayRef<SubNetGroups> parts, int64_t percent) const;
  std::optional<Parts> withLeastWork(llvm::ArrayRef<SubNetGroups> parts) const;
  std::optional<Parts> inOrder(LoadOrder order, llvm::ArrayRef<SubNetGroups> parts) const;
  Candidate withBestOrder(Candidate best) const;
  Expected<void> weigh(Candidate &candidate) const;
  Expected<void> sumUp(Candidate &candidate) const;
  Candidate betterOf(Candidate best, std::optional<Parts> others) const;
  Expected<std::vector<Candidate>> weighed(std::vector<Parts> candidates) const;

  mlir::func::FuncOp main;
  /// The sub-networks and their layers, without groups.
  llvm::ArrayRef<SubNetGroups> bare;
  const PoolPlace &place;
  const GroupOptions &options;
  const Backend &backend;
  ThreadPool &threads;
};

/// The layers of all parts that are computed in local memory.
std::vector<mlir::Operation *> layersOf(llvm::ArrayRef<SubNetGroups> parts);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_GROUPCHOOSER_H
