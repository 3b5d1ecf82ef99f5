//===- TensorLayout.cpp - How a tensor lies in both memories --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/TensorLayout.h"
#include "tpuc/Target/BM1684X/Kernels/Quantized.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

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

LocalTensor TensorLayout::local(const LocalTile &local) const {
  if (local.held && *local.held != local.tile && form == OperandForm::Tensor)
    return partOf(this->local({*local.held, local.address}), local);
  const auto address = static_cast<uint32_t>(local.address);
  const auto size = [&](unsigned axis) { return local.tile[axis].size; };
  switch (form) {
  case OperandForm::Absent:
    break;
  case OperandForm::PerChannel:
    return localTensor(type,
                       Extents{rows.phases(), rows.rowsOf(local.tile[kAxisC]).size, 1, rows.row},
                       address, Layout::Compact);
  case OperandForm::Columns:
    return localTensor(type, Extents{size(kAxisN), size(kAxisW), 1, size(kAxisC)}, address);
  case OperandForm::EveryLane:
    return localTensor(type, Extents{size(kAxisN), kLanes, 1, size(kAxisW)}, address);
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

int64_t TensorLayout::bytes(const Tile &tile) const {
  const LocalTile local{tile, 0};
  switch (parameters) {
  case Carried::Nothing:
    break;
  case Carried::ChannelWords:
    return parameterAddress(local) +
           ChannelRows::slotsOf(tile[kAxisC].size) * ChannelRows::kSlotBytes;
  case Carried::ColumnWords:
    return parameterAddress(local) + localColumnWords(local).bytesPerLane();
  }
  return this->local(local).bytesPerLane();
}

uint32_t TensorLayout::parameterAddress(const LocalTile &local) const {
  const auto address = static_cast<uint32_t>(local.address);
  if (form == OperandForm::PerChannel)
    return address + static_cast<uint32_t>(rows.wordsAt(local.tile[kAxisC].size));
  return address + static_cast<uint32_t>(alignUp(this->local(local).bytesPerLane(), kEuBytes));
}

LocalTensor TensorLayout::localColumnWords(const LocalTile &local) const {
  return localTensor(DataType::I32, Extents{kColumnRows, kLanes, 1, local.tile[kAxisW].size},
                     parameterAddress(local));
}

int64_t TensorLayout::columnWordsBegin() const {
  return alignUp(extents[kAxisC] * extents[kAxisW], int64_t{sizeof(int32_t)});
}

GlobalTensor TensorLayout::columnWords(Range columns, int64_t address) const {
  const int64_t all = extents[kAxisW];
  const int64_t first = columnWordsBegin() + columns.begin * static_cast<int64_t>(sizeof(int32_t));
  GlobalTensor tensor = globalTensor(DataType::I32, Extents{kColumnRows, 1, 1, columns.size},
                                     static_cast<uint64_t>(address + first));
  tensor.stride = Extents{all, all, all, 1};
  return tensor;
}

LocalTensor TensorLayout::localByLane(const LocalTile &local) const {
  const LocalTensor matrix = this->local(local);
  LocalTensor lanes = matrix;
  const int64_t slot = matrix.strides()[1];
  lanes.shape = {1, kLanes, matrix.shape[1] / int64_t{kLanes}, matrix.shape[3]};
  lanes.layout = Layout::Explicit;
  lanes.explicitStride = {lanes.shape[2] * slot, lanes.shape[2] * slot, slot, 1};
  return lanes;
}

GlobalTensor TensorLayout::globalByLane(const Tile &tile, int64_t address) const {
  const int64_t row = extents[kAxisW];
  const int64_t slots = extents[kAxisC] / int64_t{kLanes};
  GlobalTensor lanes =
      globalTensor(type, Extents{1, kLanes, slots, tile[kAxisW].size},
                   static_cast<uint64_t>(address + byteSize(type, tile[kAxisW].begin)));
  lanes.stride = {int64_t{kLanes} * slots * row, slots * row, row, 1};
  return lanes;
}

/// A matrix that lies transposed: n, w, c.
static GlobalTensor turnedSlice(const TensorLayout &layout, const Tile &tile, int64_t address) {
  const int64_t columns = layout.extents[kAxisC];
  const int64_t matrix = layout.extents[kAxisW] * columns;
  const int64_t offset =
      tile[kAxisN].begin * matrix + tile[kAxisW].begin * columns + tile[kAxisC].begin;
  GlobalTensor tensor =
      globalTensor(layout.type, Extents{tile[kAxisN].size, tile[kAxisW].size, 1, tile[kAxisC].size},
                   static_cast<uint64_t>(address + byteSize(layout.type, offset)));
  tensor.stride = Extents{matrix, columns, columns, 1};
  return tensor;
}

GlobalTensor TensorLayout::global(const Tile &tile, int64_t address) const {
  switch (form) {
  case OperandForm::PerChannel:
    return channelSlice(rows, rows.rowsOf(tile[kAxisC]), address);
  case OperandForm::Columns:
  case OperandForm::Transposed:
    return turnedSlice(*this, tile, address);
  case OperandForm::EveryLane: {
    const int64_t row = extents[kAxisW];
    const int64_t first = tile[kAxisN].begin * row + tile[kAxisW].begin;
    GlobalTensor tensor = globalTensor(type, Extents{tile[kAxisN].size, 1, 1, tile[kAxisW].size},
                                       static_cast<uint64_t>(address + byteSize(type, first)));
    tensor.stride = Extents{row, row, row, 1};
    return tensor;
  }
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
