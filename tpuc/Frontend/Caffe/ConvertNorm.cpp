//===- ConvertNorm.cpp - Normalization, reductions, softmax ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/CaffeLayer.h"

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::caffe;

namespace {

Ints axesFrom(int64_t first, size_t rank) {
  Ints axes;
  for (int64_t axis = first; axis < static_cast<int64_t>(rank); ++axis)
    axes.push_back(axis);
  return axes;
}

Value reduce(CaffeLayer &layer, StringRef suffix, StringRef mode, Value value, const Ints &axes) {
  return layer.temp<top::ReduceOp>(
      suffix, {value, layer.none()},
      layer.attrs().setInts("axes", axes).setBool("keepdims", true).setString("mode", mode));
}

/// (x - mean) / divisor, where the divisor is made of the mean square of the difference. Both
/// means are over `axes`. `rooted`: epsilon is added to the root, else to the square under it.
void normalizeOverAxes(CaffeLayer &layer, const Ints &axes, double epsilon, bool rooted,
                       bool divides) {
  Value mean = reduce(layer, "mean", "ReduceMean", layer.in(0), axes);
  if (!divides) {
    layer.emit<top::SubOp>({layer.in(0), mean});
    return;
  }
  Value centred = layer.temp<top::SubOp>("centred", {layer.in(0), mean});
  Value square = layer.temp<top::MulOp>("square", {centred, centred});
  Value variance = reduce(layer, "variance", "ReduceMean", square, axes);
  auto add = [&](Value value) {
    return layer.temp<top::AddConstOp>("positive", value,
                                       layer.attrs().setFloat("const_val", epsilon));
  };
  Value divisor = rooted ? add(layer.temp<top::SqrtOp>("deviation", variance))
                         : layer.temp<top::SqrtOp>("deviation", add(variance));
  layer.emit<top::DivOp>({centred, divisor});
}

/// Mean and variance of training, divided by how much was summed up; of the items at hand where
/// the layer asks for that.
void batchNorm(CaffeLayer &layer) {
  const proto::BatchNormParameter &p = layer.parameters().batch_norm_param();
  Ints dims = layer.shape(0);
  int64_t channels = dims.size() > 1 ? dims[1] : 1;
  if (p.has_use_global_stats() && !p.use_global_stats()) {
    Ints axes = {0};
    axes.append(axesFrom(2, dims.size()));
    return normalizeOverAxes(layer, axes, p.eps(), /*rooted=*/false, /*divides=*/true);
  }
  std::optional<Tensor> mean = layer.blob(0, "mean", {channels});
  std::optional<Tensor> variance = layer.blob(1, "variance", {channels});
  std::optional<Tensor> weight = layer.blob(2, "weight of the sums", {1});
  if (!mean || !variance || !weight)
    return;
  float sum = weight->data<float>()[0];
  float factor = sum == 0 ? 0 : 1 / sum;
  auto divided = [&](const Tensor &sums) {
    Tensor quotients = sums.clone();
    for (float &each : quotients.mutableData<float>())
      each *= factor;
    return quotients;
  };
  layer.emit<top::BatchNormOp>({layer.in(0), layer.weight("mean", divided(*mean)),
                                layer.weight("variance", divided(*variance)), layer.none(),
                                layer.none()},
                               layer.attrs().setFloat("epsilon", p.eps()));
}

/// The norm of SegNet's fork with its two blobs, or with mean and variance as four.
void bn(CaffeLayer &layer) {
  Ints dims = layer.shape(0);
  int64_t channels = dims.size() > 1 ? dims[1] : 1;
  Value factor = layer.blobWeight(0, "scale", {channels});
  Value shift = layer.blobWeight(1, "bias", {channels});
  if (layer.numBlobs() < 4) {
    layer.emit<top::ScaleOp>({layer.in(0), factor, shift});
    return;
  }
  Value mean = layer.blobWeight(2, "mean", {channels});
  Value variance = layer.blobWeight(3, "variance", {channels});
  layer.emit<top::BatchNormOp>(
      {layer.in(0), mean, variance, factor, shift},
      layer.attrs().setFloat("epsilon", layer.parameters().bn_param().eps()));
}

void mvn(CaffeLayer &layer) {
  const proto::MVNParameter &p = layer.parameters().mvn_param();
  Ints dims = layer.shape(0);
  Ints axes = axesFrom(p.across_channels() ? 1 : 2, dims.size());
  if (axes.empty())
    return layer.fail(fmt::format("its bottom has {} dimensions", dims.size()),
                      "some behind the channels");
  normalizeOverAxes(layer, axes, p.eps(), /*rooted=*/true, p.normalize_variance());
}

void lrn(CaffeLayer &layer) {
  const proto::LRNParameter &p = layer.parameters().lrn_param();
  Ints dims = layer.shape(0);
  if (dims.size() != 4)
    return layer.fail(fmt::format("its bottom has {} dimensions", dims.size()), "4");
  if (p.local_size() % 2 == 0)
    return layer.fail(fmt::format("its local_size is {}", p.local_size()), "an odd number");
  // Within a channel Caffe reads no k.
  const bool within = p.norm_region() == proto::LRNParameter::WITHIN_CHANNEL;
  layer.emit<top::LRNOp>(layer.in(0), layer.attrs()
                                          .setInt("size", p.local_size())
                                          .setFloat("alpha", p.alpha())
                                          .setFloat("beta", p.beta())
                                          .setFloat("bias", within ? 1 : p.k())
                                          .setBool("within_channel", within));
}

/// x * scale / sqrt(sum of squares + epsilon), over the channels, or over them and all positions.
void normalize(CaffeLayer &layer) {
  const proto::NormalizeParameter &p = layer.parameters().norm_param();
  Ints dims = layer.shape(0);
  if (dims.size() < 2)
    return layer.fail(fmt::format("its bottom has {} dimensions", dims.size()), "2 or more");
  Ints axes = p.across_spatial() ? axesFrom(1, dims.size()) : Ints{1};
  std::optional<Tensor> scale =
      layer.blob(0, "scale", p.channel_shared() ? Ints{1} : Ints{dims[1]});
  if (!scale)
    return;
  Ints wide(dims.size(), 1);
  wide[1] = p.channel_shared() ? 1 : dims[1];
  Value factor = layer.weight("scale", scale->reshaped(Shape(std::span<const int64_t>(wide))));
  Value sum = reduce(layer, "sum", "ReduceSumSquare", layer.in(0), axes);
  Value positive =
      layer.temp<top::AddConstOp>("positive", sum, layer.attrs().setFloat("const_val", p.eps()));
  Value norm = layer.temp<top::SqrtOp>("norm", positive);
  Steps(layer, layer.in(0))
      .then<top::DivOp>("normal", layer.attrs(), {norm})
      .then<top::MulOp>("scaled", layer.attrs(), {factor})
      .finish();
}

void reduction(CaffeLayer &layer) {
  using Reduction = proto::ReductionParameter;
  const Reduction &p = layer.parameters().reduction_param();
  Ints dims = layer.shape(0);
  int64_t axis = layer.axis(p.axis(), static_cast<int64_t>(dims.size()));
  StringRef mode;
  switch (p.operation()) {
  case Reduction::SUM:
    mode = "ReduceSum";
    break;
  case Reduction::ASUM:
    mode = "ReduceL1";
    break;
  case Reduction::SUMSQ:
    mode = "ReduceSumSquare";
    break;
  case Reduction::MEAN:
    mode = "ReduceMean";
    break;
  }
  Steps(layer, layer.in(0))
      .then<top::ReduceOp>("sum",
                           layer.attrs()
                               .setInts("axes", axesFrom(axis, dims.size()))
                               .setBool("keepdims", false)
                               .setString("mode", mode),
                           {layer.none()})
      .multiply(p.coeff())
      .finish();
}

void softmax(CaffeLayer &layer) {
  auto rank = static_cast<int64_t>(layer.shape(0).size());
  layer.emit<top::SoftmaxOp>(
      layer.in(0),
      layer.attrs().setInt("axis", layer.axis(layer.parameters().softmax_param().axis(), rank)));
}

/// The numbers of the `k` largest elements along `axis`, as floats, and the elements. Of equal
/// ones the last comes first.
std::pair<Value, Value> largest(CaffeLayer &layer, Value value, int64_t axis, int64_t k) {
  std::optional<Ints> dims = CaffeLayer::dims(value);
  int64_t extent = dims ? (*dims)[static_cast<size_t>(axis)] : 1;
  Value turned = layer.temp<top::SliceOp>(
      "turned", {value, layer.none(), layer.none(), layer.none(), layer.none()},
      layer.attrs()
          .setInts("offset", Ints{-1})
          .setInts("ends", Ints{INT64_MIN + 1})
          .setInts("steps", Ints{-1})
          .setInts("axes", Ints{axis}));
  SmallVector<Value> found = layer.temps<top::TopKOp>("largest", 2, 2, {turned, layer.none()},
                                                      layer.attrs()
                                                          .setInt("axis", axis)
                                                          .setInt("k", k)
                                                          .setBool("largest", true)
                                                          .setBool("sorted", true));
  Value place = layer.temp<top::CastOp>(
      "place", found[1], layer.attrs().setType("to", Float32Type::get(layer.context())));
  Value last = layer.filled("last", {1}, static_cast<float>(extent - 1));
  return {layer.temp<top::SubOp>("index", {last, place}), found[0]};
}

void argMax(CaffeLayer &layer) {
  const proto::ArgMaxParameter &p = layer.parameters().argmax_param();
  Ints dims = layer.shape(0);
  auto rank = static_cast<int64_t>(dims.size());
  int64_t axis = p.has_axis() ? layer.axis(p.axis(), rank) : 1;
  Value input = layer.in(0);
  if (!p.has_axis()) {
    // Over all elements of an item: [N, 1, k], or numbers and elements as [N, 2, k].
    int64_t count = 1;
    for (int64_t dim : ArrayRef(dims).drop_front())
      count *= dim;
    dims = {dims[0], count};
    input = layer.reshaped("flat", input, dims);
  }
  int64_t k = p.top_k();
  if (k < 1 || k > dims[static_cast<size_t>(axis)])
    return layer.fail(fmt::format("its top_k is {}", k),
                      fmt::format("1 to {}", dims[static_cast<size_t>(axis)]));
  if (layer.failed())
    return;
  auto [index, values] = largest(layer, input, axis, k);
  if (p.has_axis()) {
    layer.emit<top::CopyOp>(p.out_max_val() ? values : index);
    return;
  }
  Value row = layer.reshaped("row", index, {dims[0], 1, k});
  if (!p.out_max_val()) {
    layer.emit<top::CopyOp>(row);
    return;
  }
  layer.emit<top::ConcatOp>({row, layer.reshaped("values", values, {dims[0], 1, k})},
                            layer.attrs().setInt("axis", 1));
}

constexpr LayerRow kNormRows[] = {
    {"ArgMax", 1, 1, argMax, "TopK, Slice, Sub"},
    {"BN", 1, 1, bn, "Scale, BatchNorm", "forks"},
    {"BatchNorm", 1, 1, batchNorm, "BatchNorm"},
    {"LRN", 1, 1, lrn, "LRN"},
    {"MVN", 1, 1, mvn, "Reduce, Sub, Sqrt, Div"},
    {"Normalize", 1, 1, normalize, "Reduce, Sqrt, Div, Mul", "SSD"},
    {"Reduction", 1, 1, reduction, "Reduce, MulConst"},
    {"Softmax", 1, 1, softmax, "Softmax"},
};

} // namespace

ArrayRef<LayerRow> tpuc::caffe::normRows() { return kNormRows; }
