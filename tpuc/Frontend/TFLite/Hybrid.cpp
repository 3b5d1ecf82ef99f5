//===- Hybrid.cpp - Products of integers with floats ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/TFLite/Hybrid.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;

static Tensor vectorOf(ArrayRef<float> values, const Shape &shape) {
  Tensor made(DataType::F32, shape);
  std::ranges::copy(values, made.mutableData<float>().begin());
  return made;
}

std::optional<HybridWeights> tpuc::tflite::hybridWeights(TFLiteLayer &layer, StringRef name,
                                                         ArrayRef<unsigned> indices) {
  std::vector<float> scales;
  std::vector<int8_t> integers;
  int64_t columns = -1;
  for (unsigned index : indices) {
    if (!layer.isHybrid(index)) {
      layer.fail(fmt::format("its input {} holds no 8-bit integers", index),
                 "such weights, as the others are");
      return std::nullopt;
    }
    const Ints shape = layer.shape(index);
    if (!layer.failed() && (shape.size() != 2 || (columns >= 0 && shape[1] != columns)))
      layer.fail("has filters that do not fit each other", "two dimensions, as many columns");
    if (layer.failed())
      return std::nullopt;
    columns = shape[1];
    const std::optional<Tensor> part = layer.needIntegers(index);
    if (!part)
      return std::nullopt;
    llvm::append_range(integers, part->data<int8_t>());
    llvm::append_range(scales, layer.needScales(index, 0, shape[0]));
  }
  if (layer.failed())
    return std::nullopt;
  const int64_t outputs = std::ssize(scales);
  Tensor joined(DataType::I8, Shape({outputs, columns}));
  std::ranges::copy(integers, joined.mutableData<int8_t>().begin());
  return HybridWeights{layer.weight((name + "_integers").str(), permuted(joined, {1, 0})),
                       layer.weight((name + "_scales").str(), vectorOf(scales, Shape({outputs})))};
}

/// i32 sums as floats, times the scales of rows and of outputs.
static Value scaled(TFLiteLayer &layer, StringRef name, Value sums, Value rows, Value outputs) {
  Value factors = layer.temp<top::MulOp>((name + "_factors").str(), {rows, outputs});
  Value numbers = layer.cast((name + "_numbers").str(), sums, DataType::F32);
  return layer.temp<top::MulOp>((name + "_scaled").str(), {numbers, factors});
}

/// `scales` along dimension 1 of `rank`, as a constant.
static Value channelScales(TFLiteLayer &layer, ArrayRef<float> scales, int64_t rank) {
  Shape shape(std::vector<int64_t>(static_cast<size_t>(rank), 1));
  shape[1] = std::ssize(scales);
  return layer.weight("scales", vectorOf(scales, shape));
}

static SmallVector<Value> rounded(TFLiteLayer &layer, StringRef name, Value value, int64_t axis,
                                  bool symmetric) {
  return layer.temps<top::DynamicQuantizeRowsOp>(
      (name + "_rounded").str(), 3, 3, value,
      layer.attrs().setInt("axis", axis).setBool("symmetric", symmetric));
}

Value tpuc::tflite::hybridProduct(TFLiteLayer &layer, StringRef name, Value value,
                                  const HybridWeights &weights, Value bias, bool symmetric) {
  const std::optional<int64_t> rank = frontend::LayerBuilder::rank(value);
  if (!layer.failed() && (!rank || *rank < 1))
    layer.fail("has an input of unknown dimensions", "one or more");
  if (layer.failed())
    return layer.none();
  const SmallVector<Value> rows = rounded(layer, name, value, *rank - 1, symmetric);
  if (layer.failed())
    return layer.none();
  Value sums = layer.temp<top::MatMulIntegerOp>((name + "_sums").str(),
                                                {rows[0], weights.integers, rows[2], layer.none()});
  Value made = scaled(layer, name, sums, rows[1], weights.scales);
  return bias && top::isPresent(bias)
             ? layer.temp<top::AddOp>((name + "_biased").str(), {made, bias})
             : made;
}

Value tpuc::tflite::hybridConvolution(TFLiteLayer &layer, Value value, Tensor filter,
                                      ArrayRef<float> scales, const Attrs &attributes,
                                      bool symmetric) {
  if (layer.failed())
    return layer.none();
  const auto rank = static_cast<int64_t>(filter.shape().rank());
  const SmallVector<Value> rows = rounded(layer, "input", value, 1, symmetric);
  if (layer.failed())
    return layer.none();
  Value sums = layer.temp<top::ConvIntegerOp>(
      "sums", {rows[0], layer.weight("filter", std::move(filter)), rows[2], layer.none()},
      attributes);
  return scaled(layer, "sums", sums, rows[1], channelScales(layer, scales, rank));
}

Value tpuc::tflite::hybridDeconvolution(TFLiteLayer &layer, Value value, const Tensor &filter,
                                        ArrayRef<float> scales, const Attrs &attributes) {
  if (layer.failed())
    return layer.none();
  const SmallVector<Value> rows = rounded(layer, "input", value, 1, /*symmetric=*/false);
  if (layer.failed())
    return layer.none();
  const auto number = [&](StringRef name, Value integers) {
    return layer.cast(name, integers, DataType::F32);
  };
  Value centred =
      layer.temp<top::SubOp>("centred", {number("integers", rows[0]), number("zero", rows[2])});
  Value sums = layer.temp<top::DeconvOp>(
      "sums", {centred, layer.weight("filter", convert(filter, DataType::F32)), layer.none()},
      attributes);
  return scaled(layer, "sums", sums, rows[1],
                channelScales(layer, scales, static_cast<int64_t>(filter.shape().rank())));
}
