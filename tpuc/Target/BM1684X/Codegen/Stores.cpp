//===- Stores.cpp - From tiles of results to tensors ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/Stores.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Target/BM1684X/Codegen/BM1684XLayout.h"
#include "tpuc/Target/BM1684X/Codegen/Transfers.h"
#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

/// Calls `store(part, group, begin, end)` for each of `groups` equal parts of the channels of a
/// tile of a result: what is in the tile are channels [begin, end) of the group.
static Expected<void> storeGroups(
    const TiledOp &tiled, int64_t groups,
    llvm::function_ref<Expected<void>(const LocalTensor &, int64_t, int64_t, int64_t)> store) {
  const LocalTensor from = layoutOf(tiled).result().local(tiled.result);
  const int64_t channels = tiled.model->result[kAxisC] / groups;
  const Range all = tiled.result.tile[kAxisC];
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t begin = std::max(all.begin, group * channels);
    const int64_t end = std::min(all.end(), (group + 1) * channels);
    if (begin >= end)
      continue;
    if (Expected<void> stored = store(from.slice(1, begin - all.begin, end - begin), group,
                                      begin - group * channels, end - group * channels);
        !stored)
      return stored;
  }
  return {};
}

/// The op of class `Op` that reads `value`, through what stores it in a group and ops of `Through`.
/// Each reader is the only one. Null if there is none.
template <typename Op, typename... Through> static Op onlyReader(Value value) {
  while (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    if (auto found = dyn_cast<Op>(user))
      return found;
    if (isa<tpu::YieldOp>(user))
      value = user->getParentOp()->getResult(use.getOperandNumber());
    else if (isa<tpu::StoreOp, Through...>(user) && user->getNumResults() == 1)
      value = user->getResult(0);
    else
      break;
  }
  return {};
}

/// Stores a tile of a result of which `rows` rows lie side by side as channels, one below the
/// other, in the tensor that begins at `address`. Rows that `tpu.UnpackRows` leaves out are none.
static Expected<void> storeRows(Builder &builder, const TiledOp &tiled, int64_t rows,
                                int64_t address) {
  const AxisExtents &extents = tiled.model->result;
  const Tile &tile = tiled.result.tile;
  const int64_t channels = extents[kAxisC] / rows;
  const int64_t width = extents[kAxisW];
  auto reader = onlyReader<tpu::UnpackRowsOp>(tiled.op->getResult(0));
  const int64_t height =
      reader ? cast<RankedTensorType>(reader.getType()).getDimSize(2) : extents[kAxisH] * rows;
  const int64_t plane = height * width;
  return storeGroups(
      tiled, rows,
      [&](const LocalTensor &from, int64_t row, int64_t begin, int64_t end) -> Expected<void> {
        const int64_t count =
            std::min(tile[kAxisH].size, ceilDiv(height - row, rows) - tile[kAxisH].begin);
        if (count <= 0)
          return {};
        const int64_t offset = tile[kAxisN].begin * channels * plane + begin * plane +
                               (tile[kAxisH].begin * rows + row) * width + tile[kAxisW].begin;
        GlobalTensor to = globalTensor(
            from.type, Extents{tile[kAxisN].size, end - begin, count, tile[kAxisW].size},
            static_cast<uint64_t>(address + byteSize(from.type, offset)));
        to.stride = Extents{channels * plane, plane, rows * width, 1};
        return emitStore(builder, from.slice(2, 0, count), to);
      });
}

/// Stores a tile of a result [n, c, h, w] as [n, groups, h, w, c / groups] in the tensor that
/// begins at `address`.
static Expected<void> storeTurned(Builder &builder, const TiledOp &tiled, int64_t groups,
                                  int64_t address) {
  const AxisExtents &extents = tiled.model->result;
  const Tile &tile = tiled.result.tile;
  const int64_t channels = extents[kAxisC] / groups;
  const int64_t width = extents[kAxisW];
  const int64_t elements = extents[kAxisH] * width * channels;
  return storeGroups(
      tiled, groups, [&](const LocalTensor &from, int64_t group, int64_t begin, int64_t end) {
        const int64_t offset = (tile[kAxisN].begin * groups + group) * elements +
                               (tile[kAxisH].begin * width + tile[kAxisW].begin) * channels + begin;
        // Turned, the columns stand where the channels did.
        GlobalTensor to = globalTensor(
            from.type,
            Extents{tile[kAxisN].size, tile[kAxisW].size, tile[kAxisH].size, end - begin},
            static_cast<uint64_t>(address + byteSize(from.type, offset)));
        to.stride = Extents{groups * elements, channels, width * channels, 1};
        return emitStoreTransposedCW(builder, from, to);
      });
}

