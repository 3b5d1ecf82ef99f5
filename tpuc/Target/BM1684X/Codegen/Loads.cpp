//===- Loads.cpp - From tensors to tiles of operands ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/Loads.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Target/BM1684X/Codegen/BM1684XLayout.h"
#include "tpuc/Target/BM1684X/Codegen/Transfers.h"
#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684X/Kernels/Matrix.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

/// A tile of a filter that stands in parts.
static Expected<void> loadParts(Builder &builder, const ChannelRows &rows, Range channels,
                                int64_t address, uint32_t to) {
  const int64_t cut = rows.parts[0] * rows.parts[1];
  const int64_t columns = rows.row / cut * rows.lanes();
  const int64_t first = channels.begin / int64_t{kLanes} * rows.lanes() * rows.rowBytes();
  const LocalTensor local = localTensor(
      rows.type,
      Extents{ChannelRows::slotsOf(channels.size) * cut, rows.lanes(), 1, rows.row / cut}, to,
      Layout::Compact);
  return emitLoadMatrix(builder, static_cast<uint64_t>(address + first), columns, columns, local);
}

/// The rows of channels and their words: by one transfer where they stand together.
static Expected<void> loadChannels(Builder &builder, const TensorLayout &layout,
                                   const LocalTile &local, int64_t address) {
  const ChannelRows &rows = layout.rows;
  const Range channels = rows.rowsOf(local.tile[kAxisC]);
  GlobalTensor from = channelSlice(rows, channels, address);
  // A packed row of channels is laid out the same in both memories.
  const LocalTensor to = layout.local(local);
  const auto asLoaded = [&](const GlobalTensor &source, uint32_t at) {
    return localTensor(source.type, source.shape, at, Layout::Compact);
  };
  const bool isOne =
      rows.hasWords && rows.isByLane && rows.phases() == 1 && channels.size == rows.channels;
  if (isOne)
    from.shape[3] = (rows.wordsAt(channels.size) + rows.slots() * ChannelRows::kSlotBytes) /
                    byteSize(rows.type, 1);
  const Expected<void> loaded = rows.isInParts()
                                    ? loadParts(builder, rows, channels, address, to.address)
                                    : loadTensor(builder, from, asLoaded(from, to.address));
  if (!loaded || isOne || !rows.hasWords)
    return loaded;
  const GlobalTensor words = channelWords(rows, channels, address);
  return loadTensor(builder, words, asLoaded(words, layout.parameterAddress(local)));
}

/// The rows that operand `index` stacks; null for others.
static tpu::PackRowsOp packedRows(Operation *op, unsigned index) {
  Value value = op->getOperand(index);
  if (auto load = value.getDefiningOp<tpu::LoadOp>())
    value = load.getInput();
  auto rows = value.getDefiningOp<tpu::PackRowsOp>();
  return rows && !rows.getInLocalMemory() ? rows : tpu::PackRowsOp();
}

/// What lies side by side of one picture of many, or of one sample of planes: the range of the
/// result's dimension `axis` that is loaded, and where the input begins.
struct PackedRange {
  unsigned axis = 2;
  Range range;
  uint64_t address = 0;
};

/// The windows of `all` in which the row or plane at `place` exists.
static Range windowsWithRow(tpu::PackRowsOp rows, int64_t place, Range all) {
  const int64_t extent = cast<RankedTensorType>(rows.getInput().getType()).getDimSize(2);
  const auto stride = static_cast<int64_t>(rows.getStride());
  const int64_t before = static_cast<int64_t>(rows.getPad()) - place;
  const int64_t first = std::clamp(before > 0 ? ceilDiv(before, stride) : 0, all.begin, all.end());
  const int64_t reach = extent - 1 + before;
  const int64_t end = std::clamp(reach < 0 ? 0 : reach / stride + 1, first, all.end());
  return {first, end - first};
}

