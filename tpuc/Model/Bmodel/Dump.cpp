//===- Dump.cpp - A .bmodel file as text ----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/Dump.h"
#include "tpuc/Model/Bmodel/CpuLayers.h"
#include "tpuc/Support/Counted.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace tpuc::bmodel {

namespace {

using Json = nlohmann::ordered_json;

/// `function` of each item, as an array.
template <typename T, typename Function>
Json array(const std::vector<T> &items, Function function) {
  Json result = Json::array();
  for (const T &item : items)
    result.push_back(function(item));
  return result;
}

std::string hexText(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes)
    fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned>(byte));
  return text;
}

Json tensorJson(const TensorInfo &info) {
  Json json = {{"name", info.name},
               {"type", typeCodeName(info.type)},
               {"shapes", info.shapes},
               {"address", info.address},
               {"bytes", info.size},
               {"scale", info.scale},
               {"zero_point", info.zeroPoint},
               {"index", info.index},
               {"role", info.role},
               {"memory", info.memory},
               {"store_mode", info.storeMode},
               {"cpu_offset", info.cpuOffset},
               {"pad_h", info.padH}};
  if (info.relocation)
    json["relocation"] = {info.relocation->base, info.relocation->offset, info.relocation->command};
  return json;
}

Json groupJson(const CommandGroup &group) {
  return {{"tiu_commands", group.numTiu},
          {"tiu_bytes", group.tiu.size()},
          {"dma_commands", group.numDma},
          {"dma_bytes", group.dma.size()},
          {"relocations", group.relocations.size()}};
}

Json coefficientsJson(const Coefficients &coefficients) {
  return {{"address", coefficients.address},
          {"bytes", coefficients.data.size()},
          {"sha256", coefficients.sha256 ? Json(hexText(*coefficients.sha256)) : Json()},
          {"encryption", coefficients.encryption},
          {"decrypted_bytes", coefficients.decryptedSize},
          {"weights", array(coefficients.locations, [](const WeightLocation &location) {
             return Json{
                 {"name", location.name}, {"offset", location.offset}, {"bytes", location.size}};
           })}};
}

Json programJson(const cpu::Program &program) {
  const auto valueName = [&](int32_t index) {
    return index < 0 ? Json() : Json(program.values[static_cast<size_t>(index)].name);
  };
  return array(program.ops, [&](const cpu::Op &op) {
    Json attributes = Json::array();
    for (const auto &attribute : op.attributes)
      attributes.push_back(attribute.first);
    return Json{{"op", op.name},
                {"layer", op.layer},
                {"attributes", std::move(attributes)},
                {"operands", array(op.operands, valueName)},
                {"results", array(op.results, valueName)}};
  });
}

Json cpuJson(const CpuLayer &layer) {
  // The checker has seen that our own layers are intact.
  if (layer.op == kCpuProgram)
    if (const auto program = cpu::parseProgram(layer.constants.front().data, ""))
      return {{"op", "tpuc"}, {"program", programJson(*program)}};
  return {{"op", layer.op},
          {"custom", layer.custom},
          {"parameter_bytes", layer.parameters.size()},
          {"constants", array(layer.constants, [](const CpuConstant &constant) {
             return Json{{"name", constant.name},
                         {"bytes", constant.data.size()},
                         {"sha256", hexText(constant.sha256)}};
           })}};
}

Json coreJson(const CoreCommands &core) {
  const auto sizes = [](const std::vector<Bytes> &parts) {
    return array(parts, [](Bytes part) { return Json(part.size()); });
  };
  return {{"groups", array(core.groups, groupJson)},
          {"sdma_bytes", sizes(core.sdma)},
          {"hau_bytes", sizes(core.hau)},
          {"cdma_bytes", sizes(core.cdma)}};
}

Json subNetJson(const SubNet &subNet) {
  Json json = {{"id", subNet.id},
               {"mode", subNet.mode},
               {"dynamic", subNet.isDynamic},
               {"next", subNet.next},
               {"run_core", subNet.runCore},
               {"inputs", array(subNet.inputs, tensorJson)},
               {"outputs", array(subNet.outputs, tensorJson)},
               {"groups", array(subNet.groups, groupJson)}};
  if (subNet.isDynamic)
    json["dynamic_ir"] = {{"offset", subNet.irOffset},
                          {"bytes", subNet.irLength},
                          {"n_dynamic", subNet.nDynamic},
                          {"hw_dynamic", subNet.hwDynamic}};
  if (!subNet.cpu.empty())
    json["cpu_layers"] = array(subNet.cpu, cpuJson);
  if (subNet.merge)
    json["merge"] = *subNet.merge;
  if (subNet.switchInfo)
    json["switch"] = {{"sources", subNet.switchInfo->sources},
                      {"branches", subNet.switchInfo->branches}};
  if (!subNet.cores.empty())
    json["cores"] = array(subNet.cores, coreJson);
  return json;
}

