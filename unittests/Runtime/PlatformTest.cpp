//===- PlatformTest.cpp - A container and a chip of the test's own --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime knows neither: a file of its own kind for a chip of its own runs, is timed and is
// refused by the same code as those that CMake found.
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"
#include "tpuc/Model/TimingText.h"
#include "tpuc/Target/Registry.h"
#include "unittests/Support/TempFolder.h"

#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>

using namespace tpuc;
using namespace tpuc::runtime;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr uint64_t kX = 0x100, kY = 0x110;
constexpr size_t kElements = 4;

model::TensorInfo tensor(const std::string &name, uint64_t address) {
  model::TensorInfo info;
  info.name = name;
  info.setType(DataType::F32);
  info.shape = {kElements};
  info.address = address;
  return info;
}

/// x has the bytes of `code` added one after the other on the chip; the host turns its sign.
model::CompiledModel toyModel(model::Bytes code) {
  model::Stage stage;
  stage.inputs = {tensor("x", kX)};
  stage.outputs = {tensor("y", kY)};
  stage.activationAddress = kX;
  stage.activationBytes = 0x20;
  model::SubNet chip;
  chip.groups = {{{{"SEQ", code, static_cast<uint32_t>(code.size()), {{0, 0}, {2, 1}}}}}};
  model::SubNet host;
  host.id = 1;
  cpu::Program program;
  program.values = {{"x", DataType::F32, {kElements}, cpu::Home::Device, kX},
                    {"y", DataType::F32, {kElements}, cpu::Home::Device, kY}};
  program.ops = {{"Neg", "turned", {}, {0}, {1}}};
  host.host = {program};
  stage.subNets = {chip, host};
  stage.order = {0, 1};
  model::CompiledModel made;
  made.chip = "Toy";
  made.layers = {"first", "second"};
  made.nets = {{"toy", {stage}}};
  return made;
}

/// "TOY1" and a byte for each command.
class ToyContainer : public model::Container {
public:
  std::string_view name() const override { return "toy"; }
  bool accepts(model::Bytes beginning) const override {
    return beginning.size() >= 4 && std::memcmp(beginning.data(), "TOY1", 4) == 0;
  }
  Expected<model::CompiledModel> read(const model::ModelFile &file) const override {
    model::CompiledModel made = toyModel(file.bytes.subspan(4));
    made.owners.push_back(file.owner);
    return made;
  }
  Expected<OutputFile> write(const model::CompiledModel &made,
                             const std::string &path) const override {
    auto file = OutputFile::create(path);
    if (!file)
      return file;
    auto ok = file->write("TOY1");
    if (ok)
      ok = file->write(
          made.nets.front().stages.front().subNets.front().groups.front().streams.front().code);
    if (!ok)
      return propagate(ok);
    return file;
  }
  Expected<std::string> info(const model::ModelFile &file) const override {
    return makeError(file.path, "not asked for");
  }
  Expected<nlohmann::ordered_json> fields(const model::ModelFile &file) const override {
    return makeError(file.path, "not asked for");
  }
};

class ToyDevice : public Device {
public:
  explicit ToyDevice(const model::Stage &stage)
      : stage(stage), memory(stage.activationBytes), address(stage.activationAddress) {}

  std::span<std::byte> contextBytes(uint64_t start, uint64_t size) override {
    if (start < address || start + size > address + memory.size())
      return {};
    return std::span(memory).subspan(start - address, size);
  }

  Expected<void> run(uint32_t subNet, const RunHooks &hooks) override {
    const std::span<std::byte> place = contextBytes(kX, kElements * sizeof(float));
    const model::Bytes code = stage.subNets[subNet].groups[0].streams[0].code;
    for (uint32_t i = 0; i < code.size(); ++i) {
      std::array<float, kElements> values{};
      std::memcpy(values.data(), place.data(), place.size());
      for (float &value : values)
        value += static_cast<float>(std::to_integer<int>(code[i]));
      std::memcpy(place.data(), values.data(), place.size());
      if (hooks.after)
        hooks.after({subNet, 0, 0, i, "add"});
    }
    return {};
  }

private:
  const model::Stage &stage;
  std::vector<std::byte> memory;
  uint64_t address;
};

class ToyProgram : public Program {
public:
  explicit ToyProgram(const model::Stage &stage) : stage(stage) {}
  Expected<std::unique_ptr<Device>> createDevice(unsigned) const override {
    return std::make_unique<ToyDevice>(stage);
  }

private:
  const model::Stage &stage;
};