/// What stands in the windows of `part`, which are those of `to`, outside of `inside`.
static Expected<void> fillOutside(Builder &builder, tpu::PackRowsOp rows, const PackedRange &part,
                                  Range inside, const LocalTensor &to) {
  const Range all = part.range;
  const auto fill = static_cast<int64_t>(rows.getFill());
  const uint32_t bits = isFloat(to.type)
                            ? immediateBits(to.type, static_cast<double>(fill))
                            : static_cast<uint32_t>(fill + tpu::zeroPointOf(rows.getInput()));
  for (const Range &outside :
       {Range{all.begin, inside.begin - all.begin}, Range{inside.end(), all.end() - inside.end()}})
    if (outside.size > 0)
      if (Expected<void> filled = emitLocalFill(
              builder, to.slice(part.axis, outside.begin - all.begin, outside.size), bits);
          !filled)
        return filled;
  return {};
}

/// The channel `to` that marks where the row at `place` does not exist; of -1 it always does.
static Expected<void> loadMark(Builder &builder, tpu::PackRowsOp rows, int64_t place,
                               const LocalTensor &to, const PackedRange &part) {
  const Range all = part.range;
  const Range inside = place < 0 ? all : windowsWithRow(rows, place, all);
  if (inside.size > 0) {
    const auto zero = static_cast<uint32_t>(tpu::zeroPointOf(rows.getInput()));
    if (Expected<void> filled = emitLocalFill(
            builder, to.slice(part.axis, inside.begin - all.begin, inside.size), zero);
        !filled)
      return filled;
  }
  return fillOutside(builder, rows, part, inside, to);
}

/// The rows or planes of one place in their windows, which are the channels `to`, and what stands
/// where there are none.
static Expected<void> loadRow(Builder &builder, tpu::PackRowsOp rows, int64_t place,
                              const Tile &tile, const LocalTensor &to, const PackedRange &part) {
  const auto dims = cast<RankedTensorType>(rows.getInput().getType()).getShape();
  const bool hasPlanes = dims.size() == 5;
  const auto stride = static_cast<int64_t>(rows.getStride());
  const int64_t before = static_cast<int64_t>(rows.getPad()) - place;
  const Range all = part.range;
  const Range inside = windowsWithRow(rows, place, all);
  if (Expected<void> filled = fillOutside(builder, rows, part, inside, to);
      !filled || inside.size == 0)
    return filled;
  const int64_t first = inside.begin;
  const int64_t end = inside.end();
  const int64_t row = dims.back();
  const int64_t each = hasPlanes ? dims[3] * row : row;
  const int64_t channel = dims[2] * each;
  const int64_t offset =
      (first * stride - before) * each + tile[kAxisW].begin +
      (hasPlanes ? tile[kAxisH].begin * row : tile[kAxisN].begin * dims[1] * channel);
  GlobalTensor from =
      globalTensor(to.type,
                   hasPlanes ? Extents{end - first, dims[1], tile[kAxisH].size, tile[kAxisW].size}
                             : Extents{tile[kAxisN].size, dims[1], end - first, tile[kAxisW].size},
                   part.address + static_cast<uint64_t>(byteSize(to.type, offset)));
  from.stride = hasPlanes ? Extents{stride * each, channel, row, 1}
                          : Extents{dims[1] * channel, channel, stride * each, 1};
  return emitLoad(builder, from, to.slice(part.axis, first - all.begin, end - first));
}

/// The parts that one command loads for each place: all pictures, or the planes of one sample.
static SmallVector<PackedRange> packedRanges(tpu::PackRowsOp rows, const Tile &tile,
                                             uint64_t address) {
  const auto type = cast<RankedTensorType>(rows.getInput().getType());
  if (type.getRank() == 4)
    return {{.axis = 2, .range = tile[kAxisH], .address = address}};
  const int64_t planes =
      cast<RankedTensorType>(rows.getOutput().getType()).getDimSize(0) / type.getDimSize(0);
  const int64_t bytes = codegen::globalBytes(type) / type.getDimSize(0);
  SmallVector<PackedRange> parts;
  for (int64_t at = tile[kAxisN].begin; at < tile[kAxisN].end();) {
    const int64_t sample = at / planes;
    const int64_t end = std::min((sample + 1) * planes, tile[kAxisN].end());
    parts.push_back({.axis = 0,
                     .range = {at - sample * planes, end - at},
                     .address = address + static_cast<uint64_t>(sample * bytes)});
    at = end;
  }
  return parts;
}