Json stageJson(const Stage &stage) {
  return {{"dynamic", stage.isDynamic},
          {"n_dynamic", stage.nDynamic},
          {"hw_dynamic", stage.hwDynamic},
          {"inputs", array(stage.inputs, tensorJson)},
          {"outputs", array(stage.outputs, tensorJson)},
          {"context_address", stage.contextAddress},
          {"context_bytes", stage.contextSize},
          {"context_sizes", stage.contextSizes},
          {"io_address", stage.ioAddress},
          {"io_bytes", stage.ioSize},
          {"cpu_bytes", stage.cpuBytes},
          {"num_cores", stage.numCores},
          {"coefficients", stage.coefficients ? coefficientsJson(*stage.coefficients) : Json()},
          {"groups", array(stage.groups, groupJson)},
          {"profile_bytes", stage.profile.size()},
          {"statistics_bytes", stage.statistics.size()},
          {"tensor_location_bytes", stage.tensorLocations.size()},
          {"dynamic_ir_bytes", stage.dynamicIr.size()},
          {"dynamic_stages", array(stage.dynamicStages,
                                   [](const DynamicStage &entry) {
                                     return Json{{"length", entry.length},
                                                 {"height", {entry.heightLow, entry.heightHigh}},
                                                 {"width", {entry.widthLow, entry.widthHigh}}};
                                   })},
          {"dynamic_context_address", stage.dynamicContextAddress},
          {"dynamic_coefficient_offset", stage.dynamicCoefficientOffset},
          {"dynamic_combined_offset", stage.dynamicCombinedOffset},
          {"sub_nets", array(stage.subNets, subNetJson)}};
}

Json libraryJson(const std::optional<Library> &library) {
  if (!library)
    return {};
  return {{"file", library->fileName}, {"bytes", library->data.size()}, {"mode", library->mode}};
}

Json groupRefJson(const GroupRef &ref) { return {ref.net, ref.stage, ref.subNet, ref.group}; }

Json debugJson(const DebugInfo &debug) {
  const auto runs = [](const std::vector<LayerRun> &list) {
    return array(list, [](const LayerRun &run) { return Json{run.first, run.layer}; });
  };
  return {{"layers", debug.layers},
          {"groups", array(debug.groups,
                           [&](const GroupLayers &map) {
                             return Json{{"group", groupRefJson(map.group)},
                                         {"tiu", runs(map.tiu)},
                                         {"dma", runs(map.dma)}};
                           })},
          {"tensors", array(debug.tensors,
                            [](const NamedTensor &tensor) {
                              return Json{{"name", tensor.name},
                                          {"type", typeCodeName(tensor.type)},
                                          {"shape", tensor.shape},
                                          {"address", tensor.address},
                                          {"group", groupRefJson(tensor.group)},
                                          {"after_dma", tensor.afterDma},
                                          {"scale", tensor.scale},
                                          {"zero_point", tensor.zeroPoint}};
                            })},
          {"pictures", array(debug.pictures, [](const InputPicture &input) {
             const model::PictureInfo &picture = input.picture;
             return Json{{"net", input.net},
                         {"stage", input.stage},
                         {"input", input.input},
                         {"format", pictureFormatName(picture.format)},
                         {"height", picture.height},
                         {"width", picture.width},
                         {"row_alignment", picture.alignment.row},
                         {"plane_alignment", picture.alignment.plane},
                         {"video_range", picture.isVideoRange},
                         {"keep_aspect_ratio", picture.keepsAspectRatio},
                         {"top_left", picture.isAtTopLeft},
                         {"fill", picture.fillsFrame},
                         {"pad_value", picture.padValue}};
           })}};
}

std::string megabytes(uint64_t bytes) {
  return fmt::format("{:.2f} MiB", static_cast<double>(bytes) / (1 << 20));
}

class InfoText {
public:
  std::string str(const Model &model);

private:
  template <typename... Args> void line(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
    text += '\n';
  }
  void addTensor(const char *kind, const TensorInfo &tensor,
                 const model::PictureInfo *picture = nullptr);
  void addStage(const Model &model, size_t net, size_t index);

  std::string text;
};

