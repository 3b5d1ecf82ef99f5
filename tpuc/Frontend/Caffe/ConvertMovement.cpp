//===- ConvertMovement.cpp - Layers that move elements --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/CaffeLayer.h"

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::caffe;

namespace {

int64_t product(ArrayRef<int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<>());
}

void concat(CaffeLayer &layer) {
  const proto::ConcatParameter &p = layer.parameters().concat_param();
  auto rank = static_cast<int64_t>(layer.shape(0).size());
  if (p.has_axis() && p.has_concat_dim())
    return layer.fail("has both axis and concat_dim", "one of them");
  int64_t axis = layer.axis(p.has_concat_dim() ? int64_t(p.concat_dim()) : p.axis(), rank);
  layer.emit<top::ConcatOp>(layer.inputsFrom(0), layer.attrs().setInt("axis", axis));
}

void slice(CaffeLayer &layer) {
  const proto::SliceParameter &p = layer.parameters().slice_param();
  Ints dims = layer.shape(0);
  if (p.has_axis() && p.has_slice_dim())
    return layer.fail("has both axis and slice_dim", "one of them");
  int64_t axis = layer.axis(p.has_slice_dim() ? int64_t(p.slice_dim()) : p.axis(),
                            static_cast<int64_t>(dims.size()));
  auto extent = dims[static_cast<size_t>(axis)];
  auto count = static_cast<int64_t>(layer.numOutputs());
  Ints sizes;
  if (p.slice_point_size() == 0) {
    if (extent % count != 0)
      return layer.fail(fmt::format("divides {} slices into {} tops", extent, count),
                        "slice_point, or a number that divides them");
    sizes.assign(static_cast<size_t>(count), extent / count);
  } else {
    if (p.slice_point_size() != count - 1)
      return layer.fail(
          fmt::format("has {} of slice_point for {} tops", p.slice_point_size(), count),
          fmt::format("{}", count - 1));
    int64_t before = 0;
    for (int64_t point : p.slice_point()) {
      sizes.push_back(point - before);
      before = point;
    }
    sizes.push_back(extent - before);
  }
  if (std::ranges::any_of(sizes, [](int64_t size) { return size < 1; }))
    return layer.fail(fmt::format("cuts dimension {} into [{}]", axis, fmt::join(sizes, ", ")),
                      "points that grow, within the dimension");
  layer.emitAll<top::SplitOp>(static_cast<unsigned>(count), static_cast<unsigned>(count),
                              {layer.in(0), layer.none()},
                              layer.attrs().setInt("axis", axis).setInts("split_size", sizes));
}

void flatten(CaffeLayer &layer) {
  const proto::FlattenParameter &p = layer.parameters().flatten_param();
  auto rank = static_cast<int64_t>(layer.shape(0).size());
  int64_t first = layer.axis(p.axis(), rank);
  int64_t last = layer.axis(p.end_axis(), rank);
  if (last < first)
    return layer.fail(fmt::format("joins dimensions {} to {}", first, last), "some");
  layer.emit<top::FlattenOp>(layer.in(0),
                             layer.attrs().setInt("start_dim", first).setInt("end_dim", last));
}

