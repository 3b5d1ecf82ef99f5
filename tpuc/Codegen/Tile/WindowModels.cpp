//===- WindowModels.cpp - How ops on pictures are divided into tiles ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/ResizeTaps.h"
#include "tpuc/Codegen/Tile/TileModels.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/WindowShapes.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;
using namespace tpuc::codegen::tiling;

namespace {

/// Axes of spatial dimension `index` of `count`.
unsigned spatialAxis(size_t index, size_t count) {
  return static_cast<unsigned>(kNumAxes - count + index);
}

/// The windows of `window` over the spatial axes; the other axes of `model` stay.
void setWindows(OperandModel &model, const top::Window &window, AxisMap::Kind kind) {
  const size_t spatial = window.kernel.size();
  for (size_t i = 0; i < spatial; ++i)
    model.maps[spatialAxis(i, spatial)] = {.kind = kind,
                                           .stride = window.strides[i],
                                           .window =
                                               (window.kernel[i] - 1) * window.dilations[i] + 1,
                                           .pad = window.padsBegin[i]};
}

/// The model of an op with windows over its first operand.
Expected<TileModel> windowModel(Operation *op, const Expected<top::Window> &window,
                                AxisMap::Kind kind) {
  if (!window)
    return tl::unexpected(window.error());
  Expected<AxisExtents> input = axisExtents(dimsOf(op->getOperand(0)));
  Expected<AxisExtents> result = axisExtents(dimsOf(op->getResult(0)));
  if (!input)
    return propagate(input);
  if (!result)
    return propagate(result);
  TileModel model{.operands = {}, .result = *result, .isTileable = {true, true, true, true, true}};
  OperandModel data{.isPresent = true, .extents = *input};
  setWindows(data, *window, kind);
  model.operands.push_back(data);
  return model;
}

/// Filter and bias of a convolution; the input channels that a tile needs.
template <typename Op>
Expected<TileModel> convolutionModel(Op op, const Expected<top::Window> &window, AxisMap::Kind kind,
                                     bool isSwapped) {
  Expected<TileModel> model = windowModel(op, window, kind);
  if (!model)
    return model;
  const auto group = static_cast<int64_t>(op.getGroup());
  SmallVector<int64_t> filter(dimsOf(op.getFilter()));
  const int64_t channels = model->result[kAxisC];
  if (isSwapped) {
    filter[0] = channels;
    filter[1] = model->operands[0].extents[kAxisC] / group;
  }
  const bool isDepthwise = group == channels && group == model->operands[0].extents[kAxisC];
  if (!isDepthwise) {
    model->operands[0].maps[kAxisC] = kWhole;
    model->isTileable[kAxisC] = group == 1;
  }
  // A filter is seen as [1, output channels, .., .., elements of one].
  model->operands.push_back(perChannel(
      op.getFilter(),
      {1, channels, 1, 1, ShapedType::getNumElements(filter) / std::max<int64_t>(channels, 1)}));
  model->operands.push_back(perChannel(op.getBias(), {1, channels, 1, 1, 1}));
  return model;
}

} // namespace

Expected<TileModel> tiling::convModel(tpu::ConvOp op) {
  if (op.getInserts() && llvm::any_of(top::toInts(*op.getInserts()), [](int64_t n) { return n; }))
    return makeError("", "zeros inserted into the input");
  return convolutionModel(
      op,
      top::convolutionWindow(top::windowSpec(op), dimsOf(op.getInput()), dimsOf(op.getFilter())),
      AxisMap::Window, /*isSwapped=*/false);
}

Expected<TileModel> tiling::deconvModel(tpu::DeconvOp op) {
  return convolutionModel(
      op, top::transposedWindow(top::windowSpec(op), dimsOf(op.getInput()), dimsOf(op.getFilter())),
      AxisMap::Transposed, /*isSwapped=*/true);
}

