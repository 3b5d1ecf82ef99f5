//===- Session.cpp - Model files, loaded and run --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"
#include "runtime/Elements.h"
#include "tpuc/Model/Bmodel/Reader.h"
#include "tpuc/Support/SimdLevel.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tpuc::runtime {

namespace {

using bmodel::SubNetMode;

Expected<void> checkSupported(const bmodel::Model &model, const bmodel::Net &net,
                              const bmodel::Stage &stage, const std::string &where) {
  if (model.numDevices > 1 || net.cascade)
    return makeError(where, "a net for several devices", "one for a single device");
  if (net.addressMode != 0)
    return makeError(where, fmt::format("address mode {}", net.addressMode), "mode 0 (basic)");
  if (stage.isDynamic)
    return makeError(where, "a dynamic net, whose commands the chip's firmware makes",
                     "a static net");
  if (stage.numCores > 1)
    return makeError(where, fmt::format("a net for {} cores", stage.numCores),
                     "one for a single core");
  if (stage.coefficients && stage.coefficients->encryption != 0)
    return makeError(where, "encrypted coefficients", "plain ones");
  for (const auto *tensors : {&stage.inputs, &stage.outputs})
    for (const bmodel::TensorInfo &tensor : *tensors) {
      if (tensor.storeMode != 0)
        return makeError(fmt::format("{}: {}", where, tensor.name),
                         fmt::format("store mode {}", tensor.storeMode),
                         "mode 0 (one item after "
                         "the other)");
      if (!bmodel::dataTypeOfCode(tensor.type))
        return makeError(fmt::format("{}: {}", where, tensor.name),
                         bmodel::typeCodeName(tensor.type), "a type that tpuc has");
    }
  return {};
}

/// The sub-nets in the order in which they run.
Expected<std::vector<uint32_t>> findPath(const bmodel::Stage &stage, const std::string &where) {
  std::vector<uint32_t> path;
  std::vector<bool> visited(stage.subNets.size());
  if (stage.subNets.empty())
    return makeError(where, "no sub-net", "one at least");
  for (uint32_t current = 0;;) {
    const bmodel::SubNet &subNet = stage.subNets[current];
    const std::string place = fmt::format("{}, sub-net {}", where, subNet.id);
    if (visited[current])
      return makeError(place, "a loop", "each sub-net once");
    visited[current] = true;
    if (subNet.mode != static_cast<int32_t>(SubNetMode::Tpu) &&
        subNet.mode != static_cast<int32_t>(SubNetMode::Cpu)) {
      constexpr std::array kModes = {"the TPU", "the CPU", "a merge", "a switch"};
      const auto mode = static_cast<uint32_t>(subNet.mode);
      return makeError(place,
                       mode < kModes.size() ? fmt::format("a sub-net of {}", kModes[mode])
                                            : fmt::format("a sub-net of mode {}", subNet.mode),
                       "one of the TPU or the CPU");
    }
    if (subNet.isDynamic || !subNet.cores.empty())
      return makeError(place, subNet.isDynamic ? "a dynamic sub-net" : "commands for several cores",
                       "a static sub-net for one core");
    path.push_back(current);
    if (subNet.next.empty() || subNet.next.front() == -1)
      return path;
    if (subNet.next.size() > 1)
      return makeError(place, fmt::format("followed by one of {} sub-nets", subNet.next.size()),
                       "one successor");
    // checkModel made sure that it exists.
    const auto next = std::ranges::find(stage.subNets, subNet.next.front(), &bmodel::SubNet::id);
    current = static_cast<uint32_t>(next - stage.subNets.begin());
  }
}

/// The sub-nets of a stage that this runtime can run, in order.
Expected<std::vector<LoadedStage::Step>> stepsOf(const bmodel::Model &model, const bmodel::Net &net,
                                                 const bmodel::Stage &stage,
                                                 const std::string &where) {
  if (auto ok = checkSupported(model, net, stage, where); !ok)
    return propagate(ok);
  const auto path = findPath(stage, where);
  if (!path)
    return tl::unexpected(path.error());
  std::vector<LoadedStage::Step> steps;
  for (const uint32_t index : *path) {
    const bmodel::SubNet &subNet = stage.subNets[index];
    steps.push_back({index});
    if (subNet.mode != static_cast<int32_t>(SubNetMode::Cpu))
      continue;
    auto cpu = CpuSubNet::create(stage, subNet, fmt::format("{}, sub-net {}", where, subNet.id));
    if (!cpu)
      return propagate(cpu);
    steps.back().cpu = std::move(*cpu);
  }
  return steps;
}

/// The time line of the chip, and what the host computes meanwhile.
class SharedTimeLine : public TimeLine {
public:
  SharedTimeLine(std::unique_ptr<const TimeLine> chip, std::vector<std::string> layers)
      : chip(std::move(chip)), layers(std::move(layers)) {}

