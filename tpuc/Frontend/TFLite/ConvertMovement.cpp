//===- ConvertMovement.cpp - Ops that move elements ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Frontend/TFLite/TFLiteLayer.h"
#include "tpuc/Support/Convert.h"

#include <fmt/format.h>
#include <numeric>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;
using fb::BuiltinOperator;

namespace {

/// `axis` of the source as a dimension in `layout`.
int64_t axisIn(Layout layout, int64_t axis, int64_t rank) {
  return layout == kFront ? frontAxis(axis, rank) : axis;
}

/// `values`, one for each dimension of the source, in the order of `layout`.
Ints inOrder(Layout layout, const Ints &values) {
  if (layout == Layout::Source)
    return values;
  Ints moved;
  for (int64_t axis : frontOrder(static_cast<int64_t>(values.size())))
    moved.push_back(values[static_cast<size_t>(axis)]);
  return moved;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

void reshape(TFLiteLayer &layer) {
  if (layer.has(1) && !layer.constantInts(1)) {
    layer.emit<top::ReshapeOp>({layer.in(0), layer.in(1)},
                               layer.attrs().setBool("allowzero", true));
    return;
  }
  Ints shape;
  if (layer.has(1))
    shape = layer.needInts(1, "shape");
  else if (const auto *stated = layer.options<fb::ReshapeOptions>().new_shape())
    shape.assign(stated->begin(), stated->end());
  layer.emit<top::ReshapeOp>({layer.in(0), layer.none()},
                             layer.attrs().setInts("shape", shape).setBool("allowzero", true));
}

void squeeze(TFLiteLayer &layer) {
  Ints axes;
  if (const auto *stated = layer.options<fb::SqueezeOptions>().squeeze_dims())
    axes.assign(stated->begin(), stated->end());
  std::optional<Ints> all;
  if (!axes.empty())
    all = axes;
  layer.emit<top::SqueezeOp>({layer.in(0), layer.none()}, layer.attrs().setInts("axes", all));
}

void expandDims(TFLiteLayer &layer) {
  Ints axes = layer.needInts(1, "axis");
  layer.emit<top::UnsqueezeOp>({layer.in(0), layer.none()}, layer.attrs().setInts("axes", axes));
}

void transpose(TFLiteLayer &layer) {
  Ints order = layer.needInts(1, "order");
  const int64_t rank = layer.inputRank(0);
  for (int64_t &axis : order)
    axis = frontend::frontAxis(layer, axis, rank);
  layer.emit<top::PermuteOp>(layer.in(0), layer.attrs().setInts("order", order));
}

void shapeOf(TFLiteLayer &layer) {
  std::optional<Ints> dims = layer.knownDims(0);
  const bool narrow = layer.output(0).type == fb::ElementType::INT32;
  if (dims && TFLiteLayer::isStatic(*dims)) {
    Tensor extents = Tensor::of<int64_t>({static_cast<int64_t>(dims->size())},
                                         std::span<const int64_t>(dims->data(), dims->size()));
    return layer.emitConstant(narrow ? convert(extents, DataType::I32) : extents);
  }
  Value shape = layer.temp<top::ShapeOp>("extents", layer.in(0));
  layer.emit<top::CastOp>(
      shape, layer.attrs().setType(
                 "to", elementType(layer.context(), narrow ? DataType::I32 : DataType::I64)));
}

void rankOf(TFLiteLayer &layer) {
  layer.emitConstant(Tensor::of<int32_t>({}, {static_cast<int32_t>(layer.inputRank(0))}));
}

//===----------------------------------------------------------------------===//
// Joins and cuts
//===----------------------------------------------------------------------===//

void concatenation(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::ConcatenationOptions>();
  SmallVector<unsigned> indices;
  for (unsigned index = 0; index < layer.numInputs(); ++index)
    indices.push_back(index);
  const int64_t rank = layer.inputRank(0);
  const int64_t axis = frontend::frontAxis(layer, options.axis(), rank);
  Layout layout = layer.layoutOf(indices);
  SmallVector<Value> values;
  for (unsigned index : indices)
    values.push_back(layer.in(index, layout));
  layer.putActivated<top::ConcatOp>(layout, options.fused_activation_function(), values,
                                    layer.attrs().setInt("axis", axisIn(layout, axis, rank)));
}

void pack(TFLiteLayer &layer) {
  const int64_t rank = layer.inputRank(0) + 1;
  const int64_t axis = frontend::frontAxis(layer, layer.options<fb::PackOptions>().axis(), rank);
  SmallVector<Value> rows;
  for (unsigned index = 0; index < layer.numInputs(); ++index)
    rows.push_back(layer.temp<top::UnsqueezeOp>(fmt::format("in{}", index),
                                                {layer.in(index), layer.none()},
                                                layer.attrs().setInts("axes", Ints{axis})));
  layer.emit<top::ConcatOp>(rows, layer.attrs().setInt("axis", axis));
}

void unpack(TFLiteLayer &layer) {
  const Ints dims = layer.shape(0);
  const int64_t axis = frontend::frontAxis(layer, layer.options<fb::UnpackOptions>().axis(),
                                           static_cast<int64_t>(dims.size()));
  if (layer.failed())
    return;
  if (dims[static_cast<size_t>(axis)] != layer.numOutputs())
    return layer.fail(fmt::format("makes {} tensors", layer.numOutputs()),
                      std::to_string(dims[static_cast<size_t>(axis)]));
  for (unsigned index = 0; index < layer.numOutputs() && !layer.failed(); ++index) {
    Value row = layer.part(fmt::format("row{}", index), layer.in(0), axis, index, index + 1);
    layer.emitAs<top::SqueezeOp>(index, {row, layer.none()},
                                 layer.attrs().setInts("axes", Ints{axis}));
  }
}

/// Parts of `sizes` along `axis` of input `index`.
void cut(TFLiteLayer &layer, unsigned index, int64_t axis, const Ints &sizes) {
  Layout layout = layer.layoutOf({index});
  const int64_t there = axisIn(layout, axis, layer.inputRank(index));
  int64_t begin = 0;
  for (auto [output, size] : llvm::enumerate(sizes)) {
    if (layer.failed())
      return;
    layer.put<top::SliceOp>(
        layout, static_cast<unsigned>(output),
        {layer.in(index, layout), layer.none(), layer.none(), layer.none(), layer.none()},
        layer.partAttrs(there, begin, begin + size));
    begin += size;
  }
}

void split(TFLiteLayer &layer) {
  Ints axes = layer.needInts(0, "axis");
  const Ints dims = layer.shape(1);
  if (layer.failed())
    return;
  const int64_t axis = layer.frontAxisOf(axes, static_cast<int64_t>(dims.size()));
  if (layer.failed())
    return;
  const auto parts = static_cast<int64_t>(layer.numOutputs());
  const int64_t extent = dims[static_cast<size_t>(axis)];
  if (parts != layer.options<fb::SplitOptions>().num_splits() || extent % parts != 0)
    return layer.fail(fmt::format("cuts {} elements into {} parts of {} outputs", extent,
                                  layer.options<fb::SplitOptions>().num_splits(), parts),
                      "equal parts, one for each output");
  cut(layer, 1, axis, Ints(static_cast<size_t>(parts), extent / parts));
}

/// Of the sizes one may be -1: what the others leave.
void splitV(TFLiteLayer &layer) {
  const Ints dims = layer.shape(0);
  Ints sizes = layer.needInts(1, "sizes");
  Ints axes = layer.needInts(2, "axis");
  if (layer.failed())
    return;
  const int64_t axis = layer.frontAxisOf(axes, static_cast<int64_t>(dims.size()));
  if (layer.failed())
    return;
  int64_t known = 0;
  for (int64_t size : sizes)
    known += std::max<int64_t>(size, 0);
  const int64_t extent = dims[static_cast<size_t>(axis)];
  std::ranges::replace(sizes, int64_t(-1), extent - known);
  if (sizes.size() != layer.numOutputs() || llvm::any_of(sizes, [](int64_t s) { return s < 0; }) ||
      std::accumulate(sizes.begin(), sizes.end(), int64_t(0)) != extent)
    return layer.fail("has sizes that do not fit its input and outputs",
                      fmt::format("{} parts of {} elements", layer.numOutputs(), extent));
  cut(layer, 0, axis, sizes);
}

/// `size` elements from `begin` in each dimension; -1 for all that follow.
void slice(TFLiteLayer &layer) {
  Ints begin = layer.needInts(1, "begin");
  Ints size = layer.needInts(2, "size");
  const auto rank = static_cast<size_t>(layer.inputRank(0));
  std::optional<Ints> dims = layer.knownDims(0);
  if (layer.failed())
    return;
  if (begin.size() != rank || size.size() != rank)
    return layer.fail("has a begin or size of another number of dimensions", std::to_string(rank));
  Ints ends;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (begin[axis] < 0 || size[axis] < -1)
      return layer.fail(fmt::format("takes {} elements from {}", size[axis], begin[axis]),
                        "0 or more; -1 for all that follow");
    ends.push_back(size[axis] == -1 ? INT64_MAX : begin[axis] + size[axis]);
    if (int64_t extent = (*dims)[axis];
        size[axis] != -1 && !ShapedType::isDynamic(extent) && ends.back() > extent)
      return layer.fail(fmt::format("takes elements to {} in dimension {}", ends.back(), axis),
                        fmt::format("at most {}", extent));
  }
  Layout layout = layer.layoutOf({0});
  layer.put<top::SliceOp>(
      layout, {layer.in(0, layout), layer.none(), layer.none(), layer.none(), layer.none()},
      layer.attrs()
          .setInts("offset", inOrder(layout, begin))
          .setInts("ends", inOrder(layout, ends))
          .setInts("steps", Ints(rank, 1)));
}

/// A strided slice as one of each dimension of the input, and the shape of the result.
struct Strided {
  Ints begin;
  Ints end;
  Ints steps;
  /// The dimensions that are taken away, and the places of the new ones in the result.
  Ints dropped;
  Ints added;
};

/// Goes through the entries of a strided slice: one for a dimension, a new one, or an ellipsis.
Strided readStrided(TFLiteLayer &layer, const Ints &dims) {
  const auto &options = layer.options<fb::StridedSliceOptions>();
  Ints begin = layer.needInts(1, "begin");
  Ints end = layer.needInts(2, "end");
  Ints step = layer.needInts(3, "strides");
  Strided made;
  if (layer.failed())
    return made;
  constexpr size_t kMost = 16;
  if (begin.size() != end.size() || begin.size() != step.size() || begin.size() > kMost)
    layer.fail("has a begin, end and strides of unequal lengths", "equal ones, at most 16");
  if (options.offset())
    layer.fail("gives its ends as offsets", "as places");
  auto has = [](int32_t mask, size_t entry) { return (mask >> entry & 1) != 0; };
  size_t used = 0;
  for (size_t entry = 0; entry < begin.size(); ++entry)
    used += !has(options.ellipsis_mask(), entry) && !has(options.new_axis_mask(), entry);
  if (used > dims.size())
    layer.fail(fmt::format("cuts {} dimensions", used), fmt::format("at most {}", dims.size()));
  size_t axis = 0;
  int64_t place = 0;
  auto whole = [&] {
    made.begin.push_back(0);
    made.end.push_back(INT64_MAX);
    made.steps.push_back(1);
    ++axis;
    ++place;
  };
  for (size_t entry = 0; entry < begin.size() && !layer.failed(); ++entry) {
    if (has(options.ellipsis_mask(), entry)) {
      for (size_t left = dims.size() - used; left > 0; --left)
        whole();
      used = dims.size();
      continue;
    }
    if (has(options.new_axis_mask(), entry)) {
      made.added.push_back(place++);
      continue;
    }
    const int64_t stride = step[entry];
    if (stride == 0) {
      layer.fail(fmt::format("has the stride 0 in entry {}", entry), "another number");
      break;
    }
    if (has(options.shrink_axis_mask(), entry)) {
      int64_t at = begin[entry] < 0 ? begin[entry] + dims[axis] : begin[entry];
      if (at < 0 || at >= dims[axis]) {
        layer.fail(fmt::format("takes element {} of dimension {}", begin[entry], axis),
                   fmt::format("one of {}", dims[axis]));
        break;
      }
      made.begin.push_back(at);
      made.end.push_back(at + 1);
      made.steps.push_back(1);
      made.dropped.push_back(static_cast<int64_t>(axis++));
      continue;
    }
    const bool back = stride < 0;
    made.begin.push_back(has(options.begin_mask(), entry) ? (back ? INT64_MAX : 0) : begin[entry]);
    made.end.push_back(has(options.end_mask(), entry) ? (back ? INT64_MIN : INT64_MAX)
                                                      : end[entry]);
    made.steps.push_back(stride);
    ++axis;
    ++place;
  }
  while (axis < dims.size())
    whole();
  return made;
}

void stridedSlice(TFLiteLayer &layer) {
  const Ints dims = layer.shape(0);
  Strided strided = readStrided(layer, dims);
  if (layer.failed())
    return;
  const bool plain = strided.dropped.empty() && strided.added.empty();
  Layout layout = plain ? layer.layoutOf({0}) : Layout::Source;
  SmallVector<Value> operands = {layer.in(0, layout), layer.none(), layer.none(), layer.none(),
                                 layer.none()};
  Attrs attributes = layer.attrs()
                         .setInts("offset", inOrder(layout, strided.begin))
                         .setInts("ends", inOrder(layout, strided.end))
                         .setInts("steps", inOrder(layout, strided.steps));
  if (plain) {
    layer.put<top::SliceOp>(layout, operands, attributes);
    return;
  }
  Value value = layer.temp<top::SliceOp>("cut", operands, attributes);
  if (strided.added.empty()) {
    layer.emit<top::SqueezeOp>({value, layer.none()},
                               layer.attrs().setInts("axes", strided.dropped));
    return;
  }
  if (!strided.dropped.empty())
    value = layer.temp<top::SqueezeOp>("rest", {value, layer.none()},
                                       layer.attrs().setInts("axes", strided.dropped));
  layer.emit<top::UnsqueezeOp>({value, layer.none()}, layer.attrs().setInts("axes", strided.added));
}

//===----------------------------------------------------------------------===//
// Pads and repeats
//===----------------------------------------------------------------------===//

/// The paddings of input 1, [rank, 2], as the dialect has them; nothing after an error.
std::optional<Ints> paddings(TFLiteLayer &layer, Layout layout) {
  Ints pairs = layer.needInts(1, "paddings");
  const auto rank = static_cast<size_t>(layer.inputRank(0));
  if (layer.failed())
    return std::nullopt;
  if (pairs.size() != 2 * rank || llvm::any_of(pairs, [](int64_t pad) { return pad < 0; })) {
    layer.fail("has paddings of other than two numbers for each dimension",
               fmt::format("{} numbers, 0 or more", 2 * rank));
    return std::nullopt;
  }
  Ints begins;
  Ints ends;
  for (size_t axis = 0; axis < rank; ++axis) {
    begins.push_back(pairs[2 * axis]);
    ends.push_back(pairs[2 * axis + 1]);
  }
  Ints all = inOrder(layout, begins);
  all.append(inOrder(layout, ends));
  return all;
}

void pad(TFLiteLayer &layer) {
  Layout layout = layer.layoutOf({0});
  std::optional<Ints> pads = paddings(layer, layout);
  if (!pads)
    return;
  double value = 0;
  if (layer.numInputs() > 2) {
    std::optional<Tensor> stated = layer.needConstant(2, "value");
    if (!stated)
      return;
    if (stated->numElements() != 1)
      return layer.fail("has several values to pad with", "one");
    value = stated->data<float>()[0];
  }
  layer.put<top::PadOp>(
      layout, {layer.in(0, layout), layer.none(), layer.none(), layer.none()},
      layer.attrs().setInts("paddings", pads).setFloat("val", value).setString("mode", "constant"));
}

/// REFLECT leaves the border out. SYMMETRIC repeats it: parts of the tensor, turned around, in
/// front and behind.
void mirrorPad(TFLiteLayer &layer) {
  Layout layout = layer.layoutOf({0});
  std::optional<Ints> pads = paddings(layer, layout);
  const Ints dims = inOrder(layout, layer.shape(0));
  if (!pads || layer.failed())
    return;
  const bool symmetric = layer.options<fb::MirrorPadOptions>().mode() == fb::MirrorMode::SYMMETRIC;
  const size_t rank = dims.size();
  for (size_t axis = 0; axis < rank; ++axis)
    for (int64_t pad : {(*pads)[axis], (*pads)[axis + rank]})
      if (pad > dims[axis] - (symmetric ? 0 : 1))
        return layer.fail(fmt::format("mirrors {} elements of {}", pad, dims[axis]),
                          "no more than there are");
  if (!symmetric) {
    layer.put<top::PadOp>(layout, {layer.in(0, layout), layer.none(), layer.none(), layer.none()},
                          layer.attrs().setInts("paddings", pads).setString("mode", "reflect"));
    return;
  }
  Value value = layer.in(0, layout);
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t before = (*pads)[axis];
    const int64_t behind = (*pads)[axis + rank];
    const int64_t extent = dims[axis];
    auto turned = [&](StringRef suffix, int64_t from, int64_t to) {
      return layer.temp<top::SliceOp>(
          suffix, {value, layer.none(), layer.none(), layer.none(), layer.none()},
          layer.attrs()
              .setInts("offset", Ints{from})
              .setInts("ends", Ints{to})
              .setInts("steps", Ints{-1})
              .setInts("axes", Ints{static_cast<int64_t>(axis)}));
    };
    SmallVector<Value> parts;
    if (before > 0)
      parts.push_back(turned("front", before - 1, INT64_MIN));
    parts.push_back(value);
    if (behind > 0)
      parts.push_back(
          turned("back", extent - 1, behind == extent ? INT64_MIN : extent - 1 - behind));
    if (parts.size() > 1)
      value = layer.temp<top::ConcatOp>("mirrored", parts,
                                        layer.attrs().setInt("axis", static_cast<int64_t>(axis)));
  }
  layer.put<top::CopyOp>(layout, value);
}

