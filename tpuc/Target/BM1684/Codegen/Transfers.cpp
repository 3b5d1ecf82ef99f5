//===- Transfers.cpp - Loads, stores and moves of ops ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Codegen/Transfers.h"
#include "tpuc/Target/BM1684/Kernels/PackedImages.h"
#include "tpuc/Target/BM1684/Machine/Timing.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684::backend {

/// The matrices of a tile, in global memory as [1,1,rows,columns] and in the lanes.
template <typename Move>
static Expected<void> forEachMatrix(const TensorLayout &layout, const LocalTile &tile,
                                    int64_t address, const Move &move) {
  const Tile &part = tile.tile;
  const int64_t columns = layout.extents[kAxisW], rows = layout.extents[kAxisC];
  const uint32_t bytes = matrixBytes(layout.type, part[kAxisC].size, part[kAxisW].size);
  for (int64_t n = 0; n < part[kAxisN].size; ++n) {
    const int64_t first =
        ((part[kAxisN].begin + n) * rows + part[kAxisC].begin) * columns + part[kAxisW].begin;
    GlobalTensor matrix =
        globalTensor(layout.type, {1, 1, part[kAxisC].size, part[kAxisW].size},
                     static_cast<uint64_t>(address + byteSize(layout.type, first)));
    matrix.stride[2] = columns;
    if (Expected<void> moved =
            move(matrix, static_cast<uint32_t>(tile.address) + static_cast<uint32_t>(n) * bytes);
        !moved)
      return moved;
  }
  return {};
}

Expected<void> checkPackedRows(tpu::PackRowsOp rows) {
  const auto type = dyn_cast<RankedTensorType>(rows.getInput().getType());
  if (!type || type.getRank() != 4 || rows.getFill() != 0 || rows.getMarks())
    return makeError("", "rows of planes, or that are filled or marked",
                     "rows of pictures beside zeros");
  return {};
}

/// The rows that operand `index` stacks; null for others.
static tpu::PackRowsOp packedRows(mlir::Operation *op, unsigned index) {
  Value value = op->getOperand(index);
  if (auto load = value.getDefiningOp<tpu::LoadOp>())
    value = load.getInput();
  return value.getDefiningOp<tpu::PackRowsOp>();
}

/// What stands in a tile that stacks rows: rows of the input, from a row on in the channels from
/// `channel` on, or zeros.
struct StackedRows {
  int64_t channel = 0;
  /// Of the tile.
  Range rows;
  /// Where the rows begin in a plane of the input, in elements; none where there are zeros.
  std::optional<int64_t> from;
};

/// Rows below each other as channels beside each other: parts for each row of a window.
static SmallVector<StackedRows> stackedRows(tpu::PackRowsOp rows, const Tile &tile) {
  const auto dims = cast<RankedTensorType>(rows.getInput().getType()).getShape();
  const int64_t channels = dims[1], height = dims[2], width = dims[3];
  const auto stride = static_cast<int64_t>(rows.getStride());
  const Range all = tile[kAxisH];
  SmallVector<StackedRows> parts;
  for (int64_t place = 0; place < static_cast<int64_t>(rows.getKernel()); ++place) {
    const int64_t before = static_cast<int64_t>(rows.getPad()) - place;
    // The windows in which the row exists.
    const int64_t begin =
        std::clamp(before > 0 ? ceilDiv(before, stride) : 0, all.begin, all.end());
    const int64_t reach = height - 1 + before;
    const int64_t end = std::clamp(reach < 0 ? 0 : reach / stride + 1, begin, all.end());
    const auto add = [&](int64_t first, int64_t last, std::optional<int64_t> from) {
      if (first < last)
        parts.push_back({place * channels, {first - all.begin, last - first}, from});
    };
    add(all.begin, begin, std::nullopt);
    add(begin, end, (begin * stride - before) * width);
    add(end, all.end(), std::nullopt);
  }
  return parts;
}

