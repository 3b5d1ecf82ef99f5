//===- ConvertBlocks.cpp - Blocks of channels, space and batches ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Frontend/TFLite/TFLiteLayer.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;
using fb::BuiltinOperator;

namespace {

void depthAndSpace(TFLiteLayer &layer, int64_t block, bool toDepth) {
  if (block < 1)
    return layer.fail(fmt::format("has blocks of {}", block), "1 or more");
  if (layer.inputRank(0) != 4)
    return layer.fail(fmt::format("its input has {} dimensions", layer.inputRank(0)), "4");
  layer.put<top::Depth2SpaceOp>(kFront, layer.in(0, kFront),
                                layer.attrs()
                                    .setInt("block_h", block)
                                    .setInt("block_w", block)
                                    .setBool("is_CRD", false)
                                    .setBool("is_inversed", toDepth));
}

void depthToSpace(TFLiteLayer &layer) {
  depthAndSpace(layer, layer.options<fb::DepthToSpaceOptions>().block_size(), false);
}

void spaceToDepth(TFLiteLayer &layer) {
  depthAndSpace(layer, layer.options<fb::SpaceToDepthOptions>().block_size(), true);
}

/// Blocks of the spatial dimensions, and the elements that are added or taken away at them.
struct Blocks {
  Ints dims;
  Ints sizes;
  Ints begins;
  Ints ends;
};

std::optional<Blocks> readBlocks(TFLiteLayer &layer, StringRef what) {
  Blocks made;
  made.dims = layer.shape(0);
  made.sizes = layer.needInts(1, "block shape");
  Ints pairs = layer.needInts(2, what);
  if (layer.failed())
    return std::nullopt;
  const size_t count = made.sizes.size();
  if (pairs.size() != 2 * count || count + 1 > made.dims.size() ||
      llvm::any_of(made.sizes, [](int64_t size) { return size < 1; }) ||
      llvm::any_of(pairs, [](int64_t pad) { return pad < 0; })) {
    layer.fail(fmt::format("has a block shape or {} that does not fit", what.str()),
               "a size of 1 or more, and two numbers of 0 or more, for each spatial dimension");
    return std::nullopt;
  }
  for (size_t axis = 0; axis < count; ++axis) {
    made.begins.push_back(pairs[2 * axis]);
    made.ends.push_back(pairs[2 * axis + 1]);
  }
  return made;
}

/// Pads; then each spatial dimension is divided into blocks, whose inner positions go to the batch.
void spaceToBatch(TFLiteLayer &layer) {
  std::optional<Blocks> blocks = readBlocks(layer, "paddings");
  if (!blocks)
    return;
  const size_t rank = blocks->dims.size();
  const size_t count = blocks->sizes.size();
  Ints pads(2 * rank, 0);
  Ints inner = {blocks->dims[0]};
  Ints result = {blocks->dims[0]};
  for (size_t axis = 0; axis < count; ++axis) {
    pads[axis + 1] = blocks->begins[axis];
    pads[rank + axis + 1] = blocks->ends[axis];
    int64_t extent = blocks->dims[axis + 1] + blocks->begins[axis] + blocks->ends[axis];
    if (extent % blocks->sizes[axis] != 0)
      return layer.fail(fmt::format("has blocks of {} in {} elements", blocks->sizes[axis], extent),
                        "a divisor");
    inner.append({extent / blocks->sizes[axis], blocks->sizes[axis]});
    result[0] *= blocks->sizes[axis];
    result.push_back(extent / blocks->sizes[axis]);
  }
  Ints order;
  for (size_t axis = 0; axis < count; ++axis)
    order.push_back(static_cast<int64_t>(2 * axis + 2));
  order.push_back(0);
  for (size_t axis = 0; axis < count; ++axis)
    order.push_back(static_cast<int64_t>(2 * axis + 1));
  int64_t rest = 1;
  for (size_t axis = count + 1; axis < rank; ++axis) {
    rest *= blocks->dims[axis];
    result.push_back(blocks->dims[axis]);
  }
  inner.push_back(rest);
  order.push_back(static_cast<int64_t>(2 * count + 1));
  Value padded = layer.temp<top::PadOp>(
      "padded", {layer.in(0), layer.none(), layer.none(), layer.none()},
      layer.attrs().setInts("paddings", pads).setFloat("val", 0.0).setString("mode", "constant"));
  Value moved = layer.transposed("moved", layer.reshaped("blocks", padded, inner), order);
  layer.emit<top::ReshapeOp>({moved, layer.none()},
                             layer.attrs().setInts("shape", result).setBool("allowzero", true));
}

/// The inverse: parts of the batch become inner positions of blocks; then the edges are cut off.
void batchToSpace(TFLiteLayer &layer) {
  std::optional<Blocks> blocks = readBlocks(layer, "crops");
  if (!blocks)
    return;
  const size_t rank = blocks->dims.size();
  const size_t count = blocks->sizes.size();
  int64_t batch = blocks->dims[0];
  for (int64_t size : blocks->sizes) {
    if (batch % size != 0)
      return layer.fail(fmt::format("has blocks of {} in a batch of {}", size, blocks->dims[0]),
                        "a divisor");
    batch /= size;
  }
  Ints inner = blocks->sizes;
  inner.push_back(batch);
  Ints result = {batch};
  Ints offsets = {0};
  Ints ends = {batch};
  Ints order = {static_cast<int64_t>(count)};
  for (size_t axis = 0; axis < count; ++axis) {
    inner.push_back(blocks->dims[axis + 1]);
    order.append({static_cast<int64_t>(count + 1 + axis), static_cast<int64_t>(axis)});
    result.push_back(blocks->dims[axis + 1] * blocks->sizes[axis]);
    offsets.push_back(blocks->begins[axis]);
    ends.push_back(result.back() - blocks->ends[axis]);
    if (ends.back() < offsets.back())
      return layer.fail(fmt::format("cuts more than the {} elements of dimension {} off",
                                    result.back(), axis + 1));
  }
  int64_t rest = 1;
  for (size_t axis = count + 1; axis < rank; ++axis) {
    rest *= blocks->dims[axis];
    result.push_back(blocks->dims[axis]);
    offsets.push_back(0);
    ends.push_back(blocks->dims[axis]);
  }
  inner.push_back(rest);
  order.push_back(static_cast<int64_t>(2 * count + 1));
  Value moved = layer.transposed("moved", layer.reshaped("blocks", layer.in(0), inner), order);
  Value whole = layer.reshaped("whole", moved, result);
  layer.emit<top::SliceOp>({whole, layer.none(), layer.none(), layer.none(), layer.none()},
                           layer.attrs()
                               .setInts("offset", offsets)
                               .setInts("ends", ends)
                               .setInts("steps", Ints(rank, 1)));
}

constexpr OpRow kBlockRows[] = {
    {BuiltinOperator::BATCH_TO_SPACE_ND, 3, 3, batchToSpace, "Reshape, Permute, Slice"},
    {BuiltinOperator::DEPTH_TO_SPACE, 1, 1, depthToSpace, "Depth2Space"},
    {BuiltinOperator::SPACE_TO_BATCH_ND, 3, 3, spaceToBatch, "Pad, Reshape, Permute"},
    {BuiltinOperator::SPACE_TO_DEPTH, 1, 1, spaceToDepth, "Depth2Space"},
};

} // namespace

ArrayRef<OpRow> tpuc::tflite::blockRows() { return kBlockRows; }
