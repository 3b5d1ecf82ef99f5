//===- Check.cpp - What must hold in every .bmodel file -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/Check.h"
#include "tpuc/Model/Bmodel/CpuLayers.h"
#include "tpuc/Support/Tensor.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace tpuc::bmodel {

namespace {

bool wraps(uint64_t start, uint64_t size) { return start + size < start; }

bool contains(uint64_t outer, uint64_t outerSize, uint64_t inner, uint64_t innerSize) {
  return inner >= outer && innerSize <= outerSize && inner - outer <= outerSize - innerSize;
}

/// The bytes of a tensor of that shape, if tpuc knows the type.
Expected<std::optional<uint64_t>> shapeBytes(uint32_t type, std::span<const uint64_t> shape,
                                             const std::string &place) {
  std::vector<int64_t> dims;
  for (const uint64_t extent : shape) {
    if (extent > INT64_MAX)
      return makeError(place, fmt::format("an extent of {}", extent), "less than 2^63");
    dims.push_back(static_cast<int64_t>(extent));
  }
  const std::optional<DataType> known = dataTypeOfCode(type);
  const DataType element = known.value_or(DataType::I8);
  const auto count = checkedNumElements(dims, element, place);
  if (!count)
    return tl::unexpected(count.error());
  if (!known)
    return std::nullopt;
  return static_cast<uint64_t>(byteSize(element, *count));
}

class Checker {
public:
  Checker(const Model &model, const std::string &where) : model(model), where(where) {}
  Expected<void> run() const;

private:
  Expected<void> checkNet(const Net &net) const;
  Expected<void> checkStage(const Net &net, const Stage &stage, const std::string &place) const;
  Expected<void> checkTensor(const Net &net, const Stage &stage, const TensorInfo &tensor,
                             const std::string &place) const;
  Expected<void> checkSubNets(const Net &net, const Stage &stage, const std::string &place) const;
  static Expected<void> checkResult(const Stage &stage, const cpu::Value &value,
                                    const std::string &place);
  Expected<void> checkCpu(const Stage &stage, const SubNet &subNet, const std::string &place) const;
  Expected<void> checkCoefficients(const Coefficients &coefficients,
                                   const std::string &place) const;
  Expected<void> checkDebug() const;
  Expected<void> checkPictures() const;
  Expected<void> checkRuns(std::span<const LayerRun> runs, uint32_t commands) const;
  const CommandGroup *find(const GroupRef &ref) const;