/// Zeros where a tile that stacks rows has none.
static void fillStackedRows(Builder &builder, tpu::PackRowsOp rows, const Tile &tile,
                            const LocalTensor &to) {
  const int64_t channels = cast<RankedTensorType>(rows.getInput().getType()).getDimSize(1);
  for (const StackedRows &part : stackedRows(rows, tile)) {
    if (part.from)
      continue;
    LocalTensor words =
        to.slice(1, part.channel, channels).slice(2, part.rows.begin, part.rows.size);
    words.shape[0] = ceilDiv(words.shape[0], words.items());
    addCopy(builder, words.as(DataType::F32), number(0));
  }
}

/// A transfer for each row of a window, of packed images or of the tile itself.
static Expected<void> loadStackedRows(Builder &builder, tpu::PackRowsOp rows, const Tile &tile,
                                      const LocalTensor &to,
                                      const std::optional<PackedImages> &packed, int64_t address) {
  const auto dims = cast<RankedTensorType>(rows.getInput().getType()).getShape();
  const int64_t channels = dims[1], plane = dims[2] * dims[3];
  for (const StackedRows &part : stackedRows(rows, tile)) {
    if (!part.from)
      continue;
    const int64_t offset = tile[kAxisN].begin * channels * plane + *part.from + tile[kAxisW].begin;
    GlobalTensor from =
        globalTensor(to.type, {tile[kAxisN].size, channels, part.rows.size, tile[kAxisW].size},
                     static_cast<uint64_t>(address + byteSize(to.type, offset)));
    from.stride = {channels * plane, plane, static_cast<int64_t>(rows.getStride()) * dims[3], 1};
    const LocalTensor place =
        to.slice(1, part.channel, channels).slice(2, part.rows.begin, part.rows.size);
    const Expected<void> loaded =
        packed ? emitLoadImageRows(builder, from, *packed, part.channel, part.rows.begin)
               : emitLoad(builder, from, place);
    if (!loaded)
      return loaded;
  }
  return {};
}

/// The packed images of a tile of operand `index`, or of the result; none if it has no room, or if
/// words are faster.
static std::optional<PackedImages> packedImages(const TensorLayout &layout, const LocalTile &tile) {
  if (!tile.room || !layout.isPacked(tile.tile))
    return std::nullopt;
  return PackedImages{layout.local(tile), static_cast<uint32_t>(*tile.room)};
}

Expected<void> loadOperand(Builder &builder, const TiledOp &tiled, unsigned index,
                           int64_t address) {
  const TensorLayout &layout = layoutOf(tiled).operand(index);
  const LocalTile &tile = tiled.operands[index];
  if (layout.form == OperandForm::Absent)
    return {};
  if (layout.form == OperandForm::Pieces)
    return forEachMatrix(layout, tile, address, [&](const GlobalTensor &from, uint32_t to) {
      return emitLoadMatrix(builder, from, to);
    });
  if (layout.form == OperandForm::Table)
    return emitLoadTable(builder,
                         globalTensor(layout.type, {1, 1, 1, 256}, static_cast<uint64_t>(address)),
                         static_cast<uint32_t>(tile.address));
  const LocalTensor to = layout.local(tile);
  const std::optional<PackedImages> packed = packedImages(layout, tile);
  if (tpu::PackRowsOp rows = packedRows(tiled.op, index)) {
    if (!packed)
      fillStackedRows(builder, rows, tile.tile, to);
    return loadStackedRows(builder, rows, tile.tile, to, packed, address);
  }
  const GlobalTensor from = layout.global(tile.tile, address);
  if (packed)
    return emitLoadImages(builder, from, *packed);
  if (layout.form == OperandForm::PerChannel)
    return emitLoadDense(builder, from, to.address);
  if (layout.form == OperandForm::Repeated) {
    GlobalTensor repeated = from;
    repeated.shape = to.shape;
    if (layout.repeatsItems)
      repeated.stride[0] = 0;
    if (layout.repeatsChannels)
      repeated.stride[1] = 0;
    return emitLoad(builder, repeated, to);
  }
  const bool isTurned =
      layout.form == OperandForm::Transposed || layout.form == OperandForm::Turned;
  return isTurned ? emitLoadTurned(builder, from, to) : emitLoad(builder, from, to);
}

