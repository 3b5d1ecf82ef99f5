//===- ConvertNetwork.cpp - Convolutions, pools, products, recurrent cells, resampling ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/RecurrentOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Support/Convert.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

Attrs windowAttrs(NodeBuilder &node, const std::optional<Ints> &kernel) {
  return node.attrs()
      .setInts("kernel_shape", kernel)
      .setInts("strides", node.getInts("strides"))
      .setInts("pads", node.getInts("pads"))
      .setInts("dilations", node.getInts("dilations"));
}

void conv(NodeBuilder &node) {
  node.emit<top::ConvOp>({node.in(0), node.in(1), node.in(2)}, convAttrs(node, 1));
}

void convTranspose(NodeBuilder &node) {
  node.emit<top::DeconvOp>({node.in(0), node.in(1), node.in(2)},
                           windowAttrs(node, kernelShape(node, 1))
                               .setInts("output_padding", node.getInts("output_padding"))
                               .setInts("output_shape", node.getInts("output_shape"))
                               .setInt("group", node.getInt("group", 1))
                               .setString("auto_pad", autoPad(node)));
}

void deformConv(NodeBuilder &node) {
  node.emit<top::DeformConv2DOp>({node.in(0), node.in(1), node.in(2), node.in(3), node.in(4)},
                                 windowAttrs(node, kernelShape(node, 1))
                                     .setInt("group", node.getInt("group", 1))
                                     .setInt("offset_group", node.getInt("offset_group", 1)));
}

