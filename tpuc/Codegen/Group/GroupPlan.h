//===- GroupPlan.h - Layers that run together in local memory -------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_GROUPPLAN_H
#define TPUC_CODEGEN_GROUP_GROUPPLAN_H

#include "tpuc/Codegen/CapacityRange.h"
#include "tpuc/Codegen/Group/GroupCosts.h"
#include "tpuc/Codegen/Group/GroupInfo.h"
#include "tpuc/Codegen/Heuristics.h"
#include "tpuc/Codegen/Tile/Tiling.h"

#include "llvm/ADT/DenseMap.h"
#include <map>
#include <memory>

namespace tpuc::codegen {

/// A tensor in a memory space while a group runs. Time steps count from the first layer's of the
/// same tile.
struct GroupTensor {
  /// What it holds: what a layer of the group makes, or a tensor from outside.
  mlir::Value value;
  unsigned space = kTileSpace;
  /// The layer that makes it; none if it is loaded.
  std::optional<unsigned> producer = std::nullopt;
  struct User {
    unsigned layer = 0, operand = 0;
  };
  llvm::SmallVector<User, 2> users = {};
  bool isStored = false;
  /// The same in every run.
  bool isConstant = false;
  /// In local memory from the start to the end of the network: it takes no room here.
  bool isResident = false;
  Sections axisTiles = {};
  /// The tensor of a concatenation that it is a part of: it lies in there, and takes no room.
  std::optional<unsigned> container = std::nullopt;
  /// Of the largest tile, in each lane.
  int64_t bytes = 0;
  /// How often another tile takes the place of one, over all tiles of the group; the cycles of
  /// one transfer.
  int64_t numVersions = 1;
  int64_t cycles = 0;
  /// When it is loaded, or stored; its first tile may be loaded before.
  int64_t transferStep = 0;
  std::optional<int64_t> earlyStep = std::nullopt;
  /// The steps in which it is in use.
  int64_t firstStep = 0, lastStep = 0;
  /// Tiles take turns in so many places.
  int64_t buffers = 1;
  int64_t address = 0;

  bool isLoaded() const { return !producer && !isResident; }
  /// Whether there is room behind its tiles for their transfers.
  bool hasRoom() const { return !container && (isStored || (isLoaded() && !isConstant)); }
};

/// A group, how it is tiled, and when what happens.
struct GroupPlan {
  std::vector<mlir::Operation *> layers;
  /// Plans of the same layers share what does not depend on tilings.
  std::vector<std::shared_ptr<const TileModel>> models;
  TileCounts counts{1, 1, 1, 1, 1};
  TileOrder order = TileOrder::ChannelsOutermost;
  std::vector<GroupTensor> tensors;
  /// For each layer: the tensor that each operand is in, -1 for those that are not loaded; the one
  /// that it makes; its room, the cycles of a tile, and those of them in which the engine works
  /// that moves data.
  std::vector<llvm::SmallVector<int>> operands;
  std::vector<unsigned> results;
  std::vector<int64_t> scratchBytes, scratchAddresses;
  std::vector<int64_t> cycles, moveCycles;
  /// In a group of one tile: an operand of a concatenation that has to be brought to its lanes,
  /// which takes so long, and behind which layer that is done: at the latest the concatenation
  /// itself. Not counted in what that takes.
  struct PartMove {
    unsigned layer = 0, operand = 0;
    int64_t cycles = 0;
    int64_t step = 0;
    bool isEarly() const { return step < static_cast<int64_t>(layer); }
  };
  std::vector<PartMove> moves;
  /// What the whole group takes by itself.
  int64_t estimate = 0;
  /// The capacities with which each layer has room, or has not, as with the one it was measured
  /// for.
  CapacityRange range = {};

