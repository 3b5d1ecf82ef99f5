//===- Container.cpp - The .cvimodel file among the containers ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Container.h"
#include "tpuc/Model/Cvimodel/Cvimodel.h"
#include "tpuc/Model/Cvimodel/Format.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace tpuc::cvimodel {

namespace {

using Json = nlohmann::ordered_json;

class CvimodelContainer : public model::Container {
public:
  std::string_view name() const override { return "cvimodel"; }
  bool accepts(Bytes beginning) const override { return hasMagic(beginning); }
  bool states(DataType type) const override { return statesType(type); }
  Expected<model::CompiledModel> read(const model::ModelFile &file) const override;
  Expected<OutputFile> write(const model::CompiledModel &model,
                             const std::string &path) const override;
  Expected<std::string> info(const model::ModelFile &file) const override;
  Expected<Json> fields(const model::ModelFile &file) const override;
  Expected<void> combine(std::span<const model::ModelFile> files,
                         const std::string &path) const override;
};

Expected<model::CompiledModel> CvimodelContainer::read(const model::ModelFile &file) const {
  const auto read = readFile(file.bytes, file.path);
  if (!read)
    return tl::unexpected(read.error());
  auto model = toCompiled(*read, file.path);
  if (model)
    model->owners.push_back(file.owner);
  return model;
}

Expected<OutputFile> CvimodelContainer::write(const model::CompiledModel &model,
                                              const std::string &path) const {
  const auto made = fromCompiled(model, path);
  if (!made)
    return tl::unexpected(made.error());
  const auto bytes = encodeFile(*made, path);
  if (!bytes)
    return tl::unexpected(bytes.error());
  return model::fileOf(std::as_bytes(std::span(*bytes)), path);
}

/// The inputs of a stage as `x [1, 3, 8, 8]`, by which the runtime finds it.
std::string inputsOf(const model::Stage &stage) {
  std::string text;
  for (const model::TensorInfo &input : stage.inputs)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", input.name,
                        model::formatShape(input.shape));
  return text;
}

/// The networks have one name, and are stages of one network; the runtime knows them by their
/// inputs.
Expected<void> CvimodelContainer::combine(std::span<const model::ModelFile> files,
                                          const std::string &path) const {
  model::CompiledModel all;
  std::set<std::string> inputs;
  for (const model::ModelFile &file : files) {
    Expected<model::CompiledModel> model = read(file);
    if (!model)
      return propagate(model);
    model::Net &net = model->nets.front();
    if (all.nets.empty()) {
      all.chip = model->chip;
      all.nets.push_back({.name = net.name, .stages = {}});
    }
    if (net.name != all.nets.front().name)
      return makeError(file.path, fmt::format("a network '{}'", net.name),
                       fmt::format("'{}', as in the first file", all.nets.front().name));
    for (model::Stage &stage : net.stages) {
      const auto [known, isNew] = inputs.insert(inputsOf(stage));
      if (!isNew)
        return makeError(file.path, fmt::format("the inputs {} a second time", *known),
                         "other shapes in each file");
      all.nets.front().stages.push_back(std::move(stage));
    }
    all.owners.insert(all.owners.end(), model->owners.begin(), model->owners.end());
  }
  Expected<OutputFile> made = write(all, path);
  return made ? made->commit() : propagate(made);
}

std::string_view typeText(const Tensor &tensor) {
  return tensor.type ? dataTypeName(*tensor.type) : "unknown";
}

std::string pictureOf(const Tensor &tensor) {
  if (!tensor.picture)
    return "";
  const model::PictureInfo &picture = *tensor.picture;
  return fmt::format(", {}{}", pictureText(picture.format, picture.height, picture.width),
                     picture.alignment.isPresent() ? ", in frame buffers" : "");
}

