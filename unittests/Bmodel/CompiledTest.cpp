//===- CompiledTest.cpp - Model files and compiled networks ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/Compiled.h"
#include "ExampleModel.h"
#include "tpuc/Model/Bmodel/Reader.h"
#include "tpuc/Model/Bmodel/Writer.h"
#include "tpuc/Model/Container.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

using namespace tpuc;
using namespace tpuc::bmodel;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

TEST(Compiled, WhatTheRuntimeNeeds) {
  const Model file = exampleModel();
  const model::CompiledModel compiled = toCompiled(file, "m");
  EXPECT_EQ(compiled.chip, "BM1684X");
  EXPECT_THAT(compiled.layers, ElementsAre("conv1", "a layer/with \"any\" name"));
  ASSERT_EQ(compiled.nets.size(), 2);
  ASSERT_EQ(compiled.nets[0].stages.size(), 2);
  const model::Stage &stage = compiled.nets[0].stages[0];
  EXPECT_FALSE(stage.refusal);
  EXPECT_EQ(stage.inputs[0].type, DataType::I8);
  EXPECT_EQ(stage.inputs[0].typeName, "i8");
  EXPECT_THAT(stage.inputs[0].shape, ElementsAre(1, 3, 4, 5));
  EXPECT_EQ(stage.inputs[0].scale, 0.125F);
  EXPECT_EQ(stage.inputs[0].zeroPoint, -3);
  EXPECT_EQ(stage.activationBytes, 4096);
  ASSERT_EQ(stage.constants.size(), 1);
  EXPECT_EQ(stage.constants[0].locations[1].name, "conv1_bias");
  EXPECT_TRUE(stage.constantBytes(stage.constants[0].address + 299, 1));
  EXPECT_FALSE(stage.constantBytes(stage.constants[0].address + 299, 2));
  EXPECT_FALSE(stage.constantBytes(stage.constants[0].address - 1, 1));
  EXPECT_THAT(stage.order, ElementsAre(0));
  const std::vector<model::Stream> &streams = stage.subNets[0].groups[0].streams;
  ASSERT_EQ(streams.size(), 2);
  EXPECT_EQ(streams[0].engine, kTiu);
  EXPECT_EQ(streams[1].engine, kDma);
  EXPECT_EQ(streams[1].numCommands, 4);
  EXPECT_EQ(streams[1].code.size(), 384);
  EXPECT_EQ(compiled.layerName(streams[0], 2), "conv1");
  EXPECT_EQ(compiled.layerName(streams[0], 3), "a layer/with \"any\" name");
  EXPECT_EQ(compiled.layerName(streams[1], 0), "");
  // The tensor belongs to the other stage, of which no layers are known.
  EXPECT_TRUE(stage.innerTensors.empty());
  const model::Stage &four = compiled.nets[0].stages[1];
  ASSERT_EQ(four.innerTensors.size(), 1);
  EXPECT_EQ(four.innerTensors[0].tensor.name, "conv1_out");
  EXPECT_EQ(four.innerTensors[0].stream, 1);
  EXPECT_EQ(four.innerTensors[0].after, 2);
  EXPECT_TRUE(four.subNets[0].groups[0].streams[0].layers.empty());
  // What only firmware can run says so, and can still be looked at.
  const model::Stage &tail = compiled.nets[1].stages[0];
  ASSERT_TRUE(tail.refusal);
  EXPECT_THAT(tail.refusal->message(), HasSubstr("m: net 'tail', stage 0: a net for several"));
  EXPECT_EQ(tail.subNets.size(), 4);
  EXPECT_TRUE(tail.order.empty());
}

/// The nets of the example without what a compiled network does not say.
Model plainModel() {
  Model plain = exampleModel();
  plain.time.clear();
  plain.firmware.reset();
  plain.cpuLibrary.reset();
  plain.backend = {};
  plain.nets.pop_back();
  for (Stage &stage : plain.nets[0].stages)
    stage.contextSizes.clear();
  plain.debug.groups.push_back({{0, 1, 0, 0}, {}, {}});
  return plain;
}

TEST(Compiled, ThereAndBackAgain) {
  const Model plain = plainModel();
  const auto again = fromCompiled(toCompiled(plain, "m"), "m");
  ASSERT_TRUE(again) << again.error().message();
  const auto before = encodeModel(plain, "m");
  const auto after = encodeModel(*again, "m");
  ASSERT_TRUE(before && after);
  EXPECT_EQ(*before, *after);
}

std::string errorOf(const model::CompiledModel &compiled) {
  const auto made = fromCompiled(compiled, "m");
  return made ? "" : made.error().message();
}

TEST(Compiled, WhatAFileCannotSay) {
  const model::CompiledModel good = toCompiled(plainModel(), "m");
  EXPECT_EQ(errorOf(good), "");
  model::CompiledModel bad = good;
  bad.nets[0].stages[0].subNets[0].groups[0].streams[0].engine = "SEQ";
  EXPECT_EQ(errorOf(bad), "m: commands for an engine SEQ; expected TIU or DMA");
  bad = good;
  bad.nets[0].stages[0].constants.resize(2);
  EXPECT_EQ(errorOf(bad), "m: 2 sections of constants; expected one at most");
  bad = good;
  bad.nets[0].stages[0].outputs[0].type.reset();
  bad.nets[0].stages[0].outputs[0].typeName = "f7";
  EXPECT_EQ(errorOf(bad), "m: score: f7; expected a type that tpuc has");
  bad = good;
  bad.nets[0].stages[0].subNets.resize(2);
  bad.nets[0].stages[0].order = {1, 0};
  EXPECT_THAT(errorOf(bad), HasSubstr("a run that begins with sub-net 1"));
  bad = good;
  bad.nets[0].stages[1].innerTensors[0].stream = 0;
  EXPECT_EQ(errorOf(bad),
            "m: conv1_out: it is complete after a command of TIU; expected one of DMA");
}

TEST(Compiled, TheContainerIsFound) {
  const model::Container *container = model::findContainer("bmodel", model::containers());
  ASSERT_TRUE(container);
  EXPECT_EQ(model::findContainer("nothing", model::containers()), nullptr);
  const auto bytes = encodeModel(exampleModel(), "m");
  ASSERT_TRUE(bytes);
  const model::ModelFile file{"m.bmodel", *bytes, nullptr};
  const auto chosen = model::chooseContainer(file, model::containers());
  ASSERT_TRUE(chosen);
  EXPECT_EQ(*chosen, container);
  const auto compiled = container->read(file);
  ASSERT_TRUE(compiled);
  EXPECT_EQ(compiled->nets.size(), 2);
  const auto info = container->info(file);
  ASSERT_TRUE(info);
  EXPECT_THAT(*info, HasSubstr("chip: BM1684X\n"));
  const auto fields = container->fields(file);
  ASSERT_TRUE(fields);
  EXPECT_EQ((*fields)["cpu_library"]["file"], "cpu.so");
}

} // namespace
