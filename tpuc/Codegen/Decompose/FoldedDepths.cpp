//===- FoldedDepths.cpp - Convolutions over volumes as over pictures -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/FoldedDepths.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Group/WindowCost.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Filters of more elements than this are not looked at: most of them are zeros.
constexpr int64_t kMostElements = int64_t{1} << 22;

/// Where the parts of a filter [O, C, taps, H, W] stand in one over pictures.
struct Places {
  /// Depths of the result and of the input that are channels.
  int64_t results = 1, inputs = 1;
  /// In front of the first depth of the input.
  int64_t pad = 0;
  /// Whether the channels of each depth are together, not the depths of each channel.
  bool isByDepth = false;

  static int64_t place(int64_t channel, int64_t channels, int64_t depth, int64_t depths,
                       bool isByDepth) {
    return isByDepth ? depth * channels + channel : channel * depths + depth;
  }
};

/// A filter [O, C, taps, H, W] as [O * results, C * inputs, H, W].
Tensor pictureFilter(const Tensor &filter, const top::Window &window, const Places &places) {
  const auto dims = filter.shape().dims();
  const int64_t inputs = dims[1] * places.inputs;
  const std::array<int64_t, 4> madeDims = {dims[0] * places.results, inputs, dims[3], dims[4]};
  Tensor made(filter.type(), Shape(std::span(madeDims)));
  std::ranges::fill(made.mutableBytes(), std::byte{0});
  const auto plane = static_cast<size_t>(byteSize(filter.type(), dims[3] * dims[4]));
  const auto from = filter.rawBytes();
  const auto to = made.mutableBytes();
  for (int64_t output = 0; output < dims[0]; ++output)
    for (int64_t input = 0; input < dims[1]; ++input)
      for (int64_t tap = 0; tap < dims[2]; ++tap)
        for (int64_t result = 0; result < places.results; ++result) {
          const int64_t depth = result * window.strides[0] + tap * window.dilations[0] - places.pad;
          if (depth < 0 || depth >= places.inputs)
            continue;
          const auto source = static_cast<size_t>((output * dims[1] + input) * dims[2] + tap);
          const auto target = static_cast<size_t>(
              Places::place(output, dims[0], result, places.results, places.isByDepth) * inputs +
              Places::place(input, dims[1], depth, places.inputs, places.isByDepth));
          std::ranges::copy(from.subspan(source * plane, plane),
                            to.subspan(target * plane, plane).begin());
        }
  return made;
}

/// What there is for each channel, for each of its depths.
Tensor repeatedEach(const Tensor &each, const Places &places) {
  const int64_t channels = each.numElements();
  const std::array<int64_t, 1> length = {channels * places.results};
  Tensor repeated(each.type(), Shape(std::span(length)));
  const auto size = static_cast<size_t>(byteSize(each.type(), 1));
  for (int64_t channel = 0; channel < channels; ++channel)
    for (int64_t depth = 0; depth < places.results; ++depth) {
      const auto place = static_cast<size_t>(
          Places::place(channel, channels, depth, places.results, places.isByDepth));
      std::ranges::copy(each.rawBytes().subspan(static_cast<size_t>(channel) * size, size),
                        repeated.mutableBytes().subspan(place * size, size).begin());
    }
  return repeated;
}

void repeatEach(OpMaker &maker, NamedAttrList &attributes, const Places &places) {
  for (StringRef name : {"multiplier", "rshift", "dequant_scale"})
    if (auto each = dyn_cast_or_null<ArrayAttr>(attributes.get(name)); each && each.size() > 1) {
      const auto channels = static_cast<int64_t>(each.size());
      SmallVector<Attribute> all(each.size() * static_cast<size_t>(places.results));
      for (int64_t channel = 0; channel < channels; ++channel)
        for (int64_t depth = 0; depth < places.results; ++depth)
          all[static_cast<size_t>(
              Places::place(channel, channels, depth, places.results, places.isByDepth))] =
              each[static_cast<unsigned>(channel)];
      attributes.set(name, maker.builder.getArrayAttr(all));
    }
}

