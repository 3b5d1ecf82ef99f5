//===- TensorLayout.cpp - How a tensor lies in both memories --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Codegen/TensorLayout.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Target/BM1684/Kernels/Integers.h"
#include "tpuc/Target/BM1684/Kernels/PackedImages.h"
#include "tpuc/Target/BM168x/Codegen/Constants.h"
#include "tpuc/Target/BM168x/Codegen/RecurrentOps.h"

#include <cmath>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684::backend {

using bm168x::backend::isConstantOperand;
using bm168x::backend::scalarOperand;

static Value valueAt(mlir::Operation *op, unsigned index) {
  return index < op->getNumOperands() ? op->getOperand(index) : givenResult(op);
}

bool isOnIntegers(mlir::Operation *op) {
  const auto isStored = [](Value value) { return tpu::isQuantized(value); };
  return llvm::any_of(op->getOperands(), isStored) || llvm::any_of(op->getResults(), isStored);
}

bool isIntegerBias(mlir::Operation *op, unsigned index) {
  return index == 2 && isa<tpu::ConvOp, tpu::DeconvOp, tpu::MatMulOp>(op) && isOnIntegers(op);
}

DataType elementTypeOf(mlir::Operation *op, unsigned index) {
  if (isIntegerBias(op, index))
    return DataType::I16;
  const DataType type = storageDataType(valueAt(op, index).getType()).value_or(DataType::F32);
  // Truth values are bytes of 0 and 1.
  return type == DataType::Bool ? DataType::U8 : type;
}

/// Whether an op takes a constant operand of one element as a number: one that is exact.
static bool takesNumber(mlir::Operation *op, unsigned index) {
  if (isa<tpu::CompareOp>(op) || (isa<tpu::WhereOp>(op) && index > 0)) {
    constexpr double kMostExact = 1 << 24;
    return isFloat(elementTypeOf(op, index)) ||
           std::abs(scalarOperand(op, index).value_or(0)) <= kMostExact;
  }
  return isa<tpu::AddOp, tpu::SubOp, tpu::MulOp, tpu::DivOp, tpu::MaxOp, tpu::MinOp, tpu::PReluOp>(
      op);
}

/// Whether a product of stored integers is one of rows (IntegerRowProduct).
static bool isRowProduct(tpu::MatMulOp op) {
  const auto dimsOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  const auto output = dimsOf(op.getOutput()), right = dimsOf(op.getRight());
  const bool isShared = right.size() == 2;
  if (output.size() < 2 || op.getLeftTranspose() ||
      (op.getRightTranspose() && !(isShared && isConstantOperand(op, 1))))
    return false;
  const int64_t columns = output.back();
  if (!isa<NoneType>(op.getBias().getType()) &&
      (!isConstantOperand(op, 2) || ShapedType::getNumElements(dimsOf(op.getBias())) != columns))
    return false;
  const int64_t rows =
      isShared ? ShapedType::getNumElements(output.drop_back()) : output[output.size() - 2];
  return takesRowProduct(rows, dimsOf(op.getInput()).back(), columns);
}

static OperandForm matrixForm(tpu::MatMulOp op, unsigned index) {
  if (isOnIntegers(op)) {
    if (!isRowProduct(op))
      return OperandForm::Pieces;
    return index == 2 ? OperandForm::BiasParts : OperandForm::Rows;
  }
  if (index == 2)
    return OperandForm::FirstLane;
  if (index == 0)
    return op.getLeftTranspose() ? OperandForm::Transposed : OperandForm::Tensor;
  // A constant for all of the batch is turned when it is packed.
  const bool isPacked =
      isConstantOperand(op, 1) && cast<RankedTensorType>(op.getRight().getType()).getRank() == 2;
  return index == 1 && op.getRightTranspose() && !isPacked ? OperandForm::Turned
                                                           : OperandForm::Tensor;
}

OperandForm operandForm(mlir::Operation *op, unsigned index) {
  if (isa<NoneType>(valueAt(op, index).getType()))
    return OperandForm::Absent;
  const bool isResult = index == op->getNumOperands();
  if (isa<tpu::ConvOp, tpu::DeconvOp>(op))
    return index == 1 || index == 2 ? OperandForm::PerChannel : OperandForm::Tensor;
  if (bm168x::backend::isRecurrent(op))
    return bm168x::backend::recurrentForm<OperandForm>(op, index);
  if (auto product = dyn_cast<tpu::MatMulOp>(op); product && (!isResult || isOnIntegers(op)))
    return matrixForm(product, index);
  if (index == 1 && isa<tpu::LutOp>(op) && !isResult)
    return OperandForm::Table;
  if (index == 1 && isa<tpu::ReduceOp>(op) && !isResult)
    return OperandForm::Absent;
  if ((index == 0 || (isResult && !isa<tpu::ReduceOp>(op))) && worksInTheMiddle(op))
    return OperandForm::Transposed;
  if (isa<tpu::LayerNormOp, tpu::PixelNormOp, tpu::RMSNormOp>(op) && index > 0 && !isResult)
    return OperandForm::FirstLane;
  if (!isResult && takesNumber(op, index) && scalarOperand(op, index))
    return OperandForm::Absent;
  return OperandForm::Tensor;
}

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
  case OperandForm::PerChannel: {
    constexpr int64_t kWord = 4;
    const int64_t words = ceilDiv(rows.laneBytes(type, size(kAxisC)), kWord);
    return localTensor(DataType::I32, {1, std::min<int64_t>(size(kAxisC), kLanes), 1, words},
                       address, Layout::Compact);
  }
  case OperandForm::Pieces: {
    const int64_t bytes = size(kAxisN) * int64_t{matrixBytes(type, size(kAxisC), size(kAxisW))};
    return localTensor(DataType::I32, {1, kLanes, 1, bytes / 4}, address);
  }
  case OperandForm::Rows:
    return localTensor(DataType::I32, {size(kAxisN), size(kAxisC), 1, size(kAxisW) / kItemsOfWord},
                       address);
  case OperandForm::BiasParts:
    return localTensor(DataType::I32, {1, kBiasParts, 1, size(kAxisW) / kItemsOfWord}, address,
                       Layout::Aligned, startLane);
  case OperandForm::Table:
    return localTensor(DataType::I32, {1, 1, 1, 256}, address);
  case OperandForm::Turned:
    return localTensor(type, {size(kAxisN), size(kAxisW), 1, size(kAxisC)}, address);
  case OperandForm::FirstLane:
    return localTensor(type, {size(kAxisN), 1, 1, size(kAxisW)}, address);
  case OperandForm::Repeated:
    return localTensor(type,
                       {repeatsItems ? kItemsOfWord : size(kAxisN),
                        repeatsChannels ? int64_t{kLanes} : size(kAxisC),
                        size(kAxisD) * size(kAxisH), size(kAxisW)},
                       address);
  case OperandForm::Transposed:
  case OperandForm::Tensor:
    return localTensor(
        type, {size(kAxisN), size(kAxisC), size(kAxisD) * size(kAxisH), size(kAxisW)}, address);
  }
  return localTensor(type, {1, 1, 1, 1}, address);
}

