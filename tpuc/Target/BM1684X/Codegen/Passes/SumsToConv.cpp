//===- SumsToConv.cpp - Sums of integers over dimensions in front of others -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements that are added up lie in one lane. Where others lie between them, each byte would be
// transferred by itself. A convolution adds up channels where they are: [N, E, A, B] has E * A of
// them, and its filter ones where channel a of the result meets channel e * A + a.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/PackedRows.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h"

#include <optional>
#include <utility>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// [outer, extent, ...] of which `extent` is added up.
struct Sum {
  int64_t outer = 1, extent = 1;
  SmallVector<int64_t> inner;
};

/// How the inner dimensions become channels and a picture.
struct Picture {
  int64_t channels = 1, rows = 1, columns = 1;
};

/// None for what is no sum or mean of bytes, for rows that follow each other, and for dimensions
/// that do not.
std::optional<Sum> sumOf(tpu::ReduceOp op) {
  const bool isSum = op.getMode() == "ReduceSum" || op.getMode() == "ReduceMean";
  const quant::UniformQuantizedType from = tpu::quantizedType(op.getInput());
  const quant::UniformQuantizedType to = tpu::quantizedType(op.getOutput());
  if (!isSum || !from || !to || from.getStorage().width != 8 || to.getStorage().width != 8 ||
      op->hasAttr("as_stored") || !op->hasAttr("multiplier") || !staticType(op.getInput()) ||
      !staticType(op.getOutput()) || !worksInTheMiddle(op))
    return std::nullopt;
  const std::optional<llvm::SmallBitVector> reduced = dimsReducedBy(op);
  if (!reduced || reduced->none())
    return std::nullopt;
  Sum sum;
  const int first = reduced->find_first();
  const int last = reduced->find_last();
  for (auto [dim, extent] : llvm::enumerate(OpMaker::dimsOf(op.getInput()))) {
    const auto at = static_cast<int>(dim);
    if (at < first)
      sum.outer *= extent;
    else if (at > last)
      sum.inner.push_back(extent);
    else if (extent != 1 && !(*reduced)[static_cast<unsigned>(dim)])
      return std::nullopt;
    else
      sum.extent *= extent;
  }
  // Shorter rows are loaded as slowly as columns.
  constexpr int64_t kShortRow = 64;
  return ShapedType::getNumElements(sum.inner) > kShortRow ? std::optional(sum) : std::nullopt;
}

/// Whole dimensions as channels, or a power of two of neighbouring elements.
SmallVector<Picture> picturesOf(const Sum &sum, int64_t lanes) {
  SmallVector<Picture> pictures;
  const ArrayRef<int64_t> inner = sum.inner;
  for (size_t front = 0; front <= inner.size(); ++front) {
    const ArrayRef<int64_t> rest = inner.drop_front(front);
    pictures.push_back({ShapedType::getNumElements(inner.take_front(front)),
                        rest.empty() ? 1 : ShapedType::getNumElements(rest.drop_back()),
                        rest.empty() ? 1 : rest.back()});
  }
  const int64_t elements = ShapedType::getNumElements(inner);
  for (int64_t channels = 2; channels <= lanes && elements % channels == 0; channels *= 2)
    pictures.push_back({channels, 1, elements / channels});
  return pictures;
}

/// The picture of which all takes the fewest cycles, one after the other: loading the filter and
/// the input, and computing.
std::optional<Picture> pictureFor(tpu::ReduceOp op, const Sum &sum, const Backend &backend) {
  constexpr int64_t kMostTerms = 65535;
  std::optional<Picture> best;
  int64_t fewest = 0;
  const int64_t lanes = backend.info().tiles().lanes;
  for (const Picture &each : picturesOf(sum, lanes)) {
    const int64_t terms = sum.extent * each.channels;
    const int64_t pixels = each.rows * each.columns;
    if (terms > kMostTerms || each.rows > kMostTerms || each.columns > kMostTerms)
      continue;
    const std::optional<int64_t> computed = convolutionCycles(
        op, {each.channels, terms, 1, 1}, {sum.outer, each.channels, each.rows, each.columns});
    if (!computed)
      return std::nullopt;
    const int64_t cycles = *computed + backend.transferCycles(terms * each.channels, lanes) +
                           backend.transferCycles(sum.outer * terms * pixels, sum.outer * terms);
    if (!best || cycles < fewest) {
      best = each;
      fewest = cycles;
    }
  }
  return best;
}

Expected<void> asConvolution(tpu::ReduceOp op, const Backend &backend) {
  const Sum sum = *sumOf(op);
  const std::optional<Picture> picture = pictureFor(op, sum, backend);
  const auto factors = op->getAttrOfType<ArrayAttr>("multiplier");
  const auto shifts = op->getAttrOfType<ArrayAttr>("rshift");
  if (!picture || !factors || factors.size() != 1 || !shifts || shifts.size() != 1)
    return {};
  const int64_t channels = picture->channels;
  OpMaker maker(op, backend);
  Tensor filter(DataType::I8, Shape{channels, sum.extent * channels, 1, 1});
  const std::span<int8_t> taps = filter.mutableData<int8_t>();
  for (int64_t channel = 0; channel < channels; ++channel)
    for (int64_t term = 0; term < sum.extent; ++term)
      taps[static_cast<size_t>((channel * sum.extent + term) * channels + channel)] = 1;
  // Sums are those of the distances from the zero point.
  Tensor bias(DataType::I32, Shape{channels});
  std::ranges::fill(bias.mutableData<int32_t>(),
                    static_cast<int32_t>(-sum.extent * tpu::zeroPointOf(op.getInput())));
  NamedAttrList attributes(op->getAttrDictionary());
  for (const char *name : {"axes", "keepdims", "mode", "noop_with_empty_axes"})
    attributes.erase(name);
  Builder &builder = maker.builder;
  attributes.set("kernel_shape", builder.getI64ArrayAttr({1, 1}));
  attributes.set("strides", builder.getI64ArrayAttr({1, 1}));
  attributes.set("pads", builder.getI64ArrayAttr({0, 0, 0, 0}));
  attributes.set("group", builder.getI64IntegerAttr(1));
  attributes.set("multiplier", builder.getArrayAttr(SmallVector<Attribute>(
                                   static_cast<size_t>(channels), factors[0])));
  attributes.set("rshift", builder.getArrayAttr(
                               SmallVector<Attribute>(static_cast<size_t>(channels), shifts[0])));
  const Value input = maker.reshaped(
      op.getInput(), {sum.outer, sum.extent * channels, picture->rows, picture->columns}, "terms");
  const Type type =
      OpMaker::typeOf(op.getOutput()).clone({sum.outer, channels, picture->rows, picture->columns});
  const Value made = maker.make(
      tpu::ConvOp::getOperationName(), "sums", type,
      {input, maker.weight(filter, "ones_i8"), maker.weight(bias, "bias_i32")}, attributes);
  maker.replace(0, maker.reshaped(made, OpMaker::dimsOf(op.getOutput()), "shaped"));
  op.erase();
  return {};
}

} // namespace

Expected<void> sumsToConv(ModuleOp module, const Backend &backend) {
  const auto wants = [](tpu::ReduceOp op, const Backend &) { return sumOf(op).has_value(); };
  return rewriteOps<tpu::ReduceOp>(module, backend, wants, asConvolution);
}

} // namespace tpuc::bm1684x::backend