/// A chip with one engine at 2 GHz, on which every command takes 10 cycles.
class ToyDriver : public DeviceDriver {
public:
  std::string_view name() const override { return "Toy"; }
  Expected<std::vector<std::vector<std::string>>> disassemble(const model::CommandGroup &group,
                                                              const std::string &) const override {
    return std::vector<std::vector<std::string>>{
        std::vector<std::string>(group.streams[0].code.size(), "add")};
  }
  Expected<std::shared_ptr<const Program>> load(const model::Stage &stage,
                                                const std::string &where) const override {
    const model::Bytes code = stage.subNets[0].groups[0].streams[0].code;
    if (code.empty())
      return makeError(where, "no commands", "one at least");
    return std::make_shared<ToyProgram>(stage);
  }
  Expected<model::TimingResult> time(const model::CompiledModel &made, const model::Stage &stage,
                                     const std::string &) const override {
    constexpr int64_t kCycles = 10;
    const model::Stream &stream = stage.subNets[0].groups[0].streams[0];
    model::TimingResult result;
    result.clockHz = 2e9;
    result.layerNames = made.layers;
    result.engines = {{stream.engine, true, {}}};
    model::TimingResult::ParameterSet set;
    set.name = "exact";
    set.spans.resize(1);
    for (uint32_t i = 0; i < stream.numCommands; ++i) {
      result.engines[0].commands.push_back({.operation = "add",
                                            .kind = "ADD",
                                            .id = i + 1,
                                            .direction = {},
                                            .layer = model::layerOfCommand(stream.layers, i)});
      set.spans[0].push_back({set.cycles, kCycles});
      set.cycles += kCycles;
    }
    set.engineCycles = {set.cycles};
    result.sets = {set};
    result.kinds = {{"ADD", stream.numCommands, {set.cycles}}};
    return result;
  }
};

class MuteDriver : public ToyDriver {
public:
  Expected<model::TimingResult> time(const model::CompiledModel &made, const model::Stage &stage,
                                     const std::string &where) const override {
    return DeviceDriver::time(made, stage, where);
  }
};

const ToyContainer kContainer;
const ToyDriver kDriver;
const MuteDriver kMute;
const std::array<const DeviceDriver *, 1> kDrivers = {&kDriver};
const std::array<const DeviceDriver *, 1> kMuteDrivers = {&kMute};

/// The containers that there are, and one more.
std::vector<const model::Container *> withToy() {
  const model::Containers known = model::containers();
  std::vector<const model::Container *> all(known.begin(), known.end());
  all.push_back(&kContainer);
  return all;
}

/// A file of two commands for each of the layers.
std::string toyFile() {
  static constexpr std::array kCode = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  static const TempFolder folder;
  std::string path = folder.path("add.toy");
  auto file = kContainer.write(toyModel(kCode), path);
  EXPECT_TRUE(file && file->commit());
  return path;
}

TEST(Platform, RunsWhatItHasNeverHeardOf) {
  const auto containers = withToy();
  const auto loaded = LoadedModel::load(toyFile(), {containers, kDrivers});
  ASSERT_TRUE(loaded) << loaded.error().message();
  auto session = Session::create(*loaded, {}, 1);
  ASSERT_TRUE(session) << session.error().message();
  ASSERT_TRUE((*session)->setInput(0, Tensor::of<float>({4}, {0, 1, 2, 3})));
  RunHooks hooks;
  std::vector<uint32_t> seen;
  hooks.after = [&](const CommandEvent &event) { seen.push_back(event.index); };
  const auto ok = (*session)->run(hooks);
  ASSERT_TRUE(ok) << ok.error().message();
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3));
  const auto output = (*session)->output(0);
  ASSERT_TRUE(output);
  EXPECT_THAT(output->data<float>(), ElementsAre(-10, -11, -12, -13));
}

