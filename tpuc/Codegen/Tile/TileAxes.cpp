//===- TileAxes.cpp - Parts of tensors along their axes ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Tile/TileModels.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

llvm::StringRef codegen::axisName(unsigned axis) {
  static constexpr StringLiteral kNames[] = {"n", "c", "d", "h", "w"};
  return kNames[axis];
}

Tile codegen::wholeTile(const AxisExtents &extents) {
  Tile tile;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    tile[axis] = {0, extents[axis]};
  return tile;
}

int64_t codegen::numElements(const Tile &tile) {
  int64_t count = 1;
  for (const Range &range : tile)
    count *= range.size;
  return count;
}

/// The elements of [0, extent) in [begin, end), at least one, and how many lie outside. Where all
/// do, the one that is there stands behind them: no window reaches it.
static PaddedRange clamp(int64_t begin, int64_t end, int64_t extent) {
  if (begin >= extent)
    return {{extent - 1, 1}, end - begin, 0};
  const int64_t first = std::clamp<int64_t>(begin, 0, extent - 1);
  const int64_t last = std::clamp<int64_t>(end, first + 1, extent);
  return {
      {first, last - first}, std::max<int64_t>(first - begin, 0), std::max<int64_t>(end - last, 0)};
}

static int64_t floorDiv(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// The elements that stand for [begin, end), where those outside of [0, extent) are mirrored.
static Range mirroredRange(int64_t begin, int64_t end, int64_t extent) {
  const int64_t last = extent - 1;
  const auto place = [&](int64_t i) { return i < 0 ? -i : i > last ? 2 * last - i : i; };
  std::pair<int64_t, int64_t> ends = std::minmax(place(begin), place(end - 1));
  if (begin <= 0 && end > 0)
    ends.first = 0;
  if (begin <= last && end > last)
    ends.second = last;
  return {ends.first, ends.second - ends.first + 1};
}

PaddedRange OperandModel::padded(unsigned axis, Range output) const {
  const AxisMap &map = maps[axis];
  const int64_t extent = extents[axis];
  switch (map.kind) {
  case AxisMap::Same:
    return {output};
  case AxisMap::Whole:
    return {{0, extent}};
  case AxisMap::Window: {
    PaddedRange needed = clamp(output.begin * map.stride - map.pad,
                               (output.end() - 1) * map.stride - map.pad + map.window, extent);
    // Rows without their last columns, which are too few for another window, are transferred one by
    // one, whole rows together.
    if (axis == kAxisW && needed.range.begin == 0 && extent - needed.range.size < map.stride)
      needed.range.size = extent;
    return needed;
  }
  case AxisMap::Transposed:
    // Input i reaches [i * stride - pad, i * stride - pad + window).
    return clamp(floorDiv(output.begin + map.pad - map.window, map.stride) + 1,
                 floorDiv(output.end() - 1 + map.pad, map.stride) + 1, extent);
  case AxisMap::Scaled:
    return clamp(output.begin / map.stride, (output.end() - 1) / map.stride + 1, extent);
  case AxisMap::Clamped:
    return clamp(output.begin - map.pad, output.end() - map.pad, extent);
  case AxisMap::Mirrored:
    return {mirroredRange(output.begin - map.pad, output.end() - map.pad, extent)};
  }
  return {};
}

Tile OperandModel::slice(const Tile &output) const {
  Tile tile;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    tile[axis] = padded(axis, output[axis]).range;
  return tile;
}

Expected<AxisExtents> codegen::axisExtents(ArrayRef<int64_t> dims) {
  switch (dims.size()) {
  case 0:
    return AxisExtents{1, 1, 1, 1, 1};
  case 1:
    return AxisExtents{1, dims[0], 1, 1, 1};
  case 2:
    return AxisExtents{dims[0], dims[1], 1, 1, 1};
  case 3:
    return AxisExtents{dims[0], dims[1], 1, 1, dims[2]};
  case 4:
    return AxisExtents{dims[0], dims[1], 1, dims[2], dims[3]};
  case 5:
    return AxisExtents{dims[0], dims[1], dims[2], dims[3], dims[4]};
  default:
    return makeError("", std::to_string(dims.size()) + " dimensions", "at most 5");
  }
}

OperandModel tiling::wholeOperand(const AxisExtents &extents) {
  OperandModel model{.isPresent = true, .extents = extents};
  model.maps.fill(kWhole);
  return model;
}

OperandModel tiling::perChannel(Value value, const AxisExtents &extents) {
  if (isAbsent(value))
    return {};
  OperandModel model = wholeOperand(extents);
  model.maps[kAxisC] = {};
  return model;
}

SmallVector<int64_t> tiling::matrixDims(ArrayRef<int64_t> dims) {
  if (dims.size() < 2)
    return {1, 1, 1, ShapedType::getNumElements(dims)};
  return {ShapedType::getNumElements(dims.drop_back(2)), dims[dims.size() - 2], 1, dims.back()};
}
