//===- Container.cpp - The .tpum file among the containers ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Container.h"
#include "tpuc/Model/Tpum/Tpum.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tpuc::model::tpum {

namespace {

using Json = nlohmann::ordered_json;

Expected<CompiledModel> readFile(const ModelFile &file) {
  return readModel(file.bytes, file.owner, file.path);
}

Json tensorJson(const TensorInfo &info) {
  return {{"name", info.name},           {"type", info.typeName}, {"shape", info.shape},
          {"address", info.address},     {"host", info.isOnHost}, {"scale", info.scale},
          {"zero_point", info.zeroPoint}};
}

Json tensorsJson(const std::vector<TensorInfo> &tensors) {
  Json list = Json::array();
  for (const TensorInfo &info : tensors)
    list.push_back(tensorJson(info));
  return list;
}

Json sectionJson(const Section &section) {
  Json weights = Json::array();
  for (const Section::Location &location : section.locations)
    weights.push_back(
        {{"name", location.name}, {"offset", location.offset}, {"bytes", location.size}});
  return {{"address", section.address},
          {"bytes", section.data.size()},
          {"weights", std::move(weights)}};
}

Json subNetJson(const SubNet &subNet) {
  Json groups = Json::array();
  for (const CommandGroup &group : subNet.groups) {
    Json streams = Json::array();
    for (const Stream &stream : group.streams)
      streams.push_back({{"engine", stream.engine},
                         {"commands", stream.numCommands},
                         {"bytes", stream.code.size()},
                         {"layers", stream.layers.size()}});
    groups.push_back(std::move(streams));
  }
  return {{"id", subNet.id},
          {"host_programs", subNet.host.size()},
          {"inputs", tensorsJson(subNet.inputs)},
          {"outputs", tensorsJson(subNet.outputs)},
          {"groups", std::move(groups)}};
}

Json stageJson(const Stage &stage) {
  Json sections = Json::array(), subNets = Json::array(), inner = Json::array();
  for (const Section &section : stage.constants)
    sections.push_back(sectionJson(section));
  for (const SubNet &subNet : stage.subNets)
    subNets.push_back(subNetJson(subNet));
  for (const InnerTensor &each : stage.innerTensors)
    inner.push_back({{"tensor", tensorJson(each.tensor)},
                     {"sub_net", each.subNet},
                     {"group", each.group},
                     {"stream", each.stream},
                     {"after", each.after}});
  return {{"inputs", tensorsJson(stage.inputs)},
          {"outputs", tensorsJson(stage.outputs)},
          {"activation_address", stage.activationAddress},
          {"activation_bytes", stage.activationBytes},
          {"constants", std::move(sections)},
          {"sub_nets", std::move(subNets)},
          {"order", stage.order},
          {"inner_tensors", std::move(inner)}};
}

void addTensors(std::string &text, std::string_view title, const std::vector<TensorInfo> &tensors) {
  for (const TensorInfo &info : tensors)
    text += fmt::format("    {} {}: {} {}, scale {:g}, zero point {}\n", title, info.name,
                        info.typeName, formatShape(info.shape), info.scale, info.zeroPoint);
}

class TpumContainer : public Container {
public:
  std::string_view name() const override { return "tpum"; }
  bool accepts(Bytes beginning) const override { return hasMagic(beginning); }
  Expected<CompiledModel> read(const ModelFile &file) const override { return readFile(file); }
  Expected<OutputFile> write(const CompiledModel &model, const std::string &path) const override;
  Expected<std::string> info(const ModelFile &file) const override;
  Expected<Json> fields(const ModelFile &file) const override;
};

Expected<OutputFile> TpumContainer::write(const CompiledModel &model,
                                          const std::string &path) const {
  const auto bytes = encodeModel(model, path);
  if (!bytes)
    return tl::unexpected(bytes.error());
  return fileOf(std::as_bytes(std::span(*bytes)), path);
}

Expected<std::string> TpumContainer::info(const ModelFile &file) const {
  const auto model = readFile(file);
  if (!model)
    return tl::unexpected(model.error());
  std::string text = fmt::format("chip {}\n", model->chip);
  for (const Net &net : model->nets)
    for (size_t i = 0; i < net.stages.size(); ++i) {
      const Stage &stage = net.stages[i];
      uint64_t constants = 0;
      for (const Section &section : stage.constants)
        constants += section.data.size();
      text += fmt::format("  net {}, stage {}: {} bytes of constants, {} of activations\n",
                          net.name, i, constants, stage.activationBytes);
      addTensors(text, "input", stage.inputs);
      addTensors(text, "output", stage.outputs);
    }
  return text;
}

Expected<Json> TpumContainer::fields(const ModelFile &file) const {
  const auto model = readFile(file);
  if (!model)
    return tl::unexpected(model.error());
  Json nets = Json::array();
  for (const Net &net : model->nets) {
    Json stages = Json::array();
    for (const Stage &stage : net.stages)
      stages.push_back(stageJson(stage));
    nets.push_back({{"name", net.name}, {"stages", std::move(stages)}});
  }
  return Json{{"version", kVersion},
              {"chip", model->chip},
              {"layers", model->layers},
              {"nets", std::move(nets)}};
}

} // namespace

} // namespace tpuc::model::tpum

namespace tpuc::model {

const Container &containerTpum();
const Container &containerTpum() {
  static const tpum::TpumContainer container;
  return container;
}

} // namespace tpuc::model