bool TensorLayout::isPacked(const Tile &tile) const {
  return form == OperandForm::Tensor && byteSize(type, kItemsOfWord) == 4 &&
         isPackedFaster(local({tile, 0}).shape, isResult);
}

int64_t TensorLayout::roomBytes(const Tile &tile) const {
  return isPacked(tile) ? PackedImages{local({tile, 0}), 0}.laneBytes() : 0;
}

static GlobalTensor rowsAt(const TensorLayout &layout, Range channels, int64_t address) {
  const ChannelRows &rows = layout.rows;
  const auto at = [&](int64_t words) {
    return static_cast<uint64_t>(address + byteSize(layout.type, words));
  };
  if (!rows.isByLane)
    return globalTensor(layout.type, {1, channels.size, 1, rows.row},
                        at(channels.begin * rows.row));
  GlobalTensor tensor = globalTensor(layout.type,
                                     {1, std::min<int64_t>(channels.size, kLanes), 1,
                                      ChannelRows::slotsOf(channels.size) * rows.row},
                                     at(channels.begin / int64_t{kLanes} * rows.row));
  const int64_t lane = rows.slots() * rows.row;
  tensor.stride = {rows.lanes() * lane, lane, lane, 1};
  return tensor;
}

GlobalTensor TensorLayout::global(const Tile &tile, int64_t address) const {
  const auto placed = [&](const Extents &shape, const Extents &stride, int64_t offset) {
    GlobalTensor tensor =
        globalTensor(type, shape, static_cast<uint64_t>(address + byteSize(type, offset)));
    tensor.stride = stride;
    return tensor;
  };
  const auto size = [&](unsigned axis) { return tile[axis].size; };
  const auto begin = [&](unsigned axis) { return tile[axis].begin; };
  switch (form) {
  case OperandForm::PerChannel:
    return rowsAt(*this, tile[kAxisC], address);
  case OperandForm::Transposed: {
    // n, w, c.
    const int64_t columns = extents[kAxisC], matrix = extents[kAxisW] * columns;
    return placed({size(kAxisN), size(kAxisW), 1, size(kAxisC)}, {matrix, columns, columns, 1},
                  begin(kAxisN) * matrix + begin(kAxisW) * columns + begin(kAxisC));
  }
  case OperandForm::Rows: {
    const int64_t row = extents[kAxisW] / kItemsOfWord, matrix = extents[kAxisC] * row;
    GlobalTensor words =
        placed({size(kAxisN), size(kAxisC), 1, size(kAxisW) / kItemsOfWord}, {matrix, row, row, 1},
               (begin(kAxisN) * extents[kAxisC] + begin(kAxisC)) * extents[kAxisW] + begin(kAxisW));
    words.type = DataType::I32;
    return words;
  }
  case OperandForm::BiasParts: {
    // They stand behind the bias itself.
    const int64_t columns = extents[kAxisW], row = columns / kItemsOfWord;
    GlobalTensor words = placed({1, kBiasParts, 1, size(kAxisW) / kItemsOfWord},
                                {kBiasParts * row, row, row, 1}, columns);
    words.type = DataType::I32;
    words.address += static_cast<uint64_t>(begin(kAxisW));
    return words;
  }
  case OperandForm::FirstLane: {
    const int64_t row = extents[kAxisW];
    return placed({size(kAxisN), 1, 1, size(kAxisW)}, {row, row, row, 1},
                  begin(kAxisN) * row + begin(kAxisW));
  }
  default:
    break;
  }
  // Rows of different d follow each other: d is whole, or one.
  const Extents stride = {extents[kAxisC] * extents[kAxisD] * extents[kAxisH] * extents[kAxisW],
                          extents[kAxisD] * extents[kAxisH] * extents[kAxisW], extents[kAxisW], 1};
  return placed({size(kAxisN), size(kAxisC), size(kAxisD) * size(kAxisH), size(kAxisW)}, stride,
                begin(kAxisN) * stride[0] + begin(kAxisC) * stride[1] +
                    (begin(kAxisD) * extents[kAxisH] + begin(kAxisH)) * stride[2] + begin(kAxisW));
}

} // namespace tpuc::bm1684::backend
