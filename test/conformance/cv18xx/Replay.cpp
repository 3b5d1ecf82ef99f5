//===- Replay.cpp - A file on both machines, command by command -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: cv18xx-replay libcvicmodel.so MODEL.cvimodel INPUT.npz
//
// Runs a file with our runtime, layers of the host too, and each command on the vendor's functional
// model as well, from the same memories. After each one all of local memory and what it writes of
// global memory are compared, and all of global memory at the end of each part of the chip. A
// command whose bytes differ is shown, and the vendor's bytes are taken over, so that every command
// is judged by itself. Status 1 when any command differed, or none ran.
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"
#include "test/conformance/cv18xx/Vendor.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Target/CV18xx/Runtime/Driver.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

using namespace tpuc;
using namespace tpuc::cv18xx;
using cv18xx::conformance::Vendor;
using runtime::cv18xx::SimulatedDevice;

namespace {

/// What all devices of the run report to.
struct Report {
  std::string library;
  size_t commands = 0, differing = 0;
  /// What the vendor's model is at, for the message where it ends the process.
  std::string current;
};
Report report;

void dieAt(int) {
  const std::string text = "cv18xx-replay: error: the functional model refuses " + report.current;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  _exit(1);
}

/// A device of ours with the vendor's model beside it.
class ReplayDevice : public runtime::Device {
public:
  ReplayDevice(std::unique_ptr<Device> device, const model::Stage &stage)
      : ours(std::move(device)), stage(stage) {}

  Expected<void> prepare() {
    Memory &memory = machine().machineMemory();
    Expected<Vendor> loaded = Vendor::load(report.library, memory.chip(), memory.global().size());
    if (!loaded)
      return propagate(loaded);
    vendor = *loaded;
    for (unsigned i = 0; i < kNumBases; ++i)
      vendor->setBase(i, memory.bases[i]);
    return {};
  }

  std::span<std::byte> contextBytes(uint64_t address, uint64_t size) override {
    return ours->contextBytes(address, size);
  }

  Expected<void> run(uint32_t subNet, const runtime::RunHooks &) override {
    Memory &memory = machine().machineMemory();
    vendor->writeLocal(memory.local());
    std::ranges::copy(memory.global(), vendor->global(memory.global().size()).begin());
    runtime::RunHooks hooks;
    std::optional<Error> problem;
    hooks.after = [&](const runtime::CommandEvent &event) {
      const model::CommandGroup &group = stage.subNets[event.subNet].groups[event.group];
      if (event.index == 0 || commands.empty()) {
        auto parsed = runtime::cv18xx::commandsOf(memory.chip(), group, "replay");
        if (!parsed) {
          problem = parsed.error();
          return;
        }
        commands = std::move(*parsed);
      }
      step(memory, commands[event.index]);
    };
    if (Expected<void> done = ours->run(subNet, hooks); !done)
      return done;
    if (problem)
      return tl::unexpected(*problem);
    compareGlobal(memory, 0, memory.global().size(), "what the part leaves in global memory");
    return {};
  }

private:
  /// `ours` comes from the driver of these chips alone.
  SimulatedDevice &machine() { return static_cast<SimulatedDevice &>(*ours); }

  void step(Memory &memory, const Command &command) {
    report.current = disassemble(command);
    // Alone it has nothing to wait for.
    Command alone = command;
    vendor->execute(alone.set(Field::Id, 1).set(Field::Wait, 0));
    ++report.commands;
    theirs.resize(memory.local().size());
    vendor->readLocal(theirs);
    bool isSame = true;
    if (std::memcmp(theirs.data(), memory.local().data(), theirs.size()) != 0) {
      isSame = false;
      show(memory.local(), theirs, "local memory");
      std::ranges::copy(theirs, memory.local().begin());
    }
    if (command.engine() == Engine::Dma) {
      const DmaCommand dma = readDma(memory.chip(), command);
      const uint64_t begin = dma.dst.isLocal ? 0 : memory.bases[dma.dst.base] + dma.dst.address;
      const uint64_t bytes = dma.dst.isLocal ? 0 : globalBytes(dma, dma.dst);
      if (!dma.dst.isLocal && begin <= memory.global().size())
        isSame &= compareGlobal(memory, begin, std::min(bytes, memory.global().size() - begin), "");
    }
    if (isSame)
      return;
    ++report.differing;
    fmt::print(stderr, "  {}\n", report.current);
  }