void tile(TFLiteLayer &layer) {
  Ints times = layer.needInts(1, "multiples");
  Layout layout = layer.layoutOf({0});
  if (layer.failed())
    return;
  if (static_cast<int64_t>(times.size()) != layer.inputRank(0))
    return layer.fail("has multiples for another number of dimensions",
                      std::to_string(layer.inputRank(0)));
  layer.put<top::TileOp>(layout, {layer.in(0, layout), layer.none()},
                         layer.attrs().setInts("tile", inOrder(layout, times)));
}

void broadcastTo(TFLiteLayer &layer) {
  if (std::optional<Ints> shape = layer.constantInts(1)) {
    layer.emit<top::ExpandOp>({layer.in(0), layer.none()}, layer.attrs().setInts("shape", shape));
    return;
  }
  layer.emit<top::ExpandOp>({layer.in(0), layer.in(1)});
}

/// The shape that both are broadcast to.
void broadcastArgs(TFLiteLayer &layer) {
  const Ints first = layer.shape(0);
  const Ints second = layer.shape(1);
  if (layer.failed())
    return;
  if (first.size() != 1 || second.size() != 1)
    return layer.fail("has shapes of other than 1 dimension", "1");
  const int64_t rank = std::max(first[0], second[0]);
  // Extents that are not there count as 1.
  const auto whole = [&](unsigned index, int64_t own) {
    Value extents = layer.cast(fmt::format("in{}", index), layer.in(index), DataType::I64);
    if (own == rank)
      return extents;
    Value ones =
        layer.intsWeight(fmt::format("in{}_ones", index), Ints(static_cast<size_t>(rank - own), 1));
    return layer.temp<top::ConcatOp>(fmt::format("in{}_whole", index), {ones, extents},
                                     layer.attrs().setInt("axis", 0));
  };
  Value larger = layer.temp<top::MaxOp>("larger", {whole(0, first[0]), whole(1, second[0])});
  layer.emit<top::CastOp>(larger,
                          layer.attrs().setType("to", TFLiteLayer::elementType(layer.in(0))));
}

