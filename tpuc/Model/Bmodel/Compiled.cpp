//===- Compiled.cpp - Model files and compiled networks -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/Compiled.h"
#include "tpuc/Model/Bmodel/CpuLayers.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::bmodel {

namespace {

bool isMode(const SubNet &subNet, SubNetMode mode) {
  return subNet.mode == static_cast<int32_t>(mode);
}

Expected<void> checkSupported(const Model &model, const Net &net, const Stage &stage,
                              const std::string &where) {
  if (model.numDevices > 1 || net.cascade)
    return makeError(where, "a net for several devices", "one for a single device");
  if (net.addressMode != 0)
    return makeError(where, fmt::format("address mode {}", net.addressMode), "mode 0 (basic)");
  if (stage.isDynamic)
    return makeError(where, "a dynamic net, whose commands the chip's firmware makes",
                     "a static net");
  if (stage.numCores > 1)
    return makeError(where, fmt::format("a net for {} cores", stage.numCores),
                     "one for a single core");
  if (stage.coefficients && stage.coefficients->encryption != 0)
    return makeError(where, "encrypted coefficients", "plain ones");
  for (const auto *tensors : {&stage.inputs, &stage.outputs})
    for (const TensorInfo &tensor : *tensors) {
      if (tensor.storeMode != 0)
        return makeError(fmt::format("{}: {}", where, tensor.name),
                         fmt::format("store mode {}", tensor.storeMode),
                         "mode 0 (one item after the other)");
      if (!dataTypeOfCode(tensor.type))
        return makeError(fmt::format("{}: {}", where, tensor.name), typeCodeName(tensor.type),
                         "a type that tpuc has");
    }
  return {};
}

/// The sub-nets in the order in which they run.
Expected<std::vector<uint32_t>> findPath(const Stage &stage, const std::string &where) {
  std::vector<uint32_t> path;
  std::vector<bool> visited(stage.subNets.size());
  if (stage.subNets.empty())
    return makeError(where, "no sub-net", "one at least");
  for (uint32_t current = 0;;) {
    const SubNet &subNet = stage.subNets[current];
    const std::string place = fmt::format("{}, sub-net {}", where, subNet.id);
    if (visited[current])
      return makeError(place, "a loop", "each sub-net once");
    visited[current] = true;
    if (!isMode(subNet, SubNetMode::Tpu) && !isMode(subNet, SubNetMode::Cpu)) {
      constexpr std::array kModes = {"the TPU", "the CPU", "a merge", "a switch"};
      const auto mode = static_cast<uint32_t>(subNet.mode);
      return makeError(place,
                       mode < kModes.size() ? fmt::format("a sub-net of {}", kModes[mode])
                                            : fmt::format("a sub-net of mode {}", subNet.mode),
                       "one of the TPU or the CPU");
    }
    if (subNet.isDynamic || !subNet.cores.empty())
      return makeError(place, subNet.isDynamic ? "a dynamic sub-net" : "commands for several cores",
                       "a static sub-net for one core");
    path.push_back(current);
    if (subNet.next.empty() || subNet.next.front() == -1)
      return path;
    if (subNet.next.size() > 1)
      return makeError(place, fmt::format("followed by one of {} sub-nets", subNet.next.size()),
                       "one successor");
    // checkModel made sure that it exists.
    const auto next = std::ranges::find(stage.subNets, subNet.next.front(), &SubNet::id);
    current = static_cast<uint32_t>(next - stage.subNets.begin());
  }
}

model::TensorInfo toCompiled(const TensorInfo &tensor) {
  return {.name = tensor.name,
          .type = dataTypeOfCode(tensor.type),
          .typeName = typeCodeName(tensor.type),
          .shape = tensor.shapes.empty() ? std::vector<uint64_t>() : tensor.shapes.front(),
          .address = tensor.address,
          .isOnHost = tensor.memory == kCpuMemory,
          .scale = tensor.scale,
          .zeroPoint = tensor.zeroPoint};
}

std::vector<model::TensorInfo> toCompiled(const std::vector<TensorInfo> &tensors) {
  std::vector<model::TensorInfo> made;
  for (const TensorInfo &tensor : tensors)
    made.push_back(toCompiled(tensor));
  return made;
}

/// Makes one stage of a compiled network.
class StageReader {
public:
  StageReader(const Model &model, GroupRef place, const std::string &where)
      : model(model), net(model.nets[place.net]), stage(net.stages[place.stage]), place(place),
        where(fmt::format("{}: net '{}', stage {}", where, net.name, place.stage)) {}

