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
#include "tpuc/Preprocess/PictureInput.h"
#include "tpuc/Support/Counted.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/OutputFile.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
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
  Expected<void> runSample(const Sample &sample);
  /// Reads what the sample has for the inputs, and chooses the stage.
  Expected<void> readInputs(const Sample &sample);
  Expected<void> readArchive(const Sample &sample);
  Expected<void> readFiles(const Sample &sample);
  Expected<Tensor> readFile(const std::string &path, const model::TensorInfo &info) const;
  Expected<void> chooseStage(const Sample &sample);
  /// A session for the stage; that of the last sample where it was the same.
  Expected<void> openSession();
  bool fits(const model::Stage &stage, bool byShape) const;
  Expected<void> findTensors();
  /// Keeps the tensors that are complete after that command.
  void keep(const runtime::CommandEvent &event);
  Expected<void> writeOutputs(const Sample &sample) const;
  Expected<void> writeProfile() const;

  const Request &request;
  std::shared_ptr<const LoadedModel> model;
  StageRef ref;
  /// Of the arrays that are given for the inputs.
  std::vector<Shape> shapes;
  std::vector<Tensor> inputs;
  std::unique_ptr<Session> session;
  uint32_t sessionStage = 0;
  Profile profile;
  /// Those of the stage, in the order of the file; what was read of them, and the first error.
  std::vector<const model::InnerTensor *> wanted;
  std::vector<std::optional<Tensor>> kept;
  std::optional<Error> keepError;
};

Expected<void> CompiledRun::readArchive(const Sample &sample) {
  const auto npz = NpzReader::open(sample.files[0]);
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
  if (auto ok = chooseStage(sample); !ok)
    return ok;
  for (const std::string &name : names) {
    auto tensor = npz->read(name);
    if (!tensor)
      return propagate(tensor);
    inputs.push_back(std::move(*tensor));
  }
  return {};
}

/// How pictures become an input of a model file, where that says so.
InputSpec specOf(const model::TensorInfo &info) {
  InputSpec spec{info.name, DataType::F32, {info.shape.begin(), info.shape.end()}, std::nullopt};
  if (!info.picture)
    return spec;
  const model::PictureInfo &picture = *info.picture;
  spec.type = DataType::U8;
  PreprocessOptions &options = spec.preprocess.emplace();
  options.bytes = picture.format;
  options.frame = picture.frame();
  options.isVideoRange = picture.isVideoRange;
  options.keepAspectRatio = picture.keepsAspectRatio;
  options.keepRatioMode = kKeepRatioModeNames[picture.fillsFrame ? 1 : 0];
  options.padType = picture.isAtTopLeft ? PadType::Normal : PadType::Center;
  options.padValue = picture.padValue;
  return spec;
}

/// What the picture or .npy file `path` is as the input `info`: numbers, not what is stored.
Expected<Tensor> CompiledRun::readFile(const std::string &path,
                                       const model::TensorInfo &info) const {
  auto file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  const std::span<const std::byte> bytes = (*file)->bytes();
  if (bytes.empty())
    return makeError(path, "is empty", "a .npy, .npz or picture file");
  if (fileKind(bytes) == FileKind::Npy)
    return parseNpy(bytes, *file, path);
  InputSpec spec = specOf(info);
  if (auto ok = takePictures(request.preprocess, std::span(&spec, 1)); !ok)
    return tl::unexpected(ok.error());
  return pictureTensor(bytes, spec, path);
}

Expected<void> CompiledRun::readFiles(const Sample &sample) {
  const auto &first = model->stage(ref).inputs;
  if (sample.files.size() != first.size())
    return makeError(fmt::format("{}", fmt::join(sample.files, ",")),
                     counted(std::ssize(sample.files), "file"),
                     fmt::format("{}, one for each input, or one npz file", first.size()));
  for (size_t i = 0; i < first.size(); ++i) {
    auto tensor = readFile(sample.files[i], first[i]);
    if (!tensor)
      return propagate(tensor);
    shapes.push_back(tensor->shape());
    inputs.push_back(std::move(*tensor));
  }
  return chooseStage(sample);
}

Expected<void> CompiledRun::readInputs(const Sample &sample) {
  shapes.clear();
  inputs.clear();
  ref.stage = 0;
  const auto archive = isArchive(sample);
  if (!archive)
    return tl::unexpected(archive.error());
  return *archive ? readArchive(sample) : readFiles(sample);
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

Expected<void> CompiledRun::chooseStage(const Sample &sample) {
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
      expected += (expected.empty() ? "" : ", ") + model::formatInput(info);
  return makeError(sample.files[0], fmt::format("inputs of {}", found), expected);
}

Expected<void> CompiledRun::findTensors() {
  wanted.clear();
  kept.clear();
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

Expected<void> CompiledRun::writeOutputs(const Sample &sample) const {
  auto npz = NpzWriter::create(sample.output);
  if (!npz)
    return propagate(npz);
  const auto &outputs = session->stage().outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto stored = session->viewOutput(i);
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
  if (session)
    report["host_seconds"] = session->hostSeconds();
  if (request.profileHost)
    report["host"] = profile.toJson();
  return writeFileOrStdout(
      request.json, report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Expected<void> CompiledRun::openSession() {
  if (session && sessionStage == ref.stage)
    return {};
  session.reset();
  auto created = Session::create(model, ref, static_cast<unsigned>(request.numThreads));
  if (!created)
    return propagate(created);
  session = std::move(*created);
  sessionStage = ref.stage;
  return {};
}

Expected<void> CompiledRun::runSample(const Sample &sample) {
  if (auto ok = readInputs(sample); !ok)
    return ok;
  if (auto ok = findTensors(); !ok)
    return ok;
  if (auto ok = openSession(); !ok)
    return ok;
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
  return writeOutputs(sample);
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
  for (const Sample &sample : request.samples)
    if (auto ok = runSample(sample); !ok)
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