template <typename Op> static Expected<TileModel> modelOfPool(Op op) {
  return windowModel(op, top::poolWindow(top::windowSpec(op), dimsOf(op.getInput())),
                     AxisMap::Window);
}

Expected<TileModel> tiling::poolModel(tpu::MaxPoolOp op) { return modelOfPool(op); }
Expected<TileModel> tiling::poolModel(tpu::AvgPoolOp op) { return modelOfPool(op); }

/// One slope for each channel of [N, C, ...], or for all.
Expected<TileModel> tiling::preluModel(tpu::PReluOp op) {
  Expected<AxisExtents> result = axisExtents(dimsOf(op.getOutput()));
  if (!result)
    return propagate(result);
  TileModel model{.operands = {}, .result = *result, .isTileable = {true, true, true, true, true}};
  model.operands.push_back({.isPresent = true, .extents = *result});
  const int64_t slopes = ShapedType::getNumElements(dimsOf(op.getSlope()));
  if (slopes != 1 && slopes != (*result)[kAxisC])
    return makeError("", std::to_string(slopes) + " slopes", "one for each channel");
  OperandModel slope = wholeOperand({1, slopes, 1, 1, 1});
  if (slopes != 1)
    slope.maps[kAxisC] = {};
  model.operands.push_back(slope);
  return model;
}

Expected<TileModel> tiling::instanceNormModel(tpu::InstanceNormOp op) {
  Expected<AxisExtents> extents = axisExtents(dimsOf(op.getInput()));
  if (!extents)
    return propagate(extents);
  TileModel model{
      .operands = {}, .result = *extents, .isTileable = {true, true, false, false, false}};
  model.operands.push_back({.isPresent = true, .extents = *extents});
  for (Value operand : op->getOperands().drop_front())
    model.operands.push_back(perChannel(operand, {1, (*extents)[kAxisC], 1, 1, 1}));
  return model;
}

Expected<TileModel> tiling::upsampleModel(tpu::UpsampleOp op) {
  Expected<TileModel> model = elementwiseModel(op, op->getOperands());
  if (!model)
    return model;
  const int64_t scales[] = {static_cast<int64_t>(op.getScaleH()),
                            static_cast<int64_t>(op.getScaleW())};
  for (unsigned i = 0; i < 2; ++i) {
    model->operands[0].maps[kAxisH + i] = {.kind = AxisMap::Scaled, .stride = scales[i]};
    model->unit[kAxisH + i] = scales[i];
  }
  return model;
}

/// A resized tensor of 4 dimensions: rows and columns of the result are sums of any of the input,
/// unless pixels are repeated.
Expected<TileModel> tiling::interpModel(tpu::InterpOp op) {
  const ArrayRef<int64_t> input = dimsOf(op.getInput());
  const ArrayRef<int64_t> output = dimsOf(op.getOutput());
  if (input.size() != 4 || input[0] != output[0] || input[1] != output[1])
    return makeError("", "resized dimensions other than h and w");
  TileModel model{.operands = {},
                  .result = *axisExtents(output),
                  .isTileable = {true, true, false, true, false}};
  OperandModel data{.isPresent = true, .extents = *axisExtents(input)};
  const bool repeats = repeatsPixels(op);
  for (unsigned i = 0; i < 2; ++i) {
    const int64_t scale = repeats ? output[2 + i] / input[2 + i] : 1;
    data.maps[kAxisH + i] = repeats ? AxisMap{.kind = AxisMap::Scaled, .stride = scale} : kWhole;
    model.unit[kAxisH + i] = scale;
  }
  model.operands.push_back(data);
  while (model.operands.size() < op->getNumOperands())
    model.operands.emplace_back();
  return model;
}