  model::Stage read();

private:
  model::SubNet subNet(uint32_t index) const;
  model::CommandGroup group(uint32_t subNet, uint32_t index) const;
  /// What the host computes, for the sub-nets of the CPU that run.
  Expected<void> readPrograms();
  void readInnerTensors();
  void readPictures();

  const Model &model;
  const Net &net;
  const Stage &stage;
  GroupRef place;
  std::string where;
  model::Stage made;
};

model::CommandGroup StageReader::group(uint32_t subNet, uint32_t index) const {
  const CommandGroup &group = stage.subNets[subNet].groups[index];
  const GroupRef ref{place.net, place.stage, subNet, index};
  const auto map = std::ranges::find(model.debug.groups, ref, &GroupLayers::group);
  const bool isKnown = map != model.debug.groups.end();
  const auto runs = [&](std::vector<LayerRun> GroupLayers::*list) {
    return isKnown ? (*map).*list : std::vector<LayerRun>();
  };
  return {{{std::string(kTiu), group.tiu, group.numTiu, runs(&GroupLayers::tiu)},
           {std::string(kDma), group.dma, group.numDma, runs(&GroupLayers::dma)}}};
}

model::SubNet StageReader::subNet(uint32_t index) const {
  const SubNet &from = stage.subNets[index];
  model::SubNet to;
  to.id = from.id;
  to.inputs = toCompiled(from.inputs);
  to.outputs = toCompiled(from.outputs);
  for (uint32_t i = 0; i < from.groups.size(); ++i)
    to.groups.push_back(group(index, i));
  return to;
}

Expected<void> StageReader::readPrograms() {
  for (const uint32_t index : made.order) {
    const SubNet &from = stage.subNets[index];
    if (!isMode(from, SubNetMode::Cpu))
      continue;
    Expected<std::vector<cpu::Program>> programs =
        cpuPrograms(from, fmt::format("{}, sub-net {}", where, from.id));
    if (!programs)
      return propagate(programs);
    made.subNets[index].host = std::move(*programs);
  }
  return {};
}

void StageReader::readInnerTensors() {
  constexpr uint32_t kDmaStream = 1;
  for (const NamedTensor &tensor : model.debug.tensors) {
    if (tensor.group.net != place.net || tensor.group.stage != place.stage)
      continue;
    model::TensorInfo info{.name = tensor.name,
                           .type = dataTypeOfCode(tensor.type),
                           .typeName = typeCodeName(tensor.type),
                           .shape = tensor.shape,
                           .address = tensor.address,
                           .scale = tensor.scale,
                           .zeroPoint = tensor.zeroPoint};
    made.innerTensors.push_back(
        {std::move(info), tensor.group.subNet, tensor.group.group, kDmaStream, tensor.afterDma});
  }
}

/// `checkModel` made sure that the inputs exist.
void StageReader::readPictures() {
  for (const InputPicture &input : model.debug.pictures)
    if (input.net == place.net && input.stage == place.stage)
      made.inputs[input.input].picture = input.picture;
}

model::Stage StageReader::read() {
  made.inputs = toCompiled(stage.inputs);
  made.outputs = toCompiled(stage.outputs);
  made.activationAddress = stage.contextAddress;
  made.activationBytes = stage.contextSize;
  for (uint64_t total = 0; const uint64_t size : stage.contextSizes)
    made.activationBytes = std::max(made.activationBytes, total += size);
  if (const auto &weights = stage.coefficients)
    made.constants.push_back({weights->address, weights->data, weights->locations});
  for (uint32_t i = 0; i < stage.subNets.size(); ++i)
    made.subNets.push_back(subNet(i));
  readInnerTensors();
  readPictures();
  if (auto ok = checkSupported(model, net, stage, where); !ok) {
    made.refusal = ok.error();
  } else if (auto path = findPath(stage, where); !path) {
    made.refusal = path.error();
  } else {
    made.order = std::move(*path);
    if (auto programs = readPrograms(); !programs)
      made.refusal = programs.error();
  }
  return std::move(made);
}

/// Makes the model of a file: sub-nets, their commands, and which layers these are of.
class ModelMaker {
public:
  ModelMaker(const model::CompiledModel &compiled, const std::string &where)
      : compiled(compiled), where(where) {}
  Expected<Model> make();

private:
  Expected<Stage> stage(const model::Stage &from, uint32_t net, uint32_t index);
  Expected<SubNet> subNet(const model::Stage &from, const Stage &to, GroupRef place);
  Expected<CommandGroup> group(const model::CommandGroup &from, GroupRef place);
  Expected<std::vector<TensorInfo>> tensors(const std::vector<model::TensorInfo> &from,
                                            int32_t role) const;
  Expected<std::vector<int32_t>> next(const model::Stage &from, uint32_t index) const;
  Expected<void> addInnerTensor(const model::Stage &from, const model::InnerTensor &tensor,
                                GroupRef place);