static Expected<void> loadPackedRows(Builder &builder, tpu::PackRowsOp rows, const Tile &tile,
                                     const LocalTensor &to, int64_t address) {
  const int64_t channels = cast<RankedTensorType>(rows.getInput().getType()).getDimSize(1);
  const SmallVector<int64_t> marks =
      rows.getMarks() ? top::toInts(*rows.getMarks()) : SmallVector<int64_t>();
  int64_t done = 0;
  for (const PackedRange &part : packedRanges(rows, tile, static_cast<uint64_t>(address))) {
    const LocalTensor samples = part.axis == 0 ? to.slice(0, done, part.range.size) : to;
    done += part.range.size;
    int64_t channel = 0;
    for (int64_t place = 0; place < static_cast<int64_t>(rows.getKernel()); ++place) {
      if (Expected<void> loaded =
              loadRow(builder, rows, place, tile, samples.slice(1, channel, channels), part);
          !loaded)
        return loaded;
      channel += channels;
    }
    for (int64_t place : marks)
      if (Expected<void> loaded =
              loadMark(builder, rows, place, samples.slice(1, channel++, 1), part);
          !loaded)
        return loaded;
  }
  return {};
}

/// The words that a tile of a matrix carries, to all lanes.
static Expected<void> loadColumnWords(Builder &builder, const TensorLayout &layout,
                                      const LocalTile &local, int64_t address) {
  if (layout.parameters == Carried::Nothing)
    return {};
  return emitLoadToLanes(builder, layout.columnWords(local.tile[kAxisW], address),
                         layout.localColumnWords(local));
}

/// A tile of a matrix whose rows stand by lanes: as one row of a matrix where the whole is loaded
/// and slots follow each other in both memories.
static Expected<void> loadByLane(Builder &builder, const TensorLayout &layout,
                                 const LocalTile &local, int64_t address) {
  const LocalTensor to = layout.localByLane(local);
  const GlobalTensor from = layout.globalByLane(local.tile, address);
  constexpr int64_t kMostColumns = 65535;
  const int64_t columns = to.shape[1] * to.shape[2] * to.shape[3];
  const bool isDense = columns <= kMostColumns && to.shape[3] == layout.extents[kAxisW] &&
                       to.explicitStride[2] == to.shape[3];
  Expected<void> loaded =
      isDense ? emitLoadMatrix(builder, from.address, columns, columns,
                               localTensor(to.type, {1, to.shape[1], 1, to.shape[2] * to.shape[3]},
                                           to.address))
              : emitLoad(builder, from, to);
  return loaded ? loadColumnWords(builder, layout, local, address) : loaded;
}

Expected<void> loadOperand(Builder &builder, const TiledOp &tiled, unsigned index,
                           int64_t address) {
  const TensorLayout &layout = layoutOf(tiled).operand(index);
  const LocalTile &local = tiled.operands[index];
  if (layout.form == OperandForm::Absent)
    return {};
  if (layout.form == OperandForm::PerChannel)
    return loadChannels(builder, layout, local, address);
  const LocalTensor to = layout.local(local);
  if (tpu::PackRowsOp rows = packedRows(tiled.op, index))
    return loadPackedRows(builder, rows, local.tile, to, address);
  if (layout.isByLane)
    return loadByLane(builder, layout, local, address);
  const GlobalTensor from = layout.global(local.tile, address);
  if (layout.form == OperandForm::EveryLane)
    return emitLoadToLanes(builder, from, to);
  if (layout.form == OperandForm::Transposed)
    return emitLoadTransposedCW(builder, from, to);
  if (Expected<void> loaded = loadTensor(builder, from, to); !loaded)
    return loaded;
  return loadColumnWords(builder, layout, local, address);
}

} // namespace tpuc::bm1684x::backend
