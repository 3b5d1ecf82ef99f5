//===- ConvertMovement.cpp - Ops that move elements, and those that make shapes ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"

#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ShapeOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

void concat(NodeBuilder &node) {
  if (node.opset() >= 4 && !node.hasAttribute("axis"))
    return node.fail("attribute 'axis' is missing");
  node.emit<top::ConcatOp>(node.inputsFrom(0), node.attrs().setInt("axis", node.getInt("axis", 1)));
}

/// Sizes of `count` parts of `extent`, all equal but for the last.
Ints evenParts(int64_t extent, int64_t count) {
  int64_t part = (extent + count - 1) / count;
  Ints sizes(static_cast<size_t>(count), part);
  sizes.back() = extent - part * (count - 1);
  return sizes;
}

void split(NodeBuilder &node) {
  int64_t axis = node.getInt("axis", 0);
  auto count = static_cast<int64_t>(node.numOutputs());
  IntsOrTensor sizes{std::nullopt, node.none()};
  if (node.opset() < 13)
    sizes.ints = node.getInts("split");
  if (node.has(1))
    sizes = node.intsOrTensor(1);
  bool uneven = node.opset() >= 18;
  if (uneven && node.hasAttribute("num_outputs") && node.getInt("num_outputs", 1) != count)
    return node.fail(fmt::format("num_outputs is {}", node.getInt("num_outputs", 1)),
                     fmt::format("{}, the number of outputs", count));
  std::optional<Ints> dims = NodeBuilder::dims(node.in(0));
  if (!sizes.ints && !node.has(1) && dims) {
    const int64_t front = frontAxis(node, axis, static_cast<int64_t>(dims->size()));
    if (node.failed())
      return;
    const int64_t extent = (*dims)[static_cast<size_t>(front)];
    if (!ShapedType::isDynamic(extent)) {
      if (!uneven && extent % count != 0)
        return node.fail(fmt::format("splits {} elements into {} equal parts", extent, count));
      sizes.ints = evenParts(extent, count);
      if (sizes.ints->back() < 0)
        return node.fail(fmt::format("splits {} elements into {} parts", extent, count));
    }
  }
  if (sizes.ints && static_cast<int64_t>(sizes.ints->size()) != count)
    return node.fail(fmt::format("has {} sizes of parts", sizes.ints->size()),
                     fmt::format("{}, one for each output", count));
  node.emitAll<top::SplitOp>(static_cast<unsigned>(count), static_cast<unsigned>(count),
                             {node.in(0), sizes.tensor},
                             node.attrs().setInt("axis", axis).setInts("split_size", sizes.ints));
}

void sliceAttributes(NodeBuilder &node) {
  if (!node.hasAttribute("starts") || !node.hasAttribute("ends"))
    return node.fail("attribute 'starts' or 'ends' is missing");
  node.emit<top::SliceOp>({node.in(0), node.none(), node.none(), node.none(), node.none()},
                          node.attrs()
                              .setInts("offset", node.getInts("starts"))
                              .setInts("ends", node.getInts("ends"))
                              .setInts("axes", node.getInts("axes")));
}

void slice(NodeBuilder &node) {
  IntsOrTensor starts = node.intsOrTensor(1);
  IntsOrTensor ends = node.intsOrTensor(2);
  IntsOrTensor axes = node.intsOrTensor(3);
  IntsOrTensor steps = node.intsOrTensor(4);
  node.emit<top::SliceOp>({node.in(0), starts.tensor, ends.tensor, axes.tensor, steps.tensor},
                          node.attrs()
                              .setInts("offset", starts.ints)
                              .setInts("ends", ends.ints)
                              .setInts("axes", axes.ints)
                              .setInts("steps", steps.ints));
}

void transpose(NodeBuilder &node) {
  std::optional<Ints> order = node.getInts("perm");
  if (!order) {
    order.emplace();
    for (int64_t axis = node.needRank(0, "the reversed order"); axis-- > 0;)
      order->push_back(axis);
  }
  node.emit<top::PermuteOp>(node.in(0), node.attrs().setInts("order", order));
}

