//===- Operands.cpp - How the operands of ops lie on the BM1684X ------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/Operands.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Support/Convert.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

/// The constant that an operand is, whatever stands between.
static top::WeightOp constantOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto weight = dyn_cast<top::WeightOp>(op))
      return weight;
    if (!isa<tpu::UnpackOp, tpu::LoadOp>(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

static Value valueAt(Operation *op, unsigned index) {
  return index < op->getNumOperands() ? op->getOperand(index) : op->getResult(0);
}

std::optional<double> scalarOperand(Operation *op, unsigned index) {
  const Value value = valueAt(op, index);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (index >= op->getNumOperands() || !type || !type.hasStaticShape() ||
      type.getNumElements() != 1)
    return std::nullopt;
  top::WeightOp weight = constantOf(value);
  if (!weight)
    return std::nullopt;
  Expected<std::vector<float>> values = weight.read_as_float();
  return values ? std::optional<double>(values->front()) : std::nullopt;
}

bool isConstantOperand(Operation *op, unsigned index) {
  return constantOf(op->getOperand(index)) != nullptr;
}

/// Whether a binary op takes a constant of one element as a number.
static bool takesNumbers(Operation *op) {
  return isa<tpu::AddOp, tpu::SubOp, tpu::MulOp, tpu::DivOp, tpu::MaxOp, tpu::MinOp, tpu::PReluOp>(
      op);
}

OperandForm operandForm(Operation *op, unsigned index) {
  if (isa<NoneType>(valueAt(op, index).getType()))
    return OperandForm::Absent;
  if (isa<tpu::ConvOp, tpu::DeconvOp>(op))
    return index == 1 || index == 2 ? OperandForm::PerChannel : OperandForm::Tensor;
  if (auto product = dyn_cast<tpu::MatMulOp>(op)) {
    if (index == 2)
      return OperandForm::EveryLane;
    // A constant F32 matrix is turned when it is packed.
    const bool isTurned = product.getRightTranspose() && elementTypeOf(op, 1) != DataType::F32;
    return index == 1 && isTurned ? OperandForm::Columns : OperandForm::Rows;
  }
  if (isa<tpu::LayerNormOp>(op) && (index == 1 || index == 2))
    return OperandForm::EveryLane;
  if (takesNumbers(op) && scalarOperand(op, index))
    return OperandForm::Absent;
  return OperandForm::Tensor;
}

DataType elementTypeOf(Operation *op, unsigned index) {
  return storageDataType(valueAt(op, index).getType()).value_or(DataType::F32);
}

/// How the rows of a filter or bias are put over lanes.
struct ChannelRows {
  int64_t channels = 1;
  /// Elements of one channel as they are kept.
  int64_t row = 1;
  /// A lane's rows stand together, channel after channel of that lane; else a channel's do.
  bool isByLane = true;

  int64_t lanes() const { return std::min<int64_t>(channels, kLanes); }
  int64_t slots() const { return static_cast<int64_t>(llvm::divideCeil(channels, kLanes)); }
};

/// Whether a convolution has one input channel for each output channel and no others.
static bool isDepthwise(Operation *op, const SliceModel &model) {
  const auto group = op->getAttrOfType<IntegerAttr>("group");
  return group && group.getInt() > 1 && group.getInt() == model.result[kAxisC] &&
         group.getInt() == model.operands[0].extents[kAxisC];
}

/// Input channels that stand together in a filter.
static int64_t channelBlock(DataType type) { return type == DataType::F32 ? 1 : 32; }

static ChannelRows channelRows(Operation *op, const SliceModel &model, unsigned index) {
  ChannelRows rows{.channels = model.result[kAxisC]};
  const DataType type = elementTypeOf(op, index);
  if (index == 1) {
    const auto window =
        cast<RankedTensorType>(op->getOperand(1).getType()).getShape().drop_front(2);
    int64_t taps = 1;
    for (int64_t extent : window)
      taps *= extent;
    const int64_t inputs = model.operands[1].extents[kAxisW] / taps;
    rows.row = isDepthwise(op, model)
                   ? taps
                   : taps * static_cast<int64_t>(llvm::alignTo(inputs, channelBlock(type)));
  }
  // Short rows cost as much as long ones: lanes with several channels put them together.
  rows.isByLane = rows.channels <= int64_t{kLanes} || rows.channels % int64_t{kLanes} == 0 ||
                  byteSize(type, rows.row) < 256;
  return rows;
}

static Extents extentsOf(int64_t n, int64_t c, int64_t h, int64_t w) { return {n, c, h, w}; }

/// The part `local.slice` of a tensor [n, c, d * h, w] that holds `local.held`.
static LocalTensor partOf(LocalTensor tensor, const LocalSlice &local) {
  constexpr unsigned kAxes[] = {kAxisN, kAxisC, kAxisH, kAxisW};
  for (auto [dim, axis] : llvm::enumerate(kAxes)) {
    const Range part = local.slice[axis];
    const Range held = (*local.held)[axis];
    if (part != held)
      tensor = tensor.slice(static_cast<unsigned>(dim), part.begin - held.begin, part.size);
  }
  return tensor;
}

LocalTensor localOperand(Operation *op, const SliceModel &model, unsigned index,
                         const LocalSlice &local) {
  if (local.held && *local.held != local.slice && operandForm(op, index) == OperandForm::Tensor)
    return partOf(localOperand(op, model, index, {*local.held, local.address}), local);
  const DataType type = elementTypeOf(op, index);
  const auto address = static_cast<uint32_t>(local.address);
  const auto size = [&](unsigned axis) { return local.slice[axis].size; };
  switch (operandForm(op, index)) {
  case OperandForm::Absent:
    break;
  case OperandForm::PerChannel: {
    const ChannelRows rows = channelRows(op, model, index);
    return localTensor(type, extentsOf(1, size(kAxisC), 1, rows.row), address, Layout::Compact);
  }
  case OperandForm::Rows:
    return localTensor(type, extentsOf(size(kAxisN), size(kAxisH), 1, size(kAxisC)), address);
  case OperandForm::Columns:
    return localTensor(type, extentsOf(size(kAxisN), size(kAxisC), 1, size(kAxisH)), address);
  case OperandForm::EveryLane:
    return localTensor(type, extentsOf(1, kLanes, 1, size(kAxisC) * size(kAxisW)), address);
  case OperandForm::Tensor:
    return localTensor(
        type, extentsOf(size(kAxisN), size(kAxisC), size(kAxisD) * size(kAxisH), size(kAxisW)),
        address);
  }
  return localTensor(type, extentsOf(1, 1, 1, 1), address);
}

/// A row-major tensor of which the axes stand in the order n, `second`, d * h (or none), `last`.
static GlobalTensor matrixSlice(DataType type, const OperandModel &model, const Slice &slice,
                                int64_t address, unsigned second, unsigned last) {
  const int64_t columns = model.extents[last];
  const int64_t matrix = model.extents[second] * columns;
  const int64_t offset =
      slice[kAxisN].begin * matrix + slice[second].begin * columns + slice[last].begin;
  GlobalTensor tensor =
      globalTensor(type, extentsOf(slice[kAxisN].size, slice[second].size, 1, slice[last].size),
                   static_cast<uint64_t>(address + byteSize(type, offset)));
  tensor.stride = extentsOf(matrix, columns, columns, 1);
  return tensor;
}

static GlobalTensor channelSlice(DataType type, const ChannelRows &rows, Range channels,
                                 int64_t address) {
  const int64_t firstSlot = channels.begin / int64_t{kLanes};
  if (!rows.isByLane) {
    return globalTensor(type, extentsOf(1, channels.size, 1, rows.row),
                        static_cast<uint64_t>(address + byteSize(type, channels.begin * rows.row)));
  }
  const int64_t lanes = std::min<int64_t>(channels.size, kLanes);
  const auto slots = static_cast<int64_t>(llvm::divideCeil(channels.size, int64_t{kLanes}));
  GlobalTensor tensor =
      globalTensor(type, extentsOf(1, lanes, 1, slots * rows.row),
                   static_cast<uint64_t>(address + byteSize(type, firstSlot * rows.row)));
  const int64_t lane = rows.slots() * rows.row;
  tensor.stride = extentsOf(rows.lanes() * lane, lane, lane, 1);
  return tensor;
}

GlobalTensor globalOperand(Operation *op, const SliceModel &model, unsigned index,
                           const Slice &slice, int64_t address) {
  const DataType type = elementTypeOf(op, index);
  const bool isResult = index == op->getNumOperands();
  OperandModel tensor;
  if (isResult)
    tensor.extents = model.result;
  else
    tensor = model.operands[index];
  switch (operandForm(op, index)) {
  case OperandForm::PerChannel:
    return channelSlice(type, channelRows(op, model, index), slice[kAxisC], address);
  case OperandForm::Rows:
    return matrixSlice(type, tensor, slice, address, kAxisH, kAxisC);
  case OperandForm::Columns:
    return matrixSlice(type, tensor, slice, address, kAxisC, kAxisH);
  case OperandForm::EveryLane:
    return globalTensor(type, extentsOf(1, 1, 1, slice[kAxisC].size * slice[kAxisW].size),
                        static_cast<uint64_t>(address + byteSize(type, slice[kAxisC].begin)));
  case OperandForm::Absent:
  case OperandForm::Tensor:
    break;
  }
  // Rows of different d follow each other: d is whole, or one.
  const AxisExtents &extents = tensor.extents;
  const Extents stride =
      extentsOf(extents[kAxisC] * extents[kAxisD] * extents[kAxisH] * extents[kAxisW],
                extents[kAxisD] * extents[kAxisH] * extents[kAxisW], extents[kAxisW], 1);
  const int64_t offset = slice[kAxisN].begin * stride[0] + slice[kAxisC].begin * stride[1] +
                         (slice[kAxisD].begin * extents[kAxisH] + slice[kAxisH].begin) * stride[2] +
                         slice[kAxisW].begin;
  GlobalTensor result =
      globalTensor(type,
                   extentsOf(slice[kAxisN].size, slice[kAxisC].size,
                             slice[kAxisD].size * slice[kAxisH].size, slice[kAxisW].size),
                   static_cast<uint64_t>(address + byteSize(type, offset)));
  result.stride = stride;
  return result;
}

//===--- Constants --------------------------------------------------------===//

/// The layout of a filter: `dims` in the order [output channels, input channels, taps...], or with
/// the first two exchanged (`isSwapped`).
static PackedLayout filterLayout(const ChannelRows &rows, ArrayRef<int64_t> dims, bool isSwapped,
                                 bool isWhole, int64_t block) {
  const int64_t inputs = isWhole ? 1 : dims[isSwapped ? 0 : 1];
  const int64_t blocks = static_cast<int64_t>(llvm::divideCeil(inputs, block));
  const int64_t width = isWhole ? 1 : block;
  // The packed order: (lane, slot) or channel, block, taps, input channel within the block.
  PackedLayout layout;
  layout.blocks = rows.isByLane ? SmallVector<int64_t>{rows.lanes(), rows.slots()}
                                : SmallVector<int64_t>{rows.channels};
  const int64_t channels = rows.isByLane ? rows.lanes() * rows.slots() : rows.channels;
  const auto channelDims = static_cast<int64_t>(layout.blocks.size());
  layout.blocks.push_back(blocks);
  const ArrayRef<int64_t> taps = dims.drop_front(2);
  layout.blocks.append(taps.begin(), taps.end());
  layout.blocks.push_back(width);
  const auto numTaps = static_cast<int64_t>(taps.size());
  const SmallVector<int64_t> channelOrder =
      rows.isByLane ? SmallVector<int64_t>{1, 0} : SmallVector<int64_t>{0};
  const SmallVector<int64_t> inputOrder = {channelDims, channelDims + 1 + numTaps};
  layout.order = isSwapped ? inputOrder : channelOrder;
  llvm::append_range(layout.order, isSwapped ? channelOrder : inputOrder);
  for (int64_t tap = 0; tap < numTaps; ++tap)
    layout.order.push_back(channelDims + 1 + tap);
  layout.padded = {channels, blocks * width};
  if (isSwapped)
    std::swap(layout.padded[0], layout.padded[1]);
  layout.padded.append(taps.begin(), taps.end());
  layout.shape = {layout.blocks[0], channels / layout.blocks[0] * rows.row};
  return layout;
}

/// One number for each channel.
static PackedLayout biasLayout(const ChannelRows &rows) {
  return {.shape = {rows.lanes(), rows.slots()},
          .blocks = {rows.lanes(), rows.slots()},
          .order = {1, 0},
          .padded = {rows.lanes() * rows.slots()}};
}

static std::optional<PackedLayout> convolutionLayout(OpOperand &operand, const SliceModel &model) {
  Operation *op = operand.getOwner();
  const unsigned index = operand.getOperandNumber();
  if (index == 0)
    return std::nullopt;
  const ChannelRows rows = channelRows(op, model, index);
  const bool isByOne = isDepthwise(op, model);
  PackedLayout layout;
  if (index == 2) {
    layout = biasLayout(rows);
    // The command takes the bias in the type of the input.
    if (isByOne)
      layout.type = elementTypeOf(op, 0);
    return layout;
  }
  return filterLayout(rows, cast<RankedTensorType>(operand.get().getType()).getShape(),
                      isa<tpu::DeconvOp>(op) && !isByOne, isByOne,
                      channelBlock(elementTypeOf(op, 1)));
}

std::optional<int64_t> poolAlignment(OpOperand &operand) {
  Operation *op = operand.getOwner();
  const unsigned index = operand.getOperandNumber();
  if (operandForm(op, index) != OperandForm::PerChannel || !isConstantOperand(op, index))
    return std::nullopt;
  Expected<SliceModel> model = sliceModel(op);
  if (!model || !channelRows(op, *model, index).isByLane)
    return std::nullopt;
  // Filters in blocks of input channels begin at whole lines of a lane.
  return index == 1 && !isDepthwise(op, *model) ? int64_t{kEuBytes} : int64_t{4};
}

std::optional<PackedLayout> packedLayout(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (!constantOf(operand.get()))
    return std::nullopt;
  if (auto product = dyn_cast<tpu::MatMulOp>(op)) {
    if (operand.getOperandNumber() != 1 || !product.getRightTranspose() ||
        elementTypeOf(op, 1) != DataType::F32)
      return std::nullopt;
    const auto dims = cast<RankedTensorType>(operand.get().getType()).getShape();
    if (dims.size() != 2)
      return std::nullopt;
    return PackedLayout{.shape = {dims[1], dims[0]},
                        .blocks = {dims[1], dims[0]},
                        .order = {1, 0},
                        .padded = {dims[0], dims[1]}};
  }
  if (!isa<tpu::ConvOp, tpu::DeconvOp>(op))
    return std::nullopt;
  Expected<SliceModel> model = sliceModel(op);
  if (!model)
    return std::nullopt;
  return convolutionLayout(operand, *model);
}

} // namespace tpuc::bm1684x::backend
