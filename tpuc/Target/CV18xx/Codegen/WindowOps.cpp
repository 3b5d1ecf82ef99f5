//===- WindowOps.cpp - Kernels of convolutions and pools ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/WindowOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Target/CV18xx/Codegen/MatrixOps.h"
#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"
#include "tpuc/Target/CV18xx/Kernels/Windows.h"

#include <fmt/format.h>

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

/// A part of a tensor's channels, of one picture.
LocalTensor channelsOf(const Chip &chip, LocalTensor tensor, uint32_t picture, uint32_t begin,
                       uint32_t count) {
  tensor.address += picture * tensor.strides[0] + begin / chip.lanes * tensor.strides[1] +
                    begin % chip.lanes * kLaneBytes;
  tensor.shape[0] = 1;
  tensor.shape[1] = count;
  return tensor;
}

/// One command for each group and picture: both begin in any lane.
Expected<void> convolveGroups(const Site &site, const Convolution &all, uint32_t groups) {
  const Chip &chip = site.chip();
  const FilterLayout &filter = layoutOf(site.tiled, 1).filter;
  const uint32_t inputs = all.input.shape[1] / groups, outputs = all.result.shape[1] / groups;
  const auto rowBytes = static_cast<uint32_t>(filter.row * filter.elementBytes());
  for (uint32_t picture = 0; picture < all.input.shape[0]; ++picture)
    for (uint32_t group = 0; group < groups; ++group) {
      Convolution one = all;
      const uint32_t first = group * outputs;
      one.input = channelsOf(chip, all.input, picture, group * inputs, inputs);
      one.result = channelsOf(chip, all.result, picture, first, outputs);
      // Their addresses have the lowest bit of the lane; the others are those of the result.
      const uint32_t lane = first % chip.lanes % 2 * kLaneBytes;
      one.filter += first / chip.lanes * rowBytes + lane;
      if (one.parameters)
        *one.parameters += first / chip.lanes * kRequantBytes + lane;
      if (Expected<void> done = emitConvolution(site.builder, one); !done)
        return done;
    }
  return {};
}

/// A tensor of one number. Any value of `from` becomes it.
Expected<void> fill(const Site &site, const LocalTensor &result, const LocalTensor &from,
                    uint16_t bits) {
  LocalTensor one = from;
  one.shape = result.shape;
  one.strides = {};
  // Channels of the tensor lie in all lanes that the result has channels in.
  if (Expected<void> done =
          emitElements(site.builder, {.name = "max", .result = result, .left = one, .right = bits});
      !done)
    return done;
  return emitElements(site.builder,
                      {.name = "min", .result = result, .left = result, .right = bits});
}

/// What a convolution has around its input, if it is another number than 0.
std::optional<double> outsideOf(Operation *op) {
  const auto given = op->getAttrOfType<FloatAttr>("pad_value");
  if (!given || given.getValueAsDouble() == 0)
    return std::nullopt;
  return given.getValueAsDouble();
}

Extents withPads(Extents shape, const Window &window) {
  for (size_t i = 0; i < 2; ++i)
    shape[2 + i] += window.padBegin[i] + window.padEnd[i];
  return shape;
}

/// The input with another number than 0 around it, in the scratch. Commands know 0 only.
Expected<LocalTensor> surrounded(const Site &site, const LocalTensor &input, Window &window,
                                 double outside) {
  const Extents shape = withPads(input.shape, window);
  if (shape == input.shape)
    return input;
  if (!input.isBf16)
    return makeError("", "a number beside stored integers", "0");
  const LocalTensor padded =
      alignedTensor(site.chip(), static_cast<uint32_t>(site.tiled.scratchAddress), shape, true);
  if (Expected<void> done = fill(site, padded, input, bf16Of(outside)); !done)
    return propagate(done);
  LocalTensor inner = padded;
  inner.shape = input.shape;
  inner.address += window.padBegin[0] * padded.strides[2] + window.padBegin[1] * padded.strides[3];
  if (Expected<void> done =
          emitElements(site.builder, {.name = "copy", .result = inner, .left = input});
      !done)
    return propagate(done);
  window.padBegin = window.padEnd = {};
  return padded;
}

/// The result that a command gives, which has all places of the window. Tiles of transposed
/// convolutions end before the last ones.
Extents allPlaces(Extents result, const Extents &input, const Window &window) {
  for (size_t i = 0; i < 2; ++i) {
    const uint32_t extent =
        (input[2 + i] - 1) * (window.insert[i] + 1) + 1 + window.padBegin[i] + window.padEnd[i];
    const uint32_t reach = (window.kernel[i] - 1) * window.dilation[i] + 1;
    result[2 + i] = std::max(result[2 + i], (extent - reach) / window.stride[i] + 1);
  }
  return result;
}

