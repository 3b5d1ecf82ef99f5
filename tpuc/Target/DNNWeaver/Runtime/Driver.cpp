//===- Driver.cpp - Stages on the simulated array -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/DeviceDriver.h"
#include "tpuc/Target/DNNWeaver/Machine/HostMoves.h"
#include "tpuc/Target/DNNWeaver/Machine/Simulator.h"
#include "tpuc/Target/DNNWeaver/Machine/Timing.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace tpuc::runtime {

namespace {

namespace machine = tpuc::dnnweaver;
using machine::HostMove;
using machine::Interval;
using machine::Parameters;

/// Boards with the array have no more.
constexpr uint64_t kMostMemory = uint64_t{1} << 32;

std::vector<uint32_t> wordsOf(model::Bytes bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  for (size_t i = 0; i < words.size() * 4; ++i)
    words[i / 4] |= std::to_integer<uint32_t>(bytes[i]) << (8 * (i % 4));
  return words;
}

/// One group: records of the host, or a program of the array.
struct Group {
  uint32_t subNet = 0, number = 0;
  bool isHost = false;
  std::vector<HostMove> moves;
  std::vector<machine::Block> blocks;
};

/// Reads groups in their order. The machine is known from the first record on.
class GroupReader {
public:
  Expected<Group> read(const model::CommandGroup &group, const std::string &where);
  const std::optional<Parameters> &parameters() const { return known; }

private:
  std::optional<Parameters> known;
};

Expected<Group> GroupReader::read(const model::CommandGroup &group, const std::string &where) {
  Group made;
  if (group.streams.size() != 1)
    return makeError(where, fmt::format("{} streams in a group", group.streams.size()), "one");
  const model::Stream &stream = group.streams.front();
  uint64_t commands = 0;
  if (stream.engine == machine::kHostStream) {
    made.isHost = true;
    Expected<std::vector<HostMove>> moves = machine::decodeMoves(stream.code, where);
    if (!moves)
      return propagate(moves);
    made.moves = std::move(*moves);
    commands = made.moves.size();
    for (const HostMove &move : made.moves)
      if (move.kind == HostMove::Kind::Machine) {
        Expected<Parameters> named = machine::machineOf(move, where);
        if (!named)
          return propagate(named);
        known = *named;
      }
  } else if (stream.engine == machine::kArrayStream) {
    if (!known)
      return makeError(where, "a program before a record that names its machine", "one");
    if (stream.code.size() % 4 != 0)
      return makeError(where, fmt::format("{} bytes of words", stream.code.size()),
                       "a multiple of 4");
    const std::vector<uint32_t> words = wordsOf(stream.code);
    commands = words.size();
    Expected<std::vector<machine::Block>> blocks = machine::readProgram(*known, words, where);
    if (!blocks)
      return propagate(blocks);
    for (size_t i = 0; i < blocks->size(); ++i)
      if (Expected<void> checked =
              machine::checkBlock(*known, (*blocks)[i], fmt::format("{}: block {}", where, i));
          !checked)
        return propagate(checked);
    made.blocks = std::move(*blocks);
  } else {
    return makeError(where, fmt::format("commands for an engine '{}'", stream.engine),
                     fmt::format("{} or {}", machine::kHostStream, machine::kArrayStream));
  }
  if (commands != stream.numCommands)
    return makeError(where, fmt::format("{} commands", commands),
                     fmt::format("{}, which the file states", stream.numCommands));
  return made;
}

class DNNWeaverProgram : public Program {
public:
  Expected<std::unique_ptr<Device>> createDevice(unsigned numThreads) const override;

  Parameters parameters;
  std::vector<Group> groups;
  uint64_t contextAddress = 0, contextSize = 0, end = 0;
  std::vector<model::Section> constants;
};

class DNNWeaverDevice : public Device {
public:
  explicit DNNWeaverDevice(const DNNWeaverProgram &program) : program(program) {}

  Expected<void> map() {
    // Pages that nothing touches take no memory.
    storage.reset(static_cast<uint8_t *>(std::calloc(std::max<uint64_t>(program.end, 1), 1)));
    if (!storage)
      return makeError("device", fmt::format("no memory for {} bytes", program.end));
    for (const model::Section &section : program.constants)
      if (!section.data.empty())
        std::memcpy(storage.get() + section.address, section.data.data(), section.data.size());
    return {};
  }

