//===- ExampleModel.cpp - A model with a bit of everything ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExampleModel.h"

namespace tpuc::bmodel {

namespace {

constexpr uint64_t kBase = uint64_t{1} << 32;
constexpr uint64_t kContext = kBase + 4096;

/// `size` bytes that begin with `first` and count up, kept alive by `model`.
Bytes bytes(Model &model, size_t size, unsigned first) {
  auto data = std::make_shared<std::vector<std::byte>>(size);
  for (size_t i = 0; i < size; ++i)
    (*data)[i] = static_cast<std::byte>(first + i);
  model.owners.push_back(data);
  return *data;
}

TensorInfo tensor(std::string name, DataType type, uint64_t address, std::vector<uint64_t> shape) {
  TensorInfo info;
  info.name = std::move(name);
  info.type = codeOfDataType(type);
  info.address = address;
  info.size = bitWidth(type) / 8;
  for (const uint64_t extent : shape)
    info.size *= extent;
  info.shapes = {std::move(shape)};
  return info;
}

Stage mainStage(Model &model, Bytes weights, uint64_t batch) {
  Stage stage;
  TensorInfo input = tensor("image", DataType::I8, kContext, {batch, 3, 4, 5});
  input.scale = 0.125F;
  input.zeroPoint = -3;
  input.role = 1;
  TensorInfo output = tensor("score", DataType::F32, kContext + 1024, {batch, 10});
  output.role = 2;
  stage.inputs = {input};
  stage.outputs = {output};
  stage.contextAddress = kContext;
  stage.contextSize = 4096;
  stage.contextSizes = {4096};
  stage.coefficients.emplace();
  stage.coefficients->address = kBase;
  stage.coefficients->data = weights;
  stage.coefficients->locations = {{"conv1_filter", 0, 200}, {"conv1_bias", 200, 100}};

  SubNet subNet;
  subNet.inputs = stage.inputs;
  subNet.outputs = stage.outputs;
  subNet.next = {-1};
  CommandGroup group;
  group.numTiu = 5;
  group.numDma = 4;
  group.tiu = bytes(model, 256, static_cast<unsigned>(batch));
  group.dma = bytes(model, 384, static_cast<unsigned>(batch) + 7);
  subNet.groups = {group};
  stage.groups = {group};
  stage.subNets = {subNet};
  return stage;
}

Stage tailStage(Model &model) {
  Stage stage;
  stage.inputs = {tensor("score", DataType::F32, kContext, {1, 10})};
  stage.outputs = {tensor("best", DataType::I32, kContext + 512, {1})};
  stage.inputs[0].shapes.push_back({4, 10});
  stage.isDynamic = true;
  stage.nDynamic = 1;
  stage.hwDynamic = 1;
  stage.contextAddress = kContext;
  stage.contextSize = 2048;
  stage.dynamicStages = {{40, 1, 2, 3, 4}};
  stage.dynamicIr = bytes(model, 40, 90);
  stage.profile = bytes(model, 12, 1);
  stage.statistics = bytes(model, 13, 2);
  stage.tensorLocations = bytes(model, 14, 3);
  stage.cpuBytes = 77;
  stage.ioAddress = kBase * 2;
  stage.ioSize = 99;
  stage.dynamicContextAddress = 5;
  stage.dynamicCoefficientOffset = 6;
  stage.dynamicCombinedOffset = 7;

  SubNet dynamic;
  dynamic.isDynamic = true;
  dynamic.irOffset = 8;
  dynamic.irLength = 32;
  dynamic.nDynamic = 1;
  dynamic.hwDynamic = 1;
  dynamic.id = 0;
  dynamic.next = {1, 2};
  dynamic.inputs = stage.inputs;
  SubNet cpu;
  cpu.mode = static_cast<int32_t>(SubNetMode::Cpu);
  cpu.id = 1;
  cpu.cpu = {{17, bytes(model, 20, 5), {{"anchors", bytes(model, 24, 6), {std::byte{9}}}}, 1}};
  SubNet merge;
  merge.mode = static_cast<int32_t>(SubNetMode::Merge);
  merge.id = 2;
  merge.merge = {{0, 1}, {2}};
  SubNet branch;
  branch.mode = static_cast<int32_t>(SubNetMode::Switch);
  branch.id = 3;
  branch.switchInfo = {{4, 5}, {1, 0}};
  CoreCommands core;
  core.sdma = {bytes(model, 16, 7)};
  core.hau = {bytes(model, 17, 8)};
  core.cdma = {bytes(model, 18, 9), bytes(model, 19, 10)};
  branch.cores = {core};
  branch.runCore = 2;
  stage.subNets = {dynamic, cpu, merge, branch};
  return stage;
}

} // namespace

Model exampleModel() {
  Model model;
  model.chip = "BM1684X";
  model.time = "noon";
  model.contextSize = 4096;
  model.firmware = {"firmware.so", bytes(model, 50, 33), 1};
  model.cpuLibrary = {"cpu.so", bytes(model, 51, 34), 0};
  model.backend = bytes(model, 52, 35);
  const Bytes weights = bytes(model, 300, 1);
  Net main{"main", {mainStage(model, weights, 1), mainStage(model, weights, 4)}, {}, 0};
  Net tail{"tail", {tailStage(model)}, Cascade{0, 1, "main"}, 0};
  model.nets = {main, tail};

  model.debug.layers = {"conv1", "a layer/with \"any\" name"};
  model.debug.groups = {{{0, 0, 0, 0}, {{0, 0}, {3, 1}}, {{1, 0}}}};
  model.debug.tensors = {
      {{0, 1, 0, 0}, 2, "conv1_out", codeOfDataType(DataType::F16), {4, 8}, kContext, 1, 0}};
  return model;
}

} // namespace tpuc::bmodel
