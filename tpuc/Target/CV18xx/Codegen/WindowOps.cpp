//===- WindowOps.cpp - Kernels of convolutions and pools ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/WindowOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"
#include "tpuc/Target/CV18xx/Kernels/Windows.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// The entries of an attribute for h and w; of one spatial dimension that is w.
std::array<uint32_t, 2> planar(Operation *op, StringRef name) {
  const auto attribute = op->getAttrOfType<ArrayAttr>(name);
  if (!attribute)
    return {1, 1};
  const SmallVector<int64_t> given = top::toInts(attribute);
  if (given.size() == 1)
    return {1, static_cast<uint32_t>(given[0])};
  return {static_cast<uint32_t>(given[0]), static_cast<uint32_t>(given[1])};
}

Expected<Window> windowOf(const TiledOp &tiled) {
  if (tiled.op->getAttrOfType<ArrayAttr>("kernel_shape").size() > 2)
    return makeError("", "a window over three dimensions", "1 or 2");
  Window window{.kernel = planar(tiled.op, "kernel_shape"),
                .stride = planar(tiled.op, "strides"),
                .dilation = planar(tiled.op, "dilations")};
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned axis = kAxisH + i;
    const PaddedRange range = tiled.model->operands[0].padded(axis, tiled.result.tile[axis]);
    window.padBegin[i] = static_cast<uint32_t>(std::max<int64_t>(range.padBegin, 0));
    window.padEnd[i] = static_cast<uint32_t>(std::max<int64_t>(range.padEnd, 0));
    // From one place there is no way to the next; pools of everything often state a long one.
    if (tiled.model->result[axis] == 1)
      window.stride[i] = 1;
  }
  return window;
}

/// Where a filter's parameters lie behind its rows.
int64_t parameterAddress(const Site &site) {
  const TensorLayout &layout = layoutOf(site.tiled, 1);
  const LocalTile &tile = site.tiled.operands[1];
  const int64_t count = layout.channels(tile.held.value_or(tile.tile)).size;
  return tile.address + alignedTo(layout.filter.rowBytes(site.chip(), count), kEuBytes);
}

Expected<void> convolve(const Site &site, const Window &window) {
  const FilterLayout &filter = layoutOf(site.tiled, 1).filter;
  const LocalTile &tile = site.tiled.operands[1];
  if (tile.held && *tile.held != tile.tile)
    return makeError("", "a part of a filter in local memory", "a whole one");
  Expected<LocalTensor> input = site.operand(0);
  Expected<LocalTensor> result = site.result();
  if (!input || !result)
    return input ? propagate(result) : propagate(input);
  const Relu relu = reluOf(site.op());
  Convolution convolution{.input = *input,
                          .result = *result,
                          .window = window,
                          .filter = static_cast<uint32_t>(tile.address),
                          .parameters = std::nullopt,
                          .isDepthwise = filter.isDepthwise,
                          .hasRelu = relu.is};
  if (filter.carried != 0)
    convolution.parameters = static_cast<uint32_t>(parameterAddress(site));
  if (Expected<void> done = emitConvolution(site.builder, convolution); !done)
    return done;
  return limitResult(site, *result, relu);
}

Expected<Pool> poolOf(const Site &site) {
  Expected<Window> window = windowOf(site.tiled);
  Expected<LocalTensor> input = site.operand(0);
  Expected<LocalTensor> result = site.result();
  if (!window || !input || !result)
    return !window ? propagate(window) : !input ? propagate(input) : propagate(result);
  return Pool{*input, *result, *window};
}

} // namespace

Expected<void> emitOf(tpu::ConvOp op, const Site &site) {
  Expected<Window> window = windowOf(site.tiled);
  if (!window)
    return propagate(window);
  if (op.getGroup() != 1 && !layoutOf(site.tiled, 1).filter.isDepthwise)
    return makeError("", std::to_string(op.getGroup()) + " groups of channels",
                     "one, or of one each");
  return convolve(site, *window);
}

Expected<void> emitOf(tpu::MatMulOp, const Site &site) { return convolve(site, {}); }

Expected<void> emitOf(tpu::MaxPoolOp, const Site &site) {
  Expected<Pool> pool = poolOf(site);
  if (!pool)
    return propagate(pool);
  if (Expected<void> done = emitMaxPool(site.builder, *pool); !done)
    return done;
  const Relu relu = reluOf(site.op());
  if (!relu.is)
    return {};
  if (Expected<void> done =
          emitElements(site.builder, {.name = "max", .result = pool->result, .left = pool->result});
      !done)
    return done;
  return limitResult(site, pool->result, relu);
}

Expected<void> emitOf(tpu::AvgPoolOp op, const Site &site) {
  if (!site.isBf16())
    return makeError("", "an average of integers over windows of several sizes",
                     "windows of one size");
  Expected<Pool> pool = poolOf(site);
  if (!pool)
    return propagate(pool);
  const auto hasPad = [&](unsigned axis) {
    const PaddedRange all =
        site.tiled.model->operands[0].padded(axis, {0, site.tiled.model->result[axis]});
    return all.padBegin > 0 || all.padEnd > 0;
  };
  if (!op.getCountIncludePad() && (hasPad(kAxisH) || hasPad(kAxisW)))
    return makeError("", "an average that does not count its padding", "one that does, or none");
  const int64_t count = ShapedType::getNumElements(top::toInts(op.getKernelShape()));
  const std::array<double, 2> factors = factorsOf(1.0 / static_cast<double>(count));
  if (Expected<void> done = emitAveragePool(site.builder, *pool, bf16Of(factors[0])); !done)
    return done;
  if (factors[1] != 1)
    if (Expected<void> done = emitElements(site.builder, {.name = "mul",
                                                          .result = pool->result,
                                                          .left = pool->result,
                                                          .right = bf16Of(factors[1])});
        !done)
      return done;
  const Relu relu = reluOf(site.op());
  if (!relu.is)
    return {};
  if (Expected<void> done =
          emitElements(site.builder, {.name = "max", .result = pool->result, .left = pool->result});
      !done)
    return done;
  return limitResult(site, pool->result, relu);
}

} // namespace tpuc::cv18xx::backend
