//===- Combine.cpp - Models taken apart and put together ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/Combine.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace tpuc::bmodel {

namespace {

/// Where the stages of a model went: (net, stage) -> (net, stage).
using StageMap = std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint32_t>>;

/// Adds what `from` tells of the stages in `moved` to `to`.
void addDebugInfo(const DebugInfo &from, const StageMap &moved, DebugInfo &to) {
  std::vector<std::optional<uint32_t>> layerMap(from.layers.size());
  const auto layer = [&](uint32_t old) {
    if (!layerMap[old]) {
      layerMap[old] = static_cast<uint32_t>(to.layers.size());
      to.layers.push_back(from.layers[old]);
    }
    return *layerMap[old];
  };
  const auto move = [&](GroupRef &ref) {
    const auto found = moved.find({ref.net, ref.stage});
    if (found == moved.end())
      return false;
    std::tie(ref.net, ref.stage) = found->second;
    return true;
  };
  for (GroupLayers map : from.groups) {
    if (!move(map.group))
      continue;
    for (auto *runs : {&map.tiu, &map.dma})
      for (LayerRun &run : *runs)
        run.layer = layer(run.layer);
    to.groups.push_back(std::move(map));
  }
  for (NamedTensor tensor : from.tensors)
    if (move(tensor.group))
      to.tensors.push_back(std::move(tensor));
  for (InputPicture input : from.pictures)
    if (const auto found = moved.find({input.net, input.stage}); found != moved.end()) {
      std::tie(input.net, input.stage) = found->second;
      to.pictures.push_back(input);
    }
}

/// Whether the runtime can tell two stages apart by their inputs, and the caller not by the rest.
Expected<void> checkVariants(const Stage &a, const Stage &b, const std::string &net,
                             const std::string &name) {
  for (const auto member : {&Stage::inputs, &Stage::outputs}) {
    const auto same = [](const TensorInfo &x, const TensorInfo &y) {
      return x.name == y.name && x.type == y.type;
    };
    if (!std::ranges::equal(a.*member, b.*member, same))
      return makeError(
          name, fmt::format("net '{}' has other inputs or outputs than in the files before", net),
          "the same names and types");
  }
  const auto sameShapes = [](const TensorInfo &x, const TensorInfo &y) {
    return x.shapes == y.shapes;
  };
  if (std::ranges::equal(a.inputs, b.inputs, sameShapes))
    return makeError(name,
                     fmt::format("net '{}' has the same input shapes as in a file before", net),
                     "other shapes, or another name");
  return {};
}

} // namespace

Expected<Model> combine(std::span<const Model> models, std::span<const std::string> names) {
  Model result = models.front();
  result.nets.clear();
  result.debug = {};
  result.owners.clear();
  for (size_t i = 0; i < models.size(); ++i) {
    const Model &model = models[i];
    if (model.chip != result.chip)
      return makeError(names[i], fmt::format("a model for {}", model.chip),
                       fmt::format("one for {}, as {}", result.chip, names[0]));
    StageMap moved;
    for (size_t n = 0; n < model.nets.size(); ++n) {
      const Net &net = model.nets[n];
      auto target = std::ranges::find(result.nets, net.name, &Net::name);
      if (target == result.nets.end()) {
        Net added = net;
        added.stages.clear();
        target = result.nets.insert(target, std::move(added));
      }
      if (target->addressMode != net.addressMode)
        return makeError(names[i],
                         fmt::format("net '{}' has address mode {}", net.name, net.addressMode),
                         fmt::format("{}, as in the files before", target->addressMode));
      for (size_t s = 0; s < net.stages.size(); ++s) {
        for (const Stage &other : target->stages)
          if (auto ok = checkVariants(other, net.stages[s], net.name, names[i]); !ok)
            return propagate(ok);
        moved[{n, s}] = {static_cast<uint32_t>(target - result.nets.begin()),
                         static_cast<uint32_t>(target->stages.size())};
        target->stages.push_back(net.stages[s]);
      }
    }
    addDebugInfo(model.debug, moved, result.debug);
    result.contextSize = std::max(result.contextSize, model.contextSize);
    result.numDevices = std::max(result.numDevices, model.numDevices);
    if (!result.firmware)
      result.firmware = model.firmware;
    if (!result.cpuLibrary)
      result.cpuLibrary = model.cpuLibrary;
    if (result.backend.empty())
      result.backend = model.backend;
    result.owners.insert(result.owners.end(), model.owners.begin(), model.owners.end());
  }
  return result;
}

Model extract(const Model &model, size_t net, size_t stage) {
  Model result = model;
  Net only = model.nets[net];
  only.stages = {model.nets[net].stages[stage]};
  result.nets = {std::move(only)};
  result.contextSize = result.nets[0].stages[0].contextSize;
  result.debug = {};
  addDebugInfo(model.debug, {{{net, stage}, {0, 0}}}, result.debug);
  return result;
}

} // namespace tpuc::bmodel
