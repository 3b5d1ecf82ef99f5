//===- OpWindows.cpp - Windows of convolutions and pools ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/OpWindows.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Target/BM1684X/Codegen/Parameters.h"
#include "tpuc/Target/BM1684X/Kernels/Quantized.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

/// The entries of an attribute for h and w; of one spatial dimension that is w.
static std::array<int64_t, 2> planar(Operation *op, StringRef name) {
  std::array<int64_t, 2> values{1, 1};
  const auto attribute = op->getAttrOfType<ArrayAttr>(name);
  if (!attribute)
    return values;
  const SmallVector<int64_t> given = top::toInts(attribute);
  if (given.size() == 1)
    return {1, given[0]};
  return {given[0], given[1]};
}

std::array<int64_t, 2> strideOf(Operation *op) { return planar(op, "strides"); }

/// All but the pads.
static Expected<Window2d> unpaddedWindow(Operation *op) {
  const size_t spatial = op->getAttrOfType<ArrayAttr>("kernel_shape").size();
  if (spatial > 2)
    return makeError("", "a window over " + std::to_string(spatial) + " dimensions", "1 or 2");
  return Window2d{.kernel = planar(op, "kernel_shape"),
                  .stride = planar(op, "strides"),
                  .dilation = planar(op, "dilations")};
}

Expected<Window2d> windowOf(const TiledOp &tiled) {
  Expected<Window2d> window = unpaddedWindow(tiled.op);
  if (!window)
    return window;
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned axis = kAxisH + i;
    const PaddedRange range = tiled.model->operands[0].padded(axis, tiled.result.tile[axis]);
    window->padBegin[i] = range.padBegin;
    window->padEnd[i] = range.padEnd;
    // From one place there is no way to the next; pools of everything often state a long one.
    if (tiled.model->result[axis] == 1)
      window->stride[i] = 1;
  }
  return window;
}

Expected<Window2d> transposedWindowOf(const TiledOp &tiled) {
  Expected<Window2d> window = unpaddedWindow(tiled.op);
  if (!window)
    return window;
  if (tiled.op->getAttrOfType<IntegerAttr>("group").getInt() != 1)
    return makeError("", "a transposed convolution in groups", "one group");
  // Zeros around the spread input: a whole window less one, without what lies before the tile of
  // the result and behind it.
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned axis = kAxisH + i;
    const AxisMap &map = tiled.model->operands[0].maps[axis];
    const Range input = tiled.operands[0].tile[axis];
    const Range output = tiled.result.tile[axis];
    const int64_t before = output.begin - (input.begin * map.stride - map.pad);
    const int64_t behind = (input.end() - 1) * map.stride - map.pad + map.window - output.end();
    window->padBegin[i] = map.window - 1 - before;
    window->padEnd[i] = map.window - 1 - behind;
  }
  return window;
}

bool isInPhases(Operation *op, const TileModel &model) {
  if (!isa<tpu::DeconvOp>(op) || op->getAttrOfType<ArrayAttr>("kernel_shape").size() > 2)
    return false;
  const std::array<int64_t, 2> stride = strideOf(op);
  const Roundings roundings = roundingsOf(op);
  if (tpu::zeroPointOf(op->getOperand(0)) != 0 &&
      stride[0] * stride[1] > mostPhaseBiases(roundings))
    return false;
  const Expected<Window2d> window = unpaddedWindow(op);
  if (!window || !hasPhases(*window, op->getAttrOfType<IntegerAttr>("group").getInt()))
    return false;
  // Taps share the words of their channel, of which there is one length.
  if (roundings != Roundings::Once && hasTapsAsChannels(op))
    return false;
  return llvm::all_of(std::array{kAxisH, kAxisW}, [&](unsigned axis) {
    // No element of the result lies in front of what inputs add to, or behind that.
    const OperandModel &input = model.operands[0];
    const AxisMap &map = input.maps[axis];
    const int64_t reached = (input.extents[axis] - 1) * map.stride + map.window;
    return map.pad >= 0 && model.result[axis] + map.pad <= reached;
  });
}

bool hasTapsAsChannels(Operation *op) {
  return tapsAreChannels(*unpaddedWindow(op),
                         cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(1));
}

} // namespace tpuc::bm1684x::backend
