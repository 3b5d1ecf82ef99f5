//===- GroupSearch.h - Which layers run together --------------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_GROUPSEARCH_H
#define TPUC_CODEGEN_GROUP_GROUPSEARCH_H

#include "tpuc/Codegen/Group/GroupPlan.h"
#include "tpuc/Support/ThreadPool.h"

#include <limits>

namespace tpuc::codegen {

/// Those of `layers` that compute in local memory, in order, and with `withConcats` the
/// concatenations that groups may contain. Errors name the op.
Expected<std::vector<mlir::Operation *>> localLayers(llvm::ArrayRef<mlir::Operation *> layers,
                                                     const Backend &backend, bool withConcats);

/// Whether layers that follow each other in `block` may be put in the place of the last one:
/// nothing between them reads what they make.
bool standsTogether(llvm::ArrayRef<mlir::Operation *> layers);

/// A group for each layer.
Expected<std::vector<GroupPlan>> separateGroups(llvm::ArrayRef<mlir::Operation *> layers,
                                                GroupPlanner &planner);

/// What may be said against a group, in proportion.
struct GroupWeights {
  double estimate = 1, compute = 0, transfers = 0;
};

/// The groups that the layers of a sub-network can make, and what each takes by itself. Groups of
/// equal layers that read each other alike are looked at once (`KnownCosts`). Once it is filled
/// several threads may ask at once, as long as nobody changes the ops.
class GroupTable {
public:
  GroupTable(llvm::ArrayRef<mlir::Operation *> layers, GroupPlanner &planner,
             const Backend &backend);

  using Option = GroupOption;

  /// The most layers of the groups that `fill` looks at, and of those that `best` makes.
  static constexpr unsigned kWindow = 96, kMostLayers = 1024;

  /// Looks at groups of up to `kWindow` layers: from each layer on longer and longer ones, until
  /// several in a row are impossible. Errors name the layer that is not even possible by itself.
  Expected<void> fill(ThreadPool &threads);
  /// From the tail to the head: behind each layer the groups are known that weigh least, so its
  /// group is the one that weighs least together with them. Then groups that follow each other are
  /// made one, up to `kMostLayers`, where that weighs less.
  Partition best(const GroupWeights &weights);
  /// The layers of a group of several, in groups of at most half as many that have been looked at
  /// and take the least by estimate.
  Partition divided(const GroupChoice &choice) const;
  /// The ways to tile a group of `count` layers, the one with the least estimate first; none if it
  /// is not possible, or of more than `kMostLayers`. For a concatenation by itself one that says
  /// nothing.
  std::vector<Option> options(unsigned first, unsigned count);
  /// Those of them that have been looked at.
  std::vector<Option> known(unsigned first, unsigned count) const;
  /// What a group that has been looked at takes by itself.
  int64_t estimateOf(const GroupChoice &choice) const;
  llvm::ArrayRef<mlir::Operation *> layersOf(const GroupChoice &choice) const {
    return llvm::ArrayRef(layers).slice(choice.first, choice.count);
  }
  /// Other ways to tile the only layer of a group than alone.
  llvm::ArrayRef<GroupChoice> retilings(const GroupChoice &group);
  /// Errors: a choice that is not possible.
  Expected<GroupPlan> plan(const GroupChoice &choice);
  Expected<std::vector<GroupPlan>> plans(const Partition &partition);
  /// Whether a layer needs no group.
  bool isFree(unsigned layer) const;
  unsigned numLayers() const { return static_cast<unsigned>(layers.size()); }

private:
  using Interval = std::pair<unsigned, unsigned>;
  /// The groups that begin with one layer, as far as they have been looked at.
  struct Front {
    /// A group of more layers hardly fits in fewer parts.
    int64_t fewest = 1;
    /// How many in a row were impossible.
    unsigned failures = 0;
    /// The least of `reaches` of all layers but the last.
    unsigned reach = std::numeric_limits<unsigned>::max();
    bool isOver = false;
  };
  /// Of groups that begin with layer 0: where they begin does not matter.
  using Options = std::vector<Option>;
  /// Where a value has been met before: in which layer, and as which operand.
  struct Place {
    unsigned layer = 0, operand = 0;
  };
  /// How a layer stands beside others, whatever group it is in.
  struct Standing {
    int64_t kind = 0;
    /// The last of the layers that reads it; its own number if none does.
    unsigned lastReader = 0;
    /// Whether other ops read it, or none.
    bool isRead = false;
    struct Operand {
      /// The layer that makes it.
      std::optional<unsigned> maker = std::nullopt;
      /// Where it was an operand last.
      std::optional<Place> before = std::nullopt;
      bool isResident = false;
    };
    llvm::SmallVector<Operand, 3> operands = {};
  };
  /// Up to which length each group is looked at.
  size_t fineLength() const;
  std::vector<unsigned> reaches() const;
  void findStandings();
  KnownCosts::Key shapeOf(unsigned first, unsigned count, int64_t fewest) const;
  Expected<void> fillSingle(unsigned first);
  void fillGroup(unsigned first, unsigned end, Front &front, SuffixCache &tails);
  std::shared_ptr<const Options> cut(unsigned first, unsigned count, int64_t fewest = 1,
                                     SuffixCache *tails = nullptr);
  std::shared_ptr<const Options> lookup(unsigned first, unsigned count) const;
  std::shared_ptr<const Options> lookedAt(unsigned first, unsigned count,
                                          SuffixCache *tails = nullptr);
  Partition lightest(unsigned begin, unsigned end, unsigned mostLayers,
                     const GroupWeights &weights) const;
  Partition joined(Partition partition, const GroupWeights &weights);

  std::vector<mlir::Operation *> layers;
  GroupPlanner &planner;
  const Backend &backend;
  std::vector<Standing> standings;
  SharedMap<llvm::DenseMap<Interval, std::shared_ptr<const Options>>> table;
  SharedMap<llvm::DenseMap<unsigned, std::shared_ptr<const std::vector<GroupChoice>>>>
      singleTilings;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_GROUPSEARCH_H