void reshapeAttribute(NodeBuilder &node) {
  node.ignore({"consumed_inputs"});
  std::optional<Ints> shape = node.getInts("shape");
  if (!shape)
    return node.fail("attribute 'shape' is missing");
  node.emit<top::ReshapeOp>({node.in(0), node.none()}, node.attrs().setInts("shape", shape));
}

void reshape(NodeBuilder &node) {
  IntsOrTensor shape = node.intsOrTensor(1);
  Attrs attributes = node.attrs().setInts("shape", shape.ints);
  if (node.opset() >= 14 && node.getInt("allowzero", 0) != 0)
    attributes.setBool("allowzero", true);
  node.emit<top::ReshapeOp>({node.in(0), shape.tensor}, attributes);
}

void flatten(NodeBuilder &node) {
  node.emit<top::FlattenTo2DOp>(node.in(0), node.attrs().setInt("axis", node.getInt("axis", 1)));
}

template <typename Op> void squeezeAttribute(NodeBuilder &node) {
  node.emit<Op>({node.in(0), node.none()}, node.attrs().setInts("axes", node.getInts("axes")));
}

template <typename Op> void squeeze(NodeBuilder &node) {
  IntsOrTensor axes = node.intsOrTensor(1);
  node.emit<Op>({node.in(0), axes.tensor}, node.attrs().setInts("axes", axes.ints));
}

void expand(NodeBuilder &node) {
  IntsOrTensor shape = node.intsOrTensor(1);
  node.emit<top::ExpandOp>({node.in(0), shape.tensor}, node.attrs().setInts("shape", shape.ints));
}

/// The first version repeats along one axis, both given as tensors.
void tileAxis(NodeBuilder &node) {
  std::optional<Ints> times = node.constantInts(1);
  std::optional<Ints> axis = node.constantInts(2);
  int64_t rank = node.needRank(0, "Tile");
  if (!times || !axis || times->size() != 1 || axis->size() != 1)
    return node.fail("tiles and axis are not constant numbers", "constants");
  Ints tile(static_cast<size_t>(rank), 1);
  int64_t at = frontAxis(node, (*axis)[0], rank);
  if (node.failed())
    return;
  tile[static_cast<size_t>(at)] = (*times)[0];
  node.emit<top::TileOp>({node.in(0), node.none()}, node.attrs().setInts("tile", tile));
}

void tile(NodeBuilder &node) {
  IntsOrTensor times = node.intsOrTensor(1);
  node.emit<top::TileOp>({node.in(0), times.tensor}, node.attrs().setInts("tile", times.ints));
}

std::string padMode(NodeBuilder &node) {
  return node.getChoice("mode", "constant", {"constant", "reflect", "edge", "wrap"});
}

void padAttributes(NodeBuilder &node) {
  StringRef name = node.opset() < 2 ? "paddings" : "pads";
  if (!node.hasAttribute(name))
    return node.fail("attribute '" + name.str() + "' is missing");
  node.emit<top::PadOp>({node.in(0), node.none(), node.none(), node.none()},
                        node.attrs()
                            .setInts("paddings", node.getInts(name))
                            .setFloat("val", node.getFloat("value", 0.0))
                            .setString("mode", padMode(node)));
}

/// `pads` of some `axes` as those of all dimensions.
std::optional<Ints> padsOfAll(NodeBuilder &node, const Ints &pads, const Ints &axes, int64_t rank) {
  if (pads.size() != 2 * axes.size()) {
    node.fail(fmt::format("has {} pads for {} axes", pads.size(), axes.size()),
              "two for each axis");
    return std::nullopt;
  }
  Ints all(static_cast<size_t>(2 * rank), 0);
  for (auto [index, given] : llvm::enumerate(axes)) {
    auto axis = static_cast<size_t>(frontAxis(node, given, rank));
    if (node.failed())
      return std::nullopt;
    all[axis] = pads[index];
    all[axis + static_cast<size_t>(rank)] = pads[index + axes.size()];
  }
  return all;
}

