//===- CombineTest.cpp - Models taken apart and put together --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/Combine.h"
#include "ExampleModel.h"
#include "tpuc/Model/Bmodel/Reader.h"
#include "tpuc/Model/Bmodel/Writer.h"

#include <gmock/gmock.h>

#include <functional>

using namespace tpuc;
using namespace tpuc::bmodel;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

const std::vector<std::string> kNames = {"a.bmodel", "b.bmodel"};

/// The example with nothing but the net `main`, stage `stage`.
Model mainOnly(size_t stage) { return extract(exampleModel(), 0, stage); }

std::vector<std::byte> encoded(const Model &model) {
  auto file = encodeModel(model, "test");
  EXPECT_TRUE(file) << file.error().message();
  return file.value_or(std::vector<std::byte>{});
}

TEST(Combine, ExtractLeavesOneStage) {
  const Model first = mainOnly(0);
  ASSERT_EQ(first.nets.size(), 1);
  ASSERT_EQ(first.nets[0].stages.size(), 1);
  EXPECT_THAT(first.nets[0].stages[0].inputs[0].shapes[0], ElementsAre(1, 3, 4, 5));
  // Its layers, but not the tensor of the other stage.
  EXPECT_THAT(first.debug.layers, ElementsAre("conv1", "a layer/with \"any\" name"));
  EXPECT_TRUE(first.debug.tensors.empty());

  const Model second = mainOnly(1);
  EXPECT_THAT(second.nets[0].stages[0].inputs[0].shapes[0], ElementsAre(4, 3, 4, 5));
  EXPECT_TRUE(second.debug.layers.empty());
  ASSERT_EQ(second.debug.tensors.size(), 1);
  EXPECT_EQ(second.debug.tensors[0].group, (GroupRef{0, 0, 0, 0}));

  const Model tail = extract(exampleModel(), 1, 0);
  EXPECT_EQ(tail.nets[0].name, "tail");
  EXPECT_EQ(tail.contextSize, 2048);
  EXPECT_TRUE(tail.debug.empty());
}

TEST(Combine, VariantsOfOneNetBecomeStages) {
  const std::vector<Model> models = {mainOnly(0), mainOnly(1)};
  const auto both = combine(models, kNames);
  ASSERT_TRUE(both) << both.error().message();
  ASSERT_EQ(both->nets.size(), 1);
  ASSERT_EQ(both->nets[0].stages.size(), 2);
  EXPECT_EQ(both->debug.groups[0].group.stage, 0);
  EXPECT_EQ(both->debug.tensors[0].group.stage, 1);
  // Which can be written, read and taken apart again.
  const std::vector<std::byte> file = encoded(*both);
  const auto read = readModel(file, nullptr, "both");
  ASSERT_TRUE(read) << read.error().message();
  for (const size_t stage : {0, 1})
    EXPECT_EQ(encoded(extract(*read, 0, stage)), encoded(mainOnly(stage)));
  // The weights of both are in the file once.
  EXPECT_LT(file.size(), encoded(models[0]).size() + encoded(models[1]).size());
}

TEST(Combine, NetsKeepTheirOrderAndTheirDebugInformation) {
  Model other = mainOnly(0);
  other.nets[0].name = "other";
  other.contextSize = 9999;
  other.debug.layers = {"unused", "conv9"};
  other.debug.groups = {{{0, 0, 0, 0}, {{0, 1}}, {}}};
  const std::vector<Model> models = {mainOnly(0), other};
  const auto both = combine(models, kNames);
  ASSERT_TRUE(both) << both.error().message();
  ASSERT_EQ(both->nets.size(), 2);
  EXPECT_EQ(both->nets[0].name, "main");
  EXPECT_EQ(both->nets[1].name, "other");
  EXPECT_EQ(both->contextSize, 9999);
  EXPECT_THAT(both->debug.layers, ElementsAre("conv1", "a layer/with \"any\" name", "conv9"));
  ASSERT_EQ(both->debug.groups.size(), 2);
  EXPECT_EQ(both->debug.groups[1].group, (GroupRef{1, 0, 0, 0}));
  EXPECT_EQ(both->debug.groups[1].tiu[0].layer, 2);
}

TEST(Combine, FirmwareOfTheFirstThatHasSome) {
  Model without = mainOnly(0);
  without.firmware.reset();
  without.cpuLibrary.reset();
  without.backend = {};
  const std::vector<Model> models = {without, mainOnly(1)};
  const auto both = combine(models, kNames);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->firmware->fileName, "firmware.so");
  EXPECT_EQ(both->cpuLibrary->fileName, "cpu.so");
  EXPECT_EQ(both->backend.size(), 52);
}

// Views into the first models must stay good when those are gone.
TEST(Combine, KeepsTheMemoryOfBoth) {
  Expected<Model> both = makeError("both", "nothing yet");
  {
    const std::vector<Model> models = {mainOnly(0), mainOnly(1)};
    both = combine(models, kNames);
  }
  ASSERT_TRUE(both);
  EXPECT_EQ(both->nets[0].stages[1].coefficients->data[299], static_cast<std::byte>(300));
}

struct Refusal {
  std::string name;
  std::function<void(Model &)> change;
  std::string message;
};

class Unfit : public testing::TestWithParam<Refusal> {};

TEST_P(Unfit, NamesTheSecondFile) {
  std::vector<Model> models = {mainOnly(0), mainOnly(1)};
  GetParam().change(models[1]);
  const auto both = combine(models, kNames);
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message(), HasSubstr("b.bmodel: " + GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Combine, Unfit,
    testing::Values(Refusal{"Chip", [](Model &m) { m.chip = "BM1684"; },
                            "a model for BM1684; expected one for BM1684X, as a.bmodel"},
                    Refusal{"AddressMode", [](Model &m) { m.nets[0].addressMode = 1; },
                            "net 'main' has address mode 1; expected 0"},
                    Refusal{"Shapes", [](Model &m) { m = mainOnly(0); },
                            "net 'main' has the same input shapes as in a file before"},
                    Refusal{"Name", [](Model &m) { m.nets[0].stages[0].outputs[0].name = "z"; },
                            "net 'main' has other inputs or outputs"},
                    Refusal{"Type", [](Model &m) { m.nets[0].stages[0].inputs[0].type = 0; },
                            "net 'main' has other inputs or outputs"}),
    [](const auto &info) { return info.param.name; });

} // namespace
