//===- BM1684Layout.cpp - Layouts of an op's tensors ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Codegen/BM1684Layout.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Target/BM1684/Kernels/Integers.h"
#include "tpuc/Target/BM1684/TargetInfo.h"
#include "tpuc/Target/BM168x/Codegen/Constants.h"
#include "tpuc/Target/BM168x/Codegen/RecurrentOps.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684::backend {

using bm168x::backend::constantOf;
using bm168x::backend::isConstantOperand;
using bm168x::backend::isRecurrent;
using bm168x::backend::kRecurrentBias;
using bm168x::backend::scalarOperand;

static ArrayRef<int64_t> dimsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

bool isDepthwise(mlir::Operation *op, const TileModel &model) {
  const int64_t group = op->getAttrOfType<IntegerAttr>("group").getInt();
  return group > 1 && group == model.result[kAxisC] && group == model.operands[0].extents[kAxisC];
}

/// Input channels of each group.
static int64_t inputsOf(mlir::Operation *op) {
  return dimsOf(op->getOperand(1))[isa<tpu::DeconvOp>(op) ? 0 : 1];
}

static ChannelRows channelRows(mlir::Operation *op, const TileModel &model, unsigned index) {
  ChannelRows rows{.channels = model.result[kAxisC]};
  if (isRecurrent(op)) {
    const AxisExtents &extents = model.operands[index].extents;
    rows.channels = extents[kAxisC];
    rows.row = index == kRecurrentBias ? 1 : filterRow(extents[kAxisW], 1);
  } else if (index == 1) {
    const int64_t taps = ShapedType::getNumElements(dimsOf(op->getOperand(1)).drop_front(2));
    const int64_t row =
        isOnIntegers(op) ? byteFilterRow(inputsOf(op), taps) : filterRow(inputsOf(op), taps);
    rows.row = isDepthwise(op, model) ? taps : row;
  }
  // Long rows of some channels need no rows that fill up the lanes.
  constexpr int64_t kLongRow = 64;
  rows.isByLane = rows.channels <= int64_t{kLanes} || rows.channels % int64_t{kLanes} == 0 ||
                  rows.row < kLongRow;
  return rows;
}

/// Whether an operand of rows of channels begins at whole lines of a lane.
static bool startsAtLines(mlir::Operation *op, const TileModel &model, unsigned index) {
  return isRecurrent(op) ? index != kRecurrentBias : index == 1 && !isDepthwise(op, model);
}

static TensorLayout tensorLayoutOf(mlir::Operation *op, const TileModel &model, unsigned index) {
  TensorLayout tensor;
  tensor.form = operandForm(op, index);
  tensor.type = elementTypeOf(op, index);
  tensor.extents = index == op->getNumOperands() ? model.result : model.operands[index].extents;
  tensor.isLoaded = tensor.form != OperandForm::Absent;
  if (!tensor.isLoaded) {
    tensor.number = scalarOperand(op, index);
    return tensor;
  }
  if (tensor.form == OperandForm::Tensor && index < op->getNumOperands() && isOnIntegers(op) &&
      isa<tpu::AddOp, tpu::SubOp, tpu::MulOp, tpu::MaxOp, tpu::MinOp>(op)) {
    const auto repeats = [&](unsigned axis) {
      return tensor.extents[axis] == 1 && model.result[axis] > 1;
    };
    tensor.repeatsItems = repeats(kAxisN);
    tensor.repeatsChannels = repeats(kAxisC);
    if (tensor.repeatsItems || tensor.repeatsChannels)
      tensor.form = OperandForm::Repeated;
  }
  tensor.isAligned = tensor.form != OperandForm::PerChannel;
  if (tensor.form == OperandForm::Table)
    return tensor;
  if (tensor.isAligned) {
    // What is repeated lies as nothing else does.
    if (tensor.form == OperandForm::BiasParts)
      tensor.startLane = static_cast<uint32_t>(model.operands[1].extents[kAxisC] % kLanes);
    else if (tensor.form != OperandForm::Repeated)
      tensor.likeness = static_cast<uint8_t>(tensor.form);
    return tensor;
  }
  tensor.rows = channelRows(op, model, index);
  if (tensor.rows.isByLane && !isOnIntegers(op) && isConstantOperand(op, index))
    tensor.residentAlignment = startsAtLines(op, model, index) ? int64_t{kEuBytes} : int64_t{4};
  return tensor;
}

BM1684Layout::BM1684Layout(mlir::Operation *op, const TileModel &model) {
  for (unsigned index = 0; index <= op->getNumOperands(); ++index)
    tensors.push_back(tensorLayoutOf(op, model, index));
  tensors.back().isResult = true;
}

/// Appends an extent to the packed order and returns its place there.
static int64_t append(PackedLayout &layout, int64_t extent) {
  layout.blocks.push_back(extent);
  return static_cast<int64_t>(layout.blocks.size()) - 1;
}

