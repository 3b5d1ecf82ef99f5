//===- TiledGroup.h - A group tile by tile ------------------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_TILE_TILEDGROUP_H
#define TPUC_CODEGEN_TILE_TILEDGROUP_H

#include "tpuc/Codegen/Group/PlanInfo.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

#include <memory>

namespace tpuc::codegen {

/// A group as it is emitted: read from its ops and their attributes, or taken from its plan before
/// there are any.
class TiledGroup {
public:
  struct Layer;

  /// A tensor that the group keeps in local memory, and its tiles.
  struct Held {
    GroupInfo info = {};
    bool isLoaded = false, isConstant = false;
    /// Of each tile of the group: how many others were in its place before.
    llvm::SmallVector<int64_t> versions = {};
    /// The concatenation that it is part of, and as which operand.
    const Layer *container = nullptr;
    unsigned part = 0;

    bool isNew(size_t tile) const { return tile == 0 || versions[tile] != versions[tile - 1]; }
  };

  /// A layer, and where its operands come from.
  struct Layer : Held {
    mlir::Operation *op = nullptr;
    TileModel model = {};
    /// Null for operands that are not loaded.
    llvm::SmallVector<const Held *> operands = {};
    bool isInPlaceConcat = false;
  };

  /// What is loaded, for which operand of which layer.
  struct Load : Held {
    /// What it is in global memory.
    mlir::Value source;
    const Layer *user = nullptr;
    unsigned operand = 0;
  };

  struct Store {
    /// None where there is only a plan.
    mlir::Operation *op = nullptr;
    /// What it is in global memory.
    mlir::Value target;
    const Layer *producer = nullptr;
    int64_t step = 0;
  };

  /// Errors name the layer: what is not as --layer-group and --address-assign leave it.
  static Expected<std::unique_ptr<TiledGroup>> read(tpu::GroupOp op, const Backend &backend);
  /// What `read` gives once the plan has become ops.
  static std::unique_ptr<TiledGroup> take(const GroupPlan &plan, const PoolPlace &pool,
                                          const Backend &backend);

  int64_t period() const { return static_cast<int64_t>(layers.size()); }
  size_t numTiles() const { return numbers.size(); }

  /// One layer, one load or one store on one tile. Errors name the layer: tiles that do not hold
  /// what it reads.
  Expected<TiledOp> sliced(const Layer &layer, size_t tile) const;
  TiledOp sliced(const Load &load, size_t tile) const;
  Expected<TiledOp> sliced(const Store &store, size_t tile) const;
  /// A concatenation that brings one part to its lanes.
  Expected<TiledOp> tiledPart(const Layer &concat, unsigned operand, size_t tile) const;

  std::vector<std::unique_ptr<Load>> loads;
  std::vector<std::unique_ptr<Layer>> layers;
  std::vector<Store> stores;

private:
  explicit TiledGroup(const Backend &backend) : backend(backend) {}

  Expected<void> readMember(mlir::Operation *member);
  Expected<void> connect(Layer &layer, TileLayout layout);
  void connectOperand(Layer &layer, unsigned index, Held *held);
  void countTiles();
  void setVersions(Held &held) const;
  LocalTile at(const Held &held, size_t tile) const;

  const Backend &backend;
  llvm::SmallVector<TileCounts> numbers;
  llvm::DenseMap<mlir::Value, Held *> holders;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_TILE_TILEDGROUP_H