Expected<void> convolve(const Site &site, Window window, uint32_t groups = 1) {
  const FilterLayout &filter = layoutOf(site.tiled, 1).filter;
  const LocalTile &tile = site.tiled.operands[1];
  if (tile.held && *tile.held != tile.tile)
    return makeError("", "a part of a filter in local memory", "a whole one");
  Expected<LocalTensor> input = site.operand(0);
  Expected<LocalTensor> result = site.result();
  if (!input || !result)
    return input ? propagate(result) : propagate(input);
  if (const std::optional<double> outside = outsideOf(site.op())) {
    input = surrounded(site, *input, window, *outside);
    if (!input)
      return propagate(input);
  }
  // What lies in the place of one more channel is multiplied by 0.
  if (filter.inputs != 0)
    input->shape[1] = static_cast<uint32_t>(filter.inputs);
  const Relu relu = reluOf(site.op());
  const int64_t count = layoutOf(site.tiled, 1).channels(tile.tile).size;
  const Extents places = allPlaces(result->shape, input->shape, window);
  const bool isPart = isa<tpu::DeconvOp>(site.op()) && places != result->shape;
  Convolution convolution{
      .input = *input,
      .result = isPart
                    ? alignedTensor(site.chip(), static_cast<uint32_t>(site.tiled.scratchAddress),
                                    places, result->isBf16)
                    : *result,
      .window = window,
      .filter = static_cast<uint32_t>(tile.address),
      .parameters = std::nullopt,
      .halfDistance = static_cast<uint32_t>(filter.carriedBytes(site.chip(), count) / 2),
      .isDepthwise = filter.isDepthwise,
      .hasRelu = relu.is};
  const bool addsBias = groups != 1 && filter.isBf16 && filter.carried != 0;
  if (filter.carried != 0 && !addsBias)
    convolution.parameters = static_cast<uint32_t>(parameterAddress(site));
  convolution.hasRelu = relu.is && !addsBias;
  if (Expected<void> done = groups == 1 ? emitConvolution(site.builder, convolution)
                                        : convolveGroups(site, convolution, groups);
      !done)
    return done;
  if (isPart) {
    LocalTensor first = convolution.result;
    first.shape = result->shape;
    if (Expected<void> done =
            emitElements(site.builder, {.name = "copy", .result = *result, .left = first});
        !done)
      return done;
  }
  if (addsBias) {
    const LocalTensor bias{.address = static_cast<uint32_t>(parameterAddress(site)),
                           .shape = result->shape,
                           .strides = {0, 2, 0, 0},
                           .isBf16 = true};
    if (Expected<void> done = emitElements(
            site.builder,
            {.name = "add", .result = *result, .left = *result, .right = bias, .hasRelu = relu.is});
        !done)
      return done;
  }
  return limitResult(site, *result, relu);
}

/// The window of a transposed convolution over what it inserts: taps are turned round.
Expected<Window> transposedWindow(const TiledOp &tiled) {
  const Window given{.kernel = planar(tiled.op, "kernel_shape"),
                     .stride = planar(tiled.op, "strides"),
                     .dilation = planar(tiled.op, "dilations")};
  Window window{.kernel = given.kernel, .dilation = given.dilation};
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned axis = kAxisH + i;
    const AxisMap &map = tiled.model->operands[0].maps[axis];
    const Range input = tiled.operands[0].tile[axis], result = tiled.result.tile[axis];
    const bool isWindow = map.kind == AxisMap::Transposed;
    const int64_t stride = isWindow ? map.stride : 1, pad = isWindow ? map.pad : 0;
    const int64_t length = isWindow ? map.window : 1;
    const int64_t first = input.begin * stride, last = (input.end() - 1) * stride;
    int64_t before = first - (result.begin + pad - length + 1);
    // What lies behind all windows needs no pads.
    int64_t behind = std::max<int64_t>(result.end() - 1 + pad - last, 0);
    if (before < 0) {
      // No window reaches back to the last value: it goes behind them.
      before = result.size - 1 + length;
      behind = 0;
    }
    window.padBegin[i] = static_cast<uint32_t>(before);
    window.padEnd[i] = static_cast<uint32_t>(behind);
    // One value has nothing between.
    window.insert[i] = input.size == 1 ? 0 : static_cast<uint32_t>(stride - 1);
  }
  return window;
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
  if (op.getPadValues())
    return makeError("", "numbers of their own beside each channel", "one for all");
  const bool isDepthwise = layoutOf(site.tiled, 1).filter.isDepthwise;
  return convolve(site, *window, isDepthwise ? 1 : static_cast<uint32_t>(op.getGroup()));
}

Expected<void> emitOf(tpu::DeconvOp op, const Site &site) {
  if (op.getKernelShape().size() > 2)
    return makeError("", "a window over three dimensions", "1 or 2");
  if (op.getGroup() != 1 && !layoutOf(site.tiled, 1).filter.isDepthwise)
    return makeError("", std::to_string(op.getGroup()) + " groups of channels",
                     "one, or of one each");
  if (op.getInserts() && llvm::any_of(top::toInts(*op.getInserts()), [](int64_t n) { return n; }))
    return makeError("", "more zeros between the values", "those of the strides");
  Expected<Window> window = transposedWindow(site.tiled);
  return window ? convolve(site, *window) : propagate(window);
}

