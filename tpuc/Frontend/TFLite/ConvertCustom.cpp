//===- ConvertCustom.cpp - Custom ops of MediaPipe ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Frontend/TFLite/TFLiteLayer.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;
using fb::BuiltinOperator;

namespace {

/// What the options of these ops hold: integers of 32 bits, lowest byte first. The padding comes
/// first: 1 is SAME, 2 is VALID. Then strides (width, height), and of pools the extents (width,
/// height).
struct CustomWindow {
  bool isSame = false;
  int64_t strideX = 1, strideY = 1, width = 1, height = 1;
};

/// The options of an op with `count` of these integers; an error of the layer where they are
/// others.
std::optional<CustomWindow> customWindow(TFLiteLayer &layer, size_t count) {
  const auto *bytes = layer.source().table->custom_options();
  std::array<int32_t, 5> numbers{1, 1, 1, 1, 1};
  if (!bytes || bytes->size() < count * 4) {
    layer.fail(fmt::format("has options of {} bytes", bytes ? bytes->size() : 0),
               fmt::format("{} or more", count * 4));
    return std::nullopt;
  }
  for (size_t index = 0; index < count; ++index) {
    uint32_t value = 0;
    for (unsigned byte = 0; byte < 4; ++byte)
      value |= uint32_t(bytes->Get(static_cast<uint32_t>(index * 4 + byte))) << 8 * byte;
    numbers[index] = std::bit_cast<int32_t>(value);
  }
  if ((numbers[0] != 1 && numbers[0] != 2) ||
      std::ranges::any_of(numbers, [](int32_t number) { return number < 1; })) {
    layer.fail(fmt::format("has the padding {} and a window of {}", numbers[0],
                           fmt::join(numbers.begin() + 1, numbers.end(), ", ")),
               "1 (SAME) or 2 (VALID), strides and extents of 1 or more");
    return std::nullopt;
  }
  return CustomWindow{numbers[0] == 1, numbers[1], numbers[2], numbers[3], numbers[4]};
}

/// The extents of input 0; none, and an error, where they are not four.
std::optional<Ints> pictureOf(TFLiteLayer &layer) {
  const Ints dims = layer.shape(0);
  if (layer.failed())
    return std::nullopt;
  if (dims.size() == 4)
    return dims;
  layer.fail(fmt::format("has an input of {} dimensions", dims.size()), "4");
  return std::nullopt;
}

/// Inputs: the input, the filter [outputs, height, width, channels], the bias.
void transposedConvolution(TFLiteLayer &layer) {
  const std::optional<CustomWindow> window = customWindow(layer, 3);
  const std::optional<Ints> input = window ? pictureOf(layer) : std::nullopt;
  const Ints filter = layer.shape(1);
  if (!input || layer.failed())
    return;
  if (filter.size() != 4 || filter[3] != (*input)[3])
    return layer.fail("has a filter that does not fit its input",
                      "[outputs, height, width, channels]");
  if (!checkBias(layer, 2, filter[0]))
    return;
  // SAME leaves out what the convolution that it turns around pads.
  const auto cut = [&](int64_t kernel, int64_t extent, int64_t stride) {
    return window->isSame ? std::max<int64_t>(0, kernel - (extent - 1) % stride - 1) : 0;
  };
  const int64_t rows = cut(filter[1], (*input)[1], window->strideY);
  const int64_t columns = cut(filter[2], (*input)[2], window->strideX);
  layer.put<top::DeconvOp>(
      kFront, 0, {layer.in(0, kFront), layer.turned("filter", 1, {3, 0, 1, 2}), layer.in(2)},
      layer.attrs()
          .setInts("kernel_shape", Ints{filter[1], filter[2]})
          .setInts("strides", Ints{window->strideY, window->strideX})
          .setInts("pads", Ints{rows / 2, columns / 2, rows - rows / 2, columns - columns / 2}));
}

/// Where `count` windows begin along the dimension `axis` of four: at `first`, `step` apart.
Value beginnings(TFLiteLayer &layer, StringRef suffix, int64_t count, int64_t step, int64_t first,
                 size_t axis) {
  Ints values;
  for (int64_t at = 0; at < count; ++at)
    values.push_back(first + at * step);
  Shape shape({1, 1, 1, 1});
  shape[axis] = count;
  return layer.weight(
      suffix, Tensor::of<int64_t>(shape, std::span<const int64_t>(values.data(), values.size())));
}

Value number(TFLiteLayer &layer, StringRef suffix, int64_t value) {
  return layer.weight(suffix, Tensor::of<int64_t>({}, {value}));
}

/// Outputs: maxima, and where in its window each was, row by row, as floats with 0.1 more.
void maxPoolWithPlaces(TFLiteLayer &layer) {
  const std::optional<CustomWindow> window = customWindow(layer, 5);
  const std::optional<Ints> input = window ? pictureOf(layer) : std::nullopt;
  if (!input)
    return;
  // As many windows as the format has, and what they need in front.
  const auto positions = [&](int64_t extent, int64_t kernel, int64_t stride) {
    const int64_t count =
        window->isSame ? (extent + stride - 1) / stride : (extent - kernel + stride) / stride;
    const int64_t total = std::max<int64_t>(0, (count - 1) * stride + kernel - extent);
    return std::array{count, total / 2, total - total / 2};
  };
  const auto [rows, above, below] = positions((*input)[1], window->height, window->strideY);
  const auto [columns, left, right] = positions((*input)[2], window->width, window->strideX);
  SmallVector<Value> made = layer.temps<top::MaxPoolWithMaskOp>(
      "pooled", 2, 2, layer.in(0, kFront),
      layer.attrs()
          .setInts("kernel_shape", Ints{window->height, window->width})
          .setInts("strides", Ints{window->strideY, window->strideX})
          .setInts("pads", Ints{above, left, below, right}));
  layer.put<top::CopyOp>(kFront, 0, made[0], layer.attrs());
  if (!layer.wants(1) || layer.failed())
    return;
  Value width = number(layer, "input_width", (*input)[2]);
  Value x = layer.temp<top::ModOp>("x", {made[1], width});
  Value line =
      layer.temp<top::DivOp>("line", {layer.temp<top::SubOp>("without_x", {made[1], x}), width});
  Value y = layer.temp<top::ModOp>("y", {line, number(layer, "input_height", (*input)[1])});
  Value row = layer.temp<top::SubOp>(
      "row", {y, beginnings(layer, "rows", rows, window->strideY, -above, 2)});
  Value column = layer.temp<top::SubOp>(
      "column", {x, beginnings(layer, "columns", columns, window->strideX, -left, 3)});
  Value place = layer.temp<top::AddOp>(
      "place",
      {layer.temp<top::MulOp>("rows_before", {row, number(layer, "window_width", window->width)}),
       column});
  layer.put<top::AddConstOp>(kFront, 1, layer.cast("as_number", place, DataType::F32),
                             layer.attrs().setFloat("const_val", 0.1F));
}

/// Inputs: maxima, and where in their windows they were. Windows lie side by side.
void maxUnpool(TFLiteLayer &layer) {
  const std::optional<CustomWindow> window = customWindow(layer, 5);
  const std::optional<Ints> input = window ? pictureOf(layer) : std::nullopt;
  if (!input)
    return;
  if (window->strideX != window->width || window->strideY != window->height)
    return layer.fail("has windows that overlap, or gaps between them",
                      "strides like its window, as others are not supported");
  const int64_t height = (*input)[1] * window->height;
  const int64_t width = (*input)[2] * window->width;
  // The result, one element of which a place names: extents of 32 bits each.
  int64_t elements = (*input)[0];
  for (int64_t extent : {(*input)[3], height, width})
    if (llvm::MulOverflow(elements, extent, elements))
      return layer.fail("makes more elements than can be numbered", "fewer than 2^63");
  Value place = layer.cast("place", layer.in(1, kFront), DataType::I64);
  Value columns = number(layer, "window_width", window->width);
  Value x = layer.temp<top::ModOp>("x", {place, columns});
  Value y = layer.temp<top::DivOp>("y", {layer.temp<top::SubOp>("without_x", {place, x}), columns});
  Value below = layer.temp<top::MulOp>("below", {y, number(layer, "width", width)});
  Value mask = layer.temp<top::AddOp>("in_window", {below, x});
  // Where the windows begin in the whole result, channels in front.
  const int64_t plane = height * width;
  mask = layer.temp<top::AddOp>(
      "in_row", {mask, beginnings(layer, "columns", (*input)[2], window->width, 0, 3)});
  mask = layer.temp<top::AddOp>(
      "in_plane", {mask, beginnings(layer, "rows", (*input)[1], window->height * width, 0, 2)});
  mask = layer.temp<top::AddOp>("in_picture",
                                {mask, beginnings(layer, "planes", (*input)[3], plane, 0, 1)});
  mask = layer.temp<top::AddOp>(
      "mask", {mask, beginnings(layer, "pictures", (*input)[0], (*input)[3] * plane, 0, 0)});
  layer.put<top::MaxUnpoolOp>(kFront, 0, {layer.in(0, kFront), mask, layer.none()},
                              layer.attrs()
                                  .setInts("kernel_shape", Ints{window->height, window->width})
                                  .setInts("strides", Ints{window->height, window->width}));
}

constexpr OpRow kCustomRows[] = {
    {BuiltinOperator::CUSTOM, 3, 3, transposedConvolution, "Deconv", "Convolution2DTransposeBias"},
    {BuiltinOperator::CUSTOM, 1, 1, maxPoolWithPlaces, "MaxPoolWithMask and arithmetic",
     "MaxPoolingWithArgmax2D"},
    {BuiltinOperator::CUSTOM, 2, 2, maxUnpool, "MaxUnpool and arithmetic", "MaxUnpooling2D"},
};

} // namespace

ArrayRef<OpRow> tpuc::tflite::customRows() { return kCustomRows; }