/// Whether depths may be channels of a convolution with this filter and this bias.
bool mayFold(tpu::ConvOp op) {
  return tpu::zeroPointOf(op.getFilter()) == 0 &&
         (isa<NoneType>(op.getBias().getType()) || OpMaker::constantOf(op.getBias()));
}

/// Makes a convolution over pictures, where depths are channels.
class PictureConvolution {
public:
  PictureConvolution(OpMaker &maker, tpu::ConvOp op, const Tensor &filter,
                     const top::Window &window, const NamedAttrList &attributes)
      : maker(maker), op(op), filter(filter), window(window), attributes(attributes) {}

  /// One whose constants have no elements yet.
  Value tried(StringRef what, Value pictures, ArrayRef<int64_t> out, const Places &places) {
    const auto taps = filter.shape().dims();
    const auto empty = [&](Value constant, ArrayRef<int64_t> dims) -> Value {
      return maker.builder.create<top::WeightOp>(
          constant.getLoc(), OpMaker::typeOf(constant).clone(dims), ArrayAttr());
    };
    const Value bias = op.getBias();
    return made(what, pictures, out, places,
                empty(op.getFilter(),
                      {taps[0] * places.results, taps[1] * places.inputs, taps[3], taps[4]}),
                isa<NoneType>(bias.getType())
                    ? bias
                    : empty(bias, {OpMaker::typeOf(bias).getNumElements() * places.results}));
  }

  Value finished(StringRef what, Value pictures, ArrayRef<int64_t> out, const Places &places) {
    const std::optional<Tensor> bias = OpMaker::constantOf(op.getBias());
    return made(what, pictures, out, places,
                maker.weight(pictureFilter(filter, window, places), (what + "_filter").str()),
                bias ? maker.weight(repeatedEach(*bias, places), (what + "_bias").str())
                     : op.getBias());
  }

private:
  Value made(StringRef what, Value pictures, ArrayRef<int64_t> out, const Places &places,
             Value weights, Value bias) {
    NamedAttrList repeated = attributes;
    repeatEach(maker, repeated, places);
    const Value like = tpu::isQuantized(pictures) ? op.getOutput() : pictures;
    return maker.make(tpu::ConvOp::getOperationName(), what, Type(OpMaker::typeOf(like).clone(out)),
                      {pictures, weights, bias}, repeated);
  }

  OpMaker &maker;
  tpu::ConvOp op;
  const Tensor &filter;
  const top::Window &window;
  const NamedAttrList &attributes;
};

/// Whether pictures of `dims` are what an op gives that computes in local memory.
bool areThere(Value volumes, ArrayRef<int64_t> dims, const Backend &backend) {
  auto reshape = volumes.getDefiningOp<tpu::ReshapeOp>();
  if (!reshape || OpMaker::dimsOf(reshape->getOperand(0)) != dims)
    return false;
  Operation *made = reshape->getOperand(0).getDefiningOp();
  const Expected<Place> place = backend.placeOf(made);
  return place && *place == Place::Local;
}

} // namespace

Value codegen::packedPlanes(OpMaker &maker, Value input, int64_t depths, int64_t kernel,
                            int64_t stride, int64_t pad) {
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(input);
  const SmallVector<int64_t> pictures = {dims[0] * depths, kernel * dims[1], dims[3], dims[4]};
  auto packed = maker.builder.create<tpu::PackRowsOp>(
      NameLoc::get(maker.builder.getStringAttr(tensorNames(maker.op)[0] + "_planes")),
      OpMaker::typeOf(input).clone(pictures), input, kernel, stride, pad);
  const Expected<Place> place = maker.backend.placeOf(packed);
  if (place && *place == Place::Alias)
    return packed.getOutput();
  packed->erase();
  return {};
}