  const Model &model;
  const std::string &where;
};

Expected<void> Checker::run() const {
  if (model.chip.empty())
    return makeError(where, "the file names no chip");
  if (model.nets.empty())
    return makeError(where, "the file holds no net");
  std::set<std::string_view> names;
  for (const Net &net : model.nets) {
    if (net.name.empty())
      return makeError(where, "a net without a name");
    if (!names.insert(net.name).second)
      return makeError(where, fmt::format("two nets of the name '{}'", net.name));
    if (auto ok = checkNet(net); !ok)
      return ok;
  }
  return checkDebug();
}

Expected<void> Checker::checkNet(const Net &net) const {
  if (net.stages.empty())
    return makeError(where, fmt::format("net '{}' has no stage", net.name), "one at least");
  for (size_t i = 0; i < net.stages.size(); ++i) {
    const std::string place = fmt::format("{}: net '{}', stage {}", where, net.name, i);
    if (auto ok = checkStage(net, net.stages[i], place); !ok)
      return ok;
  }
  return {};
}

Expected<void> Checker::checkStage(const Net &net, const Stage &stage,
                                   const std::string &place) const {
  if (wraps(stage.contextAddress, stage.contextSize) || wraps(stage.ioAddress, stage.ioSize))
    return makeError(place, "memory beyond the end of the address space");
  uint64_t total = 0;
  for (const uint64_t size : stage.contextSizes) {
    if (wraps(total, size) || wraps(stage.contextAddress, total + size))
      return makeError(place, "memory beyond the end of the address space");
    total += size;
  }
  for (const auto *tensors : {&stage.inputs, &stage.outputs}) {
    if (tensors->empty())
      return makeError(place, tensors == &stage.inputs ? "no input" : "no output", "one at least");
    std::set<std::string_view> names;
    for (const TensorInfo &tensor : *tensors) {
      if (!names.insert(tensor.name).second)
        return makeError(place, fmt::format("two tensors of the name '{}'", tensor.name));
      if (auto ok = checkTensor(net, stage, tensor, place); !ok)
        return ok;
    }
  }
  if (stage.coefficients)
    if (auto ok = checkCoefficients(*stage.coefficients, place); !ok)
      return ok;
  return checkSubNets(net, stage, place);
}

Expected<void> Checker::checkTensor(const Net &net, const Stage &stage, const TensorInfo &tensor,
                                    const std::string &place) const {
  if (tensor.name.empty())
    return makeError(place, "a tensor without a name");
  const std::string tensorPlace = fmt::format("{}: {}", place, tensor.name);
  if (tensor.shapes.empty())
    return makeError(tensorPlace, "no shape");
  if (!std::isfinite(tensor.scale))
    return makeError(tensorPlace, "a scale that is no number");
  for (const auto &shape : tensor.shapes) {
    const auto bytes = shapeBytes(tensor.type, shape, tensorPlace);
    if (!bytes)
      return tl::unexpected(bytes.error());
    if (!stage.isDynamic && *bytes && tensor.size < **bytes)
      return makeError(tensorPlace,
                       fmt::format("{} bytes for [{}] of {}", tensor.size, fmt::join(shape, ", "),
                                   typeCodeName(tensor.type)),
                       fmt::format("{}", **bytes));
  }
  if (wraps(tensor.address, tensor.size))
    return makeError(tensorPlace, "memory beyond the end of the address space");
  if (net.addressMode != 0 || stage.isDynamic)
    return {};
  const uint64_t context =
      stage.contextSizes.empty()
          ? stage.contextSize
          : std::accumulate(stage.contextSizes.begin(), stage.contextSizes.end(), uint64_t{0});
  if (!contains(stage.contextAddress, std::max(context, stage.contextSize), tensor.address,
                tensor.size))
    return makeError(
        tensorPlace, fmt::format("{} bytes at 0x{:X}", tensor.size, tensor.address),
        fmt::format("a place in the {} bytes at 0x{:X}", context, stage.contextAddress));
  return {};
}

Expected<void> Checker::checkSubNets(const Net &net, const Stage &stage,
                                     const std::string &place) const {
  std::set<int32_t> ids;
  for (const SubNet &subNet : stage.subNets)
    if (!ids.insert(subNet.id).second)
      return makeError(place, fmt::format("two sub-nets of the number {}", subNet.id));
  for (const SubNet &subNet : stage.subNets) {
    const std::string subPlace = fmt::format("{}, sub-net {}", place, subNet.id);
    for (const int32_t next : subNet.next)
      if (next != -1 && !ids.contains(next))
        return makeError(subPlace, fmt::format("it is followed by sub-net {}", next),
                         "one that exists");
    for (const auto *tensors : {&subNet.inputs, &subNet.outputs})
      for (const TensorInfo &tensor : *tensors)
        if (auto ok = checkTensor(net, stage, tensor, subPlace); !ok)
          return ok;
    if (subNet.mode == static_cast<int32_t>(SubNetMode::Cpu))
      if (auto ok = checkCpu(stage, subNet, subPlace); !ok)
        return ok;
    if (subNet.mode != static_cast<int32_t>(SubNetMode::Tpu) || subNet.isDynamic || stage.isDynamic)
      continue;
    if (subNet.groups.empty() && subNet.cores.empty())
      return makeError(subPlace, "no commands");
    for (const CommandGroup &group : subNet.groups)
      if ((group.numTiu == 0) != group.tiu.empty() || (group.numDma == 0) != group.dma.empty())
        return makeError(
            subPlace, fmt::format("{} TIU commands in {} bytes, {} DMA commands in {} bytes",
                                  group.numTiu, group.tiu.size(), group.numDma, group.dma.size()));
  }
  return {};
}

/// What layers of the CPU give to the caller is an output without a place on the device.
Expected<void> Checker::checkResult(const Stage &stage, const cpu::Value &value,
                                    const std::string &place) {
  if (value.address < stage.outputs.size()) {
    const TensorInfo &output = stage.outputs[value.address];
    if (output.memory == kCpuMemory && output.type == codeOfDataType(value.type))
      return {};
  }
  return makeError(fmt::format("{}: {}", place, value.name),
                   fmt::format("a result in the place of output {}", value.address),
                   fmt::format("an output of the CPU, of {}", dataTypeName(value.type)));
}

/// Our own layers name memory that there is; those of the vendor's compiler say nothing to us.
Expected<void> Checker::checkCpu(const Stage &stage, const SubNet &subNet,
                                 const std::string &place) const {
  if (std::ranges::none_of(subNet.cpu,
                           [](const CpuLayer &layer) { return layer.op == kCpuProgram; }))
    return {};
  const auto programs = cpuPrograms(subNet, place);
  if (!programs)
    return tl::unexpected(programs.error());
  for (const cpu::Program &program : *programs)
    for (const cpu::Value &value : program.values) {
      if (value.home == cpu::Home::Result)
        if (auto ok = checkResult(stage, value, place); !ok)
          return ok;
      // What has no elements needs no place.
      if (value.home == cpu::Home::Host || value.home == cpu::Home::Result ||
          Shape(value.dims).numElements() == 0)
        continue;
      const bool isWeight = value.home == cpu::Home::Weight;
      const uint64_t start = !isWeight            ? stage.contextAddress
                             : stage.coefficients ? stage.coefficients->address
                                                  : 0;
      const uint64_t size = !isWeight            ? stage.contextSize
                            : stage.coefficients ? stage.coefficients->data.size()
                                                 : 0;
      const int64_t bytes = byteSize(value.type, Shape(value.dims).numElements());
      if (!contains(start, size, value.address, static_cast<uint64_t>(bytes)))
        return makeError(fmt::format("{}: {}", place, value.name),
                         fmt::format("{} bytes at 0x{:X}", bytes, value.address),
                         fmt::format("a place in the {} bytes at 0x{:X}", size, start));
    }
  return {};
}

Expected<void> Checker::checkCoefficients(const Coefficients &coefficients,
                                          const std::string &place) const {
  if (wraps(coefficients.address, coefficients.data.size()))
    return makeError(place, "coefficients beyond the end of the address space");
  for (const WeightLocation &location : coefficients.locations)
    if (!contains(0, coefficients.data.size(), location.offset, location.size))
      return makeError(place,
                       fmt::format("weight '{}' has {} bytes at {}", location.name, location.size,
                                   location.offset),
                       fmt::format("it within {} bytes of coefficients", coefficients.data.size()));
  return {};
}

const CommandGroup *Checker::find(const GroupRef &ref) const {
  if (ref.net >= model.nets.size() || ref.stage >= model.nets[ref.net].stages.size())
    return nullptr;
  const Stage &stage = model.nets[ref.net].stages[ref.stage];
  if (ref.subNet >= stage.subNets.size() || ref.group >= stage.subNets[ref.subNet].groups.size())
    return nullptr;
  return &stage.subNets[ref.subNet].groups[ref.group];
}

Expected<void> Checker::checkRuns(std::span<const LayerRun> runs, uint32_t commands) const {
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].layer >= model.debug.layers.size() || runs[i].first >= commands)
      return makeError(where, "debug information about a layer or command that does not exist");
    if (i > 0 && runs[i].first <= runs[i - 1].first)
      return makeError(where, "debug information whose commands are out of order");
  }
  return {};
}