bool putsPlanesBehindChannels(tpu::PermuteOp op) {
  return top::toInts(op.getOrder()) == SmallVector<int64_t>{0, 2, 1, 3, 4};
}

/// The permute that reads `value`, as `stored_turned` has it.
static tpu::PermuteOp turningReader(Value value) {
  return onlyReader<tpu::PermuteOp, tpu::ReshapeOp, tpu::UnpackRowsOp>(value);
}

/// Where the planes of a result [N * D, C, h, w] stand among the `planes` of a sample.
struct PlanesOfResult {
  /// How many rows of a plane, and planes that follow each other, lie side by side as groups of
  /// channels: those of the first row come first.
  int64_t rows = 1, groups = 1;
  /// Of a sample.
  int64_t planes = 1;
};

/// Stores a tile of a result [N * D, C, h, w], whose planes are images, as [N, C, D, h, w] in the
/// tensor that begins at `address`.
static Expected<void> storePlanes(Builder &builder, const TiledOp &tiled,
                                  const PlanesOfResult &where, int64_t address) {
  const AxisExtents &extents = tiled.model->result;
  const Tile &tile = tiled.result.tile;
  const int64_t channels = extents[kAxisC] / (where.rows * where.groups);
  const int64_t width = extents[kAxisW];
  const int64_t plane = extents[kAxisH] * where.rows * width;
  const int64_t images = where.planes / where.groups;
  return storeGroups(
      tiled, where.rows * where.groups,
      [&](const LocalTensor &from, int64_t number, int64_t begin, int64_t end) -> Expected<void> {
        const int64_t row = number / where.groups;
        const int64_t group = number % where.groups;
        for (int64_t at = tile[kAxisN].begin; at < tile[kAxisN].end();) {
          const int64_t sample = at / images;
          const int64_t count = std::min((sample + 1) * images, tile[kAxisN].end()) - at;
          const int64_t depth = (at - sample * images) * where.groups + group;
          const int64_t offset = ((sample * channels + begin) * where.planes + depth) * plane +
                                 (tile[kAxisH].begin * where.rows + row) * width +
                                 tile[kAxisW].begin;
          GlobalTensor to = globalTensor(
              from.type, Extents{count, end - begin, tile[kAxisH].size, tile[kAxisW].size},
              static_cast<uint64_t>(address + byteSize(from.type, offset)));
          to.stride = Extents{where.groups * plane, where.planes * plane, where.rows * width, 1};
          if (Expected<void> stored =
                  emitStore(builder, from.slice(0, at - tile[kAxisN].begin, count), to);
              !stored)
            return stored;
          at += count;
        }
        return {};
      });
}

Expected<void> storeResult(Builder &builder, const TiledOp &tiled, int64_t address) {
  const std::optional<int64_t> rows = tpu::storedRows(tiled.op);
  const std::optional<int64_t> groups = tpu::storedTurned(tiled.op);
  tpu::PermuteOp reader = groups ? turningReader(tiled.op->getResult(0)) : tpu::PermuteOp();
  if (reader && putsPlanesBehindChannels(reader))
    return storePlanes(builder, tiled,
                       {.rows = rows.value_or(1),
                        .groups = *groups,
                        .planes = cast<RankedTensorType>(reader.getType()).getDimSize(2)},
                       address);
  if (rows)
    return storeRows(builder, tiled, *rows, address);
  if (groups)
    return storeTurned(builder, tiled, *groups, address);
  const TensorLayout &layout = layoutOf(tiled).result();
  const LocalTensor from = layout.local(tiled.result);
  const GlobalTensor to = layout.global(tiled.result.tile, address);
  return layout.form == OperandForm::Transposed ? emitStoreTransposedCW(builder, from, to)
                                                : storeTensor(builder, from, to);
}

} // namespace tpuc::bm1684x::backend