void reverse(TFLiteLayer &layer) {
  Ints axes = layer.needInts(1, "axes");
  Layout layout = layer.layoutOf({0});
  const int64_t rank = layer.inputRank(0);
  for (int64_t &axis : axes)
    axis = axisIn(layout, frontend::frontAxis(layer, axis, rank), rank);
  const size_t count = axes.size();
  layer.put<top::SliceOp>(
      layout, {layer.in(0, layout), layer.none(), layer.none(), layer.none(), layer.none()},
      layer.attrs()
          .setInts("offset", Ints(count, INT64_MAX))
          .setInts("ends", Ints(count, INT64_MIN))
          .setInts("steps", Ints(count, -1))
          .setInts("axes", axes));
}

void fill(TFLiteLayer &layer) {
  if (std::optional<Ints> shape = layer.constantInts(0)) {
    Ints ones(shape->size(), 1);
    Value one = layer.reshaped("one", layer.in(1), ones);
    layer.emit<top::ExpandOp>({one, layer.none()}, layer.attrs().setInts("shape", shape));
    return;
  }
  layer.emit<top::ExpandOp>({layer.in(1), layer.in(0)});
}

void range(TFLiteLayer &layer) {
  layer.emit<top::RangeOp>({layer.in(0), layer.in(1), layer.in(2)});
}

