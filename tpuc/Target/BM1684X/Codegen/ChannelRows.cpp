//===- ChannelRows.cpp - Rows of filters and biases over lanes ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/ChannelRows.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Target/BM1684X/Codegen/OpWindows.h"
#include "tpuc/Target/BM1684X/Codegen/OperandForm.h"
#include "tpuc/Target/BM1684X/Kernels/Matrix.h"
#include "tpuc/Target/BM1684X/TargetInfo.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

FilterKind filterKindOf(Operation *op, const TileModel &model) {
  FilterKind filter;
  if (!isa<tpu::ConvOp, tpu::DeconvOp>(op))
    return filter;
  const int64_t group = op->getAttrOfType<IntegerAttr>("group").getInt();
  filter.isDepthwise =
      group > 1 && group == model.result[kAxisC] && group == model.operands[0].extents[kAxisC];
  filter.isInPhases = isInPhases(op, model);
  filter.hasTapsAsChannels = filter.isInPhases && hasTapsAsChannels(op);
  return filter;
}

int64_t channelBlock(DataType type) { return bm1684x::channelBlock(*precOf(type)); }

int64_t factorOf(const ChannelRows &rows, size_t axis, size_t count) {
  return count > 2 ? 1 : std::max<int64_t>(rows.factors[2 - count + axis], 1);
}

/// The filter's own row and phases.
static void setFilter(ChannelRows &rows, Operation *op, const TileModel &model,
                      const FilterKind &filter) {
  const auto taps = cast<RankedTensorType>(op->getOperand(1).getType()).getShape().drop_front(2);
  if (isa<tpu::ConvOp>(op) && !filter.isDepthwise)
    rows.factors = strideFactors(strideOf(op));
  if (filter.isInPhases)
    rows.factors = rows.areTaps ? std::array<int64_t, 2>{1, 1} : strideOf(op);
  int64_t all = 1;
  int64_t own = 1;
  for (auto [axis, extent] : llvm::enumerate(taps)) {
    all *= extent;
    if (rows.areTaps)
      continue;
    own *= static_cast<int64_t>(llvm::divideCeil(extent, factorOf(rows, axis, taps.size())));
  }
  const int64_t inputs = model.operands[1].extents[kAxisW] / all;
  rows.row = filter.isDepthwise ? own : own * alignUp(inputs, channelBlock(rows.type));
}

/// The cut of a filter of `blocks` times `taps` times `inner` elements for each channel into parts
/// of which those of `lanes` lanes fit a row of a matrix; none where parts would be too short.
static std::array<int64_t, 2> filterParts(const ChannelRows &rows, int64_t blocks, int64_t taps) {
  constexpr int64_t kLongPart = 256, kMostColumns = 65535;
  for (int64_t cut = 1; cut <= blocks * taps; ++cut) {
    const bool cutsTaps = cut > blocks;
    if (cutsTaps ? cut % blocks != 0 || taps % (cut / blocks) != 0 : blocks % cut != 0)
      continue;
    const int64_t part = rows.row / cut;
    if (byteSize(rows.type, part) < kLongPart)
      break;
    if (part * rows.lanes() <= kMostColumns)
      return cutsTaps ? std::array{blocks, cut / blocks} : std::array{cut, int64_t{1}};
  }
  return {0, 0};
}

/// Whether a filter is so long that it pays to let it stand in parts, with as many rows as whole
/// rounds of lanes have, and its words apart.
static bool mayBeInParts(Operation *op, const ChannelRows &rows) {
  constexpr int64_t kLong = 32 << 10, kLongWithWords = 256 << 10, kMostPadding = 25;
  auto conv = dyn_cast<tpu::ConvOp>(op);
  if (!conv || conv.getGroup() != 1 || rows.phases() != 1 ||
      cast<RankedTensorType>(conv.getFilter().getType()).getRank() != 4)
    return false;
  const int64_t padding = rows.slots() * rows.lanes() - rows.channels;
  return rows.channels * rows.rowBytes() >= (rows.hasWords ? kLongWithWords : kLong) &&
         padding * kMostPadding <= rows.channels;
}

ChannelRows channelRows(Operation *op, const TileModel &model, unsigned index,
                        const FilterKind &filter) {
  const DataType type = elementTypeOf(op, index);
  ChannelRows rows{
      .channels = model.result[kAxisC], .type = type, .hasWords = carriesParameters(op, index)};
  if (filter.hasTapsAsChannels) {
    rows.areTaps = true;
    rows.channels = strideOf(op)[0] * strideOf(op)[1];
  }
  if (isRecurrent(op)) {
    const AxisExtents &extents = model.operands[index].extents;
    rows.channels = extents[kAxisC];
    rows.row = index == kRecurrentBias ? 1 : alignUp(extents[kAxisW], channelBlock(type));
  } else if (index == 1 && isa<tpu::ConvOp, tpu::DeconvOp>(op)) {
    setFilter(rows, op, model, filter);
  }
  // Short rows cost as much as long ones: lanes with several channels put them together.
  rows.isByLane = rows.channels <= int64_t{kLanes} || rows.channels % int64_t{kLanes} == 0 ||
                  byteSize(type, rows.row) < 256;
  if (index == 1 && mayBeInParts(op, rows)) {
    const int64_t blocks = ceilDiv(model.operands[0].extents[kAxisC], channelBlock(type));
    rows.parts = filterParts(rows, blocks,
                             cast<RankedTensorType>(op->getOperand(1).getType()).getShape()[2]);
    rows.isByLane = rows.isByLane && !rows.isInParts();
  }
  return rows;
}

GlobalTensor channelSlice(const ChannelRows &rows, Range channels, int64_t address) {
  const int64_t phase = rows.phaseRows() * rows.row;
  if (!rows.isByLane) {
    GlobalTensor tensor =
        globalTensor(rows.type, Extents{rows.phases(), channels.size, 1, rows.row},
                     static_cast<uint64_t>(address + channels.begin * rows.rowBytes()));
    tensor.stride[0] = phase;
    return tensor;
  }
  GlobalTensor tensor = globalTensor(
      rows.type,
      Extents{rows.phases(), std::min<int64_t>(channels.size, kLanes), 1,
              ChannelRows::slotsOf(channels.size) * rows.row},
      static_cast<uint64_t>(address + channels.begin / int64_t{kLanes} * rows.rowBytes()));
  const int64_t lane = rows.laneRows() * rows.row;
  tensor.stride = Extents{phase, lane, lane, 1};
  return tensor;
}

GlobalTensor channelWords(const ChannelRows &rows, Range channels, int64_t address) {
  const int64_t slot = channels.begin / int64_t{kLanes};
  const int64_t lane =
      rows.isByLane ? rows.laneRows() * rows.rowBytes() : rows.slots() * ChannelRows::kSlotBytes;
  GlobalTensor tensor = globalTensor(
      DataType::I8,
      Extents{1, std::min<int64_t>(channels.size, kLanes), 1,
              ChannelRows::slotsOf(channels.size) * ChannelRows::kSlotBytes},
      static_cast<uint64_t>(address + rows.wordsBegin() + slot * ChannelRows::kSlotBytes));
  tensor.stride = Extents{rows.lanes() * lane, lane, lane, 1};
  return tensor;
}

} // namespace tpuc::bm1684x::backend
