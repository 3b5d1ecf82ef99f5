//===- Session.cpp - Model files, loaded and run --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"
#include "runtime/Elements.h"
#include "tpuc/Support/Counted.h"
#include "tpuc/Support/SimdLevel.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::runtime {

namespace {

/// The sub-nets of a stage that this runtime can run, in order.
Expected<std::vector<LoadedStage::Step>> stepsOf(const model::Stage &stage,
                                                 const std::string &where) {
  if (stage.refusal)
    return tl::unexpected<Error>(*stage.refusal);
  std::vector<LoadedStage::Step> steps;
  for (const uint32_t index : stage.order) {
    const model::SubNet &subNet = stage.subNets[index];
    steps.push_back({index});
    if (!subNet.isHost())
      continue;
    auto cpu = CpuSubNet::create(stage, subNet, fmt::format("{}, sub-net {}", where, subNet.id));
    if (!cpu)
      return propagate(cpu);
    steps.back().cpu = std::move(*cpu);
  }
  return steps;
}

} // namespace

Expected<std::shared_ptr<const LoadedModel>> LoadedModel::load(const std::string &path,
                                                               const Platform &platform) {
  if (Expected<void> known = checkSimdLevel(); !known)
    return propagate(known);
  const auto file = model::ModelFile::open(path);
  if (!file)
    return tl::unexpected(file.error());
  const auto container = model::chooseContainer(*file, platform.containers);
  if (!container)
    return tl::unexpected(container.error());
  auto model = (*container)->read(*file);
  if (!model)
    return propagate(model);
  return create(std::move(*model), path, platform);
}

Expected<std::shared_ptr<const LoadedModel>>
LoadedModel::create(model::CompiledModel model, std::string where, const Platform &platform) {
  const auto driver = findDriver(model.chip, where, platform.drivers);
  if (!driver)
    return tl::unexpected(driver.error());
  std::shared_ptr<LoadedModel> loaded(new LoadedModel());
  loaded->contents = std::move(model);
  loaded->driverValue = *driver;
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
  const model::Stage &part = stage(ref);
  auto steps = stepsOf(part, where);
  if (!steps)
    return propagate(steps);
  auto made = std::make_shared<LoadedStage>();
  made->steps = std::move(*steps);
  auto program = driver().load(part, where);
  if (!program)
    return propagate(program);
  made->program = std::move(*program);
  programs.emplace_back(ref, made);
  return made;
}

Expected<model::TimingResult> LoadedModel::timing(StageRef ref) const {
  const std::string where = placeOf(ref);
  LoadedStage sketch;
  auto steps = stepsOf(stage(ref), where);
  if (!steps)
    return propagate(steps);
  sketch.steps = std::move(*steps);
  auto result = driver().time(contents, stage(ref), where);
  if (result)
    result->hostLayers = sketch.cpuLayers();
  return result;
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
  const model::TensorInfo &info = stage().inputs[index];
  auto stored = toStored(tensor, info, fmt::format("{}: {}", loaded->placeOf(ref), info.name));
  if (!stored)
    return propagate(stored);
  inputs[index] = std::move(*stored);
  return {};
}

Expected<Tensor> Session::inputRoom(size_t index) const {
  const model::TensorInfo &info = stage().inputs[index];
  const std::string where = fmt::format("{}: {}", loaded->placeOf(ref), info.name);
  const auto type = info.knownType(where);
  if (!type)
    return tl::unexpected(type.error());
  const auto shape = checkedShape(info.shape, *type, where);
  if (!shape)
    return tl::unexpected(shape.error());
  return Tensor(*type, *shape);
}

Expected<void> Session::setInputBytes(size_t index, std::span<const std::byte> bytes) {
  Expected<Tensor> tensor = inputRoom(index);
  if (!tensor)
    return propagate(tensor);
  if (bytes.size() != static_cast<size_t>(tensor->byteSize()))
    return makeError(fmt::format("{}: {}", loaded->placeOf(ref), stage().inputs[index].name),
                     fmt::format("{} bytes", bytes.size()),
                     fmt::format("{}, for {} {}", tensor->byteSize(), dataTypeName(tensor->type()),
                                 model::formatInput(stage().inputs[index])));
  std::ranges::copy(bytes, tensor->mutableBytes().begin());
  inputs[index] = std::move(*tensor);
  return {};
}

Expected<void> Session::setInputRows(size_t index, std::span<const std::byte> bytes,
                                     size_t rowBytes, size_t stride) {
  Expected<Tensor> tensor = inputRoom(index);
  if (!tensor)
    return propagate(tensor);
  const std::string where = fmt::format("{}: {}", loaded->placeOf(ref), stage().inputs[index].name);
  const auto all = static_cast<size_t>(tensor->byteSize());
  if (rowBytes == 0 || all % rowBytes != 0)
    return makeError(where, fmt::format("rows of {} bytes", rowBytes),
                     fmt::format("a divisor of its {} bytes", all));
  const size_t rows = all / rowBytes;
  if (rows > 1 && stride < rowBytes)
    return makeError(where, fmt::format("a stride of {}", stride),
                     fmt::format("at least the {} bytes of a row", rowBytes));
  if (bytes.size() < rowBytes || (rows > 1 && (bytes.size() - rowBytes) / stride < rows - 1))
    return makeError(where, fmt::format("{} bytes", bytes.size()),
                     fmt::format("{} rows of {} bytes, {} apart", rows, rowBytes, stride));
  for (size_t row = 0; row < rows; ++row)
    std::ranges::copy(bytes.subspan(row * stride, rowBytes),
                      tensor->mutableBytes().subspan(row * rowBytes).begin());
  inputs[index] = std::move(*tensor);
  return {};
}

