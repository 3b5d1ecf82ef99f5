//===- CompiledModel.cpp - A compiled network, for any chip and file ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/CompiledModel.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::model {

void TensorInfo::setType(DataType known) {
  type = known;
  typeName = dataTypeName(known);
}

Expected<DataType> TensorInfo::knownType(const std::string &where) const {
  if (!type)
    return makeError(where, typeName, "a type that tpuc has");
  return *type;
}

std::optional<PictureFrame> PictureInfo::frame() const {
  return alignment.isPresent() ? std::optional(PictureFrame{height, width, alignment})
                               : std::nullopt;
}

Expected<void> TensorInfo::checkPicture(const std::string &where) const {
  if (!picture)
    return {};
  const std::string text = pictureText(picture->format, picture->height, picture->width);
  const auto &[row, plane] = picture->alignment;
  // What no picture has, and what no sum below can bear.
  constexpr int64_t kMost = 1 << 24;
  if (std::min({picture->height, picture->width, row, plane}) < 1 ||
      std::max({picture->height, picture->width, row, plane}) > kMost)
    return makeError(where, fmt::format("'{}' of {}, aligned to {} and {}", name, text, row, plane),
                     fmt::format("extents and alignments from 1 to {}", kMost));
  const std::vector<int64_t> dims(shape.begin(), shape.end());
  const auto extents = pictureExtents(picture->format, dims, picture->frame());
  if (!extents || extents->height != picture->height || extents->width != picture->width ||
      type != DataType::U8)
    return makeError(where, fmt::format("'{}', {} {}", name, typeName, formatShape(shape)),
                     "bytes of " + text);
  return {};
}

std::optional<uint32_t> layerOfCommand(std::span<const LayerRun> runs, uint32_t command) {
  const auto after =
      std::upper_bound(runs.begin(), runs.end(), command,
                       [](uint32_t number, const LayerRun &run) { return number < run.first; });
  if (after == runs.begin())
    return std::nullopt;
  return std::prev(after)->layer;
}

std::vector<uint32_t> Stage::chipOrder() const {
  std::vector<uint32_t> path;
  std::ranges::copy_if(order, std::back_inserter(path),
                       [&](uint32_t subNet) { return !subNets[subNet].isHost(); });
  return path;
}

std::optional<Bytes> Stage::constantBytes(uint64_t address, uint64_t size) const {
  for (const Section &section : constants)
    if (address >= section.address && size <= section.data.size() &&
        address - section.address <= section.data.size() - size)
      return section.data.subspan(address - section.address, size);
  return std::nullopt;
}

std::string_view CompiledModel::layerName(const Stream &stream, uint32_t command) const {
  const std::optional<uint32_t> layer = layerOfCommand(stream.layers, command);
  return layer ? std::string_view(layers[*layer]) : std::string_view();
}

std::string formatShape(std::span<const uint64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string formatInput(const TensorInfo &input) {
  const std::string shape = formatShape(input.shape);
  if (!input.picture)
    return shape;
  const PictureInfo &picture = *input.picture;
  return fmt::format("{} ({})", shape, pictureText(picture.format, picture.height, picture.width));
}

} // namespace tpuc::model