/// The layout of a filter [output channels, input channels, taps...], or with the first two
/// exchanged: lane, slot (or channel), taps, input channels rounded up to whole units.
static PackedLayout filterLayout(const ChannelRows &rows, ArrayRef<int64_t> dims, bool isSwapped,
                                 int64_t unit) {
  PackedLayout layout;
  SmallVector<int64_t> channels, inputs, taps;
  if (rows.isByLane) {
    const int64_t lane = append(layout, rows.lanes());
    channels = {append(layout, rows.slots()), lane};
  } else {
    channels = {append(layout, rows.channels)};
  }
  for (int64_t extent : dims.drop_front(2))
    taps.push_back(append(layout, extent));
  const int64_t own = dims[isSwapped ? 0 : 1];
  inputs = {append(layout, alignUp(own, unit))};
  const int64_t numChannels = rows.isByLane ? rows.lanes() * rows.slots() : rows.channels;
  layout.padded = {numChannels, layout.blocks.back()};
  layout.order = isSwapped ? inputs : channels;
  llvm::append_range(layout.order, isSwapped ? channels : inputs);
  llvm::append_range(layout.order, taps);
  if (isSwapped)
    std::swap(layout.padded[0], layout.padded[1]);
  llvm::append_range(layout.padded, dims.drop_front(2));
  layout.shape = rows.isByLane ? SmallVector<int64_t>{rows.lanes(), rows.slots() * rows.row}
                               : SmallVector<int64_t>{rows.channels, rows.row};
  return layout;
}

/// One number for each channel.
static PackedLayout biasLayout(const ChannelRows &rows) {
  return {.shape = {rows.lanes(), rows.slots()},
          .blocks = {rows.lanes(), rows.slots()},
          .order = {1, 0},
          .padded = {rows.lanes() * rows.slots()}};
}

/// Filters and biases of one direction, [1, ...].
static PackedLayout recurrentLayout(const ChannelRows &rows, ArrayRef<int64_t> dims,
                                    unsigned index) {
  PackedLayout layout = index == kRecurrentBias
                            ? biasLayout(rows)
                            : filterLayout(rows, dims.drop_front(), /*isSwapped=*/false, 2);
  layout.padded.insert(layout.padded.begin(), 1);
  return layout;
}

/// A bias with its parts behind it, each a row of bytes.
static std::optional<PackedLayout> biasPartsLayout(Value value) {
  const Expected<tpuc::Tensor> read = constantOf(value).read();
  if (!read)
    return std::nullopt;
  const tpuc::Tensor wide = convert(*read, DataType::I64);
  const auto numbers = wide.data<int64_t>();
  const auto columns = static_cast<int64_t>(numbers.size());
  PackedLayout::Bytes parts{byteSize(DataType::I16, columns),
                            std::vector<uint8_t>(static_cast<size_t>(kBiasParts * columns))};
  for (auto [column, number] : llvm::enumerate(numbers))
    for (auto [part, byte] : llvm::enumerate(biasParts(number)))
      parts.bytes[part * numbers.size() + column] = static_cast<uint8_t>(byte);
  const int64_t all = columns + kBiasParts * columns / byteSize(DataType::I16, 1);
  SmallVector<int64_t> padded(dimsOf(value));
  padded.back() = all;
  return PackedLayout{.shape = padded,
                      .blocks = padded,
                      .order = llvm::to_vector(llvm::seq(static_cast<int64_t>(padded.size()))),
                      .padded = padded,
                      .type = DataType::I16,
                      .parameters = {std::move(parts)}};
}

std::optional<PackedLayout> packedLayoutOf(OpOperand &operand) {
  mlir::Operation *op = operand.getOwner();
  const unsigned index = operand.getOperandNumber();
  if (!(isa<tpu::ConvOp, tpu::DeconvOp, tpu::MatMulOp>(op) || isRecurrent(op)) ||
      !constantOf(operand.get()))
    return std::nullopt;
  const auto dims = dimsOf(operand.get());
  if (auto product = dyn_cast<tpu::MatMulOp>(op)) {
    if (isIntegerBias(op, index) && operandForm(op, index) == OperandForm::BiasParts)
      return biasPartsLayout(operand.get());
    if (isIntegerBias(op, index))
      return PackedLayout{.shape = SmallVector<int64_t>(dims),
                          .blocks = SmallVector<int64_t>(dims),
                          .order = llvm::to_vector(llvm::seq(static_cast<int64_t>(dims.size()))),
                          .padded = SmallVector<int64_t>(dims),
                          .type = DataType::I16};
    if (index != 1 || dims.size() != 2 || !product.getRightTranspose())
      return std::nullopt;
    return PackedLayout{.shape = {dims[1], dims[0]},
                        .blocks = {dims[1], dims[0]},
                        .order = {1, 0},
                        .padded = {dims[0], dims[1]}};
  }
  const Expected<TileModel> model = tileModel(op, chipInfo());
  // What cannot be computed needs no layout.
  if (!model || operandForm(op, index) != OperandForm::PerChannel)
    return std::nullopt;
  const ChannelRows rows = channelRows(op, *model, index);
  if (isRecurrent(op))
    return recurrentLayout(rows, dims, index);
  if (index == 2) {
    PackedLayout bias = biasLayout(rows);
    if (isIntegerBias(op, index))
      bias.type = DataType::I16;
    return bias;
  }
  const int64_t unit = isDepthwise(op, *model) ? 1 : isOnIntegers(op) ? 4 : 2;
  return filterLayout(rows, dims, isa<tpu::DeconvOp>(op), unit);
}

} // namespace tpuc::bm1684::backend
