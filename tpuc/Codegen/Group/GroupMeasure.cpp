//===- GroupMeasure.cpp - What the tensors and layers of a group take ---------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupDraft.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// How often another tile takes the place of one, in the order of `numbers`.
static int64_t versionsOf(const Sections &axisTiles, ArrayRef<TileCounts> numbers) {
  if (llvm::all_of(axisTiles, [](const auto &along) { return along.size() == 1; }))
    return 1;
  int64_t versions = 0;
  std::optional<Tile> last;
  for (const TileCounts &number : numbers) {
    const Tile tile = tileAt(axisTiles, number);
    versions += last != tile ? 1 : 0;
    last = tile;
  }
  return versions;
}

Expected<void> GroupDraft::measureTensor(GroupTensor &tensor, ArrayRef<TileCounts> numbers,
                                         const KnownMeasures &known) {
  if (const GroupTensor *same = known.of(tensor)) {
    tensor.bytes = same->bytes;
    tensor.numVersions = same->numVersions;
    tensor.cycles = same->cycles;
    return {};
  }
  // The longest tile of each axis bounds every tile.
  Tile longest;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    longest[axis] = *llvm::max_element(tensor.axisTiles[axis],
                                       [](Range a, Range b) { return a.size < b.size; });
  const unsigned layer = tensor.producer ? *tensor.producer : tensor.users.front().layer;
  const unsigned index = plan.carrierIndex(tensor);
  tensor.bytes = tensor.isResident
                     ? 0
                     : alignedLocally(planner.costs.bytes(plan.layers[layer], *plan.models[layer],
                                                          index, longest),
                                      planner.backend.info(), tensor.space);
  if (tensor.isResident) {
    tensor.numVersions = 1;
    return {};
  }
  if (tensor.hasRoom())
    tensor.bytes += alignedLocally(plan.models[layer]->roomBytes(index, longest),
                                   planner.backend.info(), tensor.space);
  tensor.numVersions = versionsOf(tensor.axisTiles, numbers);
  if (!tensor.isLoaded() && !tensor.isStored)
    return {};
  std::optional<int64_t> cycles = planner.costs.transfer(
      plan.carrier(tensor, numbers[numbers.size() / 2]), index, tensor.hasRoom());
  if (!cycles)
    return refuse(layer, "the transfer of a slice is not possible");
  tensor.cycles = *cycles;
  return {};
}

/// The tiles along an axis of which a layer costs the same, with one that stands for each kind.
SmallVector<GroupDraft::Kind> GroupDraft::kindsAlong(unsigned layer, unsigned axis) const {
  const TileModel &model = *plan.models[layer];
  const SmallVector<Range> &results = plan.tensors[plan.results[layer]].axisTiles[axis];
  const auto at = [](const SmallVector<Range> &axisTiles, unsigned axisTile) {
    return axisTiles[std::min<size_t>(axisTile, axisTiles.size() - 1)];
  };
  if (plan.counts[axis] == 1)
    return {{.axisTile = 0, .count = 1}};
  SmallVector<Kind> kinds;
  SmallVector<CostKey, 4> keys;
  for (unsigned axisTile = 0; axisTile < plan.counts[axis]; ++axisTile) {
    AxisTile tile{.result = at(results, axisTile)};
    for (auto [operand, tensor] : llvm::zip_equal(model.operands, plan.operands[layer])) {
      if (!operand.isPresent)
        continue;
      const Range needed = operand.padded(axis, tile.result).range;
      const GroupTensor *held = tensor < 0 ? nullptr : &plan.tensors[static_cast<size_t>(tensor)];
      tile.operands.emplace_back(
          needed, held && !held->isResident ? at(held->axisTiles[axis], axisTile) : needed);
    }
    CostKey key;
    tile.appendTo(key, model, axis);
    const auto *known = llvm::find(keys, key);
    if (known == keys.end()) {
      keys.push_back(std::move(key));
      kinds.push_back({.axisTile = axisTile, .count = 1});
    } else {
      ++kinds[static_cast<size_t>(known - keys.begin())].count;
    }
  }
  return kinds;
}