void reshape(CaffeLayer &layer) {
  const proto::ReshapeParameter &p = layer.parameters().reshape_param();
  Ints dims = layer.shape(0);
  auto rank = static_cast<int64_t>(dims.size());
  // -1 stands for the place behind the last dimension.
  int64_t first = p.axis() >= 0 ? p.axis() : rank + p.axis() + 1;
  if (first < 0 || first > rank)
    return layer.fail(fmt::format("its axis is {}", p.axis()),
                      fmt::format("{} to {}", -rank - 1, rank));
  int64_t covered = p.num_axes() == -1 ? rank - first : p.num_axes();
  if (covered < 0 || first + covered > rank)
    return layer.fail(fmt::format("covers {} dimensions from {} on", covered, first),
                      fmt::format("dimensions of its bottom, which has {}", rank));
  Ints result(dims.begin(), dims.begin() + first);
  std::optional<size_t> open;
  int64_t at = first;
  for (int64_t dim : p.shape().dim()) {
    if (dim < -1 || (dim == -1 && open))
      return layer.fail(fmt::format("its shape is [{}]", fmt::join(p.shape().dim(), ", ")),
                        "numbers of 1 and more, 0 to keep one, and -1 at most once");
    if (dim == 0 && at >= first + covered)
      return layer.fail("keeps a dimension that its bottom has not", "fewer of 0");
    if (dim == -1)
      open = result.size();
    result.push_back(dim == 0 ? dims[static_cast<size_t>(at)] : dim == -1 ? 1 : dim);
    ++at;
  }
  result.append(dims.begin() + first + covered, dims.end());
  int64_t total = product(dims);
  int64_t others = product(result);
  if (open && others > 0 && total % others == 0)
    result[*open] = total / others;
  if (product(result) != total)
    return layer.fail(
        fmt::format("makes [{}] of [{}]", fmt::join(result, ", "), fmt::join(dims, ", ")),
        fmt::format("a shape of {} elements", total));
  layer.emitReshaped(layer.in(0), result);
}

/// `order`, completed by the dimensions that it leaves out.
void permute(CaffeLayer &layer) {
  auto rank = static_cast<int64_t>(layer.shape(0).size());
  Ints order;
  for (int64_t axis : layer.parameters().permute_param().order()) {
    if (axis >= rank || llvm::is_contained(order, axis))
      return layer.fail(fmt::format("its order holds {} {}", axis, axis < rank ? "twice" : ""),
                        fmt::format("each of 0 to {} once", rank - 1));
    order.push_back(axis);
  }
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(order, axis))
      order.push_back(axis);
  layer.emit<top::PermuteOp>(layer.in(0), layer.attrs().setInts("order", order));
}

void crop(CaffeLayer &layer) {
  const proto::CropParameter &p = layer.parameters().crop_param();
  Ints dims = layer.shape(0);
  Ints like = layer.shape(1);
  auto rank = static_cast<int64_t>(dims.size());
  int64_t axis = layer.axis(p.axis(), rank);
  if (like.size() != dims.size())
    return layer.fail("its bottoms have different ranks", "one rank");
  if (p.offset_size() > 1 && p.offset_size() != rank - axis)
    return layer.fail(fmt::format("has {} offsets", p.offset_size()),
                      fmt::format("one, or {}", rank - axis));
  Ints axes;
  Ints begins;
  Ints ends;
  for (int64_t dim = axis; dim < rank; ++dim) {
    auto at = static_cast<size_t>(dim);
    int index = p.offset_size() == 1 ? 0 : static_cast<int>(dim - axis);
    int64_t begin = p.offset_size() == 0 ? 0 : p.offset(index);
    if (begin + like[at] > dims[at])
      return layer.fail(fmt::format("takes {} from {} on of dimension {}", like[at], begin, dim),
                        fmt::format("a part of its extent, {}", dims[at]));
    axes.push_back(dim);
    begins.push_back(begin);
    ends.push_back(begin + like[at]);
  }
  layer.emit<top::SliceOp>({layer.in(0), layer.none(), layer.none(), layer.none(), layer.none()},
                           layer.attrs()
                               .setInts("offset", begins)
                               .setInts("ends", ends)
                               .setInts("steps", Ints(axes.size(), 1))
                               .setInts("axes", axes));
}

void tile(CaffeLayer &layer) {
  const proto::TileParameter &p = layer.parameters().tile_param();
  auto rank = static_cast<int64_t>(layer.shape(0).size());
  int64_t axis = layer.axis(p.axis(), rank);
  if (p.tiles() < 1)
    return layer.fail(fmt::format("its tiles are {}", p.tiles()), "1 or more");
  Ints tiles(static_cast<size_t>(rank), 1);
  tiles[static_cast<size_t>(axis)] = p.tiles();
  layer.emit<top::TileOp>({layer.in(0), layer.none()}, layer.attrs().setInts("tile", tiles));
}