  /// The steps from one tile to the next.
  int64_t period() const { return static_cast<int64_t>(layers.size()); }
  int64_t numTiles() const;
  /// One layer on one tile, at the addresses of the plan.
  TiledOp tiledOp(unsigned layer, const TileCounts &number) const;
  /// The first user of a loaded tensor, or the producer, with that tile of it.
  TiledOp carrier(const GroupTensor &tensor, const TileCounts &number) const;
  /// The operand number of the carrier.
  unsigned carrierIndex(const GroupTensor &tensor) const;
  /// The bytes of its space that a tensor takes by itself.
  int64_t ownBytes(const GroupTensor &tensor) const {
    return tensor.container ? 0 : tensor.bytes * tensor.buffers;
  }
  /// Makes containers live as long as what is in them.
  void mergeLifetimes();
  /// What each engine works in all.
  int64_t computeCycles() const;
  int64_t transferCycles() const;
  /// The lifetime of a tensor reaches over the whole period.
  bool isAlwaysAlive(const GroupTensor &tensor) const {
    return tensor.lastStep - tensor.firstStep + 1 >= period();
  }
};

/// What is known of the ways to tile groups that end with the same layer, from shorter ones that
/// begin behind those to come: tiles follow from those behind them, so what is in front changes
/// little.
struct SuffixCache {
  /// Of the layers of the longest group that was looked at.
  llvm::SmallVector<TileLayout> layouts = {};
  /// What is not possible whatever stands in front: why, and with which capacities.
  struct Impossible {
    Error reason;
    CapacityRange range;
  };
  std::map<TileCounts, Impossible> impossible;
  /// The longest that was measured.
  std::map<TileCounts, std::shared_ptr<const GroupPlan>> plans;
};

class GroupDraft;

/// Plans groups for one chip. What does not depend on the neighbours of a layer is found out once
/// for all ops of its kind (OpKinds.h). Several threads may ask at once, as long as nobody changes
/// the ops.
class GroupPlanner {
public:
  /// `capacity`: what groups may use. `resident`: constant operands that are loaded once for the
  /// whole network.
  GroupPlanner(const Backend &backend, const Footprint &capacity,
               llvm::DenseSet<mlir::OpOperand *> resident, const Heuristics &heuristics = {})
      : backend(backend), capacity(capacity), resident(std::move(resident)), heuristics(heuristics),
        costs(backend) {}

  /// One layer by itself, tiled as `planTiling` does, of several ways the one with the least
  /// estimate. Errors (without `where`) say why nothing fits.
  Expected<GroupPlan> alone(mlir::Operation *layer);
  /// Layers together, each result that others need tiled by `counts`. Tiles of operands
  /// follow from those of results, halos exactly. Errors (without `where`): tensors that do not lie
  /// as their users need them, parts that overlap by more than half of the tensor, tiles that do
  /// not fit.
  Expected<GroupPlan> together(llvm::ArrayRef<mlir::Operation *> layers, const TileCounts &counts);
  /// The ways to tile `layers` that are worth a thought, coarse ones first: n before h (of
  /// matrices, rows), to where finer parts take longer by estimate. Those much coarser than
  /// `fewest` parts are not tried. With `tails`, those of shorter groups with the same last layer,
  /// what is known from there is not found out again, and what is found is added. `range` becomes
  /// narrower by all that is compared with the limit. Errors: there is none.
  Expected<std::vector<std::shared_ptr<const GroupPlan>>>
  cuts(llvm::ArrayRef<mlir::Operation *> layers, int64_t fewest = 1, SuffixCache *tails = nullptr,
       CapacityRange *range = nullptr);

  /// Appends what the ways to tile a group depend on besides its layers, the chip and the limit.
  void appendHeuristics(llvm::SmallVectorImpl<uint64_t> &words) const;
  /// The number of the kind of an op.
  int64_t kindOf(mlir::Operation *op) { return costs.kindOf(op); }
  /// Ops may be changed or erased before they are asked for again. What is known of their kinds
  /// stays.
  void forgetOps() {
    costs.forgetOps();
    singles.clear();
  }
  /// What groups may use.
  const Footprint &limit() const { return capacity; }
  /// Whether an operand is loaded once for the whole network.
  bool isResident(mlir::OpOperand &operand) const { return resident.contains(&operand); }

private:
  friend class GroupDraft;
  void addChannelCuts(const GroupDraft &connected, SuffixCache &tails, CapacityRange &range,
                      std::vector<std::shared_ptr<const GroupPlan>> &cuts);
  Expected<std::shared_ptr<const GroupPlan>> tileInto(const TileCounts &counts,
                                                      const GroupDraft &connected,
                                                      SuffixCache &tails, CapacityRange &range);
  Expected<std::shared_ptr<const TileModel>> model(mlir::Operation *op, TileLayout layout);
  Expected<std::shared_ptr<const std::vector<LayerTiles>>> tilingsOf(mlir::Operation *layer);
  llvm::SmallVector<TileLayout> tileLayoutsOf(llvm::ArrayRef<mlir::Operation *> layers);

  const Backend &backend;
  Footprint capacity;
  llvm::DenseSet<mlir::OpOperand *> resident;
  Heuristics heuristics;
  GroupCosts costs;
  /// By kinds.
  SharedMap<llvm::DenseMap<std::pair<int64_t, unsigned>, std::shared_ptr<const TileModel>>> models;
  SharedMap<llvm::DenseMap<int64_t, bool>> areFree;
  SharedMap<llvm::DenseMap<mlir::Operation *, std::shared_ptr<const GroupPlan>>> singles;
};

/// What is in use in each of `plan.period()` steps, tiles of neighbouring periods included.
llvm::SmallVector<Footprint, 6> localLoad(const GroupPlan &plan);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_GROUPPLAN_H