  TimeEstimate estimate() const override { return chip->estimate(); }
  std::string trace() const override { return chip->trace(); }
  std::string csv() const override { return chip->csv(); }
  std::string summary() const override {
    return chip->summary() + fmt::format("\nnot counted: {} layers on the CPU: {}\n", layers.size(),
                                         fmt::join(layers, ", "));
  }
  nlohmann::ordered_json json() const override {
    nlohmann::ordered_json json = chip->json();
    json["cpu_layers"] = layers;
    return json;
  }

private:
  std::unique_ptr<const TimeLine> chip;
  std::vector<std::string> layers;
};

} // namespace

Expected<std::shared_ptr<const LoadedModel>> LoadedModel::load(const std::string &path) {
  if (Expected<void> known = checkSimdLevel(); !known)
    return propagate(known);
  auto model = bmodel::readModel(path);
  if (!model)
    return propagate(model);
  return create(std::move(*model), path);
}

Expected<std::shared_ptr<const LoadedModel>> LoadedModel::create(bmodel::Model model,
                                                                 std::string where) {
  const auto chip = findChip(model.chip, where);
  if (!chip)
    return tl::unexpected(chip.error());
  std::shared_ptr<LoadedModel> loaded(new LoadedModel());
  loaded->contents = std::move(model);
  loaded->chipValue = *chip;
  loaded->place = std::move(where);
  return loaded;
}

std::string LoadedModel::placeOf(StageRef ref) const {
  return fmt::format("{}: net '{}', stage {}", place, contents.nets[ref.net].name, ref.stage);
}

Expected<uint32_t> LoadedModel::findNet(std::string_view name) const {
  if (name.empty() && contents.nets.size() == 1)
    return 0;
  std::vector<std::string> names;
  for (uint32_t i = 0; i < contents.nets.size(); ++i) {
    if (contents.nets[i].name == name)
      return i;
    names.push_back(contents.nets[i].name);
  }
  return makeError(
      place, name.empty() ? fmt::format("{} nets", names.size()) : fmt::format("no net '{}'", name),
      fmt::format("the name of one of them: {}", fmt::join(names, ", ")));
}

std::vector<uint32_t> LoadedStage::chipPath() const {
  std::vector<uint32_t> path;
  for (const Step &step : steps)
    if (!step.cpu)
      path.push_back(step.subNet);
  return path;
}

std::vector<std::string> LoadedStage::cpuLayers() const {
  std::vector<std::string> layers;
  for (const Step &step : steps)
    if (step.cpu)
      std::ranges::copy(step.cpu->layers(), std::back_inserter(layers));
  return layers;
}

Expected<std::shared_ptr<const LoadedStage>> LoadedModel::program(StageRef ref) const {
  const std::scoped_lock lock(mutex);
  for (const auto &[known, program] : programs)
    if (known == ref)
      return program;
  const std::string where = placeOf(ref);
  const bmodel::Stage &part = stage(ref);
  auto steps = stepsOf(contents, contents.nets[ref.net], part, where);
  if (!steps)
    return propagate(steps);
  auto made = std::make_shared<LoadedStage>();
  made->steps = std::move(*steps);
  auto program = chip().load(part, made->chipPath(), where);
  if (!program)
    return propagate(program);
  made->program = std::move(*program);
  programs.emplace_back(ref, made);
  return made;
}

Expected<std::unique_ptr<const TimeLine>> LoadedModel::timeLine(StageRef ref) const {
  const std::string where = placeOf(ref);
  const bmodel::Stage &part = stage(ref);
  LoadedStage sketch;
  auto steps = stepsOf(contents, contents.nets[ref.net], part, where);
  if (!steps)
    return propagate(steps);
  sketch.steps = std::move(*steps);
  const auto layers = [&](uint32_t subNet, uint32_t group, Engine engine, uint32_t index) {
    const bmodel::GroupRef place{ref.net, ref.stage, subNet, group};
    const auto map = std::ranges::find(contents.debug.groups, place, &bmodel::GroupLayers::group);
    if (map == contents.debug.groups.end())
      return std::string_view();
    const auto layer = bmodel::layerOfCommand(engine == Engine::Tiu ? map->tiu : map->dma, index);
    return layer ? std::string_view(contents.debug.layers[*layer]) : std::string_view();
  };
  auto line = chip().time(part, sketch.chipPath(), layers, where);
  std::vector<std::string> cpuLayers = sketch.cpuLayers();
  if (!line || cpuLayers.empty())
    return line;
  return std::make_unique<SharedTimeLine>(std::move(*line), std::move(cpuLayers));
}

