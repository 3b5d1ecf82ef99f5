//===- ModelFile.cpp - A bmodel from commands and weights ------------------------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Model/Bmodel/Writer.h"
#include "tpuc/Target/BM1684X/Codegen/BM1684XEmitter.h"

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
    std::optional<uint32_t> code = type ? fileCodeOf(*type) : std::nullopt;
    if (!code)
      return makeError("tensor '" + tensor.name + "'", "has a type that bmodel files cannot state");
    bmodel::TensorInfo info;
    info.name = tensor.name;
    info.type = *code;
    info.address = static_cast<uint64_t>(tensor.address);
    info.size = static_cast<uint64_t>(byteSize(*type, tensor.type.getNumElements()));
    info.shapes.emplace_back(tensor.type.getShape().begin(), tensor.type.getShape().end());
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

} // namespace

std::optional<uint32_t> fileCodeOf(DataType type) {
  return bmodel::codeOfDataType(type == DataType::Bool ? DataType::U8 : type);
}

Expected<OutputFile> writeBmodel(const CommandStreams &streams,
                                 std::vector<bmodel::NamedTensor> tensors,
                                 const ModelContents &contents, const TargetInfo &target,
                                 const std::string &path) {
  const std::vector<uint8_t> tiu = encodeStream(streams.tiu);
  const std::vector<uint8_t> gdma = encodeStream(streams.gdma);
  bmodel::CommandGroup group;
  group.numTiu = static_cast<uint32_t>(streams.tiu.size());
  group.numDma = static_cast<uint32_t>(streams.gdma.size());
  group.tiu = bytesOf(tiu);
  group.dma = bytesOf(gdma);

  bmodel::Stage stage;
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
  if (!contents.weights.empty()) {
    bmodel::Coefficients weights;
    weights.address = static_cast<uint64_t>(contents.weightAddress);
    weights.data = contents.weights;
    for (const ModelContents::Location &location : contents.weightLocations)
      weights.locations.push_back({location.name, static_cast<uint64_t>(location.offset),
                                   static_cast<uint64_t>(location.size)});
    stage.coefficients = std::move(weights);
  }
  stage.groups = {group};
  bmodel::SubNet subNet;
  subNet.groups = {group};
  subNet.inputs = stage.inputs;
  subNet.outputs = stage.outputs;
  subNet.next = {-1};
  stage.subNets = {std::move(subNet)};

  bmodel::Model model;
  model.chip = std::string(target.containerChip);
  model.contextSize = stage.contextSize;
  bmodel::Net net;
  net.name = contents.name;
  net.stages.push_back(std::move(stage));
  model.nets.push_back(std::move(net));
  model.debug.layers = streams.layers;
  model.debug.groups.push_back({{}, runsOf(streams.tiuLayers), runsOf(streams.gdmaLayers)});
  model.debug.tensors = std::move(tensors);
  Expected<std::vector<std::byte>> bytes = bmodel::encodeModel(model, path);
  if (!bytes)
    return propagate(bytes);
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file;
  if (Expected<void> written = file->write(*bytes); !written)
    return propagate(written);
  return file;
}

} // namespace tpuc::bm1684x::backend