Expected<void> Session::setInputPictures(size_t index, std::span<const PictureView> pictures) {
  const model::TensorInfo &info = stage().inputs[index];
  const std::string where = fmt::format("{}: {}", loaded->placeOf(ref), info.name);
  if (!info.picture)
    return makeError(where, "takes no pictures", "a file that was made with --fuse_preprocess");
  const model::PictureInfo &taken = *info.picture;
  Expected<Tensor> tensor = inputRoom(index);
  if (!tensor)
    return propagate(tensor);
  const std::span<std::byte> bytes = tensor->mutableBytes();
  std::ranges::fill(bytes, std::byte{0});
  const PictureBytes places(taken.format, taken.height, taken.width, taken.alignment);
  const auto size = static_cast<size_t>(places.size());
  if (pictures.size() * size != bytes.size())
    return makeError(
        where, counted(std::ssize(pictures), "picture"),
        fmt::format("{}, the items of {}", bytes.size() / size, model::formatInput(info)));
  for (size_t item = 0; item < pictures.size(); ++item) {
    const PictureView &from = pictures[item];
    if (from.format != taken.format || from.height != taken.height || from.width != taken.width)
      return makeError(where, pictureText(from.format, from.height, from.width),
                       pictureText(taken.format, taken.height, taken.width));
    for (size_t number = 0; number < places.planes().size(); ++number) {
      const PicturePlane &plane = places.planes()[number];
      const auto rowBytes = static_cast<size_t>(plane.rowBytes);
      if (!from.planes[number] || (plane.rows > 1 && from.strides[number] < rowBytes))
        return makeError(where,
                         from.planes[number] ? fmt::format("a stride of {} in plane {}",
                                                           from.strides[number], number)
                                             : fmt::format("no plane {}", number),
                         fmt::format("{} rows of {} bytes", plane.rows, rowBytes));
      for (int64_t row = 0; row < plane.rows; ++row)
        std::copy_n(from.planes[number] + static_cast<size_t>(row) * from.strides[number], rowBytes,
                    bytes.begin() + static_cast<ptrdiff_t>(item * size) + plane.offset +
                        row * plane.stride);
    }
  }
  inputs[index] = std::move(*tensor);
  return {};
}

Expected<void> Session::run(const RunHooks &hooks) {
  secondsOnHost = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const model::TensorInfo &info = stage().inputs[i];
    if (!inputs[i])
      return makeError(loaded->placeOf(ref), fmt::format("input '{}' was not set", info.name));
    const std::span<const std::byte> bytes = inputs[i]->rawBytes();
    const std::span<std::byte> place = device->contextBytes(info.address, bytes.size());
    if (place.size() != bytes.size())
      return makeError(loaded->placeOf(ref), fmt::format("input '{}' has no memory", info.name));
    std::ranges::copy(bytes, place.begin());
  }
  for (const LoadedStage::Step &step : program->steps) {
    const auto begin = std::chrono::steady_clock::now();
    const auto ok =
        step.cpu ? step.cpu->run(*device, results, *threads) : device->run(step.subNet, hooks);
    if (step.cpu)
      secondsOnHost +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!ok)
      return makeError(loaded->placeOf(ref), ok.error().message());
  }
  hasRun = true;
  return {};
}

Expected<Tensor> Session::view(const model::TensorInfo &info) const {
  const std::string where = fmt::format("{}: {}", loaded->placeOf(ref), info.name);
  const auto element = info.knownType(where);
  if (!element)
    return tl::unexpected(element.error());
  const auto checked = checkedShape(info.shape, *element, where);
  if (!checked)
    return tl::unexpected(checked.error());
  const auto bytes = static_cast<uint64_t>(byteSize(*element, checked->numElements()));
  const std::span<const std::byte> place = device->contextBytes(info.address, bytes);
  if (place.size() != bytes)
    return makeError(where, fmt::format("{} bytes at 0x{:X}", bytes, info.address),
                     "a place in the memory of the net");
  return Tensor::borrow(*element, *checked, place.data(), nullptr);
}

Expected<Tensor> Session::read(const model::TensorInfo &info) const {
  Expected<Tensor> seen = view(info);
  if (!seen)
    return seen;
  return seen->clone();
}

Expected<Tensor> Session::output(size_t index) const {
  Expected<Tensor> seen = viewOutput(index);
  // What the host computed is the caller's, too.
  if (!seen || stage().outputs[index].isOnHost || seen->isWritable())
    return seen;
  return seen->clone();
}

Expected<Tensor> Session::viewOutput(size_t index) const {
  const model::TensorInfo &info = stage().outputs[index];
  if (!hasRun)
    return makeError(loaded->placeOf(ref), fmt::format("output '{}' before a run", info.name));
  if (info.isOnHost) {
    if (!results[index])
      return makeError(loaded->placeOf(ref), fmt::format("no layer gives output '{}'", info.name));
    return *results[index];
  }
  Expected<Tensor> seen = view(info);
  if (!seen)
    return seen;
  const auto place = reinterpret_cast<uintptr_t>(seen->rawBytes().data());
  const auto bytes = static_cast<uintptr_t>(std::max(1U, bitWidth(seen->type()) / 8));
  if (place % bytes == 0)
    return seen;
  return seen->clone();
}

} // namespace tpuc::runtime
