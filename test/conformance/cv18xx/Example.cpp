//===- Example.cpp - A small model for each chip --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/cv18xx/Example.h"

#include "tpuc/Target/Common/Stream.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace tpuc::cv18xx::conformance {

namespace {

constexpr uint64_t kConstants = uint64_t{1} << 40, kInput = uint64_t{3} << 40,
                   kOutput = uint64_t{4} << 40;

/// Between compact values behind a base register and aligned ones in lanes.
std::string move(const Chip &chip, std::string_view name, std::string_view head, unsigned base,
                 uint32_t local) {
  const bool loads = name == "dma.load";
  const std::string_view global = loads ? "src" : "dst";
  const std::string_view lanes = loads ? "dst" : "src";
  const uint32_t slots = (5 + chip.lanes - 1) / chip.lanes;
  return fmt::format("{} {} int8_signed=1 src=[n1 c5 h3 w4] dst=[c5 h3 w4] {}_base={} "
                     "{}_addr={:#x} {}_addr={:#x} {}_str_n=60 {}_str_c=12 {}_str_h=4 "
                     "{}_str_n={} {}_str_c=16 {}_str_h=4",
                     name, head, global, base, global, chip.globalBase, lanes, local, global,
                     global, global, lanes, slots * 16, lanes, lanes);
}

model::TensorInfo tensorAt(std::string name, uint64_t address) {
  model::TensorInfo info;
  info.name = std::move(name);
  info.setType(DataType::I8);
  info.shape = {1, 5, 3, 4};
  info.address = address;
  return info;
}

} // namespace

model::CompiledModel exampleModel(const Chip &chip) {
  const uint32_t slots = (5 + chip.lanes - 1) / chip.lanes;
  const std::string strides = fmt::format("[n{} c16 h4 w1 b16]", slots * 16);
  const std::string lines[] = {
      move(chip, "dma.load", "#1", 3, 0),
      move(chip, "dma.load", "#2", 1, 0x1000),
      fmt::format("mul #1 <-2 operands=2 shift=3 res0_sign=1 opd0_sign=1 res0=[n1 c5 h3 w4] "
                  "opd0=[n1 c5 h3 w4] opd1=[n1 c5 h3 w4] opd2=[n1 c5 h3 w4] res0_addr=0x2000 "
                  "opd1_addr=0x1000 res0_layout=strides opd0_layout=strides opd1_layout=strides "
                  "opd2_layout=strides res0_str={} opd0_str={} opd1_str={}",
                  strides, strides, strides),
      move(chip, "dma.store", "#3 <-1", 4, 0x2000),
  };
  std::vector<Command> commands;
  for (const std::string &line : lines) {
    auto command = mc::assemble(commandTable(chip), line, "line");
    if (!command) {
      std::fprintf(stderr, "%s\n", command.error().message().c_str());
      std::abort();
    }
    commands.push_back(*command);
  }
  auto code = std::make_shared<std::vector<uint8_t>>(mc::encodeStream(streamOf(chip), commands));
  auto constants = std::make_shared<std::vector<int8_t>>();
  for (size_t i = 0; i < 64; ++i)
    constants->push_back(static_cast<int8_t>(i < kExampleElements ? exampleWeight(i) : 0));
  model::CompiledModel made;
  made.chip = "CV18xx";
  model::Net &net = made.nets.emplace_back();
  net.name = "example";
  model::Stage &stage = net.stages.emplace_back();
  stage.inputs = {tensorAt("x", kInput)};
  stage.outputs = {tensorAt("y", kOutput)};
  stage.constants.push_back(
      {kConstants, std::as_bytes(std::span(*constants)), {{"w", 0, kExampleElements}}});
  model::SubNet &subNet = stage.subNets.emplace_back();
  subNet.inputs = stage.inputs;
  subNet.outputs = stage.outputs;
  subNet.groups.emplace_back().streams.push_back({.engine = std::string(chip.name),
                                                  .code = std::as_bytes(std::span(*code)),
                                                  .numCommands = 4,
                                                  .layers = {}});
  stage.order = {0};
  made.owners = {code, constants};
  return made;
}

} // namespace tpuc::cv18xx::conformance