Expected<TileModel> tiling::packRowsModel(tpu::PackRowsOp op) {
  if (!op.getInLocalMemory())
    return makeError("", "rows that are loaded as channels", "a layer in local memory");
  TileModel model{.operands = {},
                  .result = *axisExtents(dimsOf(op.getOutput())),
                  .isTileable = {true, false, false, true, true}};
  OperandModel data{.isPresent = true, .extents = *axisExtents(dimsOf(op.getInput()))};
  data.maps[kAxisC] = kWhole;
  data.maps[kAxisH] = {.kind = AxisMap::Window,
                       .stride = static_cast<int64_t>(op.getStride()),
                       .window = static_cast<int64_t>(op.getKernel()),
                       .pad = static_cast<int64_t>(op.getPad())};
  model.operands.push_back(data);
  return model;
}

Expected<TileModel> tiling::transposeModel(tpu::TransposeOp op) {
  TileModel model{.operands = {},
                  .result = *axisExtents(dimsOf(op.getOutput())),
                  .isTileable = {true, false, false, false, false}};
  OperandModel data{.isPresent = true, .extents = *axisExtents(dimsOf(op.getInput()))};
  for (unsigned axis : {kAxisC, kAxisH, kAxisW})
    data.maps[axis] = kWhole;
  model.operands.push_back(data);
  return model;
}

/// Rows around pictures are those at their edges, mirrored or not; columns lie in a lane.
static Expected<TileModel> borderModel(tpu::PadOp op, ArrayRef<int64_t> pads) {
  const ArrayRef<int64_t> input = dimsOf(op.getInput());
  constexpr size_t kSpatial = 2, kRows = 4;
  const size_t rank = input.size();
  const bool mirrors = op.getMode() == "reflect";
  if (rank <= kSpatial || rank > kRows || (!mirrors && op.getMode() != "edge"))
    return makeError("", "a pad of other than pictures", "elements from their edges around them");
  for (auto [index, pad] : llvm::enumerate(pads)) {
    const size_t axis = index % rank;
    if (pad < 0 || (axis < kSpatial && pad != 0) || (mirrors && pad >= input[axis]))
      return makeError("",
                       std::to_string(pad) + " elements around dimension " + std::to_string(axis),
                       "around pictures, as many as they have");
  }
  TileModel model{.operands = {},
                  .result = *axisExtents(dimsOf(op.getOutput())),
                  .isTileable = {true, true, false, rank == kRows, false}};
  OperandModel data{.isPresent = true, .extents = *axisExtents(input)};
  if (rank == kRows)
    data.maps[kAxisH] = {.kind = mirrors ? AxisMap::Mirrored : AxisMap::Clamped,
                         .pad = pads[kSpatial]};
  data.maps[kAxisW] = kWhole;
  model.operands.push_back(data);
  model.operands.resize(op->getNumOperands());
  return model;
}

Expected<TileModel> tiling::padModel(tpu::PadOp op) {
  const ArrayRef<int64_t> input = dimsOf(op.getInput());
  const ArrayRef<int64_t> output = dimsOf(op.getOutput());
  const bool hasTensors =
      llvm::any_of(op->getOperands().drop_front(), [](Value value) { return !isAbsent(value); });
  SmallVector<int64_t> pads;
  if (op.getPaddings())
    pads = top::toInts(*op.getPaddings());
  constexpr size_t kRank = 4, kBehindChannels = kRank + 1;
  if (hasTensors || pads.size() != 2 * input.size())
    return makeError("", "paddings that are computed", "constants");
  if (op.getMode() != "constant")
    return borderModel(op, pads);
  if (input.size() != kRank)
    return makeError("", "a pad of other than pictures", "constant channels behind theirs");
  for (auto [index, pad] : llvm::enumerate(pads))
    if (index == kBehindChannels ? pad < 1 : pad != 0)
      return makeError("", "a pad of other dimensions", "channels behind those that there are");
  TileModel model{.operands = {},
                  .result = *axisExtents(output),
                  .isTileable = {true, false, false, true, true}};
  OperandModel data{.isPresent = true, .extents = *axisExtents(input)};
  data.maps[kAxisC] = kWhole;
  model.operands.push_back(data);
  model.operands.resize(op->getNumOperands());
  return model;
}
