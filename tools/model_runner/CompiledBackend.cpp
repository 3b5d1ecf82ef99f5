//===- CompiledBackend.cpp - Runs model files on the simulated device -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Elements.h"
#include "runtime/Session.h"
#include "tools/model_runner/ModelBackend.h"
#include "tools/model_runner/Profile.h"
#include "tpuc/Model/TimingText.h"
#include "tpuc/Support/OutputFile.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tpuc::modelrunner {

namespace {

using runtime::LoadedModel;
using runtime::Session;
using runtime::StageRef;

class CompiledRun {
public:
  explicit CompiledRun(const Request &request) : request(request) {}
  Expected<void> run();

private:
  /// Chooses the stage as well.
  Expected<void> readInputs();
  Expected<void> chooseStage();
  bool fits(const model::Stage &stage, bool byShape) const;
  Expected<void> findTensors();
  /// Keeps the tensors that are complete after that command.
  void keep(const runtime::CommandEvent &event);
  Expected<void> writeOutputs() const;
  Expected<void> writeProfile() const;

  const Request &request;
  std::shared_ptr<const LoadedModel> model;
  StageRef ref;
  /// Of the arrays that are given for the inputs.
  std::vector<Shape> shapes;
  std::vector<Tensor> inputs;
  std::unique_ptr<Session> session;
  Profile profile;
  /// Those of the stage, in the order of the file; what was read of them, and the first error.
  std::vector<const model::InnerTensor *> wanted;
  std::vector<std::optional<Tensor>> kept;
  std::optional<Error> keepError;
};

Expected<void> CompiledRun::readInputs() {
  const auto npz = NpzReader::open(request.input);
  if (!npz)
    return tl::unexpected(npz.error());
  const auto &first = model->stage(ref).inputs;
  std::vector<std::string> names;
  for (const model::TensorInfo &info : first) {
    auto name = findInput(*npz, info.name, first.size());
    if (!name)
      return propagate(name);
    const auto entry = npz->info(*name);
    if (!entry)
      return tl::unexpected(entry.error());
    if (auto ok = npz->verifyView(*name); !ok)
      return ok;
    shapes.push_back(entry->shape);
    names.push_back(std::move(*name));
  }
  // Before the elements, which may be deflated and inflate to far more than the net takes.
  if (auto ok = chooseStage(); !ok)
    return ok;
  for (const std::string &name : names) {
    auto tensor = npz->read(name);
    if (!tensor)
      return propagate(tensor);
    inputs.push_back(std::move(*tensor));
  }
  return {};
}

bool CompiledRun::fits(const model::Stage &stage, bool byShape) const {
  for (size_t i = 0; i < shapes.size(); ++i) {
    const auto &shape = stage.inputs[i].shape;
    const Shape &given = shapes[i];
    uint64_t count = 1;
    for (const uint64_t extent : shape)
      count *= extent;
    if (byShape ? !std::equal(shape.begin(), shape.end(), given.begin(), given.end(),
                              [](uint64_t a, int64_t b) { return a == static_cast<uint64_t>(b); })
                : count != static_cast<uint64_t>(given.numElements()))
      return false;
  }
  return true;
}

Expected<void> CompiledRun::chooseStage() {
  const auto &stages = model->model().nets[ref.net].stages;
  for (const bool byShape : {true, false})
    for (uint32_t i = 0; i < stages.size(); ++i)
      if (stages[i].inputs.size() == shapes.size() && fits(stages[i], byShape)) {
        ref.stage = i;
        return {};
      }
  std::string found;
  for (const Shape &shape : shapes)
    found += (found.empty() ? "" : ", ") + shape.str();
  std::string expected;
  for (const model::Stage &stage : stages)
    for (const model::TensorInfo &info : stage.inputs)
      expected += (expected.empty() ? "" : ", ") + model::formatShape(info.shape);
  return makeError(request.input, fmt::format("inputs of {}", found), expected);
}

Expected<void> CompiledRun::findTensors() {
  if (!request.dumpAllTensors)
    return {};
  for (const model::InnerTensor &tensor : model->stage(ref).innerTensors)
    wanted.push_back(&tensor);
  if (wanted.empty())
    return makeError("--dump_all_tensors",
                     fmt::format("{} does not tell where its inner tensors are", request.model),
                     "a file with debug information");
  kept.resize(wanted.size());
  return {};
}

void CompiledRun::keep(const runtime::CommandEvent &event) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto &[info, subNet, group, stream, after] = *wanted[i];
    if (subNet != event.subNet || group != event.group || stream != event.stream ||
        after != event.index + 1)
      continue;
    auto read = session->read(info);
    if (read)
      kept[i] = runtime::fromStored(*read, info.scale, info.zeroPoint, request.outFixed);
    else if (!keepError)
      keepError = read.error();
  }
}