void col2Im(NodeBuilder &node) {
  node.emit<top::Col2ImOp>({node.in(0), node.in(1), node.in(2)},
                           node.attrs()
                               .setInts("strides", node.getInts("strides"))
                               .setInts("pads", node.getInts("pads"))
                               .setInts("dilations", node.getInts("dilations")));
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// What all pools have; `dilated`: from which version on there are dilations.
Attrs poolAttrs(NodeBuilder &node, int64_t ceilSince, int64_t dilatedSince) {
  std::optional<Ints> kernel = node.getInts("kernel_shape");
  if (!kernel) {
    node.fail("attribute 'kernel_shape' is missing");
    kernel.emplace();
  }
  Attrs attributes = node.attrs()
                         .setInts("kernel_shape", kernel)
                         .setInts("strides", node.getInts("strides"))
                         .setInts("pads", node.getInts("pads"))
                         .setString("auto_pad", autoPad(node));
  if (node.opset() >= dilatedSince)
    attributes.setInts("dilations", node.getInts("dilations"));
  if (node.opset() >= ceilSince)
    attributes.setBool("ceil_mode", node.getInt("ceil_mode", 0) != 0);
  return attributes;
}

void averagePool(NodeBuilder &node) {
  Attrs attributes = poolAttrs(node, 10, 19);
  if (node.opset() >= 7)
    attributes.setBool("count_include_pad", node.getInt("count_include_pad", 0) != 0);
  node.emit<top::AvgPoolOp>(node.in(0), attributes);
}

void maxPool(NodeBuilder &node) {
  Attrs attributes = poolAttrs(node, 10, 10);
  int64_t order = node.opset() >= 8 ? node.getInt("storage_order", 0) : 0;
  if (!node.wants(1)) {
    node.emit<top::MaxPoolOp>(node.in(0), attributes);
    return;
  }
  node.emitAll<top::MaxPoolWithMaskOp>(2, 2, node.in(0), attributes.setInt("storage_order", order));
}

void lpPool(NodeBuilder &node) {
  // The first version's p was a float.
  int64_t p =
      node.opset() < 2 ? static_cast<int64_t>(node.getFloat("p", 2.0)) : node.getInt("p", 2);
  node.emit<top::LpPoolOp>(node.in(0), poolAttrs(node, 18, 18).setInt("p", p));
}

/// The spatial dimensions as one window, where they are known.
std::optional<Ints> wholeWindow(NodeBuilder &node) {
  std::optional<Ints> dims = NodeBuilder::dims(node.in(0));
  if (!dims || dims->size() < 3)
    return std::nullopt;
  Ints window(dims->begin() + 2, dims->end());
  if (!NodeBuilder::isStatic(window))
    return std::nullopt;
  return window;
}

void reduceSpace(NodeBuilder &node, StringRef mode) {
  Ints axes;
  for (int64_t axis = 2, rank = node.needRank(0, "the pool"); axis < rank; ++axis)
    axes.push_back(axis);
  node.emit<top::ReduceOp>({node.in(0), node.none()},
                           node.attrs().setInts("axes", axes).setString("mode", mode));
}

template <typename Op> void globalPool(NodeBuilder &node, StringRef reduceMode) {
  if (std::optional<Ints> window = wholeWindow(node))
    node.emit<Op>(node.in(0), node.attrs().setInts("kernel_shape", window));
  else
    reduceSpace(node, reduceMode);
}

void globalAveragePool(NodeBuilder &node) { globalPool<top::AvgPoolOp>(node, "ReduceMean"); }
void globalMaxPool(NodeBuilder &node) { globalPool<top::MaxPoolOp>(node, "ReduceMax"); }

void globalLpPool(NodeBuilder &node) {
  int64_t p =
      node.opset() < 2 ? static_cast<int64_t>(node.getFloat("p", 2.0)) : node.getInt("p", 2);
  std::optional<Ints> window = wholeWindow(node);
  if (window) {
    node.emit<top::LpPoolOp>(node.in(0),
                             node.attrs().setInts("kernel_shape", window).setInt("p", p));
    return;
  }
  if (p != 1 && p != 2)
    return node.fail(fmt::format("p is {} and the size of the input is not known", p), "1 or 2");
  reduceSpace(node, p == 1 ? "ReduceL1" : "ReduceL2");
}

void maxUnpool(NodeBuilder &node) {
  std::optional<Ints> kernel = node.getInts("kernel_shape");
  if (!kernel)
    return node.fail("attribute 'kernel_shape' is missing");
  node.emit<top::MaxUnpoolOp>({node.in(0), node.in(1), node.in(2)},
                              node.attrs()
                                  .setInts("kernel_shape", kernel)
                                  .setInts("strides", node.getInts("strides"))
                                  .setInts("pads", node.getInts("pads")));
}

void roiAlign(NodeBuilder &node) {
  bool halfPixel = false;
  if (node.opset() >= 16)
    halfPixel = node.getChoice("coordinate_transformation_mode", "half_pixel",
                               {"half_pixel", "output_half_pixel"}) == "half_pixel";
  std::string mode = node.getChoice("mode", "avg", {"avg", "max"});
  node.emit<top::RoiAlignOp>({node.in(0), node.in(1), node.in(2)},
                             node.attrs()
                                 .setString("mode", mode == "avg" ? "Avg" : "Max")
                                 .setInt("output_height", node.getInt("output_height", 1))
                                 .setInt("output_width", node.getInt("output_width", 1))
                                 .setInt("sampling_ratio", node.getInt("sampling_ratio", 0))
                                 .setFloat("spatial_scale", node.getFloat("spatial_scale", 1.0))
                                 .setBool("align_corners", halfPixel));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void matMul(NodeBuilder &node) { node.emit<top::MatMulOp>({node.in(0), node.in(1), node.none()}); }

void gemm(NodeBuilder &node) { makeGemm(node, /*last=*/true); }

void einsum(NodeBuilder &node) {
  node.emit<top::EinsumOp>(node.inputsFrom(0),
                           node.attrs().setString("mode", node.getString("equation", "")));
}

//===----------------------------------------------------------------------===//
// Recurrent cells
//===----------------------------------------------------------------------===//

/// `functions`: those of a direction where none are named. They need not be.
Attrs cellAttrs(NodeBuilder &node, Value recurrence, ArrayRef<StringRef> functions) {
  // Of the first versions; the outputs that are asked for say it.
  node.ignore({"output_sequence"});
  std::optional<Ints> dims = NodeBuilder::dims(recurrence);
  int64_t hidden = dims && dims->size() == 3 ? dims->back() : -1;
  hidden = node.getInt("hidden_size", hidden);
  if (hidden < 1)
    node.fail("attribute 'hidden_size' is missing, or not positive");
  const std::string direction =
      node.getChoice("direction", "forward", {"forward", "reverse", "bidirectional"});
  Attrs attributes = node.attrs()
                         .setString("direction", direction)
                         .setInt("hidden_size", hidden)
                         .setFloats("activation_alpha", node.getFloats("activation_alpha"))
                         .setFloats("activation_beta", node.getFloats("activation_beta"));
  if (std::optional<std::vector<std::string>> names = node.getStrings("activations")) {
    SmallVector<StringRef> refs(names->begin(), names->end());
    bool areUsual = refs.size() == functions.size() * (direction == "bidirectional" ? 2 : 1);
    for (auto [index, name] : llvm::enumerate(refs))
      areUsual &= name.equals_insensitive(functions[index % functions.size()]);
    if (!areUsual)
      attributes.set("activations", Builder(node.context()).getStrArrayAttr(refs));
  }
  if (node.hasAttribute("clip"))
    attributes.setFloat("clip", node.getFloat("clip", 0.0));
  if (node.opset() >= 14)
    attributes.setBool("batch_first", node.getInt("layout", 0) != 0);
  return attributes;
}

void lstm(NodeBuilder &node) {
  node.emitAll<top::LSTMOp>(3, 0, node.firstInputs(8), lstmAttrs(node, node.in(2)));
}

void gru(NodeBuilder &node) {
  Attrs attributes = cellAttrs(node, node.in(2), {"Sigmoid", "Tanh"});
  if (node.opset() >= 3)
    attributes.setBool("linear_before_reset", node.getInt("linear_before_reset", 0) != 0);
  node.emitAll<top::GRUOp>(2, 0, node.firstInputs(6), attributes);
}

void rnn(NodeBuilder &node) {
  node.emitAll<top::RNNOp>(2, 0, node.firstInputs(6), cellAttrs(node, node.in(2), {"Tanh"}));
}

//===----------------------------------------------------------------------===//
// Resampling
//===----------------------------------------------------------------------===//

/// Input `index` as floats where it is constant. An empty one counts as left out.
struct FloatsOrTensor {
  std::optional<std::vector<double>> floats;
  Value tensor;
};

FloatsOrTensor floatsOrTensor(NodeBuilder &node, unsigned index) {
  std::optional<Tensor> tensor = node.has(index) ? node.constant(index) : std::nullopt;
  if (!tensor)
    return {std::nullopt, node.in(index)};
  Tensor wide = convert(*tensor, DataType::F64);
  auto values = wide.data<double>();
  if (values.empty())
    return {std::nullopt, node.none()};
  return {std::vector<double>(values.begin(), values.end()), node.none()};
}

void emitInterp(NodeBuilder &node, Value roi, const FloatsOrTensor &scales,
                const IntsOrTensor &sizes, Attrs attributes) {
  node.emit<top::InterpOp>(
      {node.in(0), roi, scales.tensor, sizes.tensor},
      attributes.setFloats("scales", scales.floats).setInts("sizes", sizes.ints));
}

/// Upsample, and Resize of opset 10: pixels are not centred.
void emitUpsample(NodeBuilder &node, const FloatsOrTensor &scales) {
  std::string mode = node.getChoice("mode", "nearest", {"nearest", "linear", "bilinear"});
  emitInterp(node, node.none(), scales, {std::nullopt, node.none()},
             node.attrs()
                 .setString("mode", mode == "nearest" ? "nearest" : "linear")
                 .setString("coord_mode", "asymmetric")
                 .setString("nearest_mode", "floor"));
}

void upsampleFirst(NodeBuilder &node) {
  if (!node.hasAttribute("width_scale") || !node.hasAttribute("height_scale"))
    return node.fail("attribute 'width_scale' or 'height_scale' is missing");
  double width = node.getFloat("width_scale", 1.0);
  emitUpsample(node,
               {std::vector<double>{1, 1, node.getFloat("height_scale", 1.0), width}, node.none()});
}

void upsampleAttribute(NodeBuilder &node) {
  std::optional<std::vector<double>> scales = node.getFloats("scales");
  if (!scales)
    return node.fail("attribute 'scales' is missing");
  emitUpsample(node, {scales, node.none()});
}

void upsample(NodeBuilder &node) { emitUpsample(node, floatsOrTensor(node, 1)); }

void resize(NodeBuilder &node) {
  std::string coordinates =
      node.getChoice("coordinate_transformation_mode", "half_pixel",
                     {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                      "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  Attrs attributes =
      node.attrs()
          .setString("mode", node.getChoice("mode", "nearest", {"nearest", "linear", "cubic"}))
          .setString("coord_mode", coordinates)
          .setString("nearest_mode",
                     node.getChoice("nearest_mode", "round_prefer_floor",
                                    {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}))
          .setFloat("cubic_coeff_a", node.getFloat("cubic_coeff_a", -0.75))
          .setBool("exclude_outside", node.getInt("exclude_outside", 0) != 0)
          .setFloat("extrapolation_value", node.getFloat("extrapolation_value", 0.0));
  if (node.opset() >= 18) {
    attributes.setBool("antialias", node.getInt("antialias", 0) != 0)
        .setInts("axes", node.getInts("axes"))
        .setString("keep_aspect_ratio_policy",
                   node.getChoice("keep_aspect_ratio_policy", "stretch",
                                  {"stretch", "not_larger", "not_smaller"}));
  }
  FloatsOrTensor scales = floatsOrTensor(node, 2);
  IntsOrTensor sizes = node.intsOrTensor(3);
  if (sizes.ints && sizes.ints->empty())
    sizes.ints.reset();
  auto given = [&](bool constant, Value tensor) { return constant || tensor != node.none(); };
  if (given(scales.floats.has_value(), scales.tensor) ==
      given(sizes.ints.has_value(), sizes.tensor))
    return node.fail("has both scales and sizes, or neither", "one of them");
  Value roi = coordinates == "tf_crop_and_resize" ? node.in(1) : node.none();
  emitInterp(node, roi, scales, sizes, attributes);
}

void gridSample(NodeBuilder &node) {
  std::string mode =
      node.getChoice("mode", "linear", {"linear", "bilinear", "nearest", "cubic", "bicubic"});
  StringRef plain = mode;
  plain.consume_front("bi");
  node.emit<top::GridSamplerOp>(
      {node.in(0), node.in(1)},
      node.attrs()
          .setString("mode", plain)
          .setString("padding_mode",
                     node.getChoice("padding_mode", "zeros", {"zeros", "border", "reflection"}))
          .setBool("align_corners", node.getInt("align_corners", 0) != 0));
}

void affineGrid(NodeBuilder &node) {
  node.emit<top::AffineGridOp>(
      {node.in(0), node.in(1)},
      node.attrs().setBool("align_corners", node.getInt("align_corners", 0) != 0));
}

constexpr OpRow kNetworkRows[] = {
    {"AffineGrid", 20, 2, 2, affineGrid, "AffineGrid"},
    {"AveragePool", 1, 1, 1, averagePool, "AvgPool"},
    {"Col2Im", 18, 3, 3, col2Im, "Col2Im"},
    {"Conv", 1, 2, 3, conv, "Conv"},
    {"ConvTranspose", 1, 2, 3, convTranspose, "Deconv"},
    {"DeformConv", 19, 3, 5, deformConv, "DeformConv2D"},
    {"Einsum", 12, 1, -1, einsum, "Einsum"},
    {"GRU", 1, 3, 6, gru, "GRU"},
    {"Gemm", 1, 2, 3, gemm, "MatMul, Add, MulConst"},
    {"GlobalAveragePool", 1, 1, 1, globalAveragePool, "AvgPool, Reduce"},
    {"GlobalLpPool", 1, 1, 1, globalLpPool, "LpPool, Reduce"},
    {"GlobalMaxPool", 1, 1, 1, globalMaxPool, "MaxPool, Reduce"},
    {"GridSample", 16, 2, 2, gridSample, "GridSampler"},
    {"LSTM", 1, 3, 8, lstm, "LSTM"},
    {"LpPool", 1, 1, 1, lpPool, "LpPool"},
    {"MatMul", 1, 2, 2, matMul, "MatMul"},
    {"MaxPool", 1, 1, 1, maxPool, "MaxPool, MaxPoolWithMask"},
    {"MaxUnpool", 9, 2, 3, maxUnpool, "MaxUnpool"},
    {"RNN", 1, 3, 6, rnn, "RNN"},
    {"Resize", 10, 2, 2, upsample, "Interp"},
    {"Resize", 11, 1, 4, resize, "Interp"},
    {"RoiAlign", 10, 3, 3, roiAlign, "RoiAlign"},
    {"Upsample", 1, 1, 1, upsampleFirst, "Interp"},
    {"Upsample", 7, 1, 1, upsampleAttribute, "Interp"},
    {"Upsample", 9, 2, 2, upsample, "Interp"},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::networkRows() { return kNetworkRows; }

Attrs tpuc::onnx::lstmAttrs(NodeBuilder &node, Value recurrence) {
  return cellAttrs(node, recurrence, {"Sigmoid", "Tanh", "Tanh"})
      .setBool("input_forget", node.getInt("input_forget", 0) != 0);
}