TEST(Platform, TimesWhatItHasNeverHeardOf) {
  const auto containers = withToy();
  const auto loaded = LoadedModel::load(toyFile(), {containers, kDrivers});
  ASSERT_TRUE(loaded) << loaded.error().message();
  const auto timing = (*loaded)->timing({});
  ASSERT_TRUE(timing) << timing.error().message();
  EXPECT_DOUBLE_EQ(timing->seconds(), 20e-9);
  EXPECT_EQ(timing->busy(true), 1);
  EXPECT_EQ(timing->busy(false), 0);
  const std::string text = model::timingSummary(*timing);
  EXPECT_THAT(text, HasSubstr("                                   exact\n"));
  EXPECT_THAT(text, HasSubstr("time at 2 GHz                   0.000 ms\n"));
  EXPECT_THAT(text, HasSubstr("SEQ busy                         100.0 %\n"));
  EXPECT_THAT(text, HasSubstr("not counted: 1 layer on the CPU: turned\n"));
  EXPECT_EQ(model::timingJson(*timing)["exact"]["seq_cycles"], 40);
  EXPECT_THAT(model::timingCsv(*timing),
              HasSubstr("SEQ,3,0,add,ADD,20,10,,0,0,second\nSEQ,4,0,add,ADD,30,10,,0,0,second\n"
                        "total,,,,,0,40,,0,0,\n"));
  EXPECT_THAT(model::timingTrace(*timing),
              HasSubstr("\"name\":\"first\",\"cat\":\"layer\",\"pid\":1,"
                        "\"tid\":1,\"ts\":0.0,\"dur\":0.01}"));
}

TEST(Platform, RefusesWhatNobodyKnows) {
  const auto containers = withToy();
  const TempFolder folder;
  const std::string path = folder.path("other.file");
  ASSERT_TRUE(writeFile(path, "something else"));
  EXPECT_EQ(LoadedModel::load(path, {containers, kDrivers}).error().message(),
            path + ": a file of another kind; expected " + model::fileKinds(containers));
  EXPECT_THAT(model::fileKinds(containers), testing::EndsWith(" or a .toy file"));
  EXPECT_THAT(model::extensions(containers), testing::EndsWith(", .toy"));
  // Without the test's own container its files are of another kind, without its driver for another
  // chip.
  EXPECT_FALSE(LoadedModel::load(toyFile()));
  EXPECT_THAT(LoadedModel::load(toyFile(), {containers, deviceDrivers()}).error().message(),
              HasSubstr("a model for Toy, which this runtime cannot simulate; expected "));
  const auto mute = LoadedModel::load(toyFile(), {containers, kMuteDrivers});
  ASSERT_TRUE(mute);
  EXPECT_THAT((*mute)->timing({}).error().message(),
              HasSubstr("a model for Toy; expected a chip with a timing model"));
  EXPECT_TRUE((*mute)->program({}));
  EXPECT_EQ(kContainer.extract({"a.toy", {}, nullptr}, "folder").error().message(),
            "a.toy: a .toy file; expected a file that can be taken apart");
  EXPECT_EQ(kContainer.combine({}, "b.toy").error().message(),
            "b.toy: a .toy file; expected files that can be put together");
}

TEST(Platform, StagesSayWhyTheyCannotRun) {
  model::CompiledModel made = toyModel({});
  const auto empty = LoadedModel::create(made, "m", {model::containers(), kDrivers});
  ASSERT_TRUE(empty);
  EXPECT_EQ((*empty)->program({}).error().message(),
            "m: net 'toy', stage 0: no commands; expected one at least");
  made.nets[0].stages[0].refusal = Error{"m", "found", "wanted"};
  const auto refused = LoadedModel::create(made, "m", {model::containers(), kDrivers});
  ASSERT_TRUE(refused);
  EXPECT_EQ(Session::create(*refused, {}, 1).error().message(), "m: found; expected wanted");
  EXPECT_EQ((*refused)->timing({}).error().message(), "m: found; expected wanted");
  // A weight of the host that no section holds.
  made.nets[0].stages[0].refusal.reset();
  made.nets[0].stages[0].subNets[1].host[0].values[0].home = cpu::Home::Weight;
  const auto lost = LoadedModel::create(made, "m", {model::containers(), kDrivers});
  ASSERT_TRUE(lost);
  EXPECT_EQ((*lost)->program({}).error().message(),
            "m: net 'toy', stage 0, sub-net 1: x: 16 bytes at 0x100; expected a place in the "
            "constants");
}

TEST(Platform, EveryChipWithModelFilesHasWhatTheyNeed) {
  size_t count = 0;
  for (const TargetInfo *target : knownTargets()) {
    if (!target->hasCodeGenerator || target->containerChip.empty())
      continue;
    ++count;
    EXPECT_TRUE(model::findContainer(target->container, model::containers())) << target->name;
    EXPECT_TRUE(findDriver(target->containerChip, "m", deviceDrivers())) << target->name;
  }
  EXPECT_GT(count, 0);
}

} // namespace
