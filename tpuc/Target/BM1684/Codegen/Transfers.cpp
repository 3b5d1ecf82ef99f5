//===- Transfers.cpp - Loads, stores and moves of ops ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Codegen/Transfers.h"
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

/// Rows below each other as channels beside each other: one transfer for each row of a window, and
/// zeros where there is none.
static Expected<void> loadPackedRows(Builder &builder, tpu::PackRowsOp rows, const Tile &tile,
                                     const LocalTensor &to, int64_t address) {
  const auto dims = cast<RankedTensorType>(rows.getInput().getType()).getShape();
  const int64_t channels = dims[1], height = dims[2], width = dims[3];
  const auto stride = static_cast<int64_t>(rows.getStride());
  const Range all = tile[kAxisH];
  for (int64_t place = 0; place < static_cast<int64_t>(rows.getKernel()); ++place) {
    const int64_t before = static_cast<int64_t>(rows.getPad()) - place;
    // The windows in which the row exists.
    const int64_t begin =
        std::clamp(before > 0 ? ceilDiv(before, stride) : 0, all.begin, all.end());
    const int64_t reach = height - 1 + before;
    const int64_t end = std::clamp(reach < 0 ? 0 : reach / stride + 1, begin, all.end());
    const LocalTensor part = to.slice(1, place * channels, channels);
    for (const Range &outside : {Range{all.begin, begin - all.begin}, Range{end, all.end() - end}})
      if (outside.size > 0) {
        LocalTensor words = part.slice(2, outside.begin - all.begin, outside.size);
        words.shape[0] = ceilDiv(words.shape[0], words.items());
        addCopy(builder, words.as(DataType::F32), number(0));
      }
    if (begin == end)
      continue;
    const int64_t offset = tile[kAxisN].begin * channels * height * width +
                           (begin * stride - before) * width + tile[kAxisW].begin;
    GlobalTensor from =
        globalTensor(to.type, {tile[kAxisN].size, channels, end - begin, tile[kAxisW].size},
                     static_cast<uint64_t>(address + byteSize(to.type, offset)));
    from.stride = {channels * height * width, height * width, stride * width, 1};
    if (Expected<void> loaded =
            emitLoad(builder, from, part.slice(2, begin - all.begin, end - begin));
        !loaded)
      return loaded;
  }
  return {};
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
  if (tpu::PackRowsOp rows = packedRows(tiled.op, index))
    return loadPackedRows(builder, rows, tile.tile, to, address);
  const GlobalTensor from = layout.global(tile.tile, address);
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

Expected<void> storeResult(Builder &builder, const TiledOp &tiled, int64_t address) {
  const TensorLayout &layout = layoutOf(tiled).result();
  if (layout.form == OperandForm::Pieces)
    return forEachMatrix(layout, tiled.result, address, [&](const GlobalTensor &to, uint32_t from) {
      return emitStoreMatrix(builder, from, to);
    });
  const LocalTensor from = layout.local(tiled.result);
  const GlobalTensor to = layout.global(tiled.result.tile, address);
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