/// The items of bottom 0 that the numbers of bottom 1, which are floats, name.
void batchReindex(CaffeLayer &layer) {
  Ints index = layer.shape(1);
  Value numbers =
      layer.temp<top::CastOp>("index", layer.reshaped("list", layer.in(1), {product(index)}),
                              layer.attrs().setType("to", IntegerType::get(layer.context(), 64)));
  layer.emit<top::GatherOp>({layer.in(0), numbers}, layer.attrs().setInt("axis", 0));
}

/// The items of each bottom where the last bottom is not 0.
void filter(CaffeLayer &layer) {
  unsigned last = layer.numInputs() - 1;
  if (layer.numOutputs() != last)
    return layer.fail(fmt::format("has {} tops for {} bottoms", layer.numOutputs(), last + 1),
                      "a top for each bottom but the last");
  int64_t count = layer.shape(last)[0];
  Value condition = layer.temp<top::CompareConstOp>(
      "wanted", layer.reshaped("list", layer.in(last), {count}),
      layer.attrs().setFloat("const_val", 0.0).setString("mode", "NotEqual"));
  for (unsigned index = 0; index < last; ++index)
    layer.emitAs<top::CompressOp>(index, {layer.in(index), condition},
                                  layer.attrs().setInt("axis", 0));
}

void parameter(CaffeLayer &layer) {
  const proto::BlobShape &shape = layer.parameters().parameter_param().shape();
  std::optional<Tensor> blob =
      layer.blob(0, "parameter", Ints(shape.dim().begin(), shape.dim().end()));
  if (blob)
    layer.emitConstant(std::move(*blob));
}

/// Tensors of one number each.
void dummyData(CaffeLayer &layer) {
  const proto::DummyDataParameter &p = layer.parameters().dummy_data_param();
  auto tops = static_cast<int>(layer.numOutputs());
  auto fits = [&](int count) { return count == 1 || count == tops; };
  int shapes = p.shape_size() > 0 ? p.shape_size() : p.num_size();
  if (!fits(shapes) || (p.data_filler_size() > 0 && !fits(p.data_filler_size())) ||
      (p.shape_size() == 0 &&
       (p.channels_size() != shapes || p.height_size() != shapes || p.width_size() != shapes)))
    return layer.fail(
        fmt::format("has {} shapes and {} fillers for {} tops", shapes, p.data_filler_size(), tops),
        "one for all tops, or one for each");
  for (int index = 0; index < tops; ++index) {
    int at = shapes == 1 ? 0 : index;
    Ints dims = p.shape_size() > 0 ? Ints(p.shape(at).dim().begin(), p.shape(at).dim().end())
                                   : Ints{p.num(at), p.channels(at), p.height(at), p.width(at)};
    float value = 0;
    if (p.data_filler_size() > 0) {
      const proto::FillerParameter &filler = p.data_filler(p.data_filler_size() == 1 ? 0 : index);
      if (filler.type() != "constant")
        return layer.fail("fills with '" + filler.type() + "'",
                          "'constant'; inputs are stated by Input layers");
      value = filler.value();
    }
    if (!checkedNumElements(dims, DataType::F32, layer.place()))
      return layer.fail("its shape is no shape of a tensor", "extents of 0 and more");
    // No memory before it is known that the numbers fit what reads them.
    const mlir::Attribute number =
        mlir::FloatAttr::get(mlir::Float32Type::get(layer.context()), value);
    layer.emitAs<top::ConstantFillOp>(static_cast<unsigned>(index), layer.none(),
                                      layer.attrs().setInts("shape", dims).set("value", number));
  }
}

//===----------------------------------------------------------------------===//
// Layers of forks
//===----------------------------------------------------------------------===//

