//===- GroupDraft.h - A group plan in the making ---------------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_GROUPDRAFT_H
#define TPUC_CODEGEN_GROUP_GROUPDRAFT_H

#include "tpuc/Codegen/Group/GroupPlan.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/Names.h"

namespace tpuc::codegen {

/// What is known of the tensors and layers at the end of a group from a shorter group with the same
/// end, which is tiled into as many parts.
class KnownMeasures {
public:
  /// `tail`: the shorter group, measured; null if there is none.
  KnownMeasures(const GroupPlan &plan, const GroupPlan *tail)
      : plan(plan), tail(tail), numFront(tail ? plan.layers.size() - tail->layers.size() : 0),
        compared(tail ? plan.tensors.size() : 0) {}

  /// The same tensor, which has the same tiles, as all of its users are at the end; null if nothing
  /// is known.
  const GroupTensor *of(const GroupTensor &tensor) const {
    const unsigned layer = tensor.producer ? *tensor.producer : tensor.users.front().layer;
    if (!tail || layer < numFront)
      return nullptr;
    const GroupTensor &known = tensor.producer ? tail->tensors[tail->results[layer - numFront]]
                                               : operandOf(layer, tensor.users.front().operand);
    const bool isSame = known.producer.has_value() == tensor.producer.has_value() &&
                        known.isStored == tensor.isStored &&
                        known.isResident == tensor.isResident &&
                        known.users.size() == tensor.users.size();
    return isSame ? &known : nullptr;
  }

  /// Whether all that a layer reads and makes is the same.
  bool hasAll(unsigned layer) const {
    return of(plan.tensors[plan.results[layer]]) &&
           llvm::all_of(plan.operands[layer], [&](int tensor) {
             return tensor < 0 || of(plan.tensors[static_cast<size_t>(tensor)]);
           });
  }

  /// What a tile of a layer takes; none if nothing is known.
  std::optional<TileWork> of(unsigned layer) const {
    if (!tail || layer < numFront)
      return std::nullopt;
    const size_t known = layer - numFront;
    for (auto [operand, tensor] : llvm::enumerate(plan.operands[layer]))
      if (tensor >= 0 &&
          !isAlike(operandOf(layer, operand), plan.tensors[static_cast<size_t>(tensor)]))
        return std::nullopt;
    return TileWork{.cycles = tail->cycles[known],
                    .moveCycles = tail->moveCycles[known],
                    .scratchBytes = tail->scratchBytes[known]};
  }

private:
  /// Whether the tiles of a tensor are those of `known`.
  bool isAlike(const GroupTensor &known, const GroupTensor &tensor) const {
    if (of(tensor) == &known)
      return true;
    Compared &answer = compared[static_cast<size_t>(&tensor - plan.tensors.data())];
    if (answer.with != &known)
      answer = {&known,
                known.isResident == tensor.isResident && known.axisTiles == tensor.axisTiles};
    return answer.isAlike;
  }
  const GroupTensor &operandOf(unsigned layer, size_t operand) const {
    return tail->tensors[static_cast<size_t>(tail->operands[layer - numFront][operand])];
  }

  /// What a tensor was compared with last.
  struct Compared {
    const GroupTensor *with = nullptr;
    bool isAlike = false;
  };

  const GroupPlan &plan;
  const GroupPlan *tail;
  size_t numFront;
  mutable std::vector<Compared> compared;
};

/// A plan in the making.
class GroupDraft {
public:
  GroupDraft(GroupPlanner &planner, llvm::ArrayRef<mlir::Operation *> layers) : planner(planner) {
    plan.layers.assign(layers.begin(), layers.end());
  }

  /// Finds the tensors that flow between the layers and from outside.
  Expected<void> connect(llvm::ArrayRef<TileLayout> layouts);
  /// Tiles the results that others need by `counts`, and everything else after them.
  Expected<void> cut(const TileCounts &counts, const GroupPlan *tail = nullptr);
  /// The same tiling as a layer that runs alone has.
  void takeTilings(const LayerTiles &tiles);
  /// Sizes and cycles. `tail` of this and of `cut`: the same tiling of the layers at the end,
  /// measured.
  Expected<void> measure(const GroupPlan *tail = nullptr);

  GroupPlan plan;
  /// After an error: it is the same one with other layers in front.
  bool isHopeless = false;

private:
  Expected<void> connectOperand(unsigned layer, unsigned index);
  Expected<void> contain(unsigned layer);
  Expected<void> checkJoins() const;
  std::optional<unsigned> loadedLike(unsigned layer, unsigned index) const;
  std::pair<int64_t, int64_t> extentAndUnit(const GroupTensor &tensor, unsigned axis) const;
  Expected<void> tileTensor(GroupTensor &tensor, unsigned axis, unsigned count);
  Expected<void> checkOverlap(const GroupTensor &tensor, unsigned axis) const;
  Expected<void> measureTensor(GroupTensor &tensor, llvm::ArrayRef<TileCounts> numbers,
                               const KnownMeasures &known);
  Expected<void> measureLayer(unsigned layer, const KnownMeasures &known);
  Expected<void> measureMove(GroupPlan::PartMove &move);
  Footprint leastRoom(unsigned layer) const;
  Expected<void> checkRoom(const KnownMeasures &known);
  /// Sections that cost the same.
  struct Kind {
    unsigned axisTile = 0;
    int64_t count = 0;
  };
  llvm::SmallVector<Kind> kindsAlong(unsigned layer, unsigned axis) const;
  tl::unexpected<Error> refuse(unsigned layer, const std::string &found) const {
    return makeError("", "layer '" + layerName(plan.layers[layer]) + "': " + found);
  }

  GroupPlanner &planner;
  llvm::DenseMap<mlir::Value, unsigned> made;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_GROUPDRAFT_H