Expected<std::unique_ptr<Session>> Session::create(std::shared_ptr<const LoadedModel> model,
                                                   StageRef ref, unsigned numThreads) {
  auto program = model->program(ref);
  if (!program)
    return propagate(program);
  auto device = (*program)->program->createDevice(numThreads);
  if (!device)
    return propagate(device);
  std::unique_ptr<Session> session(new Session(std::move(model), ref));
  if (!(*program)->cpuLayers().empty())
    session->threads = std::make_unique<ThreadPool>(numThreads);
  session->program = std::move(*program);
  session->device = std::move(*device);
  session->inputs.resize(session->stage().inputs.size());
  session->results.resize(session->stage().outputs.size());
  return session;
}

Expected<void> Session::setInput(size_t index, const Tensor &tensor) {
  const bmodel::TensorInfo &info = stage().inputs[index];
  auto stored = toStored(tensor, info, info.shapes.front(),
                         fmt::format("{}: {}", loaded->placeOf(ref), info.name));
  if (!stored)
    return propagate(stored);
  inputs[index] = std::move(*stored);
  return {};
}

Expected<void> Session::setInputBytes(size_t index, std::span<const std::byte> bytes) {
  const bmodel::TensorInfo &info = stage().inputs[index];
  const std::string where = fmt::format("{}: {}", loaded->placeOf(ref), info.name);
  const DataType type = *bmodel::dataTypeOfCode(info.type);
  const auto shape = checkedShape(info.shapes.front(), type, where);
  if (!shape)
    return tl::unexpected(shape.error());
  Tensor tensor(type, *shape);
  if (bytes.size() != static_cast<size_t>(tensor.byteSize()))
    return makeError(
        where, fmt::format("{} bytes", bytes.size()),
        fmt::format("{}, for {} {}", tensor.byteSize(), dataTypeName(type), shape->str()));
  std::ranges::copy(bytes, tensor.mutableBytes().begin());
  inputs[index] = std::move(tensor);
  return {};
}

Expected<void> Session::run(const RunHooks &hooks) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bmodel::TensorInfo &info = stage().inputs[i];
    if (!inputs[i])
      return makeError(loaded->placeOf(ref), fmt::format("input '{}' was not set", info.name));
    const std::span<const std::byte> bytes = inputs[i]->rawBytes();
    const std::span<std::byte> place = device->contextBytes(info.address, bytes.size());
    if (place.size() != bytes.size())
      return makeError(loaded->placeOf(ref), fmt::format("input '{}' has no memory", info.name));
    std::ranges::copy(bytes, place.begin());
  }
  for (const LoadedStage::Step &step : program->steps) {
    const auto ok =
        step.cpu ? step.cpu->run(*device, results, *threads) : device->run(step.subNet, hooks);
    if (!ok)
      return makeError(loaded->placeOf(ref), ok.error().message());
  }
  hasRun = true;
  return {};
}

Expected<Tensor> Session::read(uint32_t type, std::span<const uint64_t> shape, uint64_t address,
                               const std::string &name) const {
  const std::string where = fmt::format("{}: {}", loaded->placeOf(ref), name);
  const std::optional<DataType> element = bmodel::dataTypeOfCode(type);
  if (!element)
    return makeError(where, bmodel::typeCodeName(type), "a type that tpuc has");
  const auto checked = checkedShape(shape, *element, where);
  if (!checked)
    return tl::unexpected(checked.error());
  const auto bytes = static_cast<uint64_t>(byteSize(*element, checked->numElements()));
  const std::span<const std::byte> place = device->contextBytes(address, bytes);
  if (place.size() != bytes)
    return makeError(where, fmt::format("{} bytes at 0x{:X}", bytes, address),
                     "a place in the memory of the net");
  Tensor tensor(*element, *checked);
  std::ranges::copy(place, tensor.mutableBytes().begin());
  return tensor;
}

Expected<Tensor> Session::output(size_t index) const {
  const bmodel::TensorInfo &info = stage().outputs[index];
  if (!hasRun)
    return makeError(loaded->placeOf(ref), fmt::format("output '{}' before a run", info.name));
  if (info.memory != bmodel::kCpuMemory)
    return read(info.type, info.shapes.front(), info.address, info.name);
  if (!results[index])
    return makeError(loaded->placeOf(ref), fmt::format("no layer gives output '{}'", info.name));
  return *results[index];
}

} // namespace tpuc::runtime