/// Bilinear resampling whose corner pixels keep their places.
void interp(CaffeLayer &layer) {
  const proto::InterpParameter &p = layer.parameters().interp_param();
  Ints dims = layer.shape(0);
  if (dims.size() != 4)
    return layer.fail(fmt::format("its bottom has {} dimensions", dims.size()), "4");
  if (p.pad_beg() > 0 || p.pad_end() > 0)
    return layer.fail("pads its bottom", "pads of 0 and less, which crop it");
  if (p.zoom_factor() < 1 || p.shrink_factor() < 1)
    return layer.fail(fmt::format("its factors are {} and {}", p.zoom_factor(), p.shrink_factor()),
                      "1 or more");
  Ints sizes = {dims[0], dims[1]};
  for (unsigned axis : {2U, 3U}) {
    int64_t extent = dims[axis] + p.pad_beg() + p.pad_end();
    if (extent < 1)
      return layer.fail(fmt::format("crops dimension {} to {}", axis, extent), "1 or more");
    int64_t stated = axis == 2 ? p.height() : p.width();
    if (p.has_shrink_factor())
      extent = (extent - 1) / p.shrink_factor() + 1;
    if (p.has_zoom_factor())
      extent += (extent - 1) * (p.zoom_factor() - 1);
    if (!p.has_shrink_factor() && !p.has_zoom_factor() && stated > 0)
      extent = stated;
    sizes.push_back(extent);
  }
  Value input = layer.in(0);
  if (p.pad_beg() < 0 || p.pad_end() < 0)
    for (int64_t axis : {2, 3})
      input = layer.part(fmt::format("cropped{}", axis), input, axis, -p.pad_beg(),
                         dims[static_cast<size_t>(axis)] + p.pad_end());
  layer.emit<top::InterpOp>({input, layer.none(), layer.none(), layer.none()},
                            layer.attrs()
                                .setInts("sizes", sizes)
                                .setString("mode", "linear")
                                .setString("coord_mode", "align_corners"));
}

/// Repeats pixels; with the places of a pool's maxima puts those back.
void upsample(CaffeLayer &layer) {
  const proto::UpsampleParameter &p = layer.parameters().upsample_param();
  Ints dims = layer.shape(0);
  if (dims.size() != 4)
    return layer.fail(fmt::format("its bottom has {} dimensions", dims.size()), "4");
  int64_t height = p.has_scale_h() ? p.scale_h() : p.scale();
  int64_t width = p.has_scale_w() ? p.scale_w() : p.scale();
  if (height < 1 || width < 1)
    return layer.fail(fmt::format("its scale is {}x{}", height, width), "1 or more");
  if (layer.numInputs() == 1) {
    layer.emit<top::UpsampleOp>(layer.in(0),
                                layer.attrs().setInt("scale_h", height).setInt("scale_w", width));
    return;
  }
  if (p.pad_out_h() || p.pad_out_w() ||
      (p.has_upsample_h() && p.upsample_h() != dims[2] * height) ||
      (p.has_upsample_w() && p.upsample_w() != dims[3] * width))
    return layer.fail("puts maxima into planes that are not its bottom's times the scale",
                      fmt::format("{}x{}", dims[2] * height, dims[3] * width));
  // Places count within a plane; the dialect's count in the whole tensor.
  const int64_t plane = dims[2] * height * dims[3] * width;
  Tensor begins(DataType::I64, {dims[0], dims[1], 1, 1});
  for (auto [index, begin] : llvm::enumerate(begins.mutableData<int64_t>()))
    begin = static_cast<int64_t>(index) * plane;
  Value place = layer.temp<top::CastOp>(
      "place", layer.in(1), layer.attrs().setType("to", IntegerType::get(layer.context(), 64)));
  Value index = layer.temp<top::AddOp>("index", {place, layer.weight("planes", begins)});
  layer.emit<top::MaxUnpoolOp>({layer.in(0), index, layer.none()},
                               layer.attrs()
                                   .setInts("kernel_shape", Ints{height, width})
                                   .setInts("strides", Ints{height, width}));
}

