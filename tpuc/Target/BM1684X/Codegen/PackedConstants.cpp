//===- PackedConstants.cpp - Constants as kernels read them ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/PackedConstants.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Target/BM1684X/Codegen/BM1684XLayout.h"
#include "tpuc/Target/BM1684X/Codegen/Constants.h"
#include "tpuc/Target/BM1684X/Codegen/Parameters.h"
#include "tpuc/Target/BM1684X/Kernels/Convolution.h"
#include "tpuc/Target/BM1684X/TargetInfo.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

/// The layout of a filter [output channels, input channels, h, w] that stands in parts: round of
/// lanes, part of the blocks, part of the taps, lane, and what a part holds.
static PackedLayout partsLayout(const ChannelRows &rows, ArrayRef<int64_t> dims, int64_t block) {
  const auto [blockParts, tapParts] = rows.parts;
  const int64_t blocks = ceilDiv(dims[1], block);
  const int64_t rounds = rows.phaseRows() / rows.lanes();
  return {.shape = {rows.phaseRows(), rows.row},
          .blocks = {rounds, blockParts, tapParts, rows.lanes(), blocks / blockParts,
                     dims[2] / tapParts, dims[3], block},
          .order = {0, 3, 1, 4, 7, 2, 5, 6},
          .padded = {rows.phaseRows(), blocks * block, dims[2], dims[3]}};
}

/// The layout of a filter [input channels, 1, h, w] whose taps take the place of channels.
static PackedLayout tapsLayout(const ChannelRows &rows, ArrayRef<int64_t> dims, int64_t block) {
  const int64_t blocks = ceilDiv(dims[0], block);
  return {.shape = {rows.lanes(), rows.laneRows() * rows.row},
          .blocks = {dims[2], dims[3], rows.laneRows(), blocks, block},
          .order = {3, 4, 2, 0, 1},
          .padded = {blocks * block, rows.laneRows(), dims[2], dims[3]}};
}

/// The layout of a filter: `dims` in the order [output channels, input channels, taps...], or with
/// the first two exchanged (`isSwapped`).
static PackedLayout filterLayout(const ChannelRows &rows, ArrayRef<int64_t> dims, bool isSwapped,
                                 bool isWhole, int64_t block) {
  const int64_t inputs = isWhole ? 1 : dims[isSwapped ? 0 : 1];
  const int64_t width = isWhole ? 1 : block;
  const int64_t blocks = static_cast<int64_t>(llvm::divideCeil(inputs, width));
  const ArrayRef<int64_t> taps = dims.drop_front(2);
  // The packed order: lane, phases, slot (or phases, channel), block, taps, input channel within
  // the block. Words of channels take the place of more channels.
  PackedLayout layout;
  const auto add = [&](int64_t extent) {
    layout.blocks.push_back(extent);
    return static_cast<int64_t>(layout.blocks.size()) - 1;
  };
  SmallVector<int64_t> channelOrder;
  if (rows.isByLane)
    channelOrder.push_back(add(rows.lanes()));
  SmallVector<SmallVector<int64_t>> tapOrder(taps.size());
  for (size_t axis = 0; axis < taps.size(); ++axis)
    if (int64_t factor = factorOf(rows, axis, taps.size()); factor > 1)
      tapOrder[axis].push_back(add(factor));
  channelOrder.insert(channelOrder.begin(), add(rows.phaseRows()));
  SmallVector<int64_t> inputOrder = {add(blocks)};
  SmallVector<int64_t> paddedTaps;
  for (auto [axis, extent] : llvm::enumerate(taps)) {
    const int64_t factor = factorOf(rows, axis, taps.size());
    const auto own = static_cast<int64_t>(llvm::divideCeil(extent, factor));
    tapOrder[axis].insert(tapOrder[axis].begin(), add(own));
    paddedTaps.push_back(own * factor);
  }
  inputOrder.push_back(add(width));
  layout.order = isSwapped ? inputOrder : channelOrder;
  llvm::append_range(layout.order, isSwapped ? channelOrder : inputOrder);
  for (const SmallVector<int64_t> &order : tapOrder)
    llvm::append_range(layout.order, order);
  const int64_t channels = (rows.isByLane ? rows.lanes() : 1) * rows.phaseRows();
  layout.padded = {channels, blocks * width};
  if (isSwapped)
    std::swap(layout.padded[0], layout.padded[1]);
  llvm::append_range(layout.padded, paddedTaps);
  layout.shape = {rows.isByLane ? rows.lanes() : rows.laneRows(),
                  rows.isByLane ? rows.laneRows() * rows.row : rows.row};
  return layout;
}

