//===- ModelFile.cpp - A bmodel from commands and weights ------------------------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Model/Bmodel/CpuLayers.h"
#include "tpuc/Model/Bmodel/Writer.h"
#include "tpuc/Target/BM1684X/Codegen/BM1684XEmitter.h"

#include <list>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

bmodel::Bytes bytesOf(const std::vector<uint8_t> &stream) {
  return std::as_bytes(std::span(stream));
}

Expected<std::vector<bmodel::TensorInfo>> describe(const std::vector<ModelTensor> &tensors,
                                                   int32_t role) {
  std::vector<bmodel::TensorInfo> described;
  for (const ModelTensor &tensor : tensors) {
    std::optional<DataType> type = storageDataType(tensor.type);
    if (!type)
      return makeError("tensor '" + tensor.name + "'", "has a type that bmodel files cannot state");
    bmodel::TensorInfo info;
    info.name = tensor.name;
    info.type = bmodel::codeOfDataType(*type);
    info.address = static_cast<uint64_t>(tensor.address);
    if (tensor.type.hasStaticShape())
      info.size = static_cast<uint64_t>(byteSize(*type, tensor.type.getNumElements()));
    else
      info.memory = bmodel::kCpuMemory;
    std::vector<uint64_t> &shape = info.shapes.emplace_back();
    for (int64_t extent : tensor.type.getShape())
      shape.push_back(ShapedType::isDynamic(extent) ? 0 : static_cast<uint64_t>(extent));
    if (auto quantized = tpu::quantizedType(tensor.type)) {
      const QuantParams params = tpu::paramsOf(quantized);
      info.scale = static_cast<float>(params.scale);
      info.zeroPoint = static_cast<int32_t>(params.zeroPoint);
    }
    info.role = role;
    info.index = static_cast<int32_t>(described.size());
    described.push_back(std::move(info));
  }
  return described;
}

/// Where each layer's commands begin.
std::vector<bmodel::LayerRun> runsOf(const std::vector<uint32_t> &layers) {
  std::vector<bmodel::LayerRun> runs;
  for (uint32_t i = 0; i < layers.size(); ++i)
    if (runs.empty() || runs.back().layer != layers[i])
      runs.push_back({i, layers[i]});
  return runs;
}

/// Puts the file together: sub-nets, their commands, and which layers these are of.
class BmodelMaker {
public:
  BmodelMaker(const std::vector<CommandStreams> &streams, const ModelContents &contents)
      : streams(streams), contents(contents) {}

  Expected<bmodel::Model> make(std::vector<bmodel::NamedTensor> tensors, const TargetInfo &target,
                               const std::string &path);

private:
  Expected<void> addTensors();
  Expected<void> addSubNets(const std::string &path);
  void addCommands(bmodel::SubNet &subNet, const CommandStreams &commands);

  const std::vector<CommandStreams> &streams;
  const ModelContents &contents;
  bmodel::Model model;
  bmodel::Stage stage;
  /// What the file's views point to; lists, so that nothing moves.
  std::list<std::vector<uint8_t>> encoded;
  std::list<std::vector<std::byte>> programs;
  /// The index in the file of each sub-net of the TPU.
  std::vector<uint32_t> numbers;
};

Expected<void> BmodelMaker::addTensors() {
  Expected<std::vector<bmodel::TensorInfo>> inputs = describe(contents.inputs, 1);
  Expected<std::vector<bmodel::TensorInfo>> outputs = describe(contents.outputs, 2);
  if (!inputs)
    return propagate(inputs);
  if (!outputs)
    return propagate(outputs);
  stage.inputs = *inputs;
  stage.outputs = *outputs;
  stage.contextAddress = static_cast<uint64_t>(contents.neuronAddress);
  stage.contextSize = static_cast<uint64_t>(contents.neuronBytes);
  if (contents.weights.empty())
    return {};
  bmodel::Coefficients weights;
  weights.address = static_cast<uint64_t>(contents.weightAddress);
  weights.data = contents.weights;
  for (const ModelContents::Location &location : contents.weightLocations)
    weights.locations.push_back({location.name, static_cast<uint64_t>(location.offset),
                                 static_cast<uint64_t>(location.size)});
  stage.coefficients = std::move(weights);
  return {};
}