Value codegen::convolvedBlocks(OpMaker &maker, tpu::ConvOp op, const Tensor &filter,
                               const top::Window &window, NamedAttrList attributes,
                               tpu::ConvOp apart) {
  if (op.getGroup() != 1 || !mayFold(op) || OpMaker::constantOf(op.getInput()))
    return {};
  const auto &out = window.output;
  const auto taps = filter.shape().dims();
  PictureConvolution convolution(maker, op, filter, window, attributes);
  std::optional<int64_t> least = layerCost(apart, maker.backend);
  const auto placesOf = [&](int64_t block) {
    return Places{.results = block,
                  .inputs = (block - 1) * window.strides[0] +
                            (window.kernel[0] - 1) * window.dilations[0] + 1,
                  .isByDepth = true};
  };
  const auto dimsOf = [&](int64_t block) {
    return SmallVector<int64_t>{out[0] * (out[2] / block), block * out[1], out[3], out[4]};
  };
  const auto packed = [&](int64_t block) {
    return packedPlanes(maker, op.getInput(), out[2] / block, placesOf(block).inputs,
                        block * window.strides[0], window.padsBegin[0]);
  };
  int64_t best = 1;
  for (int64_t block = 2; block < out[2]; ++block) {
    const Places places = placesOf(block);
    if (out[2] % block != 0 ||
        filter.numElements() / taps[2] * block * places.inputs > kMostElements)
      continue;
    const Value pictures = packed(block);
    if (!pictures)
      break;
    const Value tried = convolution.tried("of_blocks", pictures, dimsOf(block), places);
    const std::optional<int64_t> cycles = layerCost(tried.getDefiningOp(), maker.backend);
    eraseUnused(tried.getDefiningOp());
    if (cycles && (!least || *cycles < *least)) {
      least = cycles;
      best = block;
    }
  }
  if (best == 1)
    return {};
  eraseUnused(apart);
  return convolution.finished("of_blocks", packed(best), dimsOf(best), placesOf(best));
}

Value codegen::convolvedFolds(OpMaker &maker, tpu::ConvOp op, const Tensor &filter,
                              const top::Window &window, NamedAttrList attributes,
                              tpu::ConvOp apart) {
  const SmallVector<int64_t> dims(OpMaker::dimsOf(op.getInput()));
  const auto &out = window.output;
  const Places places = {.results = out[2], .inputs = dims[2], .pad = window.padsBegin[0]};
  // Biases make up for the zero point under each tap, also under those outside of the volume.
  if (tpu::zeroPointOf(op.getInput()) != 0 && (window.padsBegin[0] != 0 || window.padsEnd[0] != 0))
    return {};
  // Most of the filter are zeros.
  if (filter.numElements() / window.kernel[0] * places.results * places.inputs > kMostElements ||
      !mayFold(op))
    return {};
  PictureConvolution convolution(maker, op, filter, window, attributes);
  const SmallVector<int64_t> pictureDims = {dims[0], dims[1] * dims[2], dims[3], dims[4]};
  const SmallVector<int64_t> outDims = {out[0], out[1] * out[2], out[3], out[4]};
  const bool isThere = areThere(op.getInput(), pictureDims, maker.backend);
  const Value tried = convolution.tried(
      "of_folds", maker.reshaped(op.getInput(), pictureDims, "folds"), outDims, places);
  const std::optional<int64_t> others = layerCost(apart, maker.backend);
  std::optional<int64_t> cycles = layerCost(tried.getDefiningOp(), maker.backend);
  eraseUnused(tried.getDefiningOp());
  // What is made as these pictures need not be stored and loaded.
  const RankedTensorType type = OpMaker::typeOf(op.getInput());
  if (cycles && isThere)
    *cycles -= 2 * maker.backend.transferCycles(globalBytes(type), dims[0] * dims[1] * dims[2]);
  if (!cycles || (others && *others < *cycles))
    return {};
  eraseUnused(apart);
  const Value made = convolution.finished(
      "of_folds", maker.viewed(op.getInput(), pictureDims, "folds"), outDims, places);
  return maker.reshaped(made, {out[0], out[1], out[2], out[3], out[4]}, "depths");
}