Expected<void> CompiledRun::writeOutputs() const {
  auto npz = NpzWriter::create(request.output);
  if (!npz)
    return propagate(npz);
  const auto &outputs = session->stage().outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto stored = session->output(i);
    if (!stored)
      return tl::unexpected(stored.error());
    const Tensor shown =
        runtime::fromStored(*stored, outputs[i].scale, outputs[i].zeroPoint, request.outFixed);
    if (auto ok = npz->add(outputs[i].name, shown); !ok)
      return ok;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::string &name = wanted[i]->tensor.name;
    const bool isOutput =
        std::ranges::find(outputs, name, &model::TensorInfo::name) != outputs.end();
    if (kept[i] && !isOutput)
      if (auto ok = npz->add(name, *kept[i]); !ok)
        return ok;
  }
  return npz->close();
}

Expected<void> CompiledRun::writeProfile() const {
  nlohmann::ordered_json report;
  if (request.profile || !request.trace.empty() || !request.json.empty()) {
    const auto timing = model->timing(ref);
    if (!timing)
      return tl::unexpected(timing.error());
    if (request.profile && request.json != "-")
      std::fputs(model::timingSummary(*timing).c_str(), stdout);
    if (!request.trace.empty())
      if (auto ok = writeFile(request.trace, model::timingTrace(*timing)); !ok)
        return ok;
    report["chip"] = model::timingJson(*timing);
  }
  if (request.profileHost && request.json != "-")
    std::fputs(profile.str().c_str(), stdout);
  if (request.json.empty())
    return {};
  if (request.profileHost)
    report["host"] = profile.toJson();
  return writeFileOrStdout(
      request.json, report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Expected<void> CompiledRun::run() {
  auto loaded = LoadedModel::load(request.model);
  if (!loaded)
    return propagate(loaded);
  model = std::move(*loaded);
  const auto net = model->findNet(request.net);
  if (!net)
    return tl::unexpected(net.error());
  ref.net = *net;
  if (auto ok = readInputs(); !ok)
    return ok;
  if (auto ok = findTensors(); !ok)
    return ok;
  auto created = Session::create(model, ref, static_cast<unsigned>(request.numThreads));
  if (!created)
    return propagate(created);
  session = std::move(*created);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (auto ok = session->setInput(i, inputs[i]); !ok)
      return ok;

  runtime::RunHooks hooks;
  if (request.profileHost)
    hooks.before = [this](const runtime::CommandEvent &) { profile.before(); };
  if (request.profileHost || !wanted.empty())
    hooks.after = [&](const runtime::CommandEvent &event) {
      if (request.profileHost)
        profile.after(event);
      keep(event);
    };
  if (auto ok = session->run(hooks); !ok)
    return ok;
  if (keepError)
    return tl::unexpected(*keepError);
  if (auto ok = writeOutputs(); !ok)
    return ok;
  return writeProfile();
}

class CompiledBackend : public ModelBackend {
public:
  std::string_view description() const override { return kinds; }
  bool accepts(std::span<const std::byte> beginning) const override {
    return std::ranges::any_of(model::containers(), [&](const model::Container *container) {
      return container->accepts(beginning);
    });
  }
  Expected<void> run(const Request &request) const override { return CompiledRun(request).run(); }

private:
  std::string kinds = model::fileKinds(model::containers());
};

} // namespace

const ModelBackend &compiledBackend() {
  static const CompiledBackend backend;
  return backend;
}

} // namespace tpuc::modelrunner
