//===- AddModel.cpp - A net that a BM1684X runs ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AddModel.h"
#include "tpuc/Model/Bmodel/Writer.h"
#include "tpuc/Target/BM1684X/Machine/Command.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

namespace tpuc::runtime {

namespace {

constexpr uint64_t kWeights = 0x100000000, kInput = 0x100001000, kOutput = 0x100009000;

/// A stream that `model` keeps alive.
bmodel::Bytes stream(bmodel::Model &model, std::initializer_list<std::string> lines) {
  std::vector<bm1684x::Command> commands;
  for (const std::string &line : lines) {
    auto command = bm1684x::assemble(line, "line");
    if (!command) {
      std::fprintf(stderr, "%s\n", command.error().message().c_str());
      std::abort();
    }
    commands.push_back(*command);
  }
  auto bytes = std::make_shared<std::vector<uint8_t>>(bm1684x::encodeStream(commands));
  model.owners.push_back(bytes);
  return std::as_bytes(std::span(*bytes));
}

bmodel::TensorInfo tensor(const char *name, uint64_t address, uint64_t batch, int32_t role) {
  bmodel::TensorInfo info;
  info.name = name;
  info.address = address;
  info.size = batch * 240;
  info.shapes = {{batch, 3, 4, 5}};
  info.role = role;
  return info;
}

/// A transfer between compact global memory and aligned local memory.
std::string copy(unsigned id, unsigned awaited, uint64_t batch, uint64_t from, uint64_t to) {
  const auto strides = [](uint64_t address) {
    return address >= kWeights ? "[n60 c20 h5 w1]" : "[n32 c32 h5 w1]";
  };
  return fmt::format("dma.copy #{} <-{} stride_enable=1 nchw_copy=1 src_prec=f32 src_stride={} "
                     "dst_stride={} src=[n{} c3 h4 w5] src_addr=0x{:x} dst_addr=0x{:x}",
                     id, awaited, strides(from), strides(to), batch, from, to);
}

bmodel::Coefficients weights(bmodel::Model &model, uint64_t batch) {
  auto values = std::make_shared<std::vector<float>>(batch * 60, 1.5F);
  model.owners.push_back(values);
  bmodel::Coefficients coefficients;
  coefficients.address = kWeights;
  coefficients.data = std::as_bytes(std::span(*values));
  coefficients.locations = {{"addend", 0, batch * 240}};
  return coefficients;
}

} // namespace

bmodel::Model addModel(const std::string &name, uint64_t batch) {
  bmodel::Model model;
  model.chip = "BM1684X";
  bmodel::CommandGroup group;
  group.numTiu = 2;
  group.numDma = 4;
  group.tiu =
      stream(model, {fmt::format("ar.add #1 <-2 opd_num=2 res0_prec=f32 opd0_prec=f32 "
                                 "opd1_prec=f32 opd0_sign=1 opd1_sign=1 res0=[n{} c3 h4 w5] "
                                 "res0_addr=0x4000 opd1_addr=0x8000",
                                 batch),
                     "sys.end #2 cmd_id_en=0"});
  group.dma = stream(model, {copy(1, 0, batch, kInput, 0x8000000), //
                             copy(2, 0, batch, kWeights, 0x8008000),
                             copy(3, 1, batch, 0x8004000, kOutput), "dma.end #4"});

  bmodel::Stage stage;
  stage.inputs = {tensor("x", kInput, batch, 1)};
  stage.outputs = {tensor("y", kOutput, batch, 2)};
  stage.contextAddress = kInput;
  stage.contextSize = 0x10000;
  stage.coefficients = weights(model, batch);
  stage.groups = {group};
  model.contextSize = stage.contextSize;
  bmodel::SubNet subNet;
  subNet.groups = {group};
  subNet.inputs = stage.inputs;
  subNet.outputs = stage.outputs;
  subNet.next = {-1};
  stage.subNets = {subNet};
  model.nets = {{name, {stage}, {}, 0}};
  model.debug.layers = {"sum"};
  model.debug.groups = {{{0, 0, 0, 0}, {{0, 0}}, {{0, 0}}}};
  model.debug.tensors = {{{0, 0, 0, 0}, 3, "inner", 0, {batch, 3, 4, 5}, kOutput, 1, 0}};
  return model;
}

bool writeAddModel(const char *path, const std::string &name, uint64_t batch, bool takesPictures) {
  bmodel::Model model = addModel(name, batch);
  if (takesPictures) {
    // 12 rows of 20 bytes, which are 60 floats.
    bmodel::Stage &stage = model.nets[0].stages[0];
    for (bmodel::TensorInfo *input : {&stage.inputs[0], &stage.subNets[0].inputs[0]}) {
      input->type = bmodel::codeOfDataType(DataType::U8);
      input->shapes = {{batch, 1, 12, 20}};
    }
    model.debug.pictures = {{0,
                             0,
                             0,
                             {.format = PictureFormat::Grayscale,
                              .height = 12,
                              .width = 20,
                              .alignment = {},
                              .padValue = 7}}};
  }
  return bmodel::writeModel(model, path).has_value();
}

} // namespace tpuc::runtime