  std::span<std::byte> contextBytes(uint64_t address, uint64_t size) override {
    if (address < program.contextAddress ||
        address - program.contextAddress > program.contextSize ||
        size > program.contextSize - (address - program.contextAddress))
      return {};
    return {reinterpret_cast<std::byte *>(storage.get()) + address, size};
  }

  Expected<void> run(uint32_t subNet, const RunHooks &hooks) override {
    for (const Group &group : program.groups)
      if (group.subNet == subNet)
        if (Expected<void> done = runGroup(group, hooks); !done)
          return done;
    return {};
  }

private:
  Expected<void> runGroup(const Group &group, const RunHooks &hooks) {
    const std::span<uint8_t> memory(storage.get(), program.end);
    const std::string where = fmt::format("group {}", group.number);
    if (!group.isHost)
      return machine::runBlocks(program.parameters, group.blocks, memory, where);
    for (uint32_t i = 0; i < group.moves.size(); ++i) {
      const CommandEvent event = {group.subNet, group.number, 0, i, "move"};
      if (hooks.before)
        hooks.before(event);
      if (Expected<void> done = machine::runMove(group.moves[i], memory, where); !done)
        return done;
      if (hooks.after)
        hooks.after(event);
    }
    return {};
  }

  const DNNWeaverProgram &program;
  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t, Free> storage;
};

Expected<std::unique_ptr<Device>> DNNWeaverProgram::createDevice(unsigned) const {
  auto device = std::make_unique<DNNWeaverDevice>(*this);
  if (Expected<void> mapped = device->map(); !mapped)
    return propagate(mapped);
  return device;
}

//===--- Time ---------------------------------------------------------------===//

/// Puts the intervals of all blocks together, in the form of every chip's reports.
class TimeLine {
public:
  explicit TimeLine(const model::CompiledModel &model) : model(model) {
    result.engines.resize(machine::kUnitNames.size());
    set.spans.resize(machine::kUnitNames.size());
    set.engineCycles.resize(machine::kUnitNames.size());
    set.name = "cycle simulator";
    for (size_t i = 0; i < machine::kUnitNames.size(); ++i) {
      result.engines[i].name = machine::kUnitNames[i];
      result.engines[i].computes = static_cast<Interval::Unit>(i) == Interval::Unit::Array ||
                                   static_cast<Interval::Unit>(i) == Interval::Unit::Alu;
    }
  }

  Expected<void> add(const Parameters &parameters, const Group &group, const model::Stream &stream,
                     const std::string &where);
  model::TimingResult take(const Parameters &parameters);

private:
  void addBlock(const Parameters &parameters, const machine::Block &block, uint32_t layer);
  model::TimingResult::LayerTime &timeOf(uint32_t layer);

