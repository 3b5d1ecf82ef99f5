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
#include "tpuc/Target/CV18xx/Kernels/Products.h"
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
  for (int64_t half = 0; half < filter.carried / 2; ++half) {
    const int64_t slots = (channels.size + chip.lanes - 1) / chip.lanes;
    const int64_t to = at + behind + half * slots * 2;
    if (Expected<void> done = emitLoad(
            builder, part(begin + 2 * (half * filter.channels + channels.begin), 2, 1, true),
            compactTensor(chip, static_cast<uint32_t>(to), {1, count, 1, 1}, true));
        !done)
      return done;
  }
  return {};
}

static Expected<void> loadGates(Builder &builder, const FilterLayout &filter, const LocalTile &tile,
                                int64_t address) {
  for (int64_t number = 0; number < filter.gates; ++number) {
    const LocalMatrix gate = filter.gate(number, tile.address, builder.chip());
    const int64_t begin = address + number * gate.rows * gate.columns * filter.elementBytes();
    if (Expected<void> done = emitPadded(builder, denseMatrix(placeOf(begin), gate), gate); !done)
      return done;
  }
  return {};
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
  if (layout.form == Form::Gates)
    return loadGates(builder, layout.filter, tiled.operands[index], address);
  if (layout.form == Form::Rows) {
    const LocalMatrix rows = layout.rows(tiled.operands[index].address);
    return emitPadded(builder, denseMatrix(placeOf(address), rows), rows);
  }
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
  if (layout.form == Form::Rows) {
    const LocalMatrix rows = layout.rows(tiled.result.address);
    return emitStore(builder, rows, denseMatrix(placeOf(address), rows));
  }
  Expected<LocalTensor> from = turned(layout, layout.local(builder.chip(), tiled.result));
  Expected<GlobalTensor> to = layout.global(tiled.result.tile, address);
  if (!to || !from)
    return to ? propagate(from) : propagate(to);
  return emitStore(builder, *from, *to);
}

} // namespace tpuc::cv18xx::backend
