//===- Driver.cpp - Stages on the simulated BM1684X -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/DeviceDriver.h"
#include "tpuc/Support/ThreadPool.h"
#include "tpuc/Target/BM1684X/Machine/Simulator.h"
#include "tpuc/Target/BM1684X/Machine/Streams.h"
#include "tpuc/Target/BM1684X/Machine/TimingReport.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace tpuc::runtime {

namespace {

namespace machine = tpuc::bm1684x;

std::span<const uint8_t> octets(model::Bytes bytes) {
  return {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()};
}

/// Which stream of a group has the commands of which engine, and these.
struct Streams {
  std::vector<machine::Command> tiu, dma;
  uint32_t tiuStream = 0, dmaStream = 0;
};

/// The commands of a stream, which are as many as the file says.
Expected<std::vector<machine::Command>>
parseStream(machine::Engine engine, const model::Stream &stream, const std::string &where) {
  if (stream.code.empty())
    return std::vector<machine::Command>();
  auto parsed = machine::parseStream(engine, octets(stream.code), where);
  if (!parsed)
    return propagate(parsed);
  if (parsed->size() != stream.numCommands)
    return makeError(where, fmt::format("{} {} commands", parsed->size(), stream.engine),
                     fmt::format("{}, which the file states", stream.numCommands));
  return std::move(*parsed);
}

/// All streams of a group.
Expected<Streams> parseGroup(const model::CommandGroup &group, const std::string &where) {
  Streams streams;
  for (uint32_t i = 0; i < group.streams.size(); ++i) {
    const model::Stream &stream = group.streams[i];
    const bool isTiu = stream.engine == machine::kTiuStream;
    if (!isTiu && stream.engine != machine::kDmaStream)
      return makeError(where, fmt::format("commands for an engine {}", stream.engine),
                       fmt::format("{} or {}", machine::kTiuStream, machine::kDmaStream));
    auto parsed = parseStream(isTiu ? machine::Engine::Tiu : machine::Engine::Gdma, stream, where);
    if (!parsed)
      return propagate(parsed);
    (isTiu ? streams.tiu : streams.dma) = std::move(*parsed);
    (isTiu ? streams.tiuStream : streams.dmaStream) = i;
  }
  return streams;
}

/// Each command as text from which the same bits come back.
Expected<void> addLines(std::span<const machine::Command> commands, const std::string &where,
                        std::vector<std::string> &lines) {
  for (const machine::Command &command : commands) {
    std::string line = machine::disassemble(command);
    const auto again = machine::assemble(line, where);
    if (!again)
      return tl::unexpected(again.error());
    if (!std::ranges::equal(again->encoded(), command.encoded()))
      return makeError(where, fmt::format("'{}' gives other bits than it came from", line));
    lines.push_back(std::move(line));
  }
  return {};
}

class BM1684XProgram : public Program {
public:
  struct Group {
    uint32_t subNet, group, tiuStream, dmaStream;
    machine::Program program;
  };

  Expected<std::unique_ptr<Device>> createDevice(unsigned numThreads) const override;

  std::vector<Group> groups;
  uint64_t contextAddress = 0, contextSize = 0;
  std::vector<model::Section> constants;
};

class BM1684XDevice : public Device {
public:
  BM1684XDevice(const BM1684XProgram &program, unsigned numThreads)
      : program(program), pool(numThreads) {}

  Expected<void> map() {
    // Pages that no command touches take no memory, whatever a damaged file asks for.
    storage.reset(static_cast<uint8_t *>(std::calloc(program.contextSize, 1)));
    if (!storage && program.contextSize > 0)
      return makeError("device",
                       fmt::format("no memory for {} bytes of activations", program.contextSize));
    context = {storage.get(), program.contextSize};
    for (const model::Section &section : program.constants)
      if (!section.data.empty())
        if (auto ok = memory.mapGlobalReadOnly(section.address, octets(section.data)); !ok)
          return ok;
    if (!context.empty())
      return memory.mapGlobal(program.contextAddress, context);
    return {};
  }

  std::span<std::byte> contextBytes(uint64_t address, uint64_t size) override {
    const uint64_t offset = address - program.contextAddress;
    if (address < program.contextAddress || offset > context.size() ||
        size > context.size() - offset)
      return {};
    return std::as_writable_bytes(context).subspan(offset, size);
  }

