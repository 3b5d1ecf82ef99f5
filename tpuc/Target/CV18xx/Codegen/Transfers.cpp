//===- Transfers.cpp - Tiles between global and local memory --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/MatrixOps.h"
#include "tpuc/Target/CV18xx/Codegen/OpKernels.h"
#include "tpuc/Target/CV18xx/Codegen/TensorLayout.h"
#include "tpuc/Target/CV18xx/Kernels/Windows.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

/// Rows of output channels, and what they carry, to where kernels look for them.
static Expected<void> loadFilter(Builder &builder, const TiledOp &tiled, unsigned index,
                                 int64_t address) {
  const Chip &chip = builder.chip();
  const TensorLayout &layout = layoutOf(tiled, index);
  const FilterLayout &filter = layout.filter;
  const LocalTile &tile = tiled.operands[index];
  const Range channels = layout.channels(tile.tile);
  const auto count = static_cast<uint32_t>(channels.size);
  const int64_t row = filter.row * filter.elementBytes();
  const auto part = [&](int64_t begin, int64_t stride, uint32_t elements, bool isBf16) {
    GlobalTensor from = placeOf(address + begin);
    from.shape = {1, count, 1, elements};
    from.strides = {0, static_cast<uint64_t>(stride), 0};
    from.isBf16 = isBf16;
    return from;
  };
  const Extents rows = {1, count, 1, static_cast<uint32_t>(filter.row)};
  const auto at = static_cast<uint32_t>(tile.address);
  const LocalTensor whole = filter.isDepthwise ? alignedTensor(chip, at, rows, filter.isBf16)
                                               : compactTensor(chip, at, rows, filter.isBf16);
  const bool isOfOnes = tiled.op->hasAttr(kFilterOfOnes);
  if (isOfOnes)
    if (Expected<void> done = emitFill(builder, whole, 1); !done)
      return done;
  const int64_t taps = filter.turnedTaps ? (*filter.turnedTaps)[0] * (*filter.turnedTaps)[1] : 1;
  const int64_t tap = row / taps;
  for (int64_t i = 0; i < taps && !isOfOnes; ++i) {
    LocalTensor to = whole;
    to.address += static_cast<uint32_t>((taps - 1 - i) * tap);
    to.shape[3] = rows[3] / static_cast<uint32_t>(taps);
    if (Expected<void> done = emitLoad(
            builder, part(channels.begin * row + i * tap, row, to.shape[3], filter.isBf16), to);
        !done)
      return done;
  }
  if (filter.carried == 0)
    return {};
  const auto behind =
      static_cast<uint32_t>(alignedTo(filter.rowBytes(chip, channels.size), kEuBytes));
  const int64_t begin = filter.channels * row;
  if (!filter.isBf16)
    return emitLoad(
        builder, part(begin + channels.begin * kRequantBytes, kRequantBytes, kRequantBytes, false),
        compactTensor(chip, at + behind, {1, count, 1, kRequantBytes}, false));
  // The upper halves of all channels of a command, then the lower ones.
  const auto loadHalves = [&](int64_t first, int64_t size) -> Expected<void> {
    const int64_t to = at + behind + first / chip.lanes * filter.carried;
    for (int64_t half = 0; half < filter.carried / 2; ++half) {
      const int64_t slots = (size + chip.lanes - 1) / chip.lanes;
      GlobalTensor from =
          part(begin + 2 * (half * filter.channels + channels.begin + first), 2, 1, true);
      from.shape[1] = static_cast<uint32_t>(size);
      if (Expected<void> done =
              emitLoad(builder, from,
                       compactTensor(chip, static_cast<uint32_t>(to + half * slots * 2),
                                     {1, static_cast<uint32_t>(size), 1, 1}, true));
          !done)
        return done;
    }
    return {};
  };
  if (filter.firstPart == 0)
    return loadHalves(0, channels.size);
  if (channels.size != filter.channels || filter.firstPart % chip.lanes != 0)
    return makeError("", "a part of a filter in parts", "a whole one, in whole lines of lanes");
  if (Expected<void> done = loadHalves(0, filter.firstPart); !done)
    return done;
  return loadHalves(filter.firstPart, filter.channels - filter.firstPart);
}

/// A transfer's rows are dense. So each element of one that lies turned is a row, and the rows of
/// columns that lie turned are one.
static Expected<LocalTensor> turned(const TensorLayout &layout, Expected<LocalTensor> tensor) {
  if (!tensor ||
      !(layout.form == Form::Turned || (layout.form == Form::Columns && layout.isTurned)))
    return tensor;
  std::swap(tensor->shape[2], tensor->shape[3]);
  std::swap(tensor->strides[2], tensor->strides[3]);
  return tensor;
}

Expected<void> loadOperand(Builder &builder, const TiledOp &tiled, unsigned index,
                           int64_t address) {
  const Chip &chip = builder.chip();
  const TensorLayout &layout = layoutOf(tiled, index);
  if (layout.form == Form::Filter)
    return loadFilter(builder, tiled, index, address);
  if (layout.form == Form::Matrix)
    return loadMatrices(builder, tiled, index, address);
  const LocalTile &tile = tiled.operands[index];
  if (layout.form == Form::Table) {
    GlobalTensor from = placeOf(address);
    from.isBf16 = layout.isBf16;
    from.shape = {1, chip.lanes, 1, 256};
    return emitLoad(
        builder, from,
        compactTensor(chip, static_cast<uint32_t>(tile.address), from.shape, layout.isBf16));
  }
  Expected<LocalTensor> to = turned(layout, layout.local(chip, tile));
  Expected<GlobalTensor> from = layout.global(tile.tile, address);
  if (!to || !from)
    return to ? propagate(from) : propagate(to);
  if (layout.form == Form::EveryLane) {
    to->shape[1] = from->shape[1] = chip.lanes;
    from->strides[1] = 0;
  }
  return emitLoad(builder, *from, *to);
}

Expected<void> storeResult(Builder &builder, const TiledOp &tiled, int64_t address) {
  const TensorLayout &layout = layoutOf(tiled, tiled.op->getNumOperands());
  if (layout.form == Form::Matrix)
    return storeMatrices(builder, tiled, address);
  Expected<LocalTensor> from = turned(layout, layout.local(builder.chip(), tiled.result));
  Expected<GlobalTensor> to = layout.global(tiled.result.tile, address);
  if (!to || !from)
    return to ? propagate(from) : propagate(to);
  return emitStore(builder, *from, *to);
}

} // namespace tpuc::cv18xx::backend
