//===- GroupCosts.h - What layers and transfers take ----------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_GROUPCOSTS_H
#define TPUC_CODEGEN_GROUP_GROUPCOSTS_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Group/KnownCosts.h"

namespace tpuc::codegen {

/// Numbers that are equal where costs are.
using CostKey = llvm::SmallVector<int64_t, 24>;

/// What the cost of a tile depends on along one axis: ranges of the result and of each operand
/// that is there, needed and held. Equal ones cost the same.
struct AxisTile {
  Range result;
  llvm::SmallVector<std::pair<Range, Range>, 4> operands = {};

  /// Numbers that are equal where the cost is.
  void appendTo(CostKey &key, const TileModel &model, unsigned axis) const;
};

/// Asks the chip what tiles cost, each question once for all ops of one kind (KnownCosts.h). Tiles
/// of equal sizes at the same edges of their tensors cost the same, to the cycle, so several
/// threads may ask at once.
class GroupCosts {
public:
  explicit GroupCosts(const Backend &backend) : GroupCosts(backend, backend.known()) {}
  /// Of tiles by other models than those of groups, which `known` is to know.
  GroupCosts(const Backend &backend, std::shared_ptr<KnownCosts> known)
      : backend(backend), known(std::move(known)), kinds(this->known->kinds) {}

  using Work = TileWork;
  /// What the kernel of a tile takes. None: the chip refuses it.
  std::optional<Work> compute(const TiledOp &tiled);
  /// The cycles of loading operand `index`, or of storing the result (`index` = number of
  /// operands), with or without room behind it. None: the chip refuses it.
  std::optional<int64_t> transfer(TiledOp tiled, unsigned index, bool hasRoom);
  /// The bytes of a tile in each lane of its space (`TileModel::localBytes`).
  int64_t bytes(mlir::Operation *op, const TileModel &model, unsigned index, const Tile &tile);

  int64_t kindOf(mlir::Operation *op) { return kinds.of(op); }
  /// As OpKinds::forgetOps.
  void forgetOps() { kinds.forgetOps(); }

private:
  CostKey keyOf(const TiledOp &tiled);
  Footprint place(TiledOp &tiled) const;
  std::optional<Work> measure(TiledOp tiled) const;

  const Backend &backend;
  std::shared_ptr<KnownCosts> known;
  OpKinds kinds;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_GROUPCOSTS_H