  Expected<void> run(uint32_t subNet, const RunHooks &hooks) override {
    for (const BM1684XProgram::Group &group : program.groups) {
      if (group.subNet != subNet)
        continue;
      std::array<uint32_t, 2> done{};
      const auto hook = [&](const machine::PreparedCommand &prepared, bool isDone) {
        const auto &call = isDone ? hooks.after : hooks.before;
        const size_t engine = prepared.command.engine() == machine::Engine::Tiu ? 0 : 1;
        if (call)
          call({group.subNet, group.group, engine == 0 ? group.tiuStream : group.dmaStream,
                done[engine], prepared.command.operation().name});
        if (isDone)
          ++done[engine];
      };
      const bool isHooked = hooks.before || hooks.after;
      if (auto ok =
              group.program.run(memory, pool, isHooked ? machine::Program::Hook(hook) : nullptr);
          !ok)
        return ok;
    }
    return {};
  }

private:
  const BM1684XProgram &program;
  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t, Free> storage;
  std::span<uint8_t> context;
  machine::Memory memory;
  ThreadPool pool;
};

Expected<std::unique_ptr<Device>> BM1684XProgram::createDevice(unsigned numThreads) const {
  auto device = std::make_unique<BM1684XDevice>(*this, numThreads);
  if (auto ok = device->map(); !ok)
    return propagate(ok);
  return device;
}

/// The time lines of command groups that follow each other.
class TimeLine {
public:
  explicit TimeLine(const model::CompiledModel &model) : model(model) {}

  /// Adds a command group, which begins when all before it have ended.
  Expected<void> add(const model::CommandGroup &group, const std::string &where);
  model::TimingResult result() const { return machine::timingResult(reports, layers); }

private:
  const model::CompiledModel &model;
  machine::TimingReports reports;
  machine::CommandLayers layers;
};

Expected<void> TimeLine::add(const model::CommandGroup &group, const std::string &where) {
  const auto streams = parseGroup(group, where);
  if (!streams)
    return tl::unexpected(streams.error());
  const auto next =
      machine::simulateTimings(std::span<const machine::Command>(streams->tiu),
                               std::span<const machine::Command>(streams->dma), where);
  if (!next)
    return tl::unexpected(next.error());
  reports.append(*next);
  const auto addNames = [&](std::vector<std::string> &list, uint32_t stream, size_t count) {
    for (uint32_t i = 0; i < count; ++i)
      list.emplace_back(model.layerName(group.streams[stream], i));
  };
  addNames(layers.tiu, streams->tiuStream, streams->tiu.size());
  addNames(layers.gdma, streams->dmaStream, streams->dma.size());
  return {};
}

class BM1684XDriver : public DeviceDriver {
public:
  std::string_view name() const override { return "BM1684X"; }
  Expected<std::vector<std::vector<std::string>>>
  disassemble(const model::CommandGroup &group, const std::string &where) const override;
  Expected<std::shared_ptr<const Program>> load(const model::Stage &stage,
                                                const std::string &where) const override;
  Expected<model::TimingResult> time(const model::CompiledModel &model, const model::Stage &stage,
                                     const std::string &where) const override;
};

Expected<std::vector<std::vector<std::string>>>
BM1684XDriver::disassemble(const model::CommandGroup &group, const std::string &where) const {
  const auto streams = parseGroup(group, where);
  if (!streams)
    return tl::unexpected(streams.error());
  std::vector<std::vector<std::string>> listing(group.streams.size());
  for (uint32_t i = 0; i < group.streams.size(); ++i)
    if (auto ok =
            addLines(group.streams[i].engine == machine::kTiuStream ? streams->tiu : streams->dma,
                     where, listing[i]);
        !ok)
      return propagate(ok);
  return listing;
}

Expected<std::shared_ptr<const Program>> BM1684XDriver::load(const model::Stage &stage,
                                                             const std::string &where) const {
  auto program = std::make_shared<BM1684XProgram>();
  program->contextAddress = stage.activationAddress;
  program->contextSize = stage.activationBytes;
  // The commands can only be right for memory that fits behind the chip's 40-bit addresses.
  constexpr uint64_t kGlobalEnd = uint64_t{1} << 40;
  if (program->contextSize > kGlobalEnd || program->contextAddress > kGlobalEnd)
    return makeError(where,
                     fmt::format("{} bytes of activations at 0x{:X}", program->contextSize,
                                 program->contextAddress),
                     "memory below 2^40");
  program->constants = stage.constants;
  for (const uint32_t subNet : stage.chipOrder())
    for (uint32_t i = 0; i < stage.subNets[subNet].groups.size(); ++i) {
      const auto streams = parseGroup(stage.subNets[subNet].groups[i], where);
      if (!streams)
        return tl::unexpected(streams.error());
      auto created = machine::Program::create(streams->tiu, streams->dma, where);
      if (!created)
        return propagate(created);
      program->groups.push_back(
          {subNet, i, streams->tiuStream, streams->dmaStream, std::move(*created)});
    }
  return program;
}

Expected<model::TimingResult> BM1684XDriver::time(const model::CompiledModel &model,
                                                  const model::Stage &stage,
                                                  const std::string &where) const {
  TimeLine line(model);
  for (const uint32_t subNet : stage.chipOrder())
    for (const model::CommandGroup &group : stage.subNets[subNet].groups)
      if (auto ok = line.add(group, where); !ok)
        return propagate(ok);
  return line.result();
}

} // namespace

const DeviceDriver &driverBM1684X();
const DeviceDriver &driverBM1684X() {
  static const BM1684XDriver driver;
  return driver;
}

} // namespace tpuc::runtime
