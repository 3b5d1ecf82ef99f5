//===- ModelFile.cpp - The commands in a compiled network -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Codegen/ModelFile.h"
#include "tpuc/Target/Common/Stream.h"

#include "llvm/ADT/STLExtras.h"

namespace tpuc::bm168x::backend {

namespace {

/// Where each layer's commands begin, for layers that are counted from `first` on.
std::vector<model::LayerRun> runsOf(const std::vector<uint32_t> &layers, uint32_t first) {
  std::vector<model::LayerRun> runs;
  for (uint32_t i = 0; i < layers.size(); ++i)
    if (i == 0 || layers[i - 1] != layers[i])
      runs.push_back({i, layers[i] + first});
  return runs;
}

model::Stream streamOf(const mc::StreamInfo &stream, const std::vector<mc::Command> &commands,
                       std::vector<model::LayerRun> runs, model::CompiledModel &model) {
  auto code = std::make_shared<std::vector<uint8_t>>(mc::encodeStream(stream, commands));
  const model::Bytes bytes = std::as_bytes(std::span(*code));
  model.owners.push_back(std::move(code));
  return {std::string(stream.name), bytes, static_cast<uint32_t>(commands.size()), std::move(runs)};
}

} // namespace

void addCommands(const mc::CommandTable &table,
                 const std::vector<std::vector<CommandStreams>> &subNets,
                 std::vector<model::InnerTensor> tensors, model::CompiledModel &model) {
  model::Stage &stage = model.nets.front().stages.front();
  // The sub-networks of the TPU are counted among themselves until here.
  const std::vector<uint32_t> numbers = stage.chipOrder();
  for (auto [number, groups] : llvm::zip_equal(numbers, subNets)) {
    // Layers are counted through the model.
    const auto first = static_cast<uint32_t>(model.layers.size());
    for (const CommandStreams &commands : groups) {
      model::CommandGroup &group = stage.subNets[number].groups.emplace_back();
      group.streams.push_back(
          streamOf(table.streams[0], commands.tiu, runsOf(commands.tiuLayers, first), model));
      group.streams.push_back(
          streamOf(table.streams[1], commands.gdma, runsOf(commands.gdmaLayers, first), model));
    }
    llvm::append_range(model.layers, groups.back().layers);
  }
  for (model::InnerTensor &tensor : tensors)
    tensor.subNet = numbers[tensor.subNet];
  stage.innerTensors = std::move(tensors);
}

} // namespace tpuc::bm168x::backend
