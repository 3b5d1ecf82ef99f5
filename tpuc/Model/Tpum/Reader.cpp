//===- Reader.cpp - Reads .tpum files -------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Tpum/Tpum.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <tpum_generated.h>

namespace tpuc::model::tpum {

namespace {

/// The beginning of a file: an offset, then the identifier.
constexpr size_t kIdentifierEnd = 8;
/// More dimensions than any tensor has.
constexpr size_t kMostDims = 16;

std::string textOf(const flatbuffers::String *text) { return text ? text->str() : std::string(); }

Bytes bytesOf(const flatbuffers::Vector<uint8_t> *bytes) {
  return bytes ? Bytes(reinterpret_cast<const std::byte *>(bytes->data()), bytes->size()) : Bytes();
}

/// The elements of a vector that may be left out. Those of tables are never null.
template <typename T> size_t sizeOf(const flatbuffers::Vector<T> *list) {
  return list ? list->size() : 0;
}

class ModelReader {
public:
  explicit ModelReader(std::string path) : path(std::move(path)) {}
  Expected<CompiledModel> read(const fb::Model &model);

private:
  using Tensors = flatbuffers::Vector<flatbuffers::Offset<fb::Tensor>>;

  Expected<TensorInfo> tensor(const fb::Tensor *from) const;
  Expected<std::vector<TensorInfo>> tensors(const Tensors *from) const;
  Expected<Section> section(const fb::Section &from) const;
  Expected<Stream> stream(const fb::Stream &from) const;
  Expected<SubNet> subNet(const fb::SubNet &from) const;
  Expected<void> addInner(const fb::Stage &from, Stage &stage) const;
  Expected<Stage> stage(const fb::Stage &from) const;