  const model::CompiledModel &model;
  model::TimingResult result;
  model::TimingResult::ParameterSet set;
  std::map<uint32_t, size_t> places;
  std::array<int64_t, machine::kUnitNames.size()> counts = {};
};

model::TimingResult::LayerTime &TimeLine::timeOf(uint32_t layer) {
  const auto [place, isNew] = places.emplace(layer, result.layers.size());
  if (isNew) {
    model::TimingResult::LayerTime &time = result.layers.emplace_back();
    time.name = model.layers[layer];
    time.commands.resize(machine::kUnitNames.size());
    time.cycles.assign(1, std::vector<int64_t>(machine::kUnitNames.size()));
    result.layerNames.push_back(time.name);
  }
  return result.layers[place->second];
}

void TimeLine::addBlock(const Parameters &parameters, const machine::Block &block, uint32_t layer) {
  std::vector<Interval> intervals;
  const machine::BlockCycles cycles = machine::blockCycles(parameters, block, &intervals);
  model::TimingResult::LayerTime &time = timeOf(layer);
  const auto number = static_cast<uint32_t>(places.at(layer));
  const bool pairs = block.pairs.has_value();
  const auto bytesOf = [&](Interval::Unit unit) -> int64_t {
    const auto walked = [&](machine::Buffer buffer, const machine::Levels &walk) {
      return static_cast<int64_t>(machine::tripsOf(walk) * block.request[index(buffer)] *
                                  parameters.wordBytes(buffer, pairs) *
                                  machine::placesOf(block, buffer));
    };
    switch (unit) {
    case Interval::Unit::LoadInput:
      return walked(machine::Buffer::Input, block.walks[index(machine::Buffer::Input)]);
    case Interval::Unit::LoadOutput:
      return walked(machine::Buffer::Output, block.walks[index(machine::Buffer::Output)]);
    case Interval::Unit::LoadWeight:
      return walked(machine::Buffer::Weight, block.walks[index(machine::Buffer::Weight)]);
    case Interval::Unit::LoadBias:
      return walked(machine::Buffer::Bias, block.walks[index(machine::Buffer::Bias)]);
    case Interval::Unit::Store:
      return walked(machine::Buffer::Output, block.storeWalk);
    case Interval::Unit::Alu:
      return static_cast<int64_t>(machine::storedWords(block.alu) * parameters.columns *
                                  parameters.dataBits / 8);
    case Interval::Unit::Array:
      return 0;
    }
    return 0;
  };
  const auto steps = static_cast<int64_t>(machine::tripsOf(block.array));
  const int64_t macs = steps * parameters.rows * parameters.columns * (pairs ? 2 : 1);
  for (const Interval &interval : intervals) {
    const auto unit = static_cast<size_t>(interval.unit);
    const auto length = static_cast<int64_t>(interval.end - interval.begin);
    model::TimingResult::Command command;
    command.operation = command.kind = machine::kUnitNames[unit];
    command.id = static_cast<uint32_t>(++counts[unit]);
    command.bytes = bytesOf(interval.unit);
    command.macs = interval.unit == Interval::Unit::Array ? macs : 0;
    command.layer = number;
    set.spans[unit].push_back({set.cycles + static_cast<int64_t>(interval.begin), length});
    set.engineCycles[unit] += length;
    time.commands[unit] += 1;
    time.cycles[0][unit] += length;
    time.macs += command.macs;
    if (interval.unit == Interval::Unit::Array) {
      // Each step uses all multipliers, whether channels fill the words or not.
      time.macCycles += static_cast<double>(steps);
      set.macCycles += static_cast<double>(steps);
    }
    time.bytes += command.bytes;
    result.macs += command.macs;
    result.globalBytes += command.bytes;
    const bool isWritten =
        interval.unit == Interval::Unit::Store || interval.unit == Interval::Unit::Alu;
    (isWritten ? result.bytesWritten : result.bytesRead) += static_cast<uint64_t>(command.bytes);
    result.engines[unit].commands.push_back(command);
  }
  set.cycles += static_cast<int64_t>(cycles.total);
}

Expected<void> TimeLine::add(const Parameters &parameters, const Group &group,
                             const model::Stream &stream, const std::string &where) {
  uint32_t word = 0;
  for (const machine::Block &block : group.blocks) {
    const std::optional<uint32_t> layer = model::layerOfCommand(stream.layers, word);
    if (!layer)
      return makeError(where, fmt::format("word {} of no layer", word), "a layer for each");
    addBlock(parameters, block, *layer);
    const auto words = machine::writeProgram(parameters, {&block, 1}, where);
    if (!words)
      return tl::unexpected(words.error());
    word += static_cast<uint32_t>(words->size());
  }
  return {};
}

model::TimingResult TimeLine::take(const Parameters &parameters) {
  result.clockHz = 1e6 * parameters.megahertz;
  set.globalCycles = static_cast<double>(result.globalBytes) / parameters.portBytes;
  for (size_t i = 0; i < machine::kUnitNames.size(); ++i)
    result.kinds.push_back({machine::kUnitNames[i], counts[i], {set.engineCycles[i]}});
  std::ranges::stable_sort(result.kinds, std::greater<>(),
                           [](const auto &kind) { return kind.cycles[0]; });
  result.sets.push_back(std::move(set));
  return std::move(result);
}

class DNNWeaverDriver : public DeviceDriver {
public:
  std::string_view name() const override { return "DNNWeaver"; }
  Expected<std::vector<std::vector<std::string>>>
  disassemble(const model::CommandGroup &group, const std::string &where) const override;
  Expected<std::shared_ptr<const Program>> load(const model::Stage &stage,
                                                const std::string &where) const override;
  Expected<model::TimingResult> time(const model::CompiledModel &model, const model::Stage &stage,
                                     const std::string &where) const override;
};

/// A group by itself does not say which machine it is for. The words of the public machine mean the
/// same on the patent's.
Expected<std::vector<std::vector<std::string>>>
DNNWeaverDriver::disassemble(const model::CommandGroup &group, const std::string &where) const {
  std::vector<std::vector<std::string>> listing;
  for (const model::Stream &stream : group.streams) {
    std::vector<std::string> &lines = listing.emplace_back();
    if (stream.engine == machine::kHostStream) {
      const auto moves = machine::decodeMoves(stream.code, where);
      if (!moves)
        return tl::unexpected(moves.error());
      for (const HostMove &move : *moves)
        lines.push_back(machine::moveText(move));
      continue;
    }
    const std::vector<uint32_t> words = wordsOf(stream.code);
    const auto commands = machine::decodeWords(machine::IsaKind::Patent, words, where);
    if (!commands)
      return tl::unexpected(commands.error());
    if (machine::encodeWords(*commands) != words)
      return makeError(where, "words that give others when they are written again");
    for (const mc::Command &command : *commands) {
      std::string line = machine::disassembleWords({&command, 1});
      while (!line.empty() && line.back() == '\n')
        line.pop_back();
      lines.push_back(std::move(line));
    }
  }
  return listing;
}

Expected<std::shared_ptr<const Program>> DNNWeaverDriver::load(const model::Stage &stage,
                                                               const std::string &where) const {
  auto program = std::make_shared<DNNWeaverProgram>();
  program->contextAddress = stage.activationAddress;
  program->contextSize = stage.activationBytes;
  const auto add = [&](uint64_t address, uint64_t size, std::string_view what) -> Expected<void> {
    if (address > kMostMemory || size > kMostMemory - address)
      return makeError(where, fmt::format("{} bytes of {} at {:#x}", size, what, address),
                       "memory below 2^32");
    program->end = std::max(program->end, address + size);
    return {};
  };
  if (auto done = add(stage.activationAddress, stage.activationBytes, "activations"); !done)
    return propagate(done);
  for (const model::Section &section : stage.constants)
    if (auto done = add(section.address, section.data.size(), "constants"); !done)
      return propagate(done);
  program->constants = stage.constants;
  GroupReader reader;
  for (const uint32_t subNet : stage.chipOrder())
    for (uint32_t i = 0; i < stage.subNets[subNet].groups.size(); ++i) {
      Expected<Group> group =
          reader.read(stage.subNets[subNet].groups[i], fmt::format("{}, group {}", where, i));
      if (!group)
        return propagate(group);
      group->subNet = subNet;
      group->number = i;
      program->groups.push_back(std::move(*group));
    }
  if (reader.parameters())
    program->parameters = *reader.parameters();
  return program;
}

Expected<model::TimingResult> DNNWeaverDriver::time(const model::CompiledModel &model,
                                                    const model::Stage &stage,
                                                    const std::string &where) const {
  GroupReader reader;
  TimeLine line(model);
  for (const uint32_t subNet : stage.chipOrder())
    for (const model::CommandGroup &group : stage.subNets[subNet].groups) {
      const Expected<Group> read = reader.read(group, where);
      if (!read)
        return tl::unexpected(read.error());
      if (read->isHost)
        continue;
      if (auto done = line.add(*reader.parameters(), *read, group.streams.front(), where); !done)
        return propagate(done);
    }
  return line.take(reader.parameters().value_or(Parameters()));
}

} // namespace

const DeviceDriver &driverDNNWeaver();
const DeviceDriver &driverDNNWeaver() {
  static const DNNWeaverDriver driver;
  return driver;
}

} // namespace tpuc::runtime