/// The elements of a constant that was stored as a sparse one.
void densify(TFLiteLayer &layer) {
  std::optional<Tensor> known = layer.has(0) ? layer.constant(0) : std::nullopt;
  if (!known)
    return layer.fail("its input is computed", "a sparse constant");
  layer.emitConstant(*known);
}

constexpr OpRow kMovementRows[] = {
    {BuiltinOperator::BROADCAST_ARGS, 2, 2, broadcastArgs, "Concat, Max"},
    {BuiltinOperator::BROADCAST_TO, 2, 2, broadcastTo, "Expand"},
    {BuiltinOperator::CONCATENATION, 1, -1, concatenation, "Concat"},
    {BuiltinOperator::DENSIFY, 1, 1, densify, "a constant"},
    {BuiltinOperator::EXPAND_DIMS, 2, 2, expandDims, "Unsqueeze"},
    {BuiltinOperator::FILL, 2, 2, fill, "Expand"},
    {BuiltinOperator::MIRROR_PAD, 2, 2, mirrorPad, "Pad; Slice, Concat"},
    {BuiltinOperator::PACK, 1, -1, pack, "Unsqueeze, Concat"},
    {BuiltinOperator::PAD, 2, 2, pad, "Pad"},
    {BuiltinOperator::PADV2, 3, 3, pad, "Pad"},
    {BuiltinOperator::RANGE, 3, 3, range, "Range"},
    {BuiltinOperator::RANK, 1, 1, rankOf, "a constant"},
    {BuiltinOperator::RESHAPE, 1, 2, reshape, "Reshape"},
    {BuiltinOperator::REVERSE_V2, 2, 2, reverse, "Slice"},
    {BuiltinOperator::SHAPE, 1, 1, shapeOf, "a constant; Shape, Cast"},
    {BuiltinOperator::SLICE, 3, 3, slice, "Slice"},
    {BuiltinOperator::SPLIT, 2, 2, split, "Slice"},
    {BuiltinOperator::SPLIT_V, 3, 3, splitV, "Slice"},
    {BuiltinOperator::SQUEEZE, 1, 1, squeeze, "Squeeze"},
    {BuiltinOperator::STRIDED_SLICE, 4, 4, stridedSlice, "Slice, Squeeze, Unsqueeze"},
    {BuiltinOperator::TILE, 2, 2, tile, "Tile"},
    {BuiltinOperator::TRANSPOSE, 2, 2, transpose, "Permute"},
    {BuiltinOperator::UNPACK, 1, 1, unpack, "Slice, Squeeze"},
};

} // namespace

ArrayRef<OpRow> tpuc::tflite::movementRows() { return kMovementRows; }
