//===- OpWindows.cpp - Windows of ops -------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Codegen/OpWindows.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Target/BM1684/Codegen/BM1684Layout.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684::backend {

/// The entries of an attribute for h and w; of one spatial dimension that is w.
static std::array<int64_t, 2> planar(mlir::Operation *op, StringRef name) {
  const auto attribute = op->getAttrOfType<ArrayAttr>(name);
  if (!attribute)
    return {1, 1};
  const SmallVector<int64_t> given = top::toInts(attribute);
  if (given.size() == 1)
    return {1, given[0]};
  return {given[0], given[1]};
}

/// All but the pads.
static Expected<Window2d> unpaddedWindow(mlir::Operation *op) {
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

Expected<Window2d> convolutionWindowOf(const TiledOp &tiled) {
  if (auto outside = tiled.op->getAttrOfType<FloatAttr>("pad_value");
      (outside && outside.getValueAsDouble() != 0) || tiled.op->hasAttr("pad_values"))
    return makeError("", "a padding that is not 0");
  return windowOf(tiled);
}

int64_t groupsOf(const TiledOp &tiled, int64_t channels) {
  return isDepthwise(tiled.op, *tiled.model)
             ? channels
             : tiled.op->getAttrOfType<IntegerAttr>("group").getInt();
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

Activation activationOf(mlir::Operation *op) {
  const auto relu = op->getAttrOfType<BoolAttr>("do_relu");
  const auto limit = op->getAttrOfType<FloatAttr>("relu_limit");
  return {.relu = relu && relu.getValue(), .limit = limit ? limit.getValueAsDouble() : -1};
}

} // namespace tpuc::bm1684::backend