Expected<void> Checker::checkDebug() const {
  for (const GroupLayers &map : model.debug.groups) {
    const CommandGroup *group = find(map.group);
    if (!group)
      return makeError(where, "debug information about commands that do not exist");
    if (auto ok = checkRuns(map.tiu, group->numTiu); !ok)
      return ok;
    if (auto ok = checkRuns(map.dma, group->numDma); !ok)
      return ok;
  }
  for (const NamedTensor &tensor : model.debug.tensors) {
    const CommandGroup *group = find(tensor.group);
    if (!group || tensor.afterDma > group->numDma)
      return makeError(
          where, fmt::format("tensor '{}' is made by a command that does not exist", tensor.name));
    const std::string place = fmt::format("{}: {}", where, tensor.name);
    if (!std::isfinite(tensor.scale))
      return makeError(place, "a scale that is no number");
    const auto bytes = shapeBytes(tensor.type, tensor.shape, place);
    if (!bytes)
      return tl::unexpected(bytes.error());
    const Stage &stage = model.nets[tensor.group.net].stages[tensor.group.stage];
    if (!contains(stage.contextAddress, stage.contextSize, tensor.address, bytes->value_or(0)))
      return makeError(place, fmt::format("a place at 0x{:X}", tensor.address),
                       "one in the memory of its stage");
  }
  return checkPictures();
}

Expected<void> Checker::checkPictures() const {
  for (const InputPicture &each : model.debug.pictures) {
    const auto [net, stage, input, picture] = each;
    if (net >= model.nets.size() || stage >= model.nets[net].stages.size() ||
        input >= model.nets[net].stages[stage].inputs.size())
      return makeError(where, "pictures for an input that does not exist");
    const TensorInfo &tensor = model.nets[net].stages[stage].inputs[input];
    model::TensorInfo info{.name = tensor.name,
                           .type = dataTypeOfCode(tensor.type),
                           .typeName = typeCodeName(tensor.type),
                           .shape = {},
                           .picture = picture};
    if (!tensor.shapes.empty())
      info.shape = tensor.shapes.front();
    if (auto ok = info.checkPicture(where); !ok)
      return ok;
  }
  return {};
}

} // namespace

Expected<void> checkModel(const Model &model, const std::string &where) {
  return Checker(model, where).run();
}

} // namespace tpuc::bmodel
