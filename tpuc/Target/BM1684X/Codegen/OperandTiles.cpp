//===- OperandTiles.cpp - Tiles of operands in both memories --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/OperandTiles.h"
#include "tpuc/Target/BM1684X/Codegen/ChannelRows.h"
#include "tpuc/Target/BM1684X/Codegen/OperandForm.h"
#include "tpuc/Target/BM1684X/Kernels/Quantized.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

/// The part `local.tile` of a tensor [n, c, d * h, w] that holds `local.held`.
static LocalTensor partOf(LocalTensor tensor, const LocalTile &local) {
  constexpr unsigned kAxes[] = {kAxisN, kAxisC, kAxisH, kAxisW};
  for (auto [dim, axis] : llvm::enumerate(kAxes)) {
    const Range part = local.tile[axis];
    const Range held = (*local.held)[axis];
    if (part != held)
      tensor = tensor.slice(static_cast<unsigned>(dim), part.begin - held.begin, part.size);
  }
  return tensor;
}

LocalTensor localOperand(Operation *op, const TileModel &model, unsigned index,
                         const LocalTile &local) {
  if (local.held && *local.held != local.tile && operandForm(op, index) == OperandForm::Tensor)
    return partOf(localOperand(op, model, index, {*local.held, local.address}), local);
  const DataType type = elementTypeOf(op, index);
  const auto address = static_cast<uint32_t>(local.address);
  const auto size = [&](unsigned axis) { return local.tile[axis].size; };
  switch (operandForm(op, index)) {
  case OperandForm::Absent:
    break;
  case OperandForm::PerChannel: {
    const ChannelRows rows = channelRows(op, model, index);
    return localTensor(type,
                       Extents{rows.phases(), rows.rowsOf(local.tile[kAxisC]).size, 1, rows.row},
                       address, Layout::Compact);
  }
  case OperandForm::Columns:
    return localTensor(type, Extents{size(kAxisN), size(kAxisW), 1, size(kAxisC)}, address);
  case OperandForm::EveryLane:
    return localTensor(type, Extents{1, kLanes, 1, size(kAxisW)}, address);
  case OperandForm::PixelRow:
    return localTensor(type, Extents{1, 1, 1, size(kAxisC) * size(kAxisW)}, address);
  case OperandForm::Transposed:
  case OperandForm::Tensor:
    return localTensor(
        type, Extents{size(kAxisN), size(kAxisC), size(kAxisD) * size(kAxisH), size(kAxisW)},
        address);
  }
  return localTensor(type, Extents{1, 1, 1, 1}, address);
}

uint32_t parameterAddress(Operation *op, const TileModel &model, unsigned index,
                          const LocalTile &local) {
  const auto address = static_cast<uint32_t>(local.address);
  if (operandForm(op, index) == OperandForm::PerChannel)
    return address +
           static_cast<uint32_t>(channelRows(op, model, index).wordsAt(local.tile[kAxisC].size));
  const LocalTensor matrix = localOperand(op, model, index, local);
  return address + static_cast<uint32_t>(alignUp(matrix.bytesPerLane(), kEuBytes));
}

LocalTensor localColumnWords(Operation *op, const TileModel &model, unsigned index,
                             const LocalTile &local) {
  return localTensor(DataType::I32, Extents{kColumnRows, kLanes, 1, local.tile[kAxisW].size},
                     parameterAddress(op, model, index, local));
}

int64_t localOperandBytes(Operation *op, const TileModel &model, unsigned index, const Tile &tile) {
  const LocalTile local{tile, 0};
  if (index == op->getNumOperands() || !carriesParameters(op, index))
    return localOperand(op, model, index, local).bytesPerLane();
  const int64_t words = parameterAddress(op, model, index, local);
  if (operandForm(op, index) == OperandForm::PerChannel)
    return words + ChannelRows::slotsOf(tile[kAxisC].size) * ChannelRows::kSlotBytes;
  return words + localColumnWords(op, model, index, local).bytesPerLane();
}

/// A matrix that lies transposed: n, w, c.
static GlobalTensor turnedSlice(DataType type, const OperandModel &model, const Tile &tile,
                                int64_t address) {
  const int64_t columns = model.extents[kAxisC];
  const int64_t matrix = model.extents[kAxisW] * columns;
  const int64_t offset =
      tile[kAxisN].begin * matrix + tile[kAxisW].begin * columns + tile[kAxisC].begin;
  GlobalTensor tensor =
      globalTensor(type, Extents{tile[kAxisN].size, tile[kAxisW].size, 1, tile[kAxisC].size},
                   static_cast<uint64_t>(address + byteSize(type, offset)));
  tensor.stride = Extents{matrix, columns, columns, 1};
  return tensor;
}

int64_t columnWordsAt(int64_t count) { return alignUp(count, int64_t{sizeof(int32_t)}); }

GlobalTensor columnWords(const OperandModel &matrix, Range columns, int64_t address) {
  const int64_t all = matrix.extents[kAxisW];
  const int64_t first = columnWordsAt(matrix.extents[kAxisC] * all) +
                        columns.begin * static_cast<int64_t>(sizeof(int32_t));
  GlobalTensor tensor = globalTensor(DataType::I32, Extents{kColumnRows, 1, 1, columns.size},
                                     static_cast<uint64_t>(address + first));
  tensor.stride = Extents{all, all, all, 1};
  return tensor;
}

GlobalTensor globalOperand(Operation *op, const TileModel &model, unsigned index, const Tile &tile,
                           int64_t address) {
  const DataType type = elementTypeOf(op, index);
  const bool isResult = index == op->getNumOperands();
  OperandModel tensor;
  if (isResult)
    tensor.extents = model.result;
  else
    tensor = model.operands[index];
  switch (operandForm(op, index)) {
  case OperandForm::PerChannel: {
    const ChannelRows rows = channelRows(op, model, index);
    return channelSlice(rows, rows.rowsOf(tile[kAxisC]), address);
  }
  case OperandForm::Columns:
  case OperandForm::Transposed:
    return turnedSlice(type, tensor, tile, address);
  case OperandForm::EveryLane:
    return globalTensor(type, Extents{1, 1, 1, tile[kAxisW].size},
                        static_cast<uint64_t>(address + byteSize(type, tile[kAxisW].begin)));
  case OperandForm::PixelRow:
    // Alone, a cast sees a row of columns.
    return globalTensor(
        type, Extents{1, 1, 1, tile[kAxisC].size * tile[kAxisW].size},
        static_cast<uint64_t>(address + byteSize(type, tile[kAxisC].begin + tile[kAxisW].begin)));
  case OperandForm::Absent:
  case OperandForm::Tensor:
    break;
  }
  // Rows of different d follow each other: d is whole, or one.
  const AxisExtents &extents = tensor.extents;
  const Extents stride =
      Extents{extents[kAxisC] * extents[kAxisD] * extents[kAxisH] * extents[kAxisW],
              extents[kAxisD] * extents[kAxisH] * extents[kAxisW], extents[kAxisW], 1};
  const int64_t offset = tile[kAxisN].begin * stride[0] + tile[kAxisC].begin * stride[1] +
                         (tile[kAxisD].begin * extents[kAxisH] + tile[kAxisH].begin) * stride[2] +
                         tile[kAxisW].begin;
  GlobalTensor result =
      globalTensor(type,
                   Extents{tile[kAxisN].size, tile[kAxisC].size,
                           tile[kAxisD].size * tile[kAxisH].size, tile[kAxisW].size},
                   static_cast<uint64_t>(address + byteSize(type, offset)));
  result.stride = stride;
  return result;
}

} // namespace tpuc::bm1684x::backend
