//===- Container.cpp - The .bmodel file among the containers --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Container.h"
#include "tpuc/Model/Bmodel/Combine.h"
#include "tpuc/Model/Bmodel/Compiled.h"
#include "tpuc/Model/Bmodel/Dump.h"
#include "tpuc/Model/Bmodel/Reader.h"
#include "tpuc/Model/Bmodel/Writer.h"
#include "tpuc/Support/RunFiles.h"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tpuc::bmodel {

namespace {

Expected<Model> readFile(const model::ModelFile &file) {
  return readModel(file.bytes, file.owner, file.path);
}

class BmodelContainer : public model::Container {
public:
  std::string_view name() const override { return "bmodel"; }
  bool accepts(Bytes beginning) const override { return hasMagic(beginning); }
  Expected<model::CompiledModel> read(const model::ModelFile &file) const override;
  Expected<OutputFile> write(const model::CompiledModel &model,
                             const std::string &path) const override;
  Expected<std::string> info(const model::ModelFile &file) const override;
  Expected<nlohmann::ordered_json> fields(const model::ModelFile &file) const override;
  Expected<void> extract(const model::ModelFile &file, const std::string &folder) const override;
  Expected<void> combine(std::span<const model::ModelFile> files,
                         const std::string &path) const override;
};

Expected<model::CompiledModel> BmodelContainer::read(const model::ModelFile &file) const {
  const auto model = readFile(file);
  if (!model)
    return tl::unexpected(model.error());
  return toCompiled(*model, file.path);
}

Expected<OutputFile> BmodelContainer::write(const model::CompiledModel &model,
                                            const std::string &path) const {
  const auto made = fromCompiled(model, path);
  if (!made)
    return tl::unexpected(made.error());
  return createModel(*made, path);
}

Expected<std::string> BmodelContainer::info(const model::ModelFile &file) const {
  const auto model = readFile(file);
  if (!model)
    return tl::unexpected(model.error());
  return formatInfo(*model);
}

Expected<nlohmann::ordered_json> BmodelContainer::fields(const model::ModelFile &file) const {
  const auto model = readFile(file);
  if (!model)
    return tl::unexpected(model.error());
  return toJson(*model);
}

Expected<void> BmodelContainer::extract(const model::ModelFile &file,
                                        const std::string &folder) const {
  const auto model = readFile(file);
  if (!model)
    return tl::unexpected(model.error());
  const auto pathOf = [&](size_t net, size_t stage) {
    const std::string name = fmt::format("bm_net{}_stage{}.bmodel", net, stage);
    return (std::filesystem::path(folder) / name).string();
  };
  RunFiles paths;
  paths.reads("the command", file.path);
  for (size_t n = 0; n < model->nets.size(); ++n)
    for (size_t s = 0; s < model->nets[n].stages.size(); ++s)
      paths.writes(fmt::format("stage {} of net {}", s, n), pathOf(n, s));
  if (auto ok = paths.check(); !ok)
    return ok;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return makeError(folder, error.message(), "a folder");
  for (size_t n = 0; n < model->nets.size(); ++n)
    for (size_t s = 0; s < model->nets[n].stages.size(); ++s)
      if (auto ok = writeModel(bmodel::extract(*model, n, s), pathOf(n, s)); !ok)
        return ok;
  return {};
}

Expected<void> BmodelContainer::combine(std::span<const model::ModelFile> files,
                                        const std::string &path) const {
  std::vector<Model> models;
  std::vector<std::string> names;
  for (const model::ModelFile &file : files) {
    auto model = readFile(file);
    if (!model)
      return propagate(model);
    models.push_back(std::move(*model));
    names.push_back(file.path);
  }
  const auto combined = bmodel::combine(models, names);
  if (!combined)
    return tl::unexpected(combined.error());
  return writeModel(*combined, path);
}

} // namespace

} // namespace tpuc::bmodel

namespace tpuc::model {

const Container &containerBmodel();
const Container &containerBmodel() {
  static const bmodel::BmodelContainer container;
  return container;
}

} // namespace tpuc::model
