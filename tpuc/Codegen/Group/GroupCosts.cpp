//===- GroupCosts.cpp - What layers and transfers take ------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupCosts.h"
#include "tpuc/Codegen/Group/GroupInfo.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The size, and whether a range is at an edge, where windows reach over it.
int64_t numberOf(Range range, int64_t extent) {
  return range.size * 4 + (range.begin == 0 ? 1 : 0) + (range.end() == extent ? 2 : 0);
}

KnownCosts::Key hashOf(const CostKey &key) {
  return KnownCosts::keyOf({reinterpret_cast<const uint64_t *>(key.data()), key.size()});
}

/// Where an operand is whole whatever the tile, the kernel may depend on where the tile is.
bool dependsOnPlace(const TileModel &model, unsigned axis) {
  return axis != kAxisN && axis != kAxisC &&
         llvm::any_of(model.operands, [&](const OperandModel &operand) {
           return operand.isPresent && operand.maps[axis].kind == AxisMap::Whole &&
                  operand.extents[axis] > 1;
         });
}

} // namespace

void AxisTile::appendTo(CostKey &key, const TileModel &model, unsigned axis) const {
  key.push_back(numberOf(result, model.result[axis]));
  key.push_back(dependsOnPlace(model, axis) ? result.begin : 0);
  const auto *operand = operands.begin();
  for (const OperandModel &each : model.operands) {
    if (!each.isPresent)
      continue;
    key.push_back(numberOf(operand->first, each.extents[axis]));
    key.push_back(numberOf(operand->second, each.extents[axis]));
    ++operand;
  }
}

CostKey GroupCosts::keyOf(const TiledOp &tiled) {
  CostKey key = {kindOf(tiled.op)};
  for (unsigned axis = 0; axis < kNumAxes; ++axis) {
    AxisTile along{.result = tiled.result.tile[axis]};
    for (auto [local, operand] : llvm::zip_equal(tiled.operands, tiled.model->operands))
      if (operand.isPresent)
        along.operands.emplace_back(local.tile[axis],
                                    (local.held ? *local.held : local.tile)[axis]);
    along.appendTo(key, *tiled.model, axis);
  }
  for (auto [index, local] : llvm::enumerate(tiled.operands))
    if (local.isInPlace)
      key.push_back(static_cast<int64_t>(index));
  return key;
}

/// Gives every tensor a place of its own; what all of them take.
Footprint GroupCosts::place(TiledOp &tiled) const {
  Footprint next;
  const auto put = [&](LocalTile &local, unsigned index) {
    const unsigned space = tiled.model->layoutOf(index).space;
    local.address = next[space];
    const int64_t bytes = tiled.model->localBytes(index, local.held ? *local.held : local.tile);
    next[space] += alignedLocally(bytes, backend.info(), space);
  };
  for (auto [index, operand] : llvm::enumerate(tiled.operands))
    if (tiled.model->operands[index].isPresent &&
        tiled.model->layoutOf(static_cast<unsigned>(index)).isLoaded)
      put(operand, static_cast<unsigned>(index));
  put(tiled.result, tiled.op->getNumOperands());
  tiled.scratchAddress = next[kTileSpace];
  return next;
}

std::optional<GroupCosts::Work> GroupCosts::measure(TiledOp tiled) const {
  const Footprint tensors = place(tiled);
  Expected<int64_t> scratch = backend.scratchBytes(tiled);
  if (!scratch)
    return std::nullopt;
  tiled.scratchBytes = *scratch;
  if (!(tensors + Footprint(*scratch)).fits(Footprint::capacityOf(backend.info())))
    return std::nullopt;
  Expected<Cost> cost = backend.cost([&](Emitter &emitter) { return emitter.compute(tiled); });
  if (!cost)
    return std::nullopt;
  const size_t mover = *backend.info().engineOf(EngineRole::Transfer);
  return Work{.cycles = cost->sum(), .moveCycles = cost->cycles[mover], .scratchBytes = *scratch};
}

std::optional<GroupCosts::Work> GroupCosts::compute(const TiledOp &tiled) {
  const KnownCosts::Key key = hashOf(keyOf(tiled));
  auto &works = this->known->works;
  if (const auto known = works.find(key))
    return *known;
  return works.add(key, measure(tiled));
}

std::optional<int64_t> GroupCosts::transfer(TiledOp tiled, unsigned index, bool hasRoom) {
  CostKey key = {kindOf(tiled.op), index, hasRoom ? 1 : 0};
  const bool isResult = index == tiled.op->getNumOperands();
  LocalTile &local = isResult ? tiled.result : tiled.operands[index];
  const Tile &tile = local.tile;
  const AxisExtents &extents =
      isResult ? tiled.model->result : tiled.model->operands[index].extents;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    key.push_back(numberOf(tile[axis], extents[axis]));
  // Models of the same op may see another shape.
  key.push_back(tiled.model->result[kAxisC]);
  const KnownCosts::Key hash = hashOf(key);
  auto &transfers = this->known->transfers;
  if (const auto known = transfers.find(hash))
    return *known;
  const auto base = static_cast<int64_t>(backend.info().global.modelBase);
  if (hasRoom)
    local.room = roomBehind(local.address, *tiled.model, index, tile, backend.info());
  Expected<Cost> cost = backend.cost([&](Emitter &emitter) {
    const Expected<void> first = isResult ? emitter.pack(tiled) : emitter.load(tiled, index, base);
    if (!first)
      return first;
    return isResult ? emitter.store(tiled, base) : emitter.unpack(tiled, index);
  });
  return transfers.add(hash, cost ? std::optional<int64_t>(cost->sum()) : std::nullopt);
}

int64_t GroupCosts::bytes(Operation *op, const TileModel &model, unsigned index, const Tile &tile) {
  // Models of the same op may see another shape.
  std::array<uint64_t, 2 + 3 * kNumAxes> words = {static_cast<uint64_t>(kindOf(op)), index};
  uint64_t *next = words.data() + 2;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    for (const int64_t number : {tile[axis].begin, tile[axis].size, model.result[axis]})
      *next++ = static_cast<uint64_t>(number);
  const KnownCosts::Key hash = KnownCosts::keyOf(words);
  auto &sizes = this->known->sizes;
  if (const std::optional<int64_t> known = sizes.find(hash))
    return *known;
  return sizes.add(hash, model.localBytes(index, tile));
}