/// One number for each channel.
static PackedLayout biasLayout(const ChannelRows &rows) {
  return {.shape = {rows.lanes(), rows.slots()},
          .blocks = {rows.lanes(), rows.slots()},
          .order = {1, 0},
          .padded = {rows.lanes() * rows.slots()}};
}

/// Slopes, factors or addends [..., channels, ...], of which one dimension counts.
static PackedLayout slopeLayout(const ChannelRows &rows, ArrayRef<int64_t> dims) {
  PackedLayout layout{.shape = {rows.lanes(), rows.laneRows()},
                      .blocks = {rows.lanes(), rows.laneRows()},
                      .order = {1, 0},
                      .padded = SmallVector<int64_t>(dims)};
  *llvm::find(layout.padded, rows.channels) = rows.lanes() * rows.laneRows();
  return layout;
}

/// Puts the requantization parameters of channels behind the rows of each lane, or behind all rows.
static void addChannelWords(PackedLayout &layout, const ChannelRows &rows,
                            ArrayRef<int32_t> words) {
  const GlobalTensor place = channelWords(rows, {0, rows.channels}, 0);
  const int64_t numWords = std::ssize(words);
  const int64_t each = rows.areTaps ? kRequantWords : numWords / rows.channels;
  for (int64_t channel = 0; channel < rows.channels; ++channel) {
    // Taps may share the words of their channel.
    const auto *own = reinterpret_cast<const uint8_t *>(&words[channel * each % numWords]);
    layout.parameters.push_back({static_cast<int64_t>(place.address) +
                                     channel % int64_t{kLanes} * place.stride[1] +
                                     channel / int64_t{kLanes} * ChannelRows::kSlotBytes,
                                 {own, own + each * sizeof(int32_t)}});
  }
}

/// The bias of the only channel for each of its taps.
static Expected<PackedLayout> tapBiasLayout(Operation *op, const ChannelRows &rows) {
  Expected<Tensor> bias = readConstant(op, 2);
  if (!bias)
    return propagate(bias);
  PackedLayout layout = biasLayout(rows);
  const auto *bytes = reinterpret_cast<const uint8_t *>(bias->rawBytes().data());
  for (int64_t tap = 1; tap < rows.channels; ++tap)
    layout.parameters.push_back({tap * bias->byteSize(), {bytes, bytes + bias->byteSize()}});
  return layout;
}

/// A filter or bias of a convolution.
static Expected<PackedLayout> convolutionLayout(OpOperand &operand, const BM1684XLayout &tensors) {
  Operation *op = operand.getOwner();
  const unsigned index = operand.getOperandNumber();
  const ChannelRows &rows = tensors.operand(index).rows;
  const bool isByOne = tensors.filter.isDepthwise;
  if (index == 2 && rows.areTaps)
    return tapBiasLayout(op, rows);
  if (index == 2) {
    PackedLayout layout = biasLayout(rows);
    // The command takes the bias in the type in which it computes.
    if (isByOne) {
      const auto filter = cast<RankedTensorType>(op->getOperand(1).getType()).getShape();
      int64_t taps = 1;
      for (int64_t extent : filter.drop_front(2))
        taps *= extent;
      auto conv = dyn_cast<tpu::ConvOp>(op);
      layout.type = depthwiseBiasType(tensors.operand(0).type, taps, conv && conv.getNarrowSums());
    }
    return layout;
  }
  const auto dims = cast<RankedTensorType>(operand.get().getType()).getShape();
  const int64_t block = channelBlock(rows.type);
  if (rows.isInParts())
    return partsLayout(rows, dims, block);
  if (rows.areTaps)
    return tapsLayout(rows, dims, block);
  return filterLayout(rows, dims, isa<tpu::DeconvOp>(op) && !isByOne, isByOne, block);
}

/// Filters and biases of all directions, those of one behind the other.
static PackedLayout recurrentLayout(const ChannelRows &rows, ArrayRef<int64_t> dims,
                                    unsigned index) {
  SmallVector<int64_t> joined(dims.drop_front());
  joined.front() *= dims.front();
  PackedLayout layout = index == kRecurrentBias
                            ? biasLayout(rows)
                            : filterLayout(rows, joined, /*isSwapped=*/false,
                                           /*isWhole=*/false, channelBlock(rows.type));
  layout.padded.front() /= dims.front();
  layout.padded.insert(layout.padded.begin(), dims.front());
  if (index == kRecurrentBias)
    layout.type = DataType::F32;
  return layout;
}