  const model::CompiledModel &compiled;
  const std::string &where;
  Model made;
};

Expected<std::vector<TensorInfo>> ModelMaker::tensors(const std::vector<model::TensorInfo> &from,
                                                      int32_t role) const {
  std::vector<TensorInfo> described;
  for (const model::TensorInfo &tensor : from) {
    const auto type = tensor.knownType(fmt::format("{}: {}", where, tensor.name));
    if (!type)
      return tl::unexpected(type.error());
    TensorInfo info;
    info.name = tensor.name;
    info.type = codeOfDataType(*type);
    info.address = tensor.address;
    if (tensor.isOnHost) {
      info.memory = kCpuMemory;
    } else {
      int64_t count = 1;
      for (const uint64_t extent : tensor.shape)
        count *= static_cast<int64_t>(extent);
      info.size = static_cast<uint64_t>(byteSize(*type, count));
    }
    info.shapes = {tensor.shape};
    info.scale = tensor.scale;
    info.zeroPoint = tensor.zeroPoint;
    info.role = role;
    info.index = static_cast<int32_t>(described.size());
    described.push_back(std::move(info));
  }
  return described;
}

Expected<CommandGroup> ModelMaker::group(const model::CommandGroup &from, GroupRef place) {
  CommandGroup to;
  GroupLayers layers{place, {}, {}};
  for (const model::Stream &stream : from.streams) {
    const bool isTiu = stream.engine == kTiu;
    if (!isTiu && stream.engine != kDma)
      return makeError(where, fmt::format("commands for an engine {}", stream.engine),
                       fmt::format("{} or {}", kTiu, kDma));
    (isTiu ? to.tiu : to.dma) = stream.code;
    (isTiu ? to.numTiu : to.numDma) = stream.numCommands;
    (isTiu ? layers.tiu : layers.dma) = stream.layers;
  }
  made.debug.groups.push_back(std::move(layers));
  return to;
}

/// What runs after sub-network `index`.
Expected<std::vector<int32_t>> ModelMaker::next(const model::Stage &from, uint32_t index) const {
  if (!from.order.empty() && from.order.front() != 0)
    return makeError(where, fmt::format("a run that begins with sub-net {}", from.order.front()),
                     "one that begins with the first");
  const auto found = std::ranges::find(from.order, index);
  const bool isLast = found == from.order.end() || found + 1 == from.order.end();
  return std::vector<int32_t>{isLast ? -1 : static_cast<int32_t>(found[1])};
}

Expected<SubNet> ModelMaker::subNet(const model::Stage &from, const Stage &to, GroupRef place) {
  const model::SubNet &part = from.subNets[place.subNet];
  SubNet subNet;
  Expected<std::vector<TensorInfo>> inputs = tensors(part.inputs, 0);
  Expected<std::vector<TensorInfo>> outputs = tensors(part.outputs, 0);
  if (!inputs || !outputs)
    return propagate(!inputs ? inputs : outputs);
  // The whole network describes its tensors as the stage does.
  const bool isWhole = from.subNets.size() == 1;
  subNet.inputs = isWhole ? to.inputs : std::move(*inputs);
  subNet.outputs = isWhole ? to.outputs : std::move(*outputs);
  subNet.id = static_cast<int32_t>(place.subNet);
  Expected<std::vector<int32_t>> following = next(from, place.subNet);
  if (!following)
    return propagate(following);
  subNet.next = std::move(*following);
  if (part.isHost())
    subNet.mode = static_cast<int32_t>(SubNetMode::Cpu);
  for (const cpu::Program &program : part.host) {
    auto bytes = std::make_shared<std::vector<std::byte>>(cpu::encodeProgram(program));
    Expected<CpuLayer> layer = cpuProgramLayer(*bytes, where);
    if (!layer)
      return propagate(layer);
    made.owners.push_back(std::move(bytes));
    subNet.cpu.push_back(std::move(*layer));
  }
  for (const model::CommandGroup &commands : part.groups) {
    place.group = static_cast<uint32_t>(subNet.groups.size());
    Expected<CommandGroup> encoded = group(commands, place);
    if (!encoded)
      return propagate(encoded);
    subNet.groups.push_back(std::move(*encoded));
  }
  return subNet;
}

Expected<void> ModelMaker::addInnerTensor(const model::Stage &from,
                                          const model::InnerTensor &tensor, GroupRef place) {
  const std::string &name = tensor.tensor.name;
  const auto type = tensor.tensor.knownType(fmt::format("{}: {}", where, name));
  if (!type)
    return tl::unexpected(type.error());
  place.subNet = tensor.subNet;
  place.group = tensor.group;
  const std::string &engine =
      from.subNets[tensor.subNet].groups[tensor.group].streams[tensor.stream].engine;
  if (engine != kDma)
    return makeError(fmt::format("{}: {}", where, name),
                     fmt::format("it is complete after a command of {}", engine),
                     fmt::format("one of {}", kDma));
  made.debug.tensors.push_back({place, tensor.after, name, codeOfDataType(*type),
                                tensor.tensor.shape, tensor.tensor.address, tensor.tensor.scale,
                                tensor.tensor.zeroPoint});
  return {};
}

Expected<Stage> ModelMaker::stage(const model::Stage &from, uint32_t net, uint32_t index) {
  Stage to;
  constexpr int32_t kInput = 1;
  constexpr int32_t kOutput = 2;
  Expected<std::vector<TensorInfo>> inputs = tensors(from.inputs, kInput);
  Expected<std::vector<TensorInfo>> outputs = tensors(from.outputs, kOutput);
  if (!inputs || !outputs)
    return propagate(!inputs ? inputs : outputs);
  to.inputs = std::move(*inputs);
  to.outputs = std::move(*outputs);
  to.contextAddress = from.activationAddress;
  to.contextSize = from.activationBytes;
  if (from.constants.size() > 1)
    return makeError(where, fmt::format("{} sections of constants", from.constants.size()),
                     "one at most");
  for (const model::Section &section : from.constants) {
    to.coefficients.emplace();
    to.coefficients->address = section.address;
    to.coefficients->data = section.data;
    to.coefficients->locations = section.locations;
  }
  for (uint32_t i = 0; i < from.subNets.size(); ++i) {
    Expected<SubNet> made = subNet(from, to, {net, index, i, 0});
    if (!made)
      return propagate(made);
    to.groups.insert(to.groups.end(), made->groups.begin(), made->groups.end());
    to.subNets.push_back(std::move(*made));
  }
  for (uint32_t input = 0; input < from.inputs.size(); ++input)
    if (const auto &picture = from.inputs[input].picture)
      made.debug.pictures.push_back({net, index, input, *picture});
  for (const model::InnerTensor &tensor : from.innerTensors)
    if (auto added = addInnerTensor(from, tensor, {net, index, 0, 0}); !added)
      return propagate(added);
  return to;
}

Expected<Model> ModelMaker::make() {
  made.chip = compiled.chip;
  made.owners = compiled.owners;
  made.debug.layers = compiled.layers;
  for (const model::Net &from : compiled.nets) {
    Net net;
    net.name = from.name;
    for (const model::Stage &each : from.stages) {
      Expected<Stage> to = stage(each, static_cast<uint32_t>(made.nets.size()),
                                 static_cast<uint32_t>(net.stages.size()));
      if (!to)
        return propagate(to);
      made.contextSize = std::max(made.contextSize, to->contextSize);
      net.stages.push_back(std::move(*to));
    }
    made.nets.push_back(std::move(net));
  }
  return std::move(made);
}

} // namespace

model::CompiledModel toCompiled(const Model &model, const std::string &where) {
  model::CompiledModel compiled;
  compiled.chip = model.chip;
  compiled.layers = model.debug.layers;
  compiled.owners = model.owners;
  for (uint32_t n = 0; n < model.nets.size(); ++n) {
    model::Net net;
    net.name = model.nets[n].name;
    for (uint32_t s = 0; s < model.nets[n].stages.size(); ++s)
      net.stages.push_back(StageReader(model, {n, s, 0, 0}, where).read());
    compiled.nets.push_back(std::move(net));
  }
  return compiled;
}

Expected<Model> fromCompiled(const model::CompiledModel &compiled, const std::string &where) {
  return ModelMaker(compiled, where).make();
}

} // namespace tpuc::bmodel