Expected<void> unpackOperand(Builder &builder, const TiledOp &tiled, unsigned index) {
  const LocalTile &tile = tiled.operands[index];
  const std::optional<PackedImages> packed = packedImages(layoutOf(tiled).operand(index), tile);
  if (!packed)
    return {};
  if (Expected<void> unpacked = emitUnpackImages(builder, *packed); !unpacked)
    return unpacked;
  if (tpu::PackRowsOp rows = packedRows(tiled.op, index))
    fillStackedRows(builder, rows, tile.tile, packed->tensor);
  return {};
}

Expected<void> packResult(Builder &builder, const TiledOp &tiled) {
  const auto packed = packedImages(layoutOf(tiled).result(), tiled.result);
  return packed ? emitPackImages(builder, *packed) : Expected<void>();
}

Expected<void> storeResult(Builder &builder, const TiledOp &tiled, int64_t address) {
  const TensorLayout &layout = layoutOf(tiled).result();
  if (layout.form == OperandForm::Pieces)
    return forEachMatrix(layout, tiled.result, address, [&](const GlobalTensor &to, uint32_t from) {
      return emitStoreMatrix(builder, from, to);
    });
  const LocalTensor from = layout.local(tiled.result);
  const GlobalTensor to = layout.global(tiled.result.tile, address);
  if (const auto packed = packedImages(layout, tiled.result))
    return emitStoreImages(builder, *packed, to);
  return layout.form == OperandForm::Transposed ? emitStoreTurned(builder, from, to)
                                                : emitStore(builder, from, to);
}

static constexpr bm168x::backend::TransferForms kForms = {
    .takes = [](DataType type) { return precOf(type).has_value(); }, .hasTurn = true};

/// Cycles of the transfers that `emit` adds.
template <typename Emit> static std::optional<int64_t> transferCycles(const Emit &emit) {
  Builder builder;
  if (!emit(builder))
    return std::nullopt;
  const Expected<CommandStreams> streams = builder.finish();
  if (!streams)
    return std::nullopt;
  int64_t cycles = 0;
  for (const Command &command : streams->gdma) {
    const Expected<CommandCost> cost = commandCost(command, TimingModel::Vendor, "a transfer");
    if (!cost)
      return std::nullopt;
    cycles += cost->cycles;
  }
  return cycles;
}

static bool turnPays(DataType type, int64_t rows, int64_t columns) {
  // The same figures for any part that one command takes.
  constexpr int64_t kMost = 65535;
  const int64_t high = std::min(rows, kMost), wide = std::min(columns, kMost);
  const auto turn = transferCycles([&](Builder &builder) {
    return emitGlobalTurn(builder, globalTensor(type, {1, high, 1, wide}, kGlobalBase),
                          globalTensor(type, {1, wide, 1, high}, kGlobalBase));
  });
  const auto copy = [&](int64_t count) {
    return transferCycles([&](Builder &builder) {
      GlobalTensor from = globalTensor(type, {high, count, 1, 1}, kGlobalBase), to = from;
      from.stride = {wide, 1, 1, 1};
      to.stride = {1, high, 1, 1};
      return emitGlobalCopy(builder, from, to);
    });
  };
  const auto all = copy(wide), first = copy(1);
  // A copy may take the elements of other matrices too, so its start does not count.
  return turn && all && first && *turn < *all - *first;
}

Expected<void> checkMove(mlir::Operation *op) { return bm168x::backend::checkMove(kForms, op); }

Expected<void> emitMove(Builder &builder, mlir::Operation *op) {
  return bm168x::backend::emitMove(
      {.forms = kForms,
       .copy = [&](const GlobalTensor &from,
                   const GlobalTensor &to) { return emitGlobalCopy(builder, from, to); },
       .turn = [&](const GlobalTensor &from,
                   const GlobalTensor &to) { return emitGlobalTurn(builder, from, to); },
       .turnPays = turnPays,
       .fill =
           [&](const GlobalTensor &to, double value) {
             return emitGlobalFill(builder, to, immediateBits(to.type, value));
           },
       .gather = {}},
      op);
}

} // namespace tpuc::bm1684::backend