void BmodelMaker::addCommands(bmodel::SubNet &subNet, const CommandStreams &commands) {
  bmodel::CommandGroup group;
  group.numTiu = static_cast<uint32_t>(commands.tiu.size());
  group.numDma = static_cast<uint32_t>(commands.gdma.size());
  group.tiu = bytesOf(encoded.emplace_back(encodeStream(commands.tiu)));
  group.dma = bytesOf(encoded.emplace_back(encodeStream(commands.gdma)));
  subNet.groups = {group};
  stage.groups.push_back(group);
  // Layers are counted through the file.
  const auto first = static_cast<uint32_t>(model.debug.layers.size());
  const auto runs = [&](const std::vector<uint32_t> &layers) {
    std::vector<bmodel::LayerRun> list = runsOf(layers);
    for (bmodel::LayerRun &run : list)
      run.layer += first;
    return list;
  };
  numbers.push_back(static_cast<uint32_t>(stage.subNets.size()));
  model.debug.groups.push_back(
      {{.subNet = numbers.back()}, runs(commands.tiuLayers), runs(commands.gdmaLayers)});
  llvm::append_range(model.debug.layers, commands.layers);
}

Expected<void> BmodelMaker::addSubNets(const std::string &path) {
  for (const ModelContents::Part &part : contents.parts) {
    bmodel::SubNet subNet;
    Expected<std::vector<bmodel::TensorInfo>> inputs = describe(part.inputs, 0);
    Expected<std::vector<bmodel::TensorInfo>> outputs = describe(part.outputs, 0);
    if (!inputs || !outputs)
      return propagate(!inputs ? inputs : outputs);
    // The whole network names its tensors as the file does.
    subNet.inputs = contents.parts.size() == 1 ? stage.inputs : *inputs;
    subNet.outputs = contents.parts.size() == 1 ? stage.outputs : *outputs;
    subNet.id = static_cast<int32_t>(stage.subNets.size());
    const bool isLast = stage.subNets.size() + 1 == contents.parts.size();
    subNet.next = {isLast ? -1 : subNet.id + 1};
    if (part.program) {
      subNet.mode = static_cast<int32_t>(bmodel::SubNetMode::Cpu);
      Expected<bmodel::CpuLayer> layer =
          bmodel::cpuProgramLayer(programs.emplace_back(cpu::encodeProgram(*part.program)), path);
      if (!layer)
        return propagate(layer);
      subNet.cpu.push_back(std::move(*layer));
    } else {
      addCommands(subNet, streams[numbers.size()]);
    }
    stage.subNets.push_back(std::move(subNet));
  }
  return {};
}

Expected<bmodel::Model> BmodelMaker::make(std::vector<bmodel::NamedTensor> tensors,
                                          const TargetInfo &target, const std::string &path) {
  if (Expected<void> added = addTensors(); !added)
    return propagate(added);
  if (Expected<void> added = addSubNets(path); !added)
    return propagate(added);
  model.chip = std::string(target.containerChip);
  model.contextSize = stage.contextSize;
  bmodel::Net net;
  net.name = contents.name;
  net.stages.push_back(std::move(stage));
  model.nets.push_back(std::move(net));
  for (bmodel::NamedTensor &tensor : tensors)
    tensor.group.subNet = numbers[tensor.group.subNet];
  model.debug.tensors = std::move(tensors);
  return std::move(model);
}

} // namespace

Expected<OutputFile> writeBmodel(const std::vector<CommandStreams> &streams,
                                 std::vector<bmodel::NamedTensor> tensors,
                                 const ModelContents &contents, const TargetInfo &target,
                                 const std::string &path) {
  BmodelMaker maker(streams, contents);
  Expected<bmodel::Model> model = maker.make(std::move(tensors), target, path);
  if (!model)
    return propagate(model);
  return bmodel::createModel(*model, path);
}

} // namespace tpuc::bm1684x::backend
