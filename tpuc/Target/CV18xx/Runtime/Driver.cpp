//===- Driver.cpp - Stages on the simulated CV18xx chips ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Runtime/Driver.h"

#include "tpuc/Target/CV18xx/Runtime/TimeLine.h"
#include "tpuc/Target/Common/Stream.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace tpuc::runtime::cv18xx {

static std::span<const uint8_t> octets(model::Bytes bytes) {
  return {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()};
}

/// The chip of a group's only stream. The first byte of each command says it again.
Expected<const tpuc::cv18xx::Chip *> chipOf(const model::CommandGroup &group,
                                            const std::string &where) {
  if (group.streams.size() != 1)
    return makeError(where, fmt::format("{} streams in a group", group.streams.size()), "one");
  const tpuc::cv18xx::Chip *chip = tpuc::cv18xx::findChip(group.streams[0].engine);
  if (chip)
    return chip;
  std::vector<std::string_view> names;
  for (const tpuc::cv18xx::Chip &each : tpuc::cv18xx::allChips())
    names.push_back(each.name);
  return makeError(where, fmt::format("commands for '{}'", group.streams[0].engine),
                   fmt::format("{}", fmt::join(names, ", ")));
}

Expected<std::vector<tpuc::cv18xx::Command>> commandsOf(const tpuc::cv18xx::Chip &chip,
                                                        const model::CommandGroup &group,
                                                        const std::string &where) {
  const model::Stream &stream = group.streams[0];
  auto parsed = mc::parseStream(tpuc::cv18xx::commandTable(chip), tpuc::cv18xx::streamOf(chip),
                                octets(stream.code), where);
  if (!parsed)
    return parsed;
  if (parsed->size() != stream.numCommands)
    return makeError(where, fmt::format("{} commands", parsed->size()),
                     fmt::format("{}, which the file states", stream.numCommands));
  const std::vector<uint8_t> again = mc::encodeStream(tpuc::cv18xx::streamOf(chip), *parsed);
  if (!std::ranges::equal(again, octets(stream.code)))
    return makeError(where, "commands that give others when they are encoded again");
  return parsed;
}

} // namespace tpuc::runtime::cv18xx

namespace tpuc::runtime {

namespace {

namespace machine = tpuc::cv18xx;
using machine::Command;

/// Addresses have the number of a region in these bits, which is that of a base register.
constexpr unsigned kRegionShift = 40;
constexpr uint64_t kOffsetMask = (uint64_t{1} << kRegionShift) - 1;
/// Boards have less.
constexpr uint64_t kMostMemory = uint64_t{1} << 32;
constexpr uint64_t kRegionAlignment = 64;

struct Region {
  uint64_t begin = 0, bytes = 0;
};
using Regions = std::array<Region, machine::kNumBases>;

/// Finds how large the regions are: as far as tensors, constants and commands reach.
class RegionFinder {
public:
  explicit RegionFinder(const std::string &where) : where(where) {}

  Expected<void> addTensors(std::span<const model::TensorInfo> tensors);
  Expected<void> addConstants(const model::Section &section) {
    return add(section.address, section.data.size(), "constants");
  }
  Expected<void> addCommand(const machine::Chip &chip, const Command &command);
  /// One behind the other. Errors: more than any board has.
  Expected<Regions> place();

private:
  Expected<void> add(uint64_t address, uint64_t bytes, std::string_view what);