  bool compareGlobal(Memory &memory, uint64_t begin, uint64_t bytes, std::string_view what) {
    const std::span<uint8_t> here = memory.global().subspan(begin, bytes);
    const std::span<uint8_t> there = vendor->global(memory.global().size()).subspan(begin, bytes);
    if (bytes == 0 || std::memcmp(here.data(), there.data(), bytes) == 0)
      return true;
    show(here, there, what.empty() ? "global memory" : what);
    std::ranges::copy(there, here.begin());
    if (!what.empty())
      ++report.differing;
    return false;
  }

  static void show(std::span<const uint8_t> here, std::span<const uint8_t> there,
                   std::string_view what) {
    size_t count = 0;
    size_t first = here.size();
    for (size_t i = here.size(); i-- > 0;)
      if (here[i] != there[i]) {
        ++count;
        first = i;
      }
    fmt::print(stderr, "{}: {} bytes differ, first at {:#x}: {:02x}, vendor {:02x}\n", what, count,
               first, here[first], there[first]);
  }

  std::unique_ptr<Device> ours;
  const model::Stage &stage;
  std::optional<Vendor> vendor;
  std::vector<Command> commands;
  std::vector<uint8_t> theirs;
};

class ReplayProgram : public runtime::Program {
public:
  ReplayProgram(std::shared_ptr<const Program> program, const model::Stage &stage)
      : ours(std::move(program)), stage(stage) {}

  Expected<std::unique_ptr<runtime::Device>> createDevice(unsigned numThreads) const override {
    auto device = ours->createDevice(numThreads);
    if (!device)
      return device;
    auto made = std::make_unique<ReplayDevice>(std::move(*device), stage);
    if (Expected<void> done = made->prepare(); !done)
      return propagate(done);
    return made;
  }

private:
  std::shared_ptr<const Program> ours;
  const model::Stage &stage;
};

class ReplayDriver : public runtime::DeviceDriver {
public:
  std::string_view name() const override { return runtime::cv18xx::driver().name(); }
  Expected<std::vector<std::vector<std::string>>>
  disassemble(const model::CommandGroup &group, const std::string &where) const override {
    return runtime::cv18xx::driver().disassemble(group, where);
  }
  Expected<std::shared_ptr<const runtime::Program>> load(const model::Stage &stage,
                                                         const std::string &where) const override {
    auto program = runtime::cv18xx::driver().load(stage, where);
    if (!program)
      return program;
    return std::make_shared<ReplayProgram>(std::move(*program), stage);
  }
};

Expected<void> replay(const std::string &file, const std::string &inputs) {
  static const ReplayDriver driver;
  static const runtime::DeviceDriver *const drivers[] = {&driver};
  runtime::Platform platform;
  platform.drivers = drivers;
  auto loaded = runtime::LoadedModel::load(file, platform);
  if (!loaded)
    return propagate(loaded);
  auto npz = NpzReader::open(inputs);
  if (!npz)
    return propagate(npz);
  auto session = runtime::Session::create(*loaded, {}, 1);
  if (!session)
    return propagate(session);
  const auto &wanted = (*session)->stage().inputs;
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto array = npz->read(wanted[i].name);
    if (!array)
      return propagate(array);
    if (Expected<void> done = (*session)->setInput(i, *array); !done)
      return done;
  }
  return (*session)->run();
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: cv18xx-replay LIBRARY MODEL.cvimodel INPUT.npz\n");
    return 1;
  }
  report.library = argv[1];
  std::signal(SIGABRT, dieAt);
  const Expected<void> done = replay(argv[2], argv[3]);
  if (!done) {
    fmt::print(stderr, "cv18xx-replay: error: {}\n", done.error().message());
    return 1;
  }
  const std::string said = fmt::format("{} of {} commands leave the same bytes",
                                       report.commands - report.differing, report.commands);
  fmt::print("{}\n", said);
  if (report.differing == 0 && report.commands != 0)
    return 0;
  fmt::print(stderr, "{}\n", said);
  return 1;
}
