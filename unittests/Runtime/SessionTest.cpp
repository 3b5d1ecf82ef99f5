//===- SessionTest.cpp - Nets on the simulated device ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"
#include "AddModel.h"
#include "runtime/Elements.h"
#include "tpuc/Model/Bmodel/Check.h"
#include "tpuc/Model/Bmodel/Compiled.h"
#include "tpuc/Model/Bmodel/CpuLayers.h"
#include "tpuc/Model/Bmodel/Reader.h"
#include "tpuc/Model/Bmodel/Writer.h"
#include "tpuc/Model/TimingText.h"

#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

using namespace tpuc;
using namespace tpuc::runtime;
using testing::HasSubstr;

namespace {

Expected<std::shared_ptr<const LoadedModel>> load(const bmodel::Model &model,
                                                  const std::string &where) {
  return LoadedModel::create(bmodel::toCompiled(model, where), where);
}

std::shared_ptr<const LoadedModel> loadedAdd() {
  auto model = load(addModel(), "add.bmodel");
  EXPECT_TRUE(model) << model.error().message();
  return *model;
}

bmodel::Stage &stage(bmodel::Model &model) { return model.nets[0].stages[0]; }

Tensor ramp(float first) {
  Tensor tensor(DataType::F32, {1, 3, 4, 5});
  for (float &value : tensor.mutableData<float>())
    value = first++;
  return tensor;
}

TEST(Session, RunsAgainAndAgain) {
  auto session = Session::create(loadedAdd(), {}, 1);
  ASSERT_TRUE(session) << session.error().message();
  EXPECT_THAT((*session)->output(0).error().message(), HasSubstr("output 'y' before a run"));
  EXPECT_THAT((*session)->run().error().message(), HasSubstr("input 'x' was not set"));
  for (const float first : {0.0F, -100.0F}) {
    ASSERT_TRUE((*session)->setInput(0, ramp(first)));
    const auto ok = (*session)->run();
    ASSERT_TRUE(ok) << ok.error().message();
    const auto output = (*session)->output(0);
    ASSERT_TRUE(output);
    for (size_t i = 0; i < 60; ++i)
      ASSERT_EQ(output->data<float>()[i], first + static_cast<float>(i) + 1.5F);
  }
}

TEST(Session, ViewsOutputsWithoutACopy) {
  auto session = Session::create(loadedAdd(), {}, 1);
  ASSERT_TRUE(session) << session.error().message();
  EXPECT_THAT((*session)->viewOutput(0).error().message(), HasSubstr("output 'y' before a run"));
  ASSERT_TRUE((*session)->setInput(0, ramp(0)) && (*session)->run());
  const auto copy = (*session)->output(0);
  const auto seen = (*session)->viewOutput(0);
  ASSERT_TRUE(copy && seen);
  EXPECT_FALSE(seen->isWritable());
  EXPECT_EQ(seen->data<float>()[59], 60.5F);
  ASSERT_TRUE((*session)->setInput(0, ramp(-100)) && (*session)->run());
  EXPECT_EQ(seen->data<float>()[59], -39.5F);
  EXPECT_EQ(copy->data<float>()[59], 60.5F);
}

TEST(Session, OneModelOnSeveralThreads) {
  const auto model = loadedAdd();
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::array<int, 4> right{};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto session = Session::create(model, {}, 1);
      for (int i = 0; i < 20; ++i) {
        const auto first = static_cast<float>(1000 * t + i);
        if (session && (*session)->setInput(0, ramp(first)) && (*session)->run() &&
            (*session)->output(0)->data<float>()[59] == first + 59 + 1.5F)
          ++right[static_cast<size_t>(t)];
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(right, testing::Each(20));
}

TEST(Session, HooksSeeEveryCommandInOrder) {
  auto session = Session::create(loadedAdd(), {}, 1);
  ASSERT_TRUE(session && (*session)->setInput(0, ramp(0)));
  std::vector<std::string> seen;
  RunHooks hooks;
  hooks.after = [&](const CommandEvent &event) {
    seen.push_back((event.stream == 0 ? "tiu " : "dma ") + std::to_string(event.index) + " " +
                   std::string(event.operation));
  };
  ASSERT_TRUE((*session)->run(hooks));
  EXPECT_THAT(seen, testing::ElementsAre("dma 0 dma.copy", "dma 1 dma.copy", "tiu 0 ar.add",
                                         "tiu 1 sys.end", "dma 2 dma.copy", "dma 3 dma.end"));
}

/// -x, computed as -(x + 1.5) + 1.5: the chip, the host, the chip.
bmodel::Model turnedModel(const std::string &op,
                          std::vector<std::pair<std::string, ops::Attribute>> attributes = {}) {
  bmodel::Model model = addModel();
  const bmodel::TensorInfo &x = stage(model).inputs[0];
  const bmodel::TensorInfo &y = stage(model).outputs[0];
  cpu::Program program;
  program.values = {{"y", DataType::F32, {1, 3, 4, 5}, cpu::Home::Device, y.address},
                    {"between", DataType::F32, {1, -1, 4, 5}, cpu::Home::Host, 0},
                    {"x", DataType::F32, {1, 3, 4, 5}, cpu::Home::Device, x.address}};
  program.ops = {{"Copy", "copied", {}, {0}, {1}}, {op, "turned", std::move(attributes), {1}, {2}}};
  auto bytes = std::make_shared<std::vector<std::byte>>(cpu::encodeProgram(program));
  model.owners.push_back(bytes);
  bmodel::SubNet cpu;
  cpu.mode = static_cast<int32_t>(bmodel::SubNetMode::Cpu);
  cpu.cpu = {*bmodel::cpuProgramLayer(*bytes, "m")};
  cpu.id = 1;
  cpu.next = {2};
  stage(model).subNets[0].next = {1};
  stage(model).subNets.push_back(std::move(cpu));
  stage(model).subNets.push_back(stage(model).subNets[0]);
  stage(model).subNets[2].id = 2;
  stage(model).subNets[2].next = {-1};
  return model;
}

TEST(Session, ChipAndHostInTurn) {
  const bmodel::Model model = turnedModel("Neg");
  const auto checked = bmodel::checkModel(model, "m");
  ASSERT_TRUE(checked) << checked.error().message();
  auto loaded = load(model, "m");
  ASSERT_TRUE(loaded) << loaded.error().message();
  auto session = Session::create(*loaded, {}, 1);
  ASSERT_TRUE(session) << session.error().message();
  for (const float first : {0.0F, 7.0F}) {
    ASSERT_TRUE((*session)->setInput(0, ramp(first)));
    size_t commands = 0;
    RunHooks hooks;
    hooks.before = [&](const CommandEvent &event) {
      EXPECT_NE(event.subNet, 1);
      ++commands;
    };
    const auto ok = (*session)->run(hooks);
    ASSERT_TRUE(ok) << ok.error().message();
    EXPECT_EQ(commands, 12);
    const auto output = (*session)->output(0);
    ASSERT_TRUE(output);
    for (size_t i = 0; i < 60; ++i)
      ASSERT_EQ(output->data<float>()[i], -(first + static_cast<float>(i)));
  }
  // The host's layers are named and take no cycles.
  auto timing = (*loaded)->timing({});
  ASSERT_TRUE(timing) << timing.error().message();
  EXPECT_DOUBLE_EQ(timing->seconds(), 2 * 188e-9);
  EXPECT_THAT(model::timingJson(*timing)["cpu_layers"], testing::ElementsAre("copied", "turned"));
  EXPECT_THAT(model::timingSummary(*timing),
              HasSubstr("not counted: 2 layers on the CPU: copied, turned"));
}

/// The places of elements that are not 0, whose number only the data show.
TEST(Session, OutputsOfTheHost) {
  bmodel::Model model = addModel();
  cpu::Program program;
  program.values = {
      {"y", DataType::F32, {1, 3, 4, 5}, cpu::Home::Device, stage(model).outputs[0].address},
      {"z", DataType::I64, {4, -1}, cpu::Home::Result, 1}};
  program.ops = {{"NonZero", "found", {}, {0}, {1}}};
  auto bytes = std::make_shared<std::vector<std::byte>>(cpu::encodeProgram(program));
  model.owners.push_back(bytes);
  bmodel::TensorInfo places;
  places.name = "z";
  places.type = bmodel::codeOfDataType(DataType::I64);
  places.shapes = {{4, 0}};
  places.address = stage(model).contextAddress;
  stage(model).outputs.push_back(places);
  bmodel::SubNet cpu;
  cpu.mode = static_cast<int32_t>(bmodel::SubNetMode::Cpu);
  cpu.cpu = {*bmodel::cpuProgramLayer(*bytes, "m")};
  cpu.id = 1;
  stage(model).subNets[0].next = {1};
  stage(model).subNets.push_back(std::move(cpu));
  EXPECT_THAT(bmodel::checkModel(model, "m").error().message(),
              HasSubstr("z: a result in the place of output 1; expected an output of the CPU"));
  stage(model).outputs[1].memory = bmodel::kCpuMemory;
  const auto checked = bmodel::checkModel(model, "m");
  ASSERT_TRUE(checked) << checked.error().message();
  auto session = Session::create(*load(model, "m"), {}, 1);
  ASSERT_TRUE(session) << session.error().message();
  // One of the elements x + 1.5 is 0, or none.
  for (const auto &[first, count] : {std::pair(-11.5F, int64_t{59}), {-11.0F, int64_t{60}}}) {
    ASSERT_TRUE((*session)->setInput(0, ramp(first)));
    const auto ok = (*session)->run();
    ASSERT_TRUE(ok) << ok.error().message();
    const auto output = (*session)->output(1);
    ASSERT_TRUE(output) << output.error().message();
    EXPECT_EQ(output->shape(), Shape({4, count}));
  }
}

TEST(Session, LayersOfTheHostThatAreWrong) {
  auto loaded = load(turnedModel("Negative"), "m");
  ASSERT_TRUE(loaded);
  EXPECT_THAT(Session::create(*loaded, {}, 1).error().message(),
              HasSubstr("sub-net 1: layer 'turned': an op 'Negative' for the CPU"));
  const auto run = [](const std::string &op) {
    auto session = Session::create(*load(turnedModel(op), "m"), {}, 1);
    EXPECT_TRUE(session && (*session)->setInput(0, ramp(0)));
    const auto ok = (*session)->run();
    return ok ? std::string() : ok.error().message();
  };
  EXPECT_THAT(run("Relu"),
              HasSubstr("layer 'turned' (Relu on the CPU): no attribute 'relu_limit'"));
  EXPECT_THAT(run("IsNaN"), HasSubstr("computes bool [1, 3, 4, 5]; expected f32 [1, 3, 4, 5]"));
}

/// What a hostile file asks of a layer is refused when the file is loaded.
TEST(Session, AttributesOfTheHostThatAreWrong) {
  using Attributes = std::vector<std::pair<std::string, ops::Attribute>>;
  using Integers = std::vector<int64_t>;
  const auto refusal = [](const std::string &op, Attributes attributes) {
    auto session = Session::create(*load(turnedModel(op, std::move(attributes)), "m"), {}, 1);
    return session ? std::string() : session.error().message();
  };
  EXPECT_EQ(refusal("Softmax", {{"axis", int64_t{3}}}), "");
  EXPECT_THAT(refusal("Softmax", {{"axis", int64_t{4}}}),
              HasSubstr("sub-net 1: layer 'turned' (Softmax on the CPU): attribute 'axis' holds 4; "
                        "expected -4 to 3"));
  EXPECT_THAT(refusal("Softmax", {{"axis", 1.0}}),
              HasSubstr("attribute 'axis' of another kind; expected an integer"));
  EXPECT_THAT(refusal("Softmax", {}), HasSubstr("no attribute 'axis'; expected an integer"));
  EXPECT_THAT(refusal("MaxPool", {{"kernel_shape", Integers{2, 0}}}),
              HasSubstr("attribute 'kernel_shape' holds 0; expected 1 to"));
  EXPECT_THAT(refusal("MaxPool", {{"kernel_shape", Integers{2, 2}}, {"strides", Integers{0, 1}}}),
              HasSubstr("attribute 'strides' holds 0"));
  EXPECT_THAT(refusal("GroupNorm", {{"num_groups", int64_t{0}}}), HasSubstr("expected 3"));
  EXPECT_THAT(refusal("Where", {}), HasSubstr("1 operand; expected 3"));
  EXPECT_THAT(refusal("LogicalNot", {}),
              HasSubstr("operand 'input' has elements of type f32; expected bool"));
  EXPECT_THAT(refusal("TopK", {{"axis", int64_t{0}}, {"axis", int64_t{0}}}), HasSubstr("expected"));
}

TEST(Session, Timing) {
  bmodel::Model model = addModel();
  auto timing = (*load(model, "m"))->timing({});
  ASSERT_TRUE(timing) << timing.error().message();
  // 3 rows of 80 bytes, which pay for 256, at 58 / 1.073741824 (load) and 44 / 1.073741824 (store)
  // bytes per cycle, four times that because they touch one page of four; 20 elements in 2 cycles.
  const model::TimingResult one = *timing;
  EXPECT_DOUBLE_EQ(one.seconds(), (56 + 56 + 2 + 74) * 1e-9);
  EXPECT_GT(one.seconds(one.lastSet()), one.seconds() + 3 * 250e-9);
  EXPECT_EQ(one.bytesRead, 480);
  EXPECT_EQ(one.bytesWritten, 240);
  EXPECT_DOUBLE_EQ(one.busy(true), 2.0 / 188);
  EXPECT_EQ(timing->layers.front().name, "sum");

  // Sub-nets and groups follow each other.
  stage(model).subNets.push_back(stage(model).subNets.front());
  stage(model).subNets[1].id = 1;
  stage(model).subNets[0].next = {1};
  stage(model).subNets[1].groups.push_back(stage(model).groups.front());
  timing = (*load(model, "m"))->timing({});
  ASSERT_TRUE(timing) << timing.error().message();
  EXPECT_DOUBLE_EQ(timing->seconds(), 3 * one.seconds());
  // Two of the three belong to no layer.
  EXPECT_EQ(timing->layers.size(), 2);

  stage(model).isDynamic = true;
  timing = (*load(model, "m"))->timing({});
  EXPECT_THAT(timing.error().message(), HasSubstr("m: net 'add', stage 0: a dynamic net"));
}

TEST(Session, InputsOfAnotherSize) {
  auto session = Session::create(loadedAdd(), {}, 1);
  ASSERT_TRUE(session);
  EXPECT_THAT((*session)->setInput(0, Tensor(DataType::F32, {61})).error().message(),
              HasSubstr("add.bmodel: net 'add', stage 0: x: f32 [61]; expected f32 [1, 3, 4, 5]"));
  EXPECT_THAT((*session)->setInputBytes(0, std::vector<std::byte>(239)).error().message(),
              HasSubstr("239 bytes; expected 240"));
}

struct Refusal {
  std::string name;
  std::function<void(bmodel::Model &)> change;
  std::string message;
};

class Unsupported : public testing::TestWithParam<Refusal> {};

TEST_P(Unsupported, IsRefusedByName) {
  bmodel::Model model = addModel();
  GetParam().change(model);
  auto loaded = load(model, "m");
  std::string message;
  if (!loaded)
    message = loaded.error().message();
  else if (auto session = Session::create(*loaded, {}, 1); !session)
    message = session.error().message();
  EXPECT_THAT(message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Session, Unsupported,
    testing::Values(
        Refusal{"Chip", [](auto &m) { m.chip = "BM1880"; },
                "a model for BM1880, which this runtime cannot simulate; expected BM1684, BM1684X"},
        Refusal{"Devices", [](auto &m) { m.numDevices = 2; }, "several devices"},
        Refusal{"AddressMode", [](auto &m) { m.nets[0].addressMode = 3; }, "address mode 3"},
        Refusal{"Dynamic", [](auto &m) { stage(m).isDynamic = true; }, "a dynamic net"},
        Refusal{"DynamicSubNet", [](auto &m) { stage(m).subNets[0].isDynamic = true; },
                "sub-net 0: a dynamic sub-net"},
        Refusal{"Cpu", [](auto &m) { stage(m).subNets[0].mode = 1; },
                "sub-net 0: a sub-net of the CPU without a layer"},
        Refusal{"VendorsCpuLayer",
                [](auto &m) {
                  stage(m).subNets[0].mode = 1;
                  stage(m).subNets[0].cpu.resize(1);
                },
                "sub-net 0: a layer of the CPU of kind 0; expected"},
        Refusal{"UnknownMode", [](auto &m) { stage(m).subNets[0].mode = -7; },
                "a sub-net of mode -7"},
        Refusal{"Loop", [](auto &m) { stage(m).subNets[0].next = {0}; }, "a loop"},
        Refusal{"Branch", [](auto &m) { stage(m).subNets[0].next = {0, -1}; },
                "followed by one of 2 sub-nets"},
        Refusal{"Cores", [](auto &m) { stage(m).numCores = 2; }, "a net for 2 cores"},
        Refusal{"Encrypted",
                [](auto &m) {
                  stage(m).coefficients.emplace();
                  stage(m).coefficients->encryption = 1;
                },
                "encrypted coefficients"},
        Refusal{"Type", [](auto &m) { stage(m).outputs[0].type = 13; }, "y: type 13"},
        Refusal{"StoreMode", [](auto &m) { stage(m).inputs[0].storeMode = 1; }, "x: store mode 1"},
        Refusal{"CommandCount", [](auto &m) { stage(m).subNets[0].groups[0].numTiu = 3; },
                "2 TIU commands; expected 3, which the file states"}),
    [](const auto &info) { return info.param.name; });

// A damaged command is an error or runs somehow; it never leaves the simulated memories.
TEST(Session, EveryFlippedCommandByte) {
  const bmodel::Model model = addModel();
  size_t refused = 0;
  for (const bool isTiu : {true, false}) {
    const bmodel::CommandGroup group = model.nets[0].stages[0].groups[0];
    const bmodel::Bytes bytes = isTiu ? group.tiu : group.dma;
    for (size_t at = 0; at < bytes.size(); ++at) {
      constexpr std::array kMasks = {0x01U, 0x10U, 0xFFU};
      std::vector<std::byte> damaged(bytes.begin(), bytes.end());
      damaged[at] ^= std::byte(kMasks[at % kMasks.size()]);
      bmodel::Model copy = model;
      auto &target = stage(copy).subNets[0].groups[0];
      (isTiu ? target.tiu : target.dma) = damaged;
      const auto loaded = load(copy, "m");
      auto session = Session::create(*loaded, {}, 1);
      if (!session) {
        ++refused;
        continue;
      }
      ASSERT_TRUE((*session)->setInput(0, ramp(0)));
      if (!(*session)->run())
        ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(Elements, VendorsConversions) {
  model::TensorInfo info;
  info.setType(DataType::I8);
  info.scale = 2;
  info.zeroPoint = 1;
  info.shape = {6};
  const Tensor values = Tensor::of<float>({6}, {0.25F, -0.75F, -1.0F, 100, -100, 0.74F});
  const auto stored = toStored(values, info, "x");
  ASSERT_TRUE(stored);
  // 1.5 -> 2, -0.5 -> -1 (ties away from zero), -1, saturated, saturated, 2.48 -> 2.
  EXPECT_THAT(stored->data<int8_t>(), testing::ElementsAre(2, -1, -1, 127, -128, 2));
  const Tensor real = fromStored(*stored, 0.5F, 1, false);
  EXPECT_THAT(real.data<float>(), testing::ElementsAre(0.5F, -1.0F, -1.0F, 63, -64.5F, 0.5F));
  EXPECT_EQ(fromStored(*stored, 0.5F, 1, true).type(), DataType::I8);
  EXPECT_EQ(fromStored(*stored, 1, 1, false).type(), DataType::F32);
  EXPECT_EQ(fromStored(*stored, 1, 0, false).type(), DataType::I8);

  info.setType(DataType::BF16);
  info.shape = {1};
  const auto cut = toStored(Tensor::of<float>({1}, {0x1.01fffep0F}), info, "x");
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->data<uint16_t>()[0], 0x3F80);
}

} // namespace
