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

namespace tpuc::runtime {

namespace {

/// A stream that `model` keeps alive.
bmodel::Bytes stream(bmodel::Model &model, std::initializer_list<const char *> lines) {
  std::vector<bm1684x::Command> commands;
  for (const char *line : lines) {
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

bmodel::TensorInfo tensor(const char *name, uint64_t address, int32_t role) {
  bmodel::TensorInfo info;
  info.name = name;
  info.address = address;
  info.size = 240;
  info.shapes = {{1, 3, 4, 5}};
  info.role = role;
  return info;
}

} // namespace

bmodel::Model addModel() {
  bmodel::Model model;
  model.chip = "BM1684X";
  model.contextSize = 0x2000;
  bmodel::CommandGroup group;
  group.numTiu = 2;
  group.numDma = 3;
  group.tiu = stream(
      model, {"ar.add #1 <-1 opd1_const=1 opd_num=2 res0_prec=f32 opd0_prec=f32 opd1_prec=f32 "
              "opd0_sign=1 opd1_sign=1 res0=[n1 c3 h4 w5] res0_addr=0x1000 opd1_addr=0x3fc00000",
              "sys.end #2 cmd_id_en=0"});
  group.dma = stream(
      model,
      {"dma.copy #1 stride_enable=1 nchw_copy=1 src_prec=f32 src_stride=[n60 c20 h5 w1] "
       "dst_stride=[n32 c32 h5 w1] src=[n1 c3 h4 w5] src_addr=0x100000000 dst_addr=0x8000000",
       "dma.copy #2 <-1 stride_enable=1 nchw_copy=1 src_prec=f32 src_stride=[n32 c32 h5 w1] "
       "dst_stride=[n60 c20 h5 w1] src=[n1 c3 h4 w5] src_addr=0x8001000 dst_addr=0x100001000",
       "dma.end #3"});

  bmodel::Stage stage;
  stage.inputs = {tensor("x", 0x100000000, 1)};
  stage.outputs = {tensor("y", 0x100001000, 2)};
  stage.contextAddress = 0x100000000;
  stage.contextSize = 0x2000;
  stage.groups = {group};
  bmodel::SubNet subNet;
  subNet.groups = {group};
  subNet.inputs = stage.inputs;
  subNet.outputs = stage.outputs;
  subNet.next = {-1};
  stage.subNets = {subNet};
  model.nets = {{"add", {stage}, {}, 0}};
  model.debug.layers = {"sum"};
  model.debug.groups = {{{0, 0, 0, 0}, {{0, 0}}, {{0, 0}}}};
  model.debug.tensors = {{{0, 0, 0, 0}, 2, "inner", 0, {1, 3, 4, 5}, 0x100001000, 1, 0}};
  return model;
}

bool writeAddModel(const char *path) { return bmodel::writeModel(addModel(), path).has_value(); }

} // namespace tpuc::runtime