  std::string path;
  size_t numLayers = 0;
};

Expected<TensorInfo> ModelReader::tensor(const fb::Tensor *from) const {
  if (!from)
    return makeError(path, "a tensor without a table", "one");
  TensorInfo info;
  info.name = textOf(from->name());
  info.typeName = textOf(from->type());
  info.type = parseDataType(info.typeName);
  if (sizeOf(from->shape()) > kMostDims)
    return makeError(path, fmt::format("'{}' with {} dimensions", info.name, from->shape()->size()),
                     fmt::format("at most {}", kMostDims));
  // The verifier lets vectors pass whose elements of 64 bits are not aligned.
  info.shape.resize(sizeOf(from->shape()));
  if (!info.shape.empty())
    std::memcpy(info.shape.data(), from->shape()->Data(), info.shape.size() * sizeof(uint64_t));
  info.address = from->address();
  info.isOnHost = from->is_on_host();
  info.scale = from->scale();
  if (!std::isfinite(info.scale))
    return makeError(path, fmt::format("'{}' with the scale {}", info.name, info.scale),
                     "a finite number");
  info.zeroPoint = from->zero_point();
  if (const fb::Picture *picture = from->picture()) {
    const std::string name = textOf(picture->format());
    const auto format = parsePictureFormat(name);
    if (!format)
      return makeError(path, fmt::format("'{}' of {} pictures", info.name, name),
                       "a format that tpuc has");
    info.picture = {.format = *format,
                    .height = picture->height(),
                    .width = picture->width(),
                    .alignment = {picture->row_alignment(), picture->plane_alignment()},
                    .isVideoRange = picture->video_range(),
                    .keepsAspectRatio = picture->keep_aspect_ratio(),
                    .isAtTopLeft = picture->top_left(),
                    .fillsFrame = picture->fill(),
                    .padValue = picture->pad_value()};
    if (Expected<void> checked = info.checkPicture(path); !checked)
      return propagate(checked);
  }
  return info;
}

Expected<std::vector<TensorInfo>> ModelReader::tensors(const Tensors *from) const {
  std::vector<TensorInfo> made;
  for (size_t i = 0; i < sizeOf(from); ++i) {
    Expected<TensorInfo> info = tensor(from->Get(static_cast<flatbuffers::uoffset_t>(i)));
    if (!info)
      return propagate(info);
    made.push_back(std::move(*info));
  }
  return made;
}

Expected<Section> ModelReader::section(const fb::Section &from) const {
  Section made{.address = from.address(), .data = bytesOf(from.data()), .locations = {}};
  if (made.address + made.data.size() < made.address)
    return makeError(path, fmt::format("constants at {:#x}", made.address), "an end below 2^64");
  if (from.locations())
    for (const fb::Location *location : *from.locations()) {
      if (location->offset() > made.data.size() ||
          location->size() > made.data.size() - location->offset())
        return makeError(
            path, fmt::format("the weight '{}' outside of its section", textOf(location->name())),
            fmt::format("{} bytes", made.data.size()));
      made.locations.push_back({textOf(location->name()), location->offset(), location->size()});
    }
  return made;
}

Expected<Stream> ModelReader::stream(const fb::Stream &from) const {
  Stream made;
  made.engine = textOf(from.engine());
  made.code = bytesOf(from.code());
  made.numCommands = from.num_commands();
  if (!from.layers())
    return made;
  for (const fb::LayerRun *run : *from.layers()) {
    if (run->first() >= made.numCommands || run->layer() >= numLayers ||
        (!made.layers.empty() && run->first() <= made.layers.back().first))
      return makeError(
          path, fmt::format("layer {} from command {} on", run->layer(), run->first()),
          fmt::format("{} layers and {} commands, rising", numLayers, made.numCommands));
    made.layers.push_back({.first = run->first(), .layer = run->layer()});
  }
  return made;
}

Expected<SubNet> ModelReader::subNet(const fb::SubNet &from) const {
  SubNet made;
  made.id = from.id();
  Expected<std::vector<TensorInfo>> inputs = tensors(from.inputs());
  Expected<std::vector<TensorInfo>> outputs = tensors(from.outputs());
  if (!inputs || !outputs)
    return propagate(inputs ? outputs : inputs);
  made.inputs = std::move(*inputs);
  made.outputs = std::move(*outputs);
  if (from.host())
    for (const fb::HostProgram *host : *from.host()) {
      Expected<cpu::Program> program = cpu::parseProgram(bytesOf(host->code()), path);
      if (!program)
        return propagate(program);
      made.host.push_back(std::move(*program));
    }
  if (!from.groups())
    return made;
  for (const fb::Group *group : *from.groups()) {
    CommandGroup &to = made.groups.emplace_back();
    for (size_t i = 0; i < sizeOf(group->streams()); ++i) {
      Expected<Stream> each = stream(*group->streams()->Get(static_cast<unsigned>(i)));
      if (!each)
        return propagate(each);
      to.streams.push_back(std::move(*each));
    }
  }
  return made;
}

Expected<void> ModelReader::addInner(const fb::Stage &from, Stage &stage) const {
  for (size_t i = 0; i < sizeOf(from.inner_tensors()); ++i) {
    const fb::InnerTensor &inner = *from.inner_tensors()->Get(static_cast<unsigned>(i));
    Expected<TensorInfo> info = tensor(inner.tensor());
    if (!info)
      return propagate(info);
    const bool isKnown =
        inner.sub_net() < stage.subNets.size() &&
        inner.group() < stage.subNets[inner.sub_net()].groups.size() &&
        inner.stream() < stage.subNets[inner.sub_net()].groups[inner.group()].streams.size();
    if (!isKnown)
      return makeError(path, fmt::format("'{}' after a stream that is not there", info->name),
                       "one of the stage");
    stage.innerTensors.push_back({.tensor = std::move(*info),
                                  .subNet = inner.sub_net(),
                                  .group = inner.group(),
                                  .stream = inner.stream(),
                                  .after = inner.after()});
  }
  return {};
}

Expected<Stage> ModelReader::stage(const fb::Stage &from) const {
  Stage made;
  Expected<std::vector<TensorInfo>> inputs = tensors(from.inputs());
  Expected<std::vector<TensorInfo>> outputs = tensors(from.outputs());
  if (!inputs || !outputs)
    return propagate(inputs ? outputs : inputs);
  made.inputs = std::move(*inputs);
  made.outputs = std::move(*outputs);
  made.activationAddress = from.activation_address();
  made.activationBytes = from.activation_bytes();
  for (size_t i = 0; i < sizeOf(from.constants()); ++i) {
    Expected<Section> each = section(*from.constants()->Get(static_cast<unsigned>(i)));
    if (!each)
      return propagate(each);
    made.constants.push_back(std::move(*each));
  }
  for (size_t i = 0; i < sizeOf(from.sub_nets()); ++i) {
    Expected<SubNet> each = subNet(*from.sub_nets()->Get(static_cast<unsigned>(i)));
    if (!each)
      return propagate(each);
    made.subNets.push_back(std::move(*each));
  }
  for (size_t i = 0; i < sizeOf(from.order()); ++i) {
    const uint32_t number = from.order()->Get(static_cast<unsigned>(i));
    if (number >= made.subNets.size())
      return makeError(path, fmt::format("sub-net {} in the order", number),
                       fmt::format("below {}", made.subNets.size()));
    made.order.push_back(number);
  }
  if (Expected<void> added = addInner(from, made); !added)
    return propagate(added);
  return made;
}

Expected<CompiledModel> ModelReader::read(const fb::Model &model) {
  if (model.version() != kVersion)
    return makeError(path, fmt::format("version {} of the format", model.version()),
                     fmt::format("{}", kVersion));
  CompiledModel made;
  made.chip = textOf(model.chip());
  for (size_t i = 0; i < sizeOf(model.layers()); ++i)
    made.layers.push_back(textOf(model.layers()->Get(static_cast<unsigned>(i))));
  numLayers = made.layers.size();
  for (size_t i = 0; i < sizeOf(model.nets()); ++i) {
    const fb::Net &net = *model.nets()->Get(static_cast<unsigned>(i));
    Net &to = made.nets.emplace_back();
    to.name = textOf(net.name());
    for (size_t k = 0; k < sizeOf(net.stages()); ++k) {
      Expected<Stage> each = stage(*net.stages()->Get(static_cast<unsigned>(k)));
      if (!each)
        return propagate(each);
      to.stages.push_back(std::move(*each));
    }
    if (to.stages.empty())
      return makeError(path, fmt::format("net '{}' without a stage", to.name), "one at least");
  }
  if (made.nets.empty())
    return makeError(path, "no net", "one at least");
  return made;
}

} // namespace

bool hasMagic(Bytes beginning) {
  return beginning.size() >= kIdentifierEnd &&
         std::memcmp(&beginning[4], fb::ModelIdentifier(), 4) == 0;
}

Expected<CompiledModel> readModel(Bytes bytes, std::shared_ptr<const void> owner,
                                  const std::string &path) {
  const auto *begin = reinterpret_cast<const uint8_t *>(bytes.data());
  flatbuffers::Verifier verifier(begin, bytes.size());
  if (!hasMagic(bytes) || !fb::VerifyModelBuffer(verifier))
    return makeError(path, "bytes that are no .tpum file, or a damaged one", "a .tpum file");
  Expected<CompiledModel> made = ModelReader(path).read(*fb::GetModel(begin));
  if (made)
    made->owners.push_back(std::move(owner));
  return made;
}

} // namespace tpuc::model::tpum