/// A constant matrix: F32 ones are turned, those of integers carry rows of words. Short rows stand
/// by lanes.
static std::optional<PackedLayout> matrixLayout(tpu::MatMulOp op, const TensorLayout &matrix,
                                                ArrayRef<int64_t> dims) {
  if (dims.size() != 2)
    return std::nullopt;
  const PackedLayout byLane{.shape = {dims[0], dims[1]},
                            .blocks = {kLanes, dims[0] / int64_t{kLanes}, dims[1]},
                            .order = {1, 0, 2},
                            .padded = {dims[0], dims[1]}};
  if (matrix.parameters != Carried::Nothing) {
    const int64_t columns = dims[op.getRightTranspose() ? 0 : 1];
    const int64_t bytes =
        matrix.columnWordsBegin() + kColumnRows * columns * static_cast<int64_t>(sizeof(int32_t));
    const int64_t rows = ceilDiv(bytes, dims[1]);
    if (matrix.isByLane) {
      PackedLayout layout = byLane;
      layout.shape = {rows, dims[1]};
      return layout;
    }
    return PackedLayout{.shape = {rows, dims[1]},
                        .blocks = {rows, dims[1]},
                        .order = {0, 1},
                        .padded = {rows, dims[1]}};
  }
  if (matrix.isByLane)
    return byLane;
  if (!op.getRightTranspose() || matrix.type != DataType::F32)
    return std::nullopt;
  return PackedLayout{.shape = {dims[1], dims[0]},
                      .blocks = {dims[1], dims[0]},
                      .order = {1, 0},
                      .padded = {dims[0], dims[1]}};
}

/// That of any constant, without its parameters.
static Expected<std::optional<PackedLayout>> plainLayout(OpOperand &operand,
                                                         const BM1684XLayout &tensors) {
  Operation *op = operand.getOwner();
  const unsigned index = operand.getOperandNumber();
  const TensorLayout &tensor = tensors.operand(index);
  const auto dims = cast<RankedTensorType>(operand.get().getType()).getShape();
  if (auto product = dyn_cast<tpu::MatMulOp>(op); product && index == 1)
    return matrixLayout(product, tensor, dims);
  if (tensor.form != OperandForm::PerChannel)
    return std::optional<PackedLayout>();
  if (isRecurrent(op))
    return std::optional(recurrentLayout(tensor.rows, dims, index));
  if (!isa<tpu::ConvOp, tpu::DeconvOp>(op))
    return std::optional(slopeLayout(tensor.rows, dims));
  Expected<PackedLayout> layout = convolutionLayout(operand, tensors);
  if (!layout)
    return propagate(layout);
  return std::optional(std::move(*layout));
}

Expected<std::optional<PackedLayout>> packedLayout(OpOperand &operand) {
  Operation *op = operand.getOwner();
  const bool mayBePacked = isa<tpu::ConvOp, tpu::DeconvOp, tpu::MatMulOp, tpu::PReluOp>(op) ||
                           isRecurrent(op) || isChannelConstant(op, operand.getOperandNumber());
  if (!mayBePacked || !constantOf(operand.get()))
    return std::optional<PackedLayout>();
  const Expected<TileModel> model = tileModel(op, chipInfo());
  // What cannot be computed needs no layout.
  if (!model)
    return std::optional<PackedLayout>();
  const BM1684XLayout tensors(op, *model);
  const TensorLayout &tensor = tensors.operand(operand.getOperandNumber());
  Expected<std::optional<PackedLayout>> layout = plainLayout(operand, tensors);
  if (!layout || !*layout || tensor.parameters == Carried::Nothing)
    return layout;
  Expected<std::vector<int32_t>> words = parameterWords(op, tensors);
  if (!words)
    return propagate(words);
  if (tensor.parameters == Carried::ChannelWords) {
    addChannelWords(**layout, tensor.rows, *words);
    return layout;
  }
  const auto *bytes = reinterpret_cast<const uint8_t *>(words->data());
  (*layout)->parameters.push_back(
      {tensor.columnWordsBegin(), {bytes, bytes + words->size() * sizeof(int32_t)}});
  return layout;
}

} // namespace tpuc::bm1684x::backend