void shuffleChannel(CaffeLayer &layer) {
  int64_t group = layer.parameters().shuffle_channel_param().group();
  Ints dims = layer.shape(0);
  if (dims.size() < 2 || group < 1 || dims[1] % group != 0)
    return layer.fail(fmt::format("has {} groups", group), "a number that divides the channels");
  layer.emit<top::ShuffleChannelOp>(layer.in(0), layer.attrs().setInt("group", group));
}

/// Blocks of pixels become channels, in the order of Darknet: the planes of the bottom are read as
/// rows of width * stride pixels without regard to channels.
void reorg(CaffeLayer &layer) {
  const proto::ReorgParameter &p = layer.parameters().reorg_param();
  Ints dims = layer.shape(0);
  int64_t s = p.stride();
  if (p.reverse())
    return layer.fail("is reversed", "reverse: false");
  if (dims.size() != 4 || s < 1 || dims[2] % s != 0 || dims[3] % s != 0 ||
      dims[1] * dims[2] % (s * s) != 0)
    return layer.fail(fmt::format("its stride is {}", s), "a number that divides the extents");
  Value rows =
      layer.reshaped("rows", layer.in(0), {dims[0], dims[1] * dims[2] / (s * s), s, dims[3], s});
  Value turned = layer.temp<top::PermuteOp>("turned", rows,
                                            layer.attrs().setInts("order", Ints{0, 2, 4, 1, 3}));
  layer.emitReshaped(turned, {dims[0], dims[1] * s * s, dims[2] / s, dims[3] / s});
}

/// Pads the last two dimensions.
void padding(CaffeLayer &layer) {
  const proto::PaddingParameter &p = layer.parameters().padding_param();
  Ints dims = layer.shape(0);
  if (dims.size() < 2)
    return layer.fail("its bottom has less than two dimensions", "height and width at the end");
  if (p.pad_method() != proto::PaddingParameter::CONSTANT)
    return layer.fail("pads by another method than CONSTANT", "pad_method: CONSTANT");
  const size_t rank = dims.size();
  Ints pads(rank * 2, 0);
  pads[rank - 2] = p.pad_t();
  pads[rank - 1] = p.pad_l();
  pads[rank * 2 - 2] = p.pad_b();
  pads[rank * 2 - 1] = p.pad_r();
  layer.emit<top::PadOp>({layer.in(0), layer.none(), layer.none(), layer.none()},
                         layer.attrs().setInts("paddings", pads).setFloat("val", p.pad_value()));
}

constexpr LayerRow kMovementRows[] = {
    {"BatchReindex", 2, 2, batchReindex, "Cast, Gather"},
    {"Concat", 1, -1, concat, "Concat"},
    {"Crop", 2, 2, crop, "Slice"},
    {"DummyData", 0, 0, dummyData, "ConstantFill"},
    {"Filter", 2, -1, filter, "CompareConst, Compress"},
    {"Flatten", 1, 1, flatten, "Flatten"},
    {"Interp", 1, 1, interp, "Interp, Slice", "forks"},
    {"Padding", 1, 1, padding, "Pad", "forks"},
    {"Parameter", 0, 0, parameter, "Weight"},
    {"Permute", 1, 1, permute, "Permute", "SSD"},
    {"Reorg", 1, 1, reorg, "Reshape, Permute", "forks"},
    {"Reshape", 1, 1, reshape, "Reshape"},
    {"ShuffleChannel", 1, 1, shuffleChannel, "ShuffleChannel", "forks"},
    {"Slice", 1, 1, slice, "Split"},
    {"Tile", 1, 1, tile, "Tile"},
    {"Upsample", 1, 2, upsample, "Upsample, MaxUnpool", "forks"},
};

} // namespace

ArrayRef<LayerRow> tpuc::caffe::movementRows() { return kMovementRows; }