void addTensors(std::string &text, std::string_view title, const Program &program,
                const std::vector<std::string> &names) {
  for (const std::string &name : names) {
    const Tensor *tensor = program.find(name);
    if (tensor)
      text += fmt::format("    {} {}: {} [{}], scale {:g}{}\n", title, name, typeText(*tensor),
                          fmt::join(tensor->shape, ", "), tensor->scale, pictureOf(*tensor));
  }
}

Expected<std::string> CvimodelContainer::info(const model::ModelFile &file) const {
  const auto read = readFile(file.bytes, file.path);
  if (!read)
    return tl::unexpected(read.error());
  uint64_t constants = 0;
  uint64_t commands = 0;
  for (const Section &section : read->sections)
    (section.kind == SectionKind::Constants ? constants : commands) += section.data.size();
  std::string text =
      fmt::format("chip {}, version {}.{}, made by '{}'{}\n", read->chip, read->majorVersion,
                  read->minorVersion, read->compiler,
                  read->hasRightHash ? "" : "; the hash is not that of the contents");
  text += fmt::format("  net {}: {} bytes of constants, {} of commands\n", read->name, constants,
                      commands);
  for (const Program &program : read->programs) {
    text += fmt::format("  program of batch {}: {} bytes of shared, {} of private activations\n",
                        program.batch, program.sharedBytes, program.privateBytes);
    addTensors(text, "input", program, program.inputs);
    addTensors(text, "output", program, program.outputs);
    for (const Routine &routine : program.routines)
      text += fmt::format("    {} {}\n", routine.isHost ? "host:" : "chip:", routine.name);
  }
  return text;
}

Json programJson(const Program &program) {
  Json tensors = Json::array(), routines = Json::array();
  for (const Tensor &tensor : program.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"type", typeText(tensor)},
                       {"shape", tensor.shape},
                       {"region", tensor.address >> kRegionShift},
                       {"offset", tensor.address & ((uint64_t{1} << kRegionShift) - 1)},
                       {"scale", tensor.scale}});
    if (tensor.picture)
      tensors.back()["pictures"] = {{"format", pictureFormatName(tensor.picture->format)},
                                    {"height", tensor.picture->height},
                                    {"width", tensor.picture->width},
                                    {"aligned", tensor.picture->alignment.isPresent()},
                                    {"video_range", tensor.picture->isVideoRange}};
  }
  for (const Routine &routine : program.routines)
    routines.push_back({{"host", routine.isHost},
                        {"name", routine.name},
                        {"inputs", routine.inputs},
                        {"outputs", routine.outputs}});
  return {{"batch", program.batch},
          {"shared_bytes", program.sharedBytes},
          {"private_bytes", program.privateBytes},
          {"inputs", program.inputs},
          {"outputs", program.outputs},
          {"tensors", std::move(tensors)},
          {"routines", std::move(routines)}};
}

Expected<Json> CvimodelContainer::fields(const model::ModelFile &file) const {
  const auto read = readFile(file.bytes, file.path);
  if (!read)
    return tl::unexpected(read.error());
  Json sections = Json::array(), weights = Json::array(), programs = Json::array();
  for (const Section &section : read->sections)
    sections.push_back({{"kind", static_cast<unsigned>(section.kind)},
                        {"name", section.name},
                        {"bytes", section.data.size()}});
  for (const Weight &weight : read->weights)
    weights.push_back(
        {{"name", weight.name}, {"address", weight.address}, {"bytes", weight.bytes}});
  for (const Program &program : read->programs)
    programs.push_back(programJson(program));
  return Json{{"chip", read->chip},
              {"version", fmt::format("{}.{}", read->majorVersion, read->minorVersion)},
              {"hash_is_right", read->hasRightHash},
              {"name", read->name},
              {"built", read->built},
              {"compiler", read->compiler},
              {"sections", std::move(sections)},
              {"weights", std::move(weights)},
              {"programs", std::move(programs)}};
}

} // namespace

} // namespace tpuc::cvimodel

namespace tpuc::model {

const Container &containerCvimodel();
const Container &containerCvimodel() {
  static const cvimodel::CvimodelContainer container;
  return container;
}

} // namespace tpuc::model
