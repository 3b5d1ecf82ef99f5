//===- CpuLayersTest.cpp - Layers of the host in model files --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/CpuLayers.h"
#include "ExampleModel.h"
#include "tpuc/Model/Bmodel/Check.h"
#include "tpuc/Model/Bmodel/Dump.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

using namespace tpuc;
using namespace tpuc::bmodel;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Two ops with an attribute of each kind; `x` and `y` on the device, `w` a weight.
cpu::Program exampleProgram(const Stage &stage) {
  cpu::Program program;
  program.values = {
      {"x", DataType::F32, {2, 3}, cpu::Home::Device, stage.contextAddress},
      {"w", DataType::I8, {3}, cpu::Home::Weight, stage.coefficients->address},
      {"between", DataType::Bool, {-1, 3}, cpu::Home::Host, 0},
      {"y", DataType::I64, {2}, cpu::Home::Device, stage.contextAddress + 64},
  };
  cpu::Op first;
  first.name = "Gather";
  first.layer = "conv1";
  first.attributes = {{"flag", true},
                      {"integer", int64_t{-5}},
                      {"real", 0.1},
                      {"text", std::string("reflect")},
                      {"integers", std::vector<int64_t>{1, -2}},
                      {"reals", std::vector<double>{0.5}},
                      {"texts", std::vector<std::string>{"Tanh", ""}},
                      {"to", DataType::BF16},
                      {"value", Tensor::of<int16_t>({}, {-300})}};
  first.operands = {0, -1, 1};
  first.results = {2};
  program.ops = {first, {"NonZero", "conv2", {}, {2}, {3, -1}}};
  return program;
}

std::string errorOf(const cpu::Program &program) {
  const auto parsed = cpu::parseProgram(cpu::encodeProgram(program), "m");
  return parsed ? "" : parsed.error().message();
}

/// The example with a CPU sub-net of `program`, whose bytes are `bytes`.
Expected<void> checkWith(Model &model, const std::vector<std::byte> &bytes) {
  SubNet &subNet = model.nets[0].stages[0].subNets[0];
  subNet.mode = static_cast<int32_t>(SubNetMode::Cpu);
  subNet.cpu = {*cpuProgramLayer(bytes, "m")};
  return checkModel(model, "m");
}

TEST(CpuLayers, KeepEverything) {
  const Model model = exampleModel();
  const cpu::Program program = exampleProgram(model.nets[0].stages[0]);
  const std::vector<std::byte> bytes = cpu::encodeProgram(program);
  const auto parsed = cpu::parseProgram(bytes, "m");
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(cpu::encodeProgram(*parsed), bytes);
  EXPECT_THAT(cpu::layersOf(*parsed), ElementsAre("conv1", "conv2"));
  const auto &attributes = parsed->ops[0].attributes;
  ASSERT_EQ(attributes.size(), 9);
  EXPECT_EQ(std::get<bool>(attributes[0].second), true);
  EXPECT_EQ(std::get<int64_t>(attributes[1].second), -5);
  EXPECT_EQ(std::get<double>(attributes[2].second), 0.1);
  EXPECT_EQ(std::get<DataType>(attributes[7].second), DataType::BF16);
  EXPECT_EQ(std::get<Tensor>(attributes[8].second).data<int16_t>()[0], -300);
  EXPECT_THAT(parsed->ops[1].results, ElementsAre(3, -1));
  EXPECT_THAT(parsed->values[2].dims, ElementsAre(-1, 3));
}

TEST(CpuLayers, WrongOrder) {
  const Model model = exampleModel();
  const cpu::Program right = exampleProgram(model.nets[0].stages[0]);
  cpu::Program program = right;
  program.ops[0].operands = {0, 4};
  EXPECT_THAT(errorOf(program), HasSubstr("layer 'conv1': reads value 4; expected one of 4"));
  program = right;
  std::swap(program.ops[0], program.ops[1]);
  EXPECT_THAT(errorOf(program), HasSubstr("layer 'conv2': reads 'between' before it is made"));
  program = right;
  program.ops[1].results = {0};
  EXPECT_THAT(errorOf(program), HasSubstr("layer 'conv2': makes 'x', which is there already"));
  program = right;
  program.values[3].dims = {-1};
  EXPECT_THAT(errorOf(program), HasSubstr("m: y"));
  program = right;
  program.ops.clear();
  EXPECT_THAT(errorOf(program), HasSubstr("without an op"));
}

TEST(CpuLayers, AreChecked) {
  Model model = exampleModel();
  const Stage &stage = model.nets[0].stages[0];
  cpu::Program program = exampleProgram(stage);
  std::vector<std::byte> bytes = cpu::encodeProgram(program);
  const auto checked = checkWith(model, bytes);
  ASSERT_TRUE(checked) << checked.error().message();
  EXPECT_THAT(toJson(model).dump(), HasSubstr(R"("op":"Gather","layer":"conv1")"));
  EXPECT_THAT(formatInfo(model), HasSubstr("on the CPU: conv1, conv2"));
  program.values[0].address = stage.contextAddress + stage.contextSize - 8;
  EXPECT_THAT(checkWith(model, cpu::encodeProgram(program)).error().message(),
              HasSubstr("x: 24 bytes at"));
  program = exampleProgram(stage);
  program.values[1].address = stage.contextAddress;
  EXPECT_THAT(checkWith(model, cpu::encodeProgram(program)).error().message(), HasSubstr("w: "));
  // What was changed after it was written.
  ASSERT_TRUE(checkWith(model, bytes));
  bytes[bytes.size() / 2] ^= std::byte{1};
  EXPECT_THAT(checkModel(model, "m").error().message(),
              HasSubstr("the layers of the CPU are damaged"));
}

/// Any byte may be wrong: then it is an error, or another program.
TEST(CpuLayers, DamagedBytes) {
  const Model model = exampleModel();
  const std::vector<std::byte> right = cpu::encodeProgram(exampleProgram(model.nets[0].stages[0]));
  size_t refused = 0;
  for (size_t i = 0; i < right.size(); ++i)
    for (const auto flip : {std::byte{1}, std::byte{0x80}, std::byte{0xFF}}) {
      std::vector<std::byte> bytes = right;
      bytes[i] ^= flip;
      const auto parsed = cpu::parseProgram(bytes, "m");
      refused += parsed ? 0 : 1;
      if (parsed)
        EXPECT_FALSE(cpu::encodeProgram(*parsed).empty());
    }
  EXPECT_GT(refused, right.size() / 2);
  for (size_t size = 0; size < right.size(); size += 7)
    EXPECT_FALSE(cpu::parseProgram(std::span(right).first(size), "m"));
}

} // namespace