void pad(NodeBuilder &node) {
  IntsOrTensor pads = node.intsOrTensor(1);
  Attrs attributes = node.attrs().setString("mode", padMode(node));
  Value axesTensor = node.none();
  if (node.has(3)) {
    std::optional<Ints> axes = node.constantInts(3);
    std::optional<int64_t> rank = NodeBuilder::rank(node.in(0));
    if (pads.ints && axes && rank) {
      pads.ints = padsOfAll(node, *pads.ints, *axes, *rank);
    } else {
      pads = {std::nullopt, node.in(1)};
      axesTensor = node.in(3);
    }
  }
  // An integer of more than 53 bits is none that a double can hold.
  std::optional<double> value = node.has(2) ? node.constantFloat(2) : 0.0;
  bool exact = value && (isa<FloatType>(NodeBuilder::elementType(node.in(0))) ||
                         std::abs(*value) < double(int64_t(1) << 53));
  if (exact)
    attributes.setFloat("val", value);
  node.emit<top::PadOp>({node.in(0), pads.tensor, exact ? node.none() : node.in(2), axesTensor},
                        attributes.setInts("paddings", pads.ints));
}

void depthToSpace(NodeBuilder &node) {
  int64_t block = node.needInt("blocksize");
  bool crd = node.opset() >= 11 && node.getChoice("mode", "DCR", {"DCR", "CRD"}) == "CRD";
  node.emit<top::Depth2SpaceOp>(
      node.in(0),
      node.attrs().setInt("block_h", block).setInt("block_w", block).setBool("is_CRD", crd));
}

void spaceToDepth(NodeBuilder &node) {
  int64_t block = node.needInt("blocksize");
  bool crd = node.opset() >= 28 && node.getChoice("mode", "DCR", {"DCR", "CRD"}) == "CRD";
  node.emit<top::Depth2SpaceOp>(node.in(0), node.attrs()
                                                .setInt("block_h", block)
                                                .setInt("block_w", block)
                                                .setBool("is_CRD", crd)
                                                .setBool("is_inversed", true));
}

void reverseSequence(NodeBuilder &node) {
  node.emit<top::ReverseSequenceOp>({node.in(0), node.in(1)},
                                    node.attrs()
                                        .setInt("batch_axis", node.getInt("batch_axis", 1))
                                        .setInt("time_axis", node.getInt("time_axis", 0)));
}

void trilu(NodeBuilder &node) {
  IntsOrTensor diagonal = node.intsOrTensor(1);
  Attrs attributes = node.attrs().setBool("upper", node.getInt("upper", 1) != 0);
  if (diagonal.ints && diagonal.ints->size() != 1)
    return node.fail(fmt::format("k has {} elements", diagonal.ints->size()), "one");
  if (diagonal.ints)
    attributes.setInt("diagonal", (*diagonal.ints)[0]);
  node.emit<top::TriluOp>({node.in(0), diagonal.tensor}, attributes);
}

void centerCropPad(NodeBuilder &node) {
  IntsOrTensor shape = node.intsOrTensor(1);
  node.emit<top::CenterCropPadOp>(
      {node.in(0), shape.tensor},
      node.attrs().setInts("shape", shape.ints).setInts("axes", node.getInts("axes")));
}

void constant(NodeBuilder &node) {
  std::optional<Tensor> tensor;
  if (node.hasAttribute("value"))
    tensor = node.getTensor("value");
  else if (node.hasAttribute("sparse_value"))
    tensor = node.getSparseTensor("sparse_value");
  else if (node.hasAttribute("value_int"))
    tensor = Tensor::of<int64_t>({}, {node.getInt("value_int", 0)});
  else if (node.hasAttribute("value_float"))
    tensor = Tensor::of<float>({}, {static_cast<float>(node.getFloat("value_float", 0))});
  else if (std::optional<Ints> ints = node.getInts("value_ints"))
    tensor = Tensor::of<int64_t>({static_cast<int64_t>(ints->size())},
                                 std::span(ints->data(), ints->size()));
  else if (std::optional<std::vector<double>> floats = node.getFloats("value_floats")) {
    std::vector<float> values(floats->begin(), floats->end());
    tensor =
        Tensor::of<float>({static_cast<int64_t>(values.size())}, std::span<const float>(values));
  } else if (node.hasAttribute("value_string") || node.hasAttribute("value_strings"))
    return node.fail("is a constant of strings, which are not supported", "numbers");
  else
    return node.fail("has no value");
  if (tensor)
    node.emitConstant(*tensor);
}

