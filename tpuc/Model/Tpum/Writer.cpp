//===- Writer.cpp - Makes .tpum files -------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Tpum/Tpum.h"

#include <fmt/format.h>
#include <tpum_generated.h>

namespace tpuc::model::tpum {

namespace {

using flatbuffers::Offset;
template <typename T> using Offsets = std::vector<Offset<T>>;

constexpr size_t kAlignment = 32;
constexpr uint64_t kMostBytes = 0x7FFFFFFF;

class ModelWriter {
public:
  Expected<std::vector<std::byte>> write(const CompiledModel &model, const std::string &path);

private:
  Offset<fb::Tensor> add(const TensorInfo &info);
  Offset<flatbuffers::Vector<Offset<fb::Tensor>>> add(const std::vector<TensorInfo> &tensors);
  Offset<fb::Section> add(const Section &section);
  Offset<fb::Stream> add(const Stream &stream);
  Offset<fb::SubNet> add(const SubNet &subNet);
  Offset<fb::Stage> add(const Stage &stage);
  Offset<flatbuffers::Vector<uint8_t>> addBytes(Bytes bytes, size_t alignment);

  flatbuffers::FlatBufferBuilder builder;
};

Offset<flatbuffers::Vector<uint8_t>> ModelWriter::addBytes(Bytes bytes, size_t alignment) {
  builder.ForceVectorAlignment(bytes.size(), 1, alignment);
  return builder.CreateVector(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

Offset<fb::Tensor> ModelWriter::add(const TensorInfo &info) {
  const auto name = builder.CreateString(info.name);
  const auto type = builder.CreateString(info.typeName);
  const auto shape = builder.CreateVector(info.shape);
  Offset<fb::Picture> picture;
  if (info.picture)
    picture = fb::CreatePicture(
        builder, builder.CreateString(pictureFormatName(info.picture->format)),
        info.picture->height, info.picture->width, info.picture->alignment.row,
        info.picture->alignment.plane, info.picture->isVideoRange, info.picture->keepsAspectRatio,
        info.picture->isAtTopLeft, info.picture->fillsFrame, info.picture->padValue);
  return fb::CreateTensor(builder, name, type, shape, info.address, info.isOnHost, info.scale,
                          info.zeroPoint, picture);
}

Offset<flatbuffers::Vector<Offset<fb::Tensor>>>
ModelWriter::add(const std::vector<TensorInfo> &tensors) {
  Offsets<fb::Tensor> made;
  for (const TensorInfo &info : tensors)
    made.push_back(add(info));
  return builder.CreateVector(made);
}

Offset<fb::Section> ModelWriter::add(const Section &section) {
  Offsets<fb::Location> locations;
  for (const Section::Location &location : section.locations)
    locations.push_back(fb::CreateLocation(builder, builder.CreateString(location.name),
                                           location.offset, location.size));
  const auto data = addBytes(section.data, kAlignment);
  const auto list = builder.CreateVector(locations);
  return fb::CreateSection(builder, section.address, data, list);
}

Offset<fb::Stream> ModelWriter::add(const Stream &stream) {
  std::vector<fb::LayerRun> runs;
  for (const LayerRun &run : stream.layers)
    runs.emplace_back(run.first, run.layer);
  const auto engine = builder.CreateString(stream.engine);
  const auto code = addBytes(stream.code, kAlignment);
  const auto layers = builder.CreateVectorOfStructs(runs);
  return fb::CreateStream(builder, engine, code, stream.numCommands, layers);
}

Offset<fb::SubNet> ModelWriter::add(const SubNet &subNet) {
  Offsets<fb::HostProgram> host;
  for (const cpu::Program &program : subNet.host)
    host.push_back(fb::CreateHostProgram(builder, addBytes(cpu::encodeProgram(program), 8)));
  Offsets<fb::Group> groups;
  for (const CommandGroup &group : subNet.groups) {
    Offsets<fb::Stream> streams;
    for (const Stream &stream : group.streams)
      streams.push_back(add(stream));
    groups.push_back(fb::CreateGroup(builder, builder.CreateVector(streams)));
  }
  const auto inputs = add(subNet.inputs);
  const auto outputs = add(subNet.outputs);
  const auto hostList = builder.CreateVector(host);
  const auto groupList = builder.CreateVector(groups);
  return fb::CreateSubNet(builder, subNet.id, inputs, outputs, hostList, groupList);
}

Offset<fb::Stage> ModelWriter::add(const Stage &stage) {
  Offsets<fb::Section> sections;
  for (const Section &section : stage.constants)
    sections.push_back(add(section));
  Offsets<fb::SubNet> subNets;
  for (const SubNet &subNet : stage.subNets)
    subNets.push_back(add(subNet));
  Offsets<fb::InnerTensor> inner;
  for (const InnerTensor &each : stage.innerTensors)
    inner.push_back(fb::CreateInnerTensor(builder, add(each.tensor), each.subNet, each.group,
                                          each.stream, each.after));
  const auto inputs = add(stage.inputs);
  const auto outputs = add(stage.outputs);
  const auto sectionList = builder.CreateVector(sections);
  const auto subNetList = builder.CreateVector(subNets);
  const auto order = builder.CreateVector(stage.order);
  const auto innerList = builder.CreateVector(inner);
  return fb::CreateStage(builder, inputs, outputs, stage.activationAddress, stage.activationBytes,
                         sectionList, subNetList, order, innerList);
}

Expected<std::vector<std::byte>> ModelWriter::write(const CompiledModel &model,
                                                    const std::string &path) {
  uint64_t bytes = 0;
  for (const Net &net : model.nets)
    for (const Stage &stage : net.stages) {
      if (stage.refusal)
        return tl::unexpected<Error>(*stage.refusal);
      for (const Section &section : stage.constants)
        bytes += section.data.size();
      for (const SubNet &subNet : stage.subNets)
        for (const CommandGroup &group : subNet.groups)
          for (const Stream &stream : group.streams)
            bytes += stream.code.size();
    }
  // Tables take a few hundred bytes for each layer.
  constexpr uint64_t kForTables = 1 << 28;
  if (bytes > kMostBytes - kForTables)
    return makeError(path, fmt::format("{} bytes of commands and constants", bytes),
                     fmt::format("at most {}", kMostBytes - kForTables));
  Offsets<fb::Net> nets;
  for (const Net &net : model.nets) {
    Offsets<fb::Stage> stages;
    for (const Stage &stage : net.stages)
      stages.push_back(add(stage));
    const auto name = builder.CreateString(net.name);
    nets.push_back(fb::CreateNet(builder, name, builder.CreateVector(stages)));
  }
  const auto chip = builder.CreateString(model.chip);
  const auto layers = builder.CreateVectorOfStrings(model.layers);
  const auto netList = builder.CreateVector(nets);
  builder.Finish(fb::CreateModel(builder, kVersion, chip, layers, netList), fb::ModelIdentifier());
  const auto *begin = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  return std::vector<std::byte>(begin, begin + builder.GetSize());
}

} // namespace

Expected<std::vector<std::byte>> encodeModel(const CompiledModel &model, const std::string &path) {
  return ModelWriter().write(model, path);
}

} // namespace tpuc::model::tpum
