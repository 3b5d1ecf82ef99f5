//===- Commands.cpp - What model_tool can do ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/model_tool/Commands.h"
#include "runtime/Session.h"
#include "tpuc/Model/TimingText.h"
#include "tpuc/Support/OutputFile.h"
#include "tpuc/Support/RunFiles.h"

#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>

namespace tpuc::modeltool {

namespace {

using model::CompiledModel;
using model::Container;
using model::ModelFile;

Expected<void> emit(const Request &request, std::string_view text) {
  return writeFile(request.output.empty() ? "/dev/stdout" : request.output, text);
}

std::string jsonText(const nlohmann::ordered_json &json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// A model file and what reads it.
struct OpenFile {
  ModelFile file;
  const Container *container = nullptr;

  Expected<CompiledModel> read() const { return container->read(file); }
};

Expected<OpenFile> openFile(const std::string &path) {
  auto file = ModelFile::open(path);
  if (!file)
    return propagate(file);
  const auto container = model::chooseContainer(*file, model::containers());
  if (!container)
    return tl::unexpected(container.error());
  return OpenFile{std::move(*file), *container};
}

Expected<OpenFile> openOnly(const Request &request) {
  if (request.files.size() != 1)
    return makeError("FILE", fmt::format("{} files", request.files.size()), "one");
  return openFile(request.files.front());
}

Expected<CompiledModel> readOnly(const Request &request) {
  auto opened = openOnly(request);
  if (!opened)
    return propagate(opened);
  return opened->read();
}

std::string weightText(const model::Stage &stage) {
  if (stage.constants.empty())
    return "  no weights\n";
  std::string text;
  for (const model::Section &section : stage.constants) {
    text += fmt::format("  {} bytes at 0x{:X}\n", section.data.size(), section.address);
    for (const model::Section::Location &location : section.locations)
      text += fmt::format("  {:>12} {:>12}  {}\n", location.offset, location.size, location.name);
  }
  return text;
}

/// The commands of one group, each with its layer where the file tells it.
class CommandText {
public:
  CommandText(const CompiledModel &model, const runtime::DeviceDriver &driver, std::string where)
      : model(model), driver(driver), where(std::move(where)) {}

  Expected<std::string> str();

private:
  Expected<void> addGroup(const std::string &title, const model::CommandGroup &group);
  void addStream(const model::Stream &stream, const std::vector<std::string> &commands);

  const CompiledModel &model;
  const runtime::DeviceDriver &driver;
  std::string where;
  std::string text;
};

void CommandText::addStream(const model::Stream &stream, const std::vector<std::string> &commands) {
  text += fmt::format("# {}: {} commands\n", stream.engine, commands.size());
  std::optional<uint32_t> last;
  for (size_t i = 0; i < commands.size(); ++i) {
    const std::optional<uint32_t> layer =
        model::layerOfCommand(stream.layers, static_cast<uint32_t>(i));
    if (layer && layer != last)
      text += fmt::format("# layer {}\n", model.layers[*layer]);
    last = layer;
    text += commands[i] + "\n";
  }
}

Expected<void> CommandText::addGroup(const std::string &title, const model::CommandGroup &group) {
  const auto listing = driver.disassemble(group, fmt::format("{}: {}", where, title));
  if (!listing)
    return tl::unexpected(listing.error());
  text += fmt::format("# {}\n", title);
  for (size_t i = 0; i < group.streams.size(); ++i)
    addStream(group.streams[i], (*listing)[i]);
  return {};
}

Expected<std::string> CommandText::str() {
  for (uint32_t n = 0; n < model.nets.size(); ++n)
    for (uint32_t s = 0; s < model.nets[n].stages.size(); ++s) {
      const auto &subNets = model.nets[n].stages[s].subNets;
      for (uint32_t b = 0; b < subNets.size(); ++b)
        for (uint32_t g = 0; g < subNets[b].groups.size(); ++g)
          if (auto ok = addGroup(fmt::format("net {}, stage {}, sub-net {}, group {}",
                                             model.nets[n].name, s, b, g),
                                 subNets[b].groups[g]);
              !ok)
            return propagate(ok);
    }
  return std::move(text);
}

} // namespace

Expected<void> checkFiles(const Request &request) {
  RunFiles files;
  files.reads("FILE", request.files);
  files.writes("--output", request.output);
  files.writes("--trace", request.trace);
  files.writes("--csv", request.csv);
  return files.check();
}

Expected<void> showInfo(const Request &request) {
  if (request.asJson)
    return printModel(request);
  const auto opened = openOnly(request);
  if (!opened)
    return tl::unexpected(opened.error());
  const auto text = opened->container->info(opened->file);
  return text ? emit(request, *text) : tl::unexpected(text.error());
}

Expected<void> printModel(const Request &request) {
  const auto opened = openOnly(request);
  if (!opened)
    return tl::unexpected(opened.error());
  const auto fields = opened->container->fields(opened->file);
  return fields ? emit(request, jsonText(*fields)) : tl::unexpected(fields.error());
}

Expected<void> showWeights(const Request &request) {
  const auto model = readOnly(request);
  if (!model)
    return tl::unexpected(model.error());
  std::string text;
  for (const model::Net &net : model->nets)
    for (size_t i = 0; i < net.stages.size(); ++i)
      text += fmt::format("net {}, stage {}\n{}", net.name, i, weightText(net.stages[i]));
  if (request.output.empty())
    return emit(request, text);
  const std::vector<model::Section> &sections = model->nets.front().stages.front().constants;
  if (sections.empty())
    return makeError(request.files.front(), "the first stage has no weights");
  auto file = OutputFile::create(request.output);
  if (!file)
    return propagate(file);
  for (const model::Section &section : sections)
    if (auto ok = file->write(section.data); !ok)
      return ok;
  return file->commit();
}

Expected<void> dumpCommands(const Request &request) {
  const auto model = readOnly(request);
  if (!model)
    return tl::unexpected(model.error());
  const auto driver =
      runtime::findDriver(model->chip, request.files.front(), runtime::deviceDrivers());
  if (!driver)
    return tl::unexpected(driver.error());
  const auto text = CommandText(*model, **driver, request.files.front()).str();
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
  constexpr size_t kSlowestLayers = 10;
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
    const auto timing = (*model)->timing(ref);
    if (!timing)
      return tl::unexpected(timing.error());
    const std::string &net = (*model)->model().nets[ref.net].name;
    text +=
        fmt::format("{}net {}, stage {}\n{}", text.empty() ? "" : "\n", net, ref.stage,
                    model::timingSummary(
                        *timing, request.allLayers ? std::nullopt : std::optional(kSlowestLayers)));
    json.push_back({{"net", net}, {"stage", ref.stage}});
    json.back().update(model::timingJson(*timing));
    if (!request.trace.empty())
      if (auto ok = writeFile(request.trace, model::timingTrace(*timing)); !ok)
        return ok;
    if (!request.csv.empty())
      if (auto ok = writeFile(request.csv, model::timingCsv(*timing)); !ok)
        return ok;
  }
  return emit(request, request.asJson ? jsonText(json) : text);
}

Expected<void> extractStages(const Request &request) {
  const auto opened = openOnly(request);
  if (!opened)
    return tl::unexpected(opened.error());
  return opened->container->extract(opened->file, request.output.empty() ? "." : request.output);
}

Expected<void> combineModels(const Request &request) {
  if (request.output.empty())
    return makeError("--output", "missing", "the file to write");
  const Container *container = nullptr;
  std::vector<ModelFile> files;
  for (const std::string &path : request.files) {
    auto opened = openFile(path);
    if (!opened)
      return propagate(opened);
    if (!container)
      container = opened->container;
    if (opened->container != container)
      return makeError(path, fmt::format("a .{} file", opened->container->name()),
                       fmt::format("a .{} file, as the first", container->name()));
    files.push_back(std::move(opened->file));
  }
  if (!container)
    return makeError("FILE", "0 files", "one at least");
  return container->combine(files, request.output);
}

} // namespace tpuc::modeltool
