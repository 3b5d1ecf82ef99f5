//===- ConvertWindow.cpp - Convolutions, pools, products, resampling, norms -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Frontend/TFLite/Hybrid.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;
using fb::ActivationFunction;
using fb::BuiltinOperator;

namespace {

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// What convolutions and pools are told, by spatial dimension.
struct Window {
  Ints kernel;
  Ints strides;
  Ints dilations;
  fb::Padding padding = fb::Padding::SAME;
};

/// The attributes of a window. SAME asks for ceil(input / stride) positions, with the odd element
/// of padding behind; VALID for none.
Attrs windowAttrs(TFLiteLayer &layer, const Window &window, bool dilated) {
  for (const Ints *list : {&window.kernel, &window.strides, &window.dilations})
    for (int64_t each : *list)
      if (each < 1)
        layer.fail(fmt::format("has a window with {} as kernel, stride or dilation", each),
                   "1 or more");
  if (window.padding != fb::Padding::SAME && window.padding != fb::Padding::VALID)
    layer.fail(fmt::format("has the padding {}", static_cast<int>(window.padding)),
               "SAME or VALID");
  Attrs attributes =
      layer.attrs().setInts("kernel_shape", window.kernel).setInts("strides", window.strides);
  if (dilated)
    attributes.setInts("dilations", window.dilations);
  if (window.padding == fb::Padding::SAME)
    attributes.setString("auto_pad", "SAME_UPPER");
  return attributes;
}

/// The filter of `rank` dimensions, and the channels of the input of as many.
bool checkFilter(TFLiteLayer &layer, const Ints &filter, size_t rank) {
  if (layer.failed())
    return false;
  for (auto [what, found] : {std::pair("its input", layer.inputRank(0)),
                             std::pair("its filter", static_cast<int64_t>(filter.size()))})
    if (found != static_cast<int64_t>(rank)) {
      layer.fail(fmt::format("{} has {} dimensions", what, found), fmt::format("{}", rank));
      return false;
    }
  return true;
}

/// Of a filter [., height, width, .].
template <typename Options> Window window2D(const Options &options, const Ints &filter) {
  return {{filter[1], filter[2]},
          {options.stride_h(), options.stride_w()},
          {options.dilation_h_factor(), options.dilation_w_factor()},
          options.padding()};
}

/// Says in how many groups `channels` are, of which a filter reads `each`; false where that fails.
bool setGroups(TFLiteLayer &layer, Attrs &attributes, int64_t channels, int64_t each) {
  if (each < 1 || channels % each != 0) {
    layer.fail(fmt::format("its filter has {} channels", each),
               fmt::format("a divisor of {}", channels));
    return false;
  }
  attributes.setInt("group", channels / each);
  return true;
}

/// Input `index`, a bias for each of `outputs` channels; nothing where it is left out or an error.
Value biasOf(TFLiteLayer &layer, unsigned index, int64_t outputs) {
  return checkBias(layer, index, outputs) ? layer.in(index) : layer.none();
}

/// Output 0 as a sum `made` of products with the bias of input `index` and the activation.
void putBiased(TFLiteLayer &layer, ActivationFunction activation, Value made, unsigned index,
               int64_t outputs) {
  if (!layer.has(index))
    return layer.putActivation(kFront, activation, made);
  Value bias = layer.reshaped("bias", layer.in(index), {1, outputs, 1, 1});
  layer.putActivated<top::AddOp>(kFront, activation, {made, bias}, layer.attrs());
}

/// A convolution whose filter is of integers beside floats; `order` makes it the dialect's, with
/// the outputs in front.
void hybridConv(TFLiteLayer &layer, ActivationFunction activation, const Attrs &attributes,
                ArrayRef<int64_t> order, bool symmetric) {
  const int64_t outputs = layer.shape(1)[static_cast<size_t>(order[0])];
  const std::optional<Tensor> filter = layer.needIntegers(1);
  if (!filter || !checkBias(layer, 2, outputs))
    return;
  const std::vector<float> scales = layer.needScales(1, order[0], outputs);
  Value made = hybridConvolution(layer, layer.in(0, kFront), permuted(*filter, order), scales,
                                 attributes, symmetric);
  putBiased(layer, activation, made, 2, outputs);
}

/// The filter is [outputs, height, width, channels / groups].
void conv2D(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::Conv2DOptions>();
  Ints filter = layer.shape(1);
  if (!checkFilter(layer, filter, 4))
    return;
  Attrs attributes = windowAttrs(layer, window2D(options, filter), true);
  if (!setGroups(layer, attributes, (*layer.knownDims(0))[3], filter[3]))
    return;
  if (layer.isHybrid(1))
    return hybridConv(layer, options.fused_activation_function(), attributes, frontOrder(4),
                      layer.tensor(1).quantization->scale.size() == 1);
  Value weights = layer.turned("filter", 1, frontOrder(4));
  layer.putActivated<top::ConvOp>(kFront, options.fused_activation_function(),
                                  {layer.in(0, kFront), weights, biasOf(layer, 2, filter[0])},
                                  attributes);
}

/// The filter is [1, height, width, channels * multiplier].
void depthwiseConv2D(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::DepthwiseConv2DOptions>();
  Ints filter = layer.shape(1);
  if (!checkFilter(layer, filter, 4))
    return;
  Attrs attributes = windowAttrs(layer, window2D(options, filter), true);
  const int64_t channels = (*layer.knownDims(0))[3];
  if (channels < 1 || filter[3] % channels != 0 || filter[0] != 1)
    return layer.fail(
        fmt::format("its filter is {} x {} x {} x {}", filter[0], filter[1], filter[2], filter[3]),
        fmt::format("1 in front, and a multiple of {} channels", channels));
  attributes.setInt("group", channels);
  if (layer.isHybrid(1))
    return hybridConv(layer, options.fused_activation_function(), attributes, {3, 0, 1, 2}, false);
  Value weights = layer.turned("filter", 1, {3, 0, 1, 2});
  layer.putActivated<top::ConvOp>(kFront, options.fused_activation_function(),
                                  {layer.in(0, kFront), weights, biasOf(layer, 2, filter[3])},
                                  attributes);
}

/// The filter is [depth, height, width, channels / groups, outputs].
void conv3D(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::Conv3DOptions>();
  Ints filter = layer.shape(1);
  if (!checkFilter(layer, filter, 5))
    return;
  Window window{
      {filter[0], filter[1], filter[2]},
      {options.stride_d(), options.stride_h(), options.stride_w()},
      {options.dilation_d_factor(), options.dilation_h_factor(), options.dilation_w_factor()},
      options.padding()};
  Attrs attributes = windowAttrs(layer, window, true);
  if (!setGroups(layer, attributes, (*layer.knownDims(0))[4], filter[3]))
    return;
  Value weights = layer.turned("filter", 1, {4, 3, 0, 1, 2});
  layer.putActivated<top::ConvOp>(kFront, options.fused_activation_function(),
                                  {layer.in(0, kFront), weights, biasOf(layer, 2, filter[4])},
                                  attributes);
}

/// The pads of a transposed convolution: those of the convolution that makes `input` of `output`.
Ints transposedPads(const Ints &input, const Ints &output, const Window &window) {
  Ints begins;
  Ints ends;
  for (size_t axis = 0; axis < window.kernel.size(); ++axis) {
    int64_t reach = (input[axis] - 1) * window.strides[axis] +
                    (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    int64_t total = reach - output[axis];
    int64_t begin = window.padding == fb::Padding::SAME ? std::max<int64_t>(total, 0) / 2 : 0;
    begins.push_back(begin);
    ends.push_back(total - begin);
  }
  begins.append(ends);
  return begins;
}

/// Inputs: the shape of the output, the filter [outputs, height, width, channels], the input.
void transposeConv(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::TransposeConvOptions>();
  Ints output = layer.needInts(0, "output shape");
  Ints filter = layer.shape(1);
  Ints input = layer.shape(2);
  if (layer.failed())
    return;
  if (output.size() != 4 || filter.size() != 4 || input.size() != 4)
    return layer.fail("has an input, filter or output of other than 4 dimensions", "4");
  if (filter[3] != input[3] || output[3] != filter[0] || output[0] != input[0])
    return layer.fail("has a filter that does not fit its input and output",
                      "[outputs, height, width, channels]");
  Window window{
      {filter[1], filter[2]}, {options.stride_h(), options.stride_w()}, {1, 1}, options.padding()};
  windowAttrs(layer, window, false);
  if (layer.failed())
    return;
  Attrs attributes =
      layer.attrs()
          .setInts("kernel_shape", window.kernel)
          .setInts("strides", window.strides)
          .setInts("pads", transposedPads({input[1], input[2]}, {output[1], output[2]}, window));
  if (layer.isHybrid(1)) {
    const std::optional<Tensor> integers = layer.needIntegers(1);
    if (!integers || !checkBias(layer, 3, filter[0]))
      return;
    const std::vector<float> scales = layer.needScales(1, 0, filter[0]);
    Value made = hybridDeconvolution(layer, layer.in(2, kFront), permuted(*integers, {3, 0, 1, 2}),
                                     scales, attributes);
    return putBiased(layer, options.fused_activation_function(), made, 3, filter[0]);
  }
  Value weights = layer.turned("filter", 1, {3, 0, 1, 2});
  layer.putActivated<top::DeconvOp>(kFront, options.fused_activation_function(),
                                    {layer.in(2, kFront), weights, biasOf(layer, 3, filter[0])},
                                    attributes);
}

/// Inputs: the shape of the output, the filter [depth, height, width, outputs, channels], the
/// input.
void conv3DTranspose(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::Conv3DOptions>();
  const Ints output = layer.needInts(0, "output shape");
  const Ints filter = layer.shape(1);
  const Ints input = layer.shape(2);
  if (layer.failed())
    return;
  if (output.size() != 5 || filter.size() != 5 || input.size() != 5)
    return layer.fail("has an input, filter or output of other than 5 dimensions", "5");
  if (filter[4] != input[4] || output[4] != filter[3] || output[0] != input[0])
    return layer.fail("has a filter that does not fit its input and output",
                      "[depth, height, width, outputs, channels]");
  Window window{
      {filter[0], filter[1], filter[2]},
      {options.stride_d(), options.stride_h(), options.stride_w()},
      {options.dilation_d_factor(), options.dilation_h_factor(), options.dilation_w_factor()},
      options.padding()};
  windowAttrs(layer, window, true);
  if (layer.failed())
    return;
  const auto inner = [](const Ints &dims) { return Ints(dims.begin() + 1, dims.end() - 1); };
  Attrs attributes = layer.attrs()
                         .setInts("kernel_shape", window.kernel)
                         .setInts("strides", window.strides)
                         .setInts("dilations", window.dilations)
                         .setInts("pads", transposedPads(inner(input), inner(output), window));
  Value weights = layer.turned("filter", 1, {4, 3, 0, 1, 2});
  layer.putActivated<top::DeconvOp>(kFront, options.fused_activation_function(),
                                    {layer.in(2, kFront), weights, biasOf(layer, 3, filter[3])},
                                    attributes);
}

Window poolWindow(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::Pool2DOptions>();
  return {{options.filter_height(), options.filter_width()},
          {options.stride_h(), options.stride_w()},
          {1, 1},
          options.padding()};
}

template <typename Op> void pool2D(TFLiteLayer &layer) {
  Attrs attributes = windowAttrs(layer, poolWindow(layer), false);
  if (!layer.failed() && layer.inputRank(0) != 4)
    layer.fail(fmt::format("its input has {} dimensions", layer.inputRank(0)), "4");
  if (layer.failed())
    return;
  layer.putActivated<Op>(kFront, layer.options<fb::Pool2DOptions>().fused_activation_function(),
                         layer.in(0, kFront), attributes);
}

/// The root of the mean of squares, over what of the window lies within the input.
void l2Pool2D(TFLiteLayer &layer) {
  Attrs attributes = windowAttrs(layer, poolWindow(layer), false);
  if (!layer.failed() && layer.inputRank(0) != 4)
    layer.fail(fmt::format("its input has {} dimensions", layer.inputRank(0)), "4");
  if (layer.failed())
    return;
  Value input = layer.in(0, kFront);
  Value squares = layer.temp<top::MulOp>("squares", {input, input});
  Value mean = layer.temp<top::AvgPoolOp>("mean", squares, attributes);
  ActivationFunction activation = layer.options<fb::Pool2DOptions>().fused_activation_function();
  if (activation == ActivationFunction::NONE)
    layer.put<top::SqrtOp>(kFront, mean);
  else
    layer.putActivation(kFront, activation, layer.temp<top::SqrtOp>("root", mean));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Rows of as many elements as the filter [outputs, inputs] has columns.
void fullyConnected(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::FullyConnectedOptions>();
  Ints filter = layer.shape(1);
  if (layer.failed())
    return;
  if (filter.size() != 2 || filter[1] < 1)
    return layer.fail(fmt::format("its filter has {} dimensions", filter.size()), "2");
  if (options.weights_format() != fb::WeightsFormat::DEFAULT)
    return layer.fail("has shuffled weights", "weights in their order");
  Value input = layer.in(0);
  std::optional<Ints> dims = layer.knownDims(0);
  if (!options.keep_num_dims() && (dims->size() != 2 || dims->back() != filter[1]))
    input = layer.reshaped("rows", input, {-1, filter[1]});
  else if (dims->empty() || dims->back() != filter[1])
    return layer.fail("its input has rows of another length than its filter",
                      std::to_string(filter[1]));
  if (layer.isHybrid(1) && !layer.failed()) {
    const std::optional<HybridWeights> weights = hybridWeights(layer, "weights", {1});
    if (!weights)
      return;
    Value made = hybridProduct(layer, "rows", input, *weights, biasOf(layer, 2, filter[0]),
                               !options.asymmetric_quantize_inputs());
    return layer.putActivation(Layout::Source, options.fused_activation_function(), made);
  }
  layer.putActivated<top::MatMulOp>(Layout::Source, options.fused_activation_function(),
                                    {input, layer.in(1), biasOf(layer, 2, filter[0])},
                                    layer.attrs().setBool("right_transpose", true));
}

/// `dims` with the last two in the other order.
Ints lastSwapped(int64_t rank) {
  Ints order;
  for (int64_t axis = 0; axis < rank; ++axis)
    order.push_back(axis);
  if (rank >= 2)
    std::swap(order[order.size() - 2], order.back());
  return order;
}

/// With a constant of integers on the right.
void hybridBatchMatMul(TFLiteLayer &layer, const fb::BatchMatMulOptions &options) {
  const int64_t leftRank = layer.inputRank(0);
  const int64_t rightRank = layer.inputRank(1);
  if (!layer.failed() && (leftRank < 2 || rightRank < 2))
    layer.fail("has an operand of fewer than two dimensions", "two or more");
  const std::optional<Tensor> right = layer.failed() ? std::nullopt : layer.needIntegers(1);
  if (!right)
    return;
  Value left = layer.in(0);
  if (options.adj_x())
    left = layer.transposed("left", left, lastSwapped(leftRank));
  const HybridWeights weights{
      layer.weight("integers", options.adj_y() ? permuted(*right, lastSwapped(rightRank)) : *right),
      layer.filled("scales", {1}, layer.tensor(1).quantization->scale[0])};
  Value made = hybridProduct(layer, "rows", left, weights, layer.none(),
                             !options.asymmetric_quantize_inputs());
  layer.putActivation(Layout::Source, ActivationFunction::NONE, made);
}

void batchMatMul(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::BatchMatMulOptions>();
  if (layer.isHybrid(1) && layer.tensor(1).quantization->scale.size() == 1)
    return hybridBatchMatMul(layer, options);
  layer.emit<top::MatMulOp>({layer.in(0), layer.in(1), layer.none()},
                            layer.attrs()
                                .setBool("left_transpose", options.adj_x())
                                .setBool("right_transpose", options.adj_y()));
}

//===----------------------------------------------------------------------===//
// Resampling
//===----------------------------------------------------------------------===//

/// Resamples height and width to the constant `sizes` of input 1.
void resize(TFLiteLayer &layer, StringRef mode, bool alignCorners, bool halfPixel) {
  Ints sizes = layer.needInts(1, "size");
  if (layer.failed())
    return;
  if (sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1)
    return layer.fail("has a size of other than two positive numbers", "height and width");
  if (layer.inputRank(0) != 4)
    return layer.fail(fmt::format("its input has {} dimensions", layer.inputRank(0)), "4");
  if (alignCorners && halfPixel)
    return layer.fail("aligns corners and the centres of pixels", "one of both");
  const bool nearest = mode == "nearest";
  Attrs attributes = layer.attrs()
                         .setString("mode", mode)
                         .setInts("sizes", sizes)
                         .setInts("axes", Ints{2, 3})
                         .setString("coord_mode", alignCorners ? "align_corners"
                                                  : halfPixel  ? "half_pixel"
                                                               : "asymmetric");
  if (nearest)
    attributes.setString("nearest_mode", alignCorners || halfPixel ? "round_prefer_ceil" : "floor");
  layer.put<top::InterpOp>(kFront, {layer.in(0, kFront), layer.none(), layer.none(), layer.none()},
                           attributes);
}

void resizeBilinear(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::ResizeBilinearOptions>();
  resize(layer, "linear", options.align_corners(), options.half_pixel_centers());
}

void resizeNearest(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::ResizeNearestNeighborOptions>();
  resize(layer, "nearest", options.align_corners(), options.half_pixel_centers());
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The layout of input 0, and where its last dimension stands in it.
std::pair<Layout, int64_t> lastAxis(TFLiteLayer &layer) {
  Layout layout = layer.layoutOf({0});
  int64_t rank = layer.inputRank(0);
  if (rank < 1)
    layer.fail("its input is a number", "one dimension or more");
  return {layout, layout == kFront ? 1 : rank - 1};
}

void softmax(TFLiteLayer &layer) {
  auto [layout, axis] = lastAxis(layer);
  layer.put<top::SoftmaxOp>(layout, layer.in(0, layout),
                            layer.attrs()
                                .setInt("axis", axis)
                                .setFloat("beta", layer.options<fb::SoftmaxOptions>().beta()));
}

void logSoftmax(TFLiteLayer &layer) {
  auto [layout, axis] = lastAxis(layer);
  layer.put<top::SoftmaxOp>(layout, layer.in(0, layout),
                            layer.attrs().setInt("axis", axis).setBool("log", true));
}

/// x / sqrt(max(sum of squares, 1e-6)), along the last dimension.
void l2Normalization(TFLiteLayer &layer) {
  auto [layout, axis] = lastAxis(layer);
  ActivationFunction activation = layer.options<fb::L2NormOptions>().fused_activation_function();
  if (activation != ActivationFunction::NONE)
    return layer.fail("has an activation", "none");
  Value input = layer.in(0, layout);
  constexpr double kLeast = 1e-6;
  Value squares = layer.temp<top::ReduceOp>("squares", {input, layer.none()},
                                            layer.attrs()
                                                .setInts("axes", Ints{axis})
                                                .setBool("keepdims", true)
                                                .setString("mode", "ReduceSumSquare"));
  Value limited =
      layer.temp<top::MaxConstOp>("limited", squares, layer.attrs().setFloat("const_val", kLeast));
  layer.put<top::DivOp>(layout, {input, layer.temp<top::SqrtOp>("norm", limited)});
}

/// What turns the order of the channels around.
Attrs turnAttrs(TFLiteLayer &layer) {
  return layer.attrs()
      .setInts("offset", Ints{INT64_MAX})
      .setInts("ends", Ints{INT64_MIN})
      .setInts("steps", Ints{-1})
      .setInts("axes", Ints{1});
}

/// x / (bias + alpha * s)^beta with s over the channels from c - radius to c + radius - 1, as all
/// kernels of LiteRT have it. The dialect divides alpha, and its windows of even size reach as far
/// to the other side.
void localResponseNormalization(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::LocalResponseNormalizationOptions>();
  if (options.radius() < 1)
    return layer.fail(fmt::format("has the radius {}", options.radius()), "1 or more");
  if (layer.inputRank(0) != 4)
    return layer.fail(fmt::format("its input has {} dimensions", layer.inputRank(0)), "4");
  const int64_t size = 2 * static_cast<int64_t>(options.radius());
  Value turned = layer.temp<top::SliceOp>(
      "turned", {layer.in(0, kFront), layer.none(), layer.none(), layer.none(), layer.none()},
      turnAttrs(layer));
  Value normal = layer.temp<top::LRNOp>(
      "normal", turned,
      layer.attrs()
          .setInt("size", size)
          .setFloat("alpha", static_cast<double>(options.alpha()) * static_cast<double>(size))
          .setFloat("beta", options.beta())
          .setFloat("bias", options.bias()));
  layer.put<top::SliceOp>(kFront, {normal, layer.none(), layer.none(), layer.none(), layer.none()},
                          turnAttrs(layer));
}

constexpr OpRow kWindowRows[] = {
    {BuiltinOperator::AVERAGE_POOL_2D, 1, 1, pool2D<top::AvgPoolOp>, "AvgPool"},
    {BuiltinOperator::BATCH_MATMUL, 2, 2, batchMatMul, "MatMul"},
    {BuiltinOperator::CONV_2D, 2, 3, conv2D, "Conv"},
    {BuiltinOperator::CONV_3D, 2, 3, conv3D, "Conv"},
    {BuiltinOperator::CONV_3D_TRANSPOSE, 3, 4, conv3DTranspose, "Deconv"},
    {BuiltinOperator::DEPTHWISE_CONV_2D, 2, 3, depthwiseConv2D, "Conv"},
    {BuiltinOperator::FULLY_CONNECTED, 2, 3, fullyConnected, "Reshape, MatMul"},
    {BuiltinOperator::L2_NORMALIZATION, 1, 1, l2Normalization, "Reduce, MaxConst, Sqrt, Div"},
    {BuiltinOperator::L2_POOL_2D, 1, 1, l2Pool2D, "Mul, AvgPool, Sqrt"},
    {BuiltinOperator::LOCAL_RESPONSE_NORMALIZATION, 1, 1, localResponseNormalization, "Slice, LRN"},
    {BuiltinOperator::LOG_SOFTMAX, 1, 1, logSoftmax, "Softmax"},
    {BuiltinOperator::MAX_POOL_2D, 1, 1, pool2D<top::MaxPoolOp>, "MaxPool"},
    {BuiltinOperator::RESIZE_BILINEAR, 2, 2, resizeBilinear, "Interp"},
    {BuiltinOperator::RESIZE_NEAREST_NEIGHBOR, 2, 2, resizeNearest, "Interp"},
    {BuiltinOperator::SOFTMAX, 1, 1, softmax, "Softmax"},
    {BuiltinOperator::TRANSPOSE_CONV, 3, 4, transposeConv, "Deconv"},
};

} // namespace

ArrayRef<OpRow> tpuc::tflite::windowRows() { return kWindowRows; }