void constantOfShape(NodeBuilder &node) {
  std::optional<Tensor> value = node.getTensor("value");
  if (value && value->numElements() != 1)
    return node.fail(fmt::format("value has {} elements", value->numElements()), "one");
  if (!value)
    value = Tensor::of<float>({}, {0.0F});
  IntsOrTensor shape = node.intsOrTensor(0);
  node.emit<top::ConstantFillOp>(
      shape.tensor,
      node.attrs().setInts("shape", shape.ints).set("value", elementAttr(node.context(), *value)));
}

void shape(NodeBuilder &node) {
  int64_t start = node.getInt("start", 0);
  std::optional<int64_t> end;
  if (node.hasAttribute("end"))
    end = node.getInt("end", 0);
  emitShape(node, node.in(0), start, end);
}

void size(NodeBuilder &node) {
  auto type = dyn_cast<RankedTensorType>(node.in(0).getType());
  if (type && type.hasStaticShape())
    return node.emitConstant(Tensor::of<int64_t>({}, {type.getNumElements()}));
  node.emit<top::SizeOp>(node.in(0));
}

void range(NodeBuilder &node) {
  node.ignore({"stash_type"});
  node.emit<top::RangeOp>({node.in(0), node.in(1), node.in(2)});
}

void eyeLike(NodeBuilder &node) {
  node.emit<top::EyeLikeOp>(
      node.in(0),
      node.attrs().setInt("k", node.getInt("k", 0)).setType("to", node.getType("dtype", {})));
}

constexpr OpRow kMovementRows[] = {
    {"CenterCropPad", 18, 2, 2, centerCropPad, "CenterCropPad"},
    {"Concat", 1, 1, -1, concat, "Concat"},
    {"Constant", 1, 0, 0, constant, "Weight"},
    {"ConstantOfShape", 9, 1, 1, constantOfShape, "ConstantFill"},
    {"DepthToSpace", 1, 1, 1, depthToSpace, "Depth2Space"},
    {"Expand", 8, 2, 2, expand, "Expand"},
    {"EyeLike", 9, 1, 1, eyeLike, "EyeLike"},
    {"Flatten", 1, 1, 1, flatten, "FlattenTo2D"},
    {"Pad", 1, 1, 1, padAttributes, "Pad"},
    {"Pad", 11, 2, 4, pad, "Pad"},
    {"Range", 11, 3, 3, range, "Range"},
    {"Reshape", 1, 1, 1, reshapeAttribute, "Reshape"},
    {"Reshape", 5, 2, 2, reshape, "Reshape"},
    {"ReverseSequence", 10, 2, 2, reverseSequence, "ReverseSequence"},
    {"Shape", 1, 1, 1, shape, "Shape, Weight"},
    {"Size", 1, 1, 1, size, "Size, Weight"},
    {"Slice", 1, 1, 1, sliceAttributes, "Slice"},
    {"Slice", 10, 3, 5, slice, "Slice"},
    {"SpaceToDepth", 1, 1, 1, spaceToDepth, "Depth2Space"},
    {"Split", 1, 1, 2, split, "Split"},
    {"Squeeze", 1, 1, 1, squeezeAttribute<top::SqueezeOp>, "Squeeze"},
    {"Squeeze", 13, 1, 2, squeeze<top::SqueezeOp>, "Squeeze"},
    {"Tile", 1, 3, 3, tileAxis, "Tile"},
    {"Tile", 6, 2, 2, tile, "Tile"},
    {"Transpose", 1, 1, 1, transpose, "Permute"},
    {"Trilu", 14, 1, 2, trilu, "Trilu"},
    {"Pad", 1, 2, 3, pad, "Pad", kMicrosoft},
    {"Trilu", 1, 1, 2, trilu, "Trilu", kMicrosoft},
    {"Unsqueeze", 1, 1, 1, squeezeAttribute<top::UnsqueezeOp>, "Unsqueeze"},
    {"Unsqueeze", 13, 2, 2, squeeze<top::UnsqueezeOp>, "Unsqueeze"},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::movementRows() { return kMovementRows; }