Expected<void> emitOf(tpu::MatMulOp op, const Site &site) {
  return hasConstantMatrix(op) ? convolve(site, {}) : emitProducts(op, site);
}

Expected<void> emitOf(tpu::MaxPoolOp, const Site &site) {
  Expected<Pool> pool = poolOf(site);
  if (!pool)
    return propagate(pool);
  if (Expected<void> done = emitMaxPool(site.builder, *pool); !done)
    return done;
  return applyRelu(site, pool->result);
}

/// Averages whose windows reach beyond the input along h or w: of fewer elements than the kernel
/// has.
static Expected<void> leaveOutPads(const Site &site, const Pool &pool, unsigned axis) {
  const OperandModel &input = site.tiled.model->operands[0];
  const size_t dim = axis == kAxisH ? 2 : 3;
  const int64_t kernel = pool.window.kernel[dim - 2];
  const Range results = site.tiled.result.tile[axis];
  const auto countAt = [&](int64_t place) {
    const PaddedRange under = input.padded(axis, {results.begin + place, 1});
    return kernel - under.padBegin - under.padEnd;
  };
  for (int64_t first = 0; first < results.size;) {
    const int64_t count = countAt(first);
    int64_t end = first + 1;
    while (end < results.size && countAt(end) == count)
      ++end;
    if (count <= 0)
      return makeError("", "an average of nothing but padding", "some elements");
    LocalTensor part = pool.result;
    part.address += static_cast<uint32_t>(first) * part.strides[dim];
    part.shape[dim] = static_cast<uint32_t>(end - first);
    if (count != kernel)
      if (Expected<void> done = emitScaled(
              site, part, part, static_cast<double>(kernel) / static_cast<double>(count));
          !done)
        return done;
    first = end;
  }
  return {};
}

/// Where the scale of the result asks for a factor of 8 bits; others are convolutions
/// (`--average-to-conv`).
static Expected<void> averageIntegers(tpu::AvgPoolOp op, const Site &site, const Pool &pool) {
  constexpr int64_t kMostFactor = 255, kMostShift = 31;
  const auto multipliers = op->getAttrOfType<ArrayAttr>("multiplier");
  const auto shifts = op->getAttrOfType<ArrayAttr>("rshift");
  if (!multipliers || !shifts || multipliers.size() != 1 || shifts.size() != 1)
    return makeError("", "an average of integers over windows of several sizes",
                     "windows of one size");
  const int64_t multiplier = top::toInts(multipliers)[0], shift = top::toInts(shifts)[0];
  if (multiplier < 0 || multiplier > kMostFactor || shift < 0 || shift > kMostShift)
    return makeError("", fmt::format("a factor of {} >> {}", multiplier, shift), "one of 8 bits");
  if (Expected<void> done = emitAveragePool(site.builder, pool, static_cast<uint16_t>(multiplier),
                                            static_cast<unsigned>(shift));
      !done)
    return done;
  return applyRelu(site, pool.result);
}

Expected<void> emitOf(tpu::AvgPoolOp op, const Site &site) {
  Expected<Pool> pool = poolOf(site);
  if (!pool)
    return propagate(pool);
  if (!site.isBf16())
    return averageIntegers(op, site, *pool);
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
  if (!op.getCountIncludePad())
    for (const unsigned axis : {kAxisH, kAxisW})
      if (Expected<void> done = leaveOutPads(site, *pool, axis); !done)
        return done;
  return applyRelu(site, pool->result);
}

/// Of a transposed convolution whose command gives more than the tile's result.
static int64_t scratchOfPlaces(const Chip &chip, const TiledOp &tiled) {
  Expected<Window> window = transposedWindow(tiled);
  Expected<LocalTensor> input = layoutOf(tiled, 0).local(chip, {tiled.operands[0].tile});
  Expected<LocalTensor> result =
      layoutOf(tiled, tiled.op->getNumOperands()).local(chip, {tiled.result.tile});
  if (!window || !input || !result)
    return 0;
  const Extents places = allPlaces(result->shape, input->shape, *window);
  return places == result->shape ? 0 : int64_t{alignedBytes(chip, places, result->isBf16)};
}

int64_t scratchOfWindows(const Chip &chip, const TiledOp &tiled) {
  if (isa<tpu::DeconvOp>(tiled.op))
    return scratchOfPlaces(chip, tiled);
  if (!isa<tpu::ConvOp>(tiled.op) || !outsideOf(tiled.op))
    return 0;
  Expected<Window> window = windowOf(tiled);
  Expected<LocalTensor> input = layoutOf(tiled, 0).local(chip, {tiled.operands[0].tile});
  if (!window || !input)
    return 0;
  const Extents shape = withPads(input->shape, *window);
  return shape == input->shape ? 0 : int64_t{alignedBytes(chip, shape, true)};
}

} // namespace tpuc::cv18xx::backend