/// The next of so many numbers of each axis; false behind the last one.
static bool advance(TileCounts &number, const TileCounts &counts) {
  for (unsigned axis = 0; axis < kNumAxes; ++axis) {
    if (++number[axis] < counts[axis])
      return true;
    number[axis] = 0;
  }
  return false;
}

Expected<void> GroupDraft::measureLayer(unsigned layer, const KnownMeasures &known) {
  if (std::optional<TileWork> same = known.of(layer)) {
    plan.cycles.push_back(same->cycles);
    plan.moveCycles.push_back(same->moveCycles);
    plan.scratchBytes.push_back(same->scratchBytes);
    return {};
  }
  int64_t cycles = 0;
  int64_t moves = 0;
  int64_t scratch = 0;
  std::array<SmallVector<Kind>, kNumAxes> kinds;
  TileCounts numKinds;
  for (unsigned axis = 0; axis < kNumAxes; ++axis) {
    kinds[axis] = kindsAlong(layer, axis);
    numKinds[axis] = static_cast<unsigned>(kinds[axis].size());
  }
  TileCounts kind{};
  do {
    TileCounts number;
    int64_t count = 1;
    for (unsigned axis = 0; axis < kNumAxes; ++axis) {
      number[axis] = kinds[axis][kind[axis]].axisTile;
      count *= kinds[axis][kind[axis]].count;
    }
    std::optional<GroupCosts::Work> work = planner.costs.compute(plan.tiledOp(layer, number));
    if (!work)
      return refuse(layer, "the chip does not compute such a slice");
    cycles += count * work->cycles;
    moves += count * work->moveCycles;
    scratch = std::max(scratch, work->scratchBytes);
  } while (advance(kind, numKinds));
  plan.cycles.push_back(cycles / plan.numTiles());
  plan.moveCycles.push_back(moves / plan.numTiles());
  plan.scratchBytes.push_back(alignedLocally(scratch, planner.backend.info()));
  return {};
}

Expected<void> GroupDraft::measureMove(GroupPlan::PartMove &move) {
  TiledOp tiled = plan.tiledOp(move.layer, {});
  tiled.operands[move.operand].isInPlace = false;
  std::optional<GroupCosts::Work> work = planner.costs.compute(tiled);
  if (!work)
    return refuse(move.layer, "the chip does not move such a part");
  move.cycles = work->cycles;
  move.step = move.layer;
  return {};
}

/// What a layer reads and makes takes so much.
Footprint GroupDraft::leastRoom(unsigned layer) const {
  llvm::SmallSet<unsigned, 4> tensors;
  tensors.insert(plan.results[layer]);
  for (int operand : plan.operands[layer])
    if (operand >= 0)
      tensors.insert(static_cast<unsigned>(operand));
  Footprint room;
  for (unsigned number : tensors)
    if (const GroupTensor &tensor = plan.tensors[number]; !tensor.isResident && !tensor.container)
      room[tensor.space] += tensor.bytes;
  return room;
}

Expected<void> GroupDraft::checkRoom(const KnownMeasures &known) {
  for (unsigned layer = 0; layer < plan.layers.size(); ++layer)
    if (!known.hasAll(layer) && !plan.range.fits(leastRoom(layer), planner.capacity)) {
      // Tiles do not get shorter by other users.
      isHopeless = true;
      return refuse(layer, "its slices do not fit local memory");
    }
  return {};
}

Expected<void> GroupDraft::measure(const GroupPlan *tail) {
  const KnownMeasures known(plan, tail);
  if (tail)
    plan.range.narrowTo(tail->range);
  const SmallVector<TileCounts> numbers = tileNumbers(plan.counts, plan.order);
  for (GroupTensor &tensor : plan.tensors)
    if (Expected<void> measured = measureTensor(tensor, numbers, known); !measured)
      return measured;
  if (Expected<void> checked = checkRoom(known); !checked)
    return checked;
  for (unsigned layer = 0; layer < plan.layers.size(); ++layer)
    if (Expected<void> measured = measureLayer(layer, known); !measured)
      return measured;
  for (GroupPlan::PartMove &move : plan.moves)
    if (Expected<void> measured = measureMove(move); !measured)
      return measured;
  plan.scratchAddresses.assign(plan.layers.size(), 0);
  return {};
}
