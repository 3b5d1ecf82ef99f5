//===- Commands.cpp - What model_tool can do ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/model_tool/Commands.h"
#include "runtime/Session.h"
#include "tpuc/Model/Bmodel/Combine.h"
#include "tpuc/Model/Bmodel/Dump.h"
#include "tpuc/Model/Bmodel/Reader.h"
#include "tpuc/Model/Bmodel/Writer.h"
#include "tpuc/Support/OutputFile.h"

#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>

namespace tpuc::modeltool {

namespace {

using bmodel::Model;
using bmodel::Stage;

Expected<void> emit(const Request &request, std::string_view text) {
  return writeFile(request.output.empty() ? "/dev/stdout" : request.output, text);
}

std::string jsonText(const nlohmann::ordered_json &json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Expected<Model> readOnly(const Request &request) {
  if (request.files.size() != 1)
    return makeError("FILE", fmt::format("{} files", request.files.size()), "one");
  return bmodel::readModel(request.files.front());
}

std::string weightText(const Stage &stage) {
  if (!stage.coefficients)
    return "  no weights\n";
  std::string text = fmt::format("  {} bytes at 0x{:X}\n", stage.coefficients->data.size(),
                                 stage.coefficients->address);
  for (const bmodel::WeightLocation &location : stage.coefficients->locations)
    text += fmt::format("  {:>12} {:>12}  {}\n", location.offset, location.size, location.name);
  return text;
}

/// The commands of one group, each with its layer where the file tells it.
class CommandText {
public:
  CommandText(const Model &model, const runtime::Chip &chip, std::string where)
      : model(model), chip(chip), where(std::move(where)) {}

  Expected<std::string> str();

private:
  Expected<void> addGroup(const bmodel::GroupRef &ref, const bmodel::CommandGroup &group);
  void addStream(const char *name, const std::vector<std::string> &commands,
                 std::span<const bmodel::LayerRun> runs);

  const Model &model;
  const runtime::Chip &chip;
  std::string where;
  std::string text;
};

void CommandText::addStream(const char *name, const std::vector<std::string> &commands,
                            std::span<const bmodel::LayerRun> runs) {
  text += fmt::format("# {}: {} commands\n", name, commands.size());
  std::optional<uint32_t> last;
  for (size_t i = 0; i < commands.size(); ++i) {
    const std::optional<uint32_t> layer = bmodel::layerOfCommand(runs, static_cast<uint32_t>(i));
    if (layer && layer != last)
      text += fmt::format("# layer {}\n", model.debug.layers[*layer]);
    last = layer;
    text += commands[i] + "\n";
  }
}

Expected<void> CommandText::addGroup(const bmodel::GroupRef &ref,
                                     const bmodel::CommandGroup &group) {
  const std::string title = fmt::format("net {}, stage {}, sub-net {}, group {}",
                                        model.nets[ref.net].name, ref.stage, ref.subNet, ref.group);
  const auto listing = chip.disassemble(group, fmt::format("{}: {}", where, title));
  if (!listing)
    return tl::unexpected(listing.error());
  text += fmt::format("# {}\n", title);
  const auto map = std::ranges::find(model.debug.groups, ref, &bmodel::GroupLayers::group);
  const bool isKnown = map != model.debug.groups.end();
  addStream("TIU", listing->tiu, isKnown ? std::span(map->tiu) : std::span<bmodel::LayerRun>());
  addStream("DMA", listing->dma, isKnown ? std::span(map->dma) : std::span<bmodel::LayerRun>());
  return {};
}

Expected<std::string> CommandText::str() {
  for (uint32_t n = 0; n < model.nets.size(); ++n)
    for (uint32_t s = 0; s < model.nets[n].stages.size(); ++s) {
      const auto &subNets = model.nets[n].stages[s].subNets;
      for (uint32_t b = 0; b < subNets.size(); ++b)
        for (uint32_t g = 0; g < subNets[b].groups.size(); ++g)
          if (auto ok = addGroup({n, s, b, g}, subNets[b].groups[g]); !ok)
            return propagate(ok);
    }
  return std::move(text);
}

} // namespace

Expected<void> showInfo(const Request &request) {
  const auto model = readOnly(request);
  if (!model)
    return tl::unexpected(model.error());
  return emit(request,
              request.asJson ? jsonText(bmodel::toJson(*model)) : bmodel::formatInfo(*model));
}

Expected<void> printModel(const Request &request) {
  const auto model = readOnly(request);
  if (!model)
    return tl::unexpected(model.error());
  return emit(request, jsonText(bmodel::toJson(*model)));
}

Expected<void> showWeights(const Request &request) {
  const auto model = readOnly(request);
  if (!model)
    return tl::unexpected(model.error());
  std::string text;
  for (const bmodel::Net &net : model->nets)
    for (size_t i = 0; i < net.stages.size(); ++i)
      text += fmt::format("net {}, stage {}\n{}", net.name, i, weightText(net.stages[i]));
  if (request.output.empty())
    return emit(request, text);
  const auto &coefficients = model->nets.front().stages.front().coefficients;
  if (!coefficients)
    return makeError(request.files.front(), "the first stage has no weights");
  return writeFile(request.output, {reinterpret_cast<const char *>(coefficients->data.data()),
                                    coefficients->data.size()});
}

Expected<void> dumpCommands(const Request &request) {
  const auto model = readOnly(request);
  if (!model)
    return tl::unexpected(model.error());
  const auto chip = runtime::findChip(model->chip, request.files.front());
  if (!chip)
    return tl::unexpected(chip.error());
  const auto text = CommandText(*model, **chip, request.files.front()).str();
  if (!text)
    return tl::unexpected(text.error());
  return emit(request, *text);
}

namespace {

/// The stages that the request names; at least one.
Expected<std::vector<runtime::StageRef>> chosenStages(const runtime::LoadedModel &model,
                                                      const Request &request) {
  const auto &nets = model.model().nets;
  std::optional<uint32_t> only;
  if (!request.net.empty()) {
    const auto found = model.findNet(request.net);
    if (!found)
      return tl::unexpected(found.error());
    only = *found;
  }
  std::vector<runtime::StageRef> stages;
  for (uint32_t n = 0; n < nets.size(); ++n)
    for (uint32_t s = 0; s < nets[n].stages.size(); ++s)
      if (n == only.value_or(n) && (request.stage < 0 || s == static_cast<uint32_t>(request.stage)))
        stages.push_back({n, s});
  if (stages.empty())
    return makeError("--stage", fmt::format("no stage {}", request.stage), "one that there is");
  if (stages.size() > 1 && !(request.trace.empty() && request.csv.empty()))
    return makeError(request.trace.empty() ? "--csv" : "--trace",
                     fmt::format("{} stages", stages.size()), "one: --net NAME --stage N");
  return stages;
}

} // namespace

Expected<void> profile(const Request &request) {
  if (request.files.size() != 1)
    return makeError("FILE", fmt::format("{} files", request.files.size()), "one");
  const auto model = runtime::LoadedModel::load(request.files.front());
  if (!model)
    return tl::unexpected(model.error());
  const auto stages = chosenStages(**model, request);
  if (!stages)
    return tl::unexpected(stages.error());
  std::string text;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const runtime::StageRef ref : *stages) {
    const auto line = (*model)->timeLine(ref);
    if (!line)
      return tl::unexpected(line.error());
    const std::string &net = (*model)->model().nets[ref.net].name;
    text += fmt::format("{}net {}, stage {}\n{}", text.empty() ? "" : "\n", net, ref.stage,
                        (*line)->summary());
    json.push_back({{"net", net}, {"stage", ref.stage}});
    json.back().update((*line)->json());
    if (!request.trace.empty())
      if (auto ok = writeFile(request.trace, (*line)->trace()); !ok)
        return ok;
    if (!request.csv.empty())
      if (auto ok = writeFile(request.csv, (*line)->csv()); !ok)
        return ok;
  }
  return emit(request, request.asJson ? jsonText(json) : text);
}

Expected<void> extractStages(const Request &request) {
  const auto model = readOnly(request);
  if (!model)
    return tl::unexpected(model.error());
  const std::filesystem::path folder = request.output.empty() ? "." : request.output;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return makeError(folder.string(), error.message(), "a folder");
  for (size_t n = 0; n < model->nets.size(); ++n)
    for (size_t s = 0; s < model->nets[n].stages.size(); ++s) {
      const std::string name = fmt::format("bm_net{}_stage{}.bmodel", n, s);
      if (auto ok = bmodel::writeModel(bmodel::extract(*model, n, s), (folder / name).string());
          !ok)
        return ok;
    }
  return {};
}

Expected<void> combineModels(const Request &request) {
  if (request.output.empty())
    return makeError("--output", "missing", "the file to write");
  std::vector<Model> models;
  for (const std::string &file : request.files) {
    auto model = bmodel::readModel(file);
    if (!model)
      return propagate(model);
    models.push_back(std::move(*model));
  }
  const auto combined = bmodel::combine(models, request.files);
  if (!combined)
    return tl::unexpected(combined.error());
  return bmodel::writeModel(*combined, request.output);
}

} // namespace tpuc::modeltool
