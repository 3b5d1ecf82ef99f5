//===- ConvertWindow.cpp - Convolutions, pools, products ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/CaffeLayer.h"

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::caffe;

namespace {

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// A setting for each of `rank` spatial dimensions: one number for all, one for each, or of two
/// dimensions height and width apart.
template <typename Repeated>
Ints perDimension(CaffeLayer &layer, const char *what, const Repeated &numbers,
                  std::optional<int64_t> height, std::optional<int64_t> width, size_t rank,
                  int64_t otherwise) {
  if (height || width) {
    if (!numbers.empty() || rank != 2)
      layer.fail(fmt::format("states {0} and {0}_h or {0}_w", what), "one way, the latter for two "
                                                                     "spatial dimensions");
    return Ints{height.value_or(otherwise), width.value_or(otherwise)};
  }
  if (numbers.size() > 1 && static_cast<size_t>(numbers.size()) != rank)
    layer.fail(fmt::format("states {} of {}", numbers.size(), what),
               fmt::format("one, or {}", rank));
  Ints all(rank, otherwise);
  for (size_t index = 0; index < rank && !numbers.empty(); ++index)
    all[index] = numbers.size() == 1
                     ? numbers.Get(0)
                     : numbers.Get(std::min(static_cast<int>(index), numbers.size() - 1));
  return all;
}

template <typename Parameter> std::optional<int64_t> given(bool has, Parameter value) {
  return has ? std::optional<int64_t>(value) : std::nullopt;
}

/// Errors: a kernel or stride of 0, or an extent that no device has.
void checkWindow(CaffeLayer &layer, const Window &window) {
  constexpr int64_t kLargest = INT32_MAX;
  for (size_t index = 0; index < window.kernel.size(); ++index) {
    if (window.kernel[index] < 1 || window.kernel[index] > kLargest)
      return layer.fail(fmt::format("its kernel has the extent {}", window.kernel[index]),
                        "1 or more");
    if (window.stride[index] < 1 || window.stride[index] > kLargest)
      return layer.fail(fmt::format("its stride is {}", window.stride[index]), "1 or more");
    if (window.pad[index] > kLargest)
      return layer.fail(fmt::format("its pad is {}", window.pad[index]), "less than 2^31");
  }
}

/// Kernel, stride and pad of a convolution or a pool over `rank` spatial dimensions.
template <typename Parameter> Window windowOf(CaffeLayer &layer, const Parameter &p, size_t rank) {
  Window window;
  window.kernel =
      perDimension(layer, "kernel_size", p.kernel_size(), given(p.has_kernel_h(), p.kernel_h()),
                   given(p.has_kernel_w(), p.kernel_w()), rank, 0);
  window.stride = perDimension(layer, "stride", p.stride(), given(p.has_stride_h(), p.stride_h()),
                               given(p.has_stride_w(), p.stride_w()), rank, 1);
  window.pad = perDimension(layer, "pad", p.pad(), given(p.has_pad_h(), p.pad_h()),
                            given(p.has_pad_w(), p.pad_w()), rank, 0);
  return window;
}

Ints doubled(const Ints &pad) {
  Ints both(pad);
  both.append(pad.begin(), pad.end());
  return both;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// What convolutions in both directions have in common.
struct Convolution {
  Value input;
  /// The extents of the input from the channels on, and those before them.
  Ints dims;
  Ints outer;
  Window window;
  Ints dilation;
  int64_t group = 1;
  int64_t outputs = 0;
};

/// `groups`: 0 for what the layer says, -1 for one group for each channel.
Convolution convolutionOf(CaffeLayer &layer, bool depthwise) {
  const proto::ConvolutionParameter &p = layer.parameters().convolution_param();
  Convolution conv;
  Ints dims = layer.shape(0);
  auto rank = static_cast<int64_t>(dims.size());
  int64_t axis = layer.axis(p.axis(), rank);
  conv.outer.assign(dims.begin(), dims.begin() + axis);
  conv.dims.assign(dims.begin() + axis, dims.end());
  size_t spatial = conv.dims.size() - 1;
  if (spatial < 1 || spatial > 3) {
    layer.fail(fmt::format("has {} spatial dimensions", spatial), "1, 2 or 3");
    return conv;
  }
  conv.window = windowOf(layer, p, spatial);
  checkWindow(layer, conv.window);
  conv.dilation =
      perDimension(layer, "dilation", p.dilation(), std::nullopt, std::nullopt, spatial, 1);
  conv.outputs = p.num_output();
  conv.group = depthwise ? conv.dims[0] : p.group();
  if (conv.outputs < 1)
    layer.fail(fmt::format("its num_output is {}", conv.outputs), "1 or more");
  else if (conv.group < 1 || conv.dims[0] % conv.group != 0 || conv.outputs % conv.group != 0)
    layer.fail(fmt::format("has {} groups for {} channels and {} outputs", conv.group, conv.dims[0],
                           conv.outputs),
               "a number that divides both");
  for (int64_t dilation : conv.dilation)
    if (dilation < 1)
      layer.fail(fmt::format("its dilation is {}", dilation), "1 or more");
  // All dimensions before the channels are items of a batch.
  int64_t batch = 1;
  for (int64_t dim : conv.outer)
    batch *= dim;
  Ints flat = {batch};
  flat.append(conv.dims);
  conv.input = layer.failed() ? layer.none() : layer.reshaped("items", layer.in(0), flat);
  return conv;
}

Attrs convAttrs(CaffeLayer &layer, const Convolution &conv) {
  return layer.attrs()
      .setInts("kernel_shape", conv.window.kernel)
      .setInts("strides", conv.window.stride)
      .setInts("pads", doubled(conv.window.pad))
      .setInts("dilations", conv.dilation)
      .setInt("group", conv.group);
}

/// The op, its result in the outer dimensions of the input again.
template <typename Op>
void emitConvolution(CaffeLayer &layer, const Convolution &conv, Value filter) {
  bool biased = layer.parameters().convolution_param().bias_term();
  Value bias = biased ? layer.blobWeight(1, "bias", {conv.outputs}) : layer.none();
  if (layer.failed())
    return;
  SmallVector<Value> operands = {conv.input, filter, bias};
  if (conv.outer.size() == 1) {
    layer.emit<Op>(operands, convAttrs(layer, conv));
    return;
  }
  Value result = layer.temp<Op>("conv", operands, convAttrs(layer, conv));
  std::optional<Ints> dims = CaffeLayer::dims(result);
  if (layer.failed() || !dims)
    return;
  Ints wide = conv.outer;
  wide.append(dims->begin() + 1, dims->end());
  layer.emitReshaped(result, wide);
}

void convolve(CaffeLayer &layer, bool depthwise) {
  Convolution conv = convolutionOf(layer, depthwise);
  if (layer.failed())
    return;
  Ints filter = {conv.outputs, conv.dims[0] / conv.group};
  filter.append(conv.window.kernel);
  emitConvolution<top::ConvOp>(layer, conv, layer.blobWeight(0, "filter", filter));
}

void convolution(CaffeLayer &layer) { convolve(layer, false); }
void depthwise(CaffeLayer &layer) { convolve(layer, true); }

void deconvolution(CaffeLayer &layer) {
  Convolution conv = convolutionOf(layer, false);
  if (layer.failed())
    return;
  Ints filter = {conv.dims[0], conv.outputs / conv.group};
  filter.append(conv.window.kernel);
  emitConvolution<top::DeconvOp>(layer, conv, layer.blobWeight(0, "filter", filter));
}

/// The elements under each window as channels: a convolution with filters of a single 1.
void im2col(CaffeLayer &layer) {
  const proto::ConvolutionParameter &p = layer.parameters().convolution_param();
  Ints dims = layer.shape(0);
  if (dims.size() != 4)
    return layer.fail(fmt::format("its bottom has {} dimensions", dims.size()), "4");
  Window window = windowOf(layer, p, 2);
  checkWindow(layer, window);
  Ints dilation = perDimension(layer, "dilation", p.dilation(), std::nullopt, std::nullopt, 2, 1);
  if (layer.failed())
    return;
  const int64_t taps = window.kernel[0] * window.kernel[1];
  Expected<Tensor> filters = Tensor::create(
      DataType::F32, Ints{dims[1] * taps, 1, window.kernel[0], window.kernel[1]}, layer.place());
  if (!filters)
    return layer.fail("its windows are too large", "fewer elements under each");
  std::span<float> ones = filters->mutableData<float>();
  for (int64_t channel = 0; channel < dims[1] * taps; ++channel)
    ones[static_cast<size_t>(channel * taps + channel % taps)] = 1;
  layer.emit<top::ConvOp>({layer.in(0), layer.weight("filter", *filters), layer.none()},
                          layer.attrs()
                              .setInts("kernel_shape", window.kernel)
                              .setInts("strides", window.stride)
                              .setInts("pads", doubled(window.pad))
                              .setInts("dilations", dilation)
                              .setInt("group", dims[1]));
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

Window poolWindow(CaffeLayer &layer, const Ints &dims) {
  const proto::PoolingParameter &p = layer.parameters().pooling_param();
  size_t spatial = dims.size() - 2;
  Window window;
  if (p.global_pooling()) {
    if (p.kernel_size_size() > 0 || p.has_kernel_h() || p.has_kernel_w())
      layer.fail("pools globally and states a kernel", "one of them");
    window.kernel.assign(dims.begin() + 2, dims.end());
    window.stride.assign(spatial, 1);
    window.pad.assign(spatial, 0);
    return window;
  }
  window = windowOf(layer, p, spatial);
  window.roundsUp =
      p.has_round_mode() ? p.round_mode() == proto::PoolingParameter::CEIL : p.ceil_mode();
  return window;
}

/// The sum of squares divided by the sum: what a pool that draws an element by its size gives in
/// the mean.
void stochasticPool(CaffeLayer &layer, const Attrs &attributes) {
  Value squares = layer.temp<top::MulOp>("squares", {layer.in(0), layer.in(0)});
  Value meanOfSquares = layer.temp<top::AvgPoolOp>("mean_of_squares", squares, attributes);
  Value mean = layer.temp<top::AvgPoolOp>("mean", layer.in(0), attributes);
  // Windows of zeros give 0.
  constexpr double kSmallest = 1.17549435e-38;
  Value divisor =
      layer.temp<top::AddConstOp>("divisor", mean, layer.attrs().setFloat("const_val", kSmallest));
  layer.emit<top::DivOp>({meanOfSquares, divisor});
}

/// Maxima, and as floats where in its plane each was found.
void maxPoolWithMask(CaffeLayer &layer, const Attrs &attributes, const Ints &dims) {
  SmallVector<Value> found =
      layer.temps<top::MaxPoolWithMaskOp>("found", 2, 2, layer.in(0), attributes);
  if (layer.failed())
    return;
  int64_t plane = 1;
  for (int64_t dim : ArrayRef(dims).drop_front(2))
    plane *= dim;
  Value place = layer.temp<top::ModOp>("place", {found[1], layer.intsWeight("plane", {plane})},
                                       layer.attrs());
  layer.emitAs<top::CopyOp>(0, found[0], layer.attrs());
  layer.emitAs<top::CastOp>(1, place,
                            layer.attrs().setType("to", Float32Type::get(layer.context())));
}

void pooling(CaffeLayer &layer) {
  using Pooling = proto::PoolingParameter;
  Ints dims = layer.shape(0);
  if (dims.size() < 3 || dims.size() > 5)
    return layer.fail(fmt::format("its bottom has {} dimensions", dims.size()), "3, 4 or 5");
  Window window = poolWindow(layer, dims);
  Attrs attributes = poolAttrs(layer, window, dims);
  if (layer.failed())
    return;
  switch (layer.parameters().pooling_param().pool()) {
  case Pooling::MAX:
    if (layer.wants(1))
      return maxPoolWithMask(layer, attributes, dims);
    layer.emit<top::MaxPoolOp>(layer.in(0), attributes);
    return;
  case Pooling::AVE:
    layer.emit<top::AvgPoolOp>(layer.in(0), attributes.setBool("count_include_pad", true));
    return;
  case Pooling::STOCHASTIC:
    if (std::ranges::any_of(window.pad, [](int64_t pad) { return pad != 0; }))
      return layer.fail("has padding", "none: it draws elements at random");
    stochasticPool(layer, attributes);
    return;
  }
}

/// A pyramid of pools of 1, 2x2, 4x4, ... windows, one behind the other as a vector.
void spp(CaffeLayer &layer) {
  const proto::SPPParameter &p = layer.parameters().spp_param();
  Ints dims = layer.shape(0);
  constexpr uint32_t kHighest = 16;
  if (dims.size() != 4)
    return layer.fail(fmt::format("its bottom has {} dimensions", dims.size()), "4");
  if (p.pyramid_height() < 1 || p.pyramid_height() > kHighest)
    return layer.fail(fmt::format("its pyramid_height is {}", p.pyramid_height()), "1 to 16");
  if (p.pool() == proto::SPPParameter::STOCHASTIC)
    return layer.fail("pools at random", "MAX or AVE");
  SmallVector<Value> levels;
  for (uint32_t level = 0; level < p.pyramid_height() && !layer.failed(); ++level) {
    const int64_t bins = int64_t(1) << level;
    Window window;
    for (int64_t extent : {dims[2], dims[3]}) {
      int64_t kernel = (extent + bins - 1) / bins;
      window.kernel.push_back(kernel);
      window.stride.push_back(kernel);
      window.pad.push_back((kernel * bins - extent + 1) / 2);
    }
    Attrs attributes = poolAttrs(layer, window, dims);
    if (layer.failed())
      return;
    std::string suffix = fmt::format("level{}", level);
    Value pooled = p.pool() == proto::SPPParameter::MAX
                       ? layer.temp<top::MaxPoolOp>(suffix, layer.in(0), attributes)
                       : layer.temp<top::AvgPoolOp>(suffix, layer.in(0),
                                                    attributes.setBool("count_include_pad", true));
    if (p.pyramid_height() == 1) {
      layer.emit<top::CopyOp>(pooled);
      return;
    }
    levels.push_back(layer.reshaped(suffix + "_flat", pooled, {dims[0], -1}));
  }
  layer.emit<top::ConcatOp>(levels, layer.attrs().setInt("axis", 1));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void innerProduct(CaffeLayer &layer) {
  const proto::InnerProductParameter &p = layer.parameters().inner_product_param();
  Ints dims = layer.shape(0);
  int64_t axis = layer.axis(p.axis(), static_cast<int64_t>(dims.size()), /*endAllowed=*/true);
  int64_t outputs = p.num_output();
  if (outputs < 1)
    return layer.fail(fmt::format("its num_output is {}", outputs), "1 or more");
  if (layer.failed())
    return;
  int64_t inner = 1;
  for (int64_t dim : ArrayRef(dims).drop_front(static_cast<size_t>(axis)))
    inner *= dim;
  Ints flat(dims.begin(), dims.begin() + axis);
  flat.push_back(inner);
  Ints shape = p.transpose() ? Ints{inner, outputs} : Ints{outputs, inner};
  Value matrix = layer.blobWeight(0, "weights", shape);
  Value bias = p.bias_term() ? layer.blobWeight(1, "bias", {outputs}) : layer.none();
  layer.emit<top::MatMulOp>({layer.reshaped("flat", layer.in(0), flat), matrix, bias},
                            layer.attrs().setBool("right_transpose", !p.transpose()));
}

/// Rows of a table by numbers, which are floats.
void embed(CaffeLayer &layer) {
  const proto::EmbedParameter &p = layer.parameters().embed_param();
  int64_t rows = p.input_dim();
  int64_t outputs = p.num_output();
  if (rows < 1 || outputs < 1)
    return layer.fail(fmt::format("its table has {} rows of {} elements", rows, outputs),
                      "1 or more of both");
  Value table = layer.blobWeight(0, "table", {rows, outputs});
  Value bias = p.bias_term() ? layer.blobWeight(1, "bias", {outputs}) : layer.none();
  Value index = layer.temp<top::CastOp>(
      "index", layer.in(0), layer.attrs().setType("to", IntegerType::get(layer.context(), 64)));
  Steps steps(layer, table);
  steps.then<top::GatherOp>("rows", layer.attrs().setInt("axis", 0), {index});
  if (p.bias_term())
    steps.then<top::AddOp>("sum", layer.attrs(), {bias});
  steps.finish();
}

/// The product of the last two dimensions of two bottoms.
void matMul(CaffeLayer &layer) {
  layer.emit<top::MatMulOp>({layer.in(0), layer.in(1), layer.none()});
}

constexpr LayerRow kWindowRows[] = {
    {"Convolution", 1, 1, convolution, "Conv"},
    {"ConvolutionDepthwise", 1, 1, depthwise, "Conv", "forks"},
    {"Deconvolution", 1, 1, deconvolution, "Deconv"},
    {"DepthwiseConvolution", 1, 1, depthwise, "Conv", "forks"},
    {"Embed", 1, 1, embed, "Gather, Add"},
    {"Im2col", 1, 1, im2col, "Conv"},
    {"InnerProduct", 1, 1, innerProduct, "Reshape, MatMul"},
    {"MatMul", 2, 2, matMul, "MatMul", "forks"},
    {"Pooling", 1, 1, pooling, "MaxPool, AvgPool, MaxPoolWithMask"},
    {"SPP", 1, 1, spp, "MaxPool, AvgPool, Concat"},
};

} // namespace

ArrayRef<LayerRow> tpuc::caffe::windowRows() { return kWindowRows; }

Attrs tpuc::caffe::poolAttrs(CaffeLayer &layer, const Window &window, const Ints &dims) {
  checkWindow(layer, window);
  for (size_t index = 0; index < window.kernel.size() && !layer.failed(); ++index) {
    int64_t extent = dims[index + 2];
    int64_t kernel = window.kernel[index];
    int64_t stride = window.stride[index];
    int64_t pad = window.pad[index];
    if (pad >= kernel)
      layer.fail(fmt::format("its pad is {}", pad),
                 fmt::format("less than its kernel, {}", kernel));
    else if (extent + 2 * pad < kernel)
      layer.fail(fmt::format("its kernel has the extent {}", kernel),
                 fmt::format("at most {}, the bottom's with pads", extent + 2 * pad));
    // Without pads Caffe keeps a last window that lies behind the input, and divides by 0.
    else if (int64_t last = (extent + 2 * pad - kernel + stride - 1) / stride;
             window.roundsUp && pad == 0 && last * stride >= extent)
      layer.fail(fmt::format("its last window of dimension {} begins behind the bottom", index + 2),
                 "a stride that ends within it");
  }
  return layer.attrs()
      .setInts("kernel_shape", window.kernel)
      .setInts("strides", window.stride)
      .setInts("pads", doubled(window.pad))
      .setBool("ceil_mode", window.roundsUp);
}