void InfoText::addTensor(const char *kind, const TensorInfo &tensor,
                         const model::PictureInfo *picture) {
  std::string shapes;
  for (const auto &shape : tensor.shapes)
    shapes += (shapes.empty() ? "" : " ") + model::formatShape(shape);
  std::string quantization;
  if (tensor.scale != 1 || tensor.zeroPoint != 0)
    quantization = fmt::format(", scale {:g}, zero point {}", tensor.scale, tensor.zeroPoint);
  const std::string pictures =
      picture ? ", " + pictureText(picture->format, picture->height, picture->width) : "";
  line("    {} {}: {} {}{}{}", kind, tensor.name, shapes, typeCodeName(tensor.type), quantization,
       pictures);
}

void InfoText::addStage(const Model &model, size_t net, size_t index) {
  const Stage &stage = model.nets[net].stages[index];
  line("  stage {}, {}", index, stage.isDynamic ? "dynamic" : "static");
  for (size_t input = 0; input < stage.inputs.size(); ++input) {
    const auto taken = std::ranges::find_if(model.debug.pictures, [&](const InputPicture &each) {
      return each.net == net && each.stage == index && each.input == input;
    });
    addTensor("input ", stage.inputs[input],
              taken == model.debug.pictures.end() ? nullptr : &taken->picture);
  }
  for (const TensorInfo &tensor : stage.outputs)
    addTensor("output", tensor);
  uint64_t tiu = 0;
  uint64_t dma = 0;
  uint64_t bytes = 0;
  for (const SubNet &subNet : stage.subNets)
    for (const CommandGroup &group : subNet.groups) {
      tiu += group.numTiu;
      dma += group.numDma;
      bytes += group.tiu.size() + group.dma.size();
    }
  line("    sub-nets: {}, commands: {} TIU, {} DMA ({})", stage.subNets.size(), tiu, dma,
       megabytes(bytes));
  for (const SubNet &subNet : stage.subNets) {
    const auto programs = cpuPrograms(subNet, "");
    if (subNet.mode != static_cast<int32_t>(SubNetMode::Cpu) || !programs)
      continue;
    for (const cpu::Program &program : *programs)
      line("    sub-net {}, on the CPU: {}", subNet.id, fmt::join(cpu::layersOf(program), ", "));
  }
  line("    weights: {}, activations: {}",
       megabytes(stage.coefficients ? stage.coefficients->data.size() : 0),
       megabytes(stage.contextSize));
}

std::string InfoText::str(const Model &model) {
  line("chip: {}", model.chip);
  line("format: {} {}", model.type, model.version);
  if (!model.time.empty())
    line("made: {}", std::string_view(model.time).substr(0, model.time.find_last_not_of('\n') + 1));
  if (model.numDevices > 1)
    line("devices: {}", model.numDevices);
  if (model.firmware && !model.firmware->data.empty())
    line("firmware: {} ({})", model.firmware->fileName, megabytes(model.firmware->data.size()));
  if (!model.debug.empty())
    line("debug information: {}, {}", counted(std::ssize(model.debug.layers), "layer"),
         counted(std::ssize(model.debug.tensors), "tensor"));
  for (size_t number = 0; number < model.nets.size(); ++number) {
    const Net &net = model.nets[number];
    line("net {}", net.name);
    if (net.cascade)
      line("  step {} of {}, device {}", net.cascade->step, net.cascade->mainName,
           net.cascade->device);
    for (size_t i = 0; i < net.stages.size(); ++i)
      addStage(model, number, i);
  }
  return std::move(text);
}

} // namespace

std::string formatInfo(const Model &model) { return InfoText().str(model); }

Json toJson(const Model &model) {
  Json json = {{"chip", model.chip},
               {"type", model.type},
               {"version", model.version},
               {"time", model.time},
               {"context_bytes", model.contextSize},
               {"num_devices", model.numDevices},
               {"combined", model.combined},
               {"firmware", libraryJson(model.firmware)},
               {"cpu_library", libraryJson(model.cpuLibrary)},
               {"backend_bytes", model.backend.size()},
               {"nets", array(model.nets, [](const Net &net) {
                  Json result = {{"name", net.name},
                                 {"address_mode", net.addressMode},
                                 {"stages", array(net.stages, stageJson)}};
                  if (net.cascade)
                    result["cascade"] = {{"main", net.cascade->mainName},
                                         {"step", net.cascade->step},
                                         {"device", net.cascade->device}};
                  return result;
                })}};
  if (!model.debug.empty())
    json["debug"] = debugJson(model.debug);
  return json;
}

} // namespace tpuc::bmodel