  const std::string &where;
  Regions regions;
};

Expected<void> RegionFinder::add(uint64_t address, uint64_t bytes, std::string_view what) {
  const uint64_t region = address >> kRegionShift;
  const uint64_t offset = address & kOffsetMask;
  if (region >= regions.size() || bytes > kMostMemory || offset > kMostMemory)
    return makeError(
        where, fmt::format("{}: {} bytes at {:#x}", what, bytes, address),
        fmt::format("one of {} regions of at most {} bytes", regions.size(), kMostMemory));
  regions[region].bytes = std::max(regions[region].bytes, offset + bytes);
  return {};
}

Expected<void> RegionFinder::addTensors(std::span<const model::TensorInfo> tensors) {
  for (const model::TensorInfo &tensor : tensors) {
    uint64_t bytes = tensor.type ? std::max(1u, bitWidth(*tensor.type) / 8) : 8;
    for (const uint64_t extent : tensor.shape)
      if (__builtin_mul_overflow(bytes, extent, &bytes))
        bytes = kMostMemory + 1;
    if (!tensor.isOnHost)
      if (Expected<void> done = add(tensor.address, bytes, tensor.name); !done)
        return done;
  }
  return {};
}

Expected<void> RegionFinder::addCommand(const machine::Chip &chip, const Command &command) {
  if (command.engine() != machine::Engine::Dma)
    return {};
  const machine::DmaCommand dma = machine::readDma(chip, command);
  for (const machine::DmaCommand::Side *side : {&dma.src, &dma.dst}) {
    const bool isUnused = side == &dma.src && dma.move == machine::Move::Fill;
    if (side->isLocal || isUnused)
      continue;
    if (side->address > kOffsetMask)
      return makeError(where, fmt::format("command {} at {:#x}", command.id(), side->address),
                       "an offset in a region");
    if (Expected<void> done = add(uint64_t{side->base} << kRegionShift | side->address,
                                  machine::globalBytes(dma, *side), "a command");
        !done)
      return done;
  }
  return {};
}

Expected<Regions> RegionFinder::place() {
  uint64_t at = 0;
  for (Region &region : regions) {
    region.begin = at;
    at += (region.bytes + kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
  }
  if (at > kMostMemory)
    return makeError(where, fmt::format("{} bytes of memory", at),
                     fmt::format("at most {}", kMostMemory));
  return regions;
}

class CV18xxProgram : public Program {
public:
  struct Group {
    uint32_t subNet, number;
    std::vector<Command> commands;
  };

  Expected<std::unique_ptr<Device>> createDevice(unsigned numThreads) const override;

  const machine::Chip *chip = nullptr;
  std::vector<Group> groups;
  Regions regions;
  std::vector<model::Section> constants;
};

class CV18xxDevice : public cv18xx::SimulatedDevice {
public:
  explicit CV18xxDevice(const CV18xxProgram &program) : program(program) {}

  Expected<void> map() {
    uint64_t size = 0;
    for (const Region &region : program.regions)
      size = std::max(size, region.begin + region.bytes);
    // Pages that nothing touches take no memory.
    storage.reset(static_cast<uint8_t *>(std::calloc(std::max<uint64_t>(size, 1), 1)));
    if (!storage)
      return makeError("device", fmt::format("no memory for {} bytes", size));
    memory.emplace(*program.chip, std::span<uint8_t>(storage.get(), size));
    for (size_t i = 0; i < program.regions.size(); ++i)
      memory->bases[i] = program.regions[i].begin;
    for (const model::Section &section : program.constants) {
      const std::span<std::byte> place = contextBytes(section.address, section.data.size());
      std::ranges::copy(section.data, place.begin());
    }
    return {};
  }

  machine::Memory &machineMemory() override { return *memory; }

  std::span<std::byte> contextBytes(uint64_t address, uint64_t size) override {
    const uint64_t number = address >> kRegionShift;
    const uint64_t offset = address & kOffsetMask;
    if (number >= program.regions.size() || offset > program.regions[number].bytes ||
        size > program.regions[number].bytes - offset)
      return {};
    return {reinterpret_cast<std::byte *>(storage.get()) + program.regions[number].begin + offset,
            size};
  }

  Expected<void> run(uint32_t subNet, const RunHooks &hooks) override {
    for (const CV18xxProgram::Group &group : program.groups)
      if (group.subNet == subNet)
        if (Expected<void> done = runGroup(group, hooks); !done)
          return done;
    return {};
  }

private:
  /// In the order of the stream, in which no command waits for a later one.
  Expected<void> runGroup(const CV18xxProgram::Group &group, const RunHooks &hooks) {
    for (uint32_t i = 0; i < group.commands.size(); ++i) {
      const Command &command = group.commands[i];
      const CommandEvent event = {group.subNet, group.number, 0, i, command.operation().name};
      if (hooks.before)
        hooks.before(event);
      if (Expected<void> done = machine::runCommand(*memory, command, fmt::format("command {}", i));
          !done)
        return done;
      if (hooks.after)
        hooks.after(event);
    }
    return {};
  }

  const CV18xxProgram &program;
  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t, Free> storage;
  std::optional<machine::Memory> memory;
};

Expected<std::unique_ptr<Device>> CV18xxProgram::createDevice(unsigned) const {
  auto device = std::make_unique<CV18xxDevice>(*this);
  if (Expected<void> mapped = device->map(); !mapped)
    return propagate(mapped);
  return device;
}

class CV18xxDriver : public DeviceDriver {
public:
  std::string_view name() const override { return "CV18xx"; }
  Expected<std::vector<std::vector<std::string>>>
  disassemble(const model::CommandGroup &group, const std::string &where) const override;
  Expected<std::shared_ptr<const Program>> load(const model::Stage &stage,
                                                const std::string &where) const override;
  Expected<model::TimingResult> time(const model::CompiledModel &model, const model::Stage &stage,
                                     const std::string &where) const override;
};

Expected<std::vector<std::vector<std::string>>>
CV18xxDriver::disassemble(const model::CommandGroup &group, const std::string &where) const {
  const auto chip = cv18xx::chipOf(group, where);
  if (!chip)
    return tl::unexpected(chip.error());
  const auto commands = cv18xx::commandsOf(**chip, group, where);
  if (!commands)
    return tl::unexpected(commands.error());
  std::vector<std::vector<std::string>> listing(1);
  for (const Command &command : *commands)
    listing[0].push_back(mc::disassemble(command));
  return listing;
}

Expected<std::shared_ptr<const Program>> CV18xxDriver::load(const model::Stage &stage,
                                                            const std::string &where) const {
  auto program = std::make_shared<CV18xxProgram>();
  RegionFinder finder(where);
  for (const model::Section &section : stage.constants)
    if (Expected<void> done = finder.addConstants(section); !done)
      return propagate(done);
  for (const auto *tensors : {&stage.inputs, &stage.outputs})
    if (Expected<void> done = finder.addTensors(*tensors); !done)
      return propagate(done);
  for (const model::SubNet &subNet : stage.subNets)
    for (const auto *tensors : {&subNet.inputs, &subNet.outputs})
      if (Expected<void> done = finder.addTensors(*tensors); !done)
        return propagate(done);
  for (const uint32_t subNet : stage.chipOrder())
    for (uint32_t i = 0; i < stage.subNets[subNet].groups.size(); ++i) {
      const model::CommandGroup &group = stage.subNets[subNet].groups[i];
      const auto chip = cv18xx::chipOf(group, where);
      if (!chip)
        return tl::unexpected(chip.error());
      if (program->chip && program->chip != *chip)
        return makeError(where,
                         fmt::format("commands for {} and {}", program->chip->name, (*chip)->name),
                         "one chip");
      program->chip = *chip;
      auto commands = cv18xx::commandsOf(**chip, group, where);
      if (!commands)
        return propagate(commands);
      if (std::optional<Error> error = machine::checkStream(**chip, *commands, where))
        return tl::unexpected(std::move(*error));
      for (const Command &command : *commands)
        if (Expected<void> done = finder.addCommand(**chip, command); !done)
          return propagate(done);
      program->groups.push_back({subNet, i, std::move(*commands)});
    }
  // A stage that the host computes alone.
  if (!program->chip)
    program->chip = machine::allChips().data();
  Expected<Regions> regions = finder.place();
  if (!regions)
    return propagate(regions);
  program->regions = *regions;
  program->constants = stage.constants;
  return program;
}

Expected<model::TimingResult> CV18xxDriver::time(const model::CompiledModel &model,
                                                 const model::Stage &stage,
                                                 const std::string &where) const {
  cv18xx::TimeLine line(model);
  const model::Bytes constants = stage.constants.empty() ? model::Bytes() : stage.constants[0].data;
  for (const uint32_t subNet : stage.chipOrder())
    for (const model::CommandGroup &group : stage.subNets[subNet].groups) {
      const auto chip = cv18xx::chipOf(group, where);
      if (!chip)
        return tl::unexpected(chip.error());
      const auto commands = cv18xx::commandsOf(**chip, group, where);
      if (!commands)
        return tl::unexpected(commands.error());
      if (std::optional<Error> error = machine::checkStream(**chip, *commands, where))
        return tl::unexpected(std::move(*error));
      line.add(**chip, *commands, group.streams[0], constants);
    }
  return line.take();
}

} // namespace

const DeviceDriver &driverCV18xx();
const DeviceDriver &driverCV18xx() {
  static const CV18xxDriver driver;
  return driver;
}

const DeviceDriver &cv18xx::driver() { return driverCV18xx(); }

} // namespace tpuc::runtime
