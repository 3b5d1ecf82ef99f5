//===- BM1684X.cpp - Stages on the simulated BM1684X ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Chips.h"
#include "tpuc/Support/ThreadPool.h"
#include "tpuc/Target/BM1684X/Machine/Simulator.h"
#include "tpuc/Target/BM1684X/Machine/TimingReport.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tpuc::runtime {

namespace {

namespace machine = tpuc::bm1684x;

std::span<const uint8_t> octets(bmodel::Bytes bytes) {
  return {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()};
}

struct Streams {
  std::vector<machine::Command> tiu, dma;
};

/// Both streams of a group, whose commands are as many as the file says.
Expected<Streams> parseGroup(const bmodel::CommandGroup &group, const std::string &where) {
  Streams streams;
  const auto parse = [&](machine::Engine engine, bmodel::Bytes bytes, uint32_t count,
                         const char *name,
                         std::vector<machine::Command> &commands) -> Expected<void> {
    if (bytes.empty())
      return {};
    auto parsed = machine::parseStream(engine, octets(bytes), where);
    if (!parsed)
      return propagate(parsed);
    if (parsed->size() != count)
      return makeError(where, fmt::format("{} {} commands", parsed->size(), name),
                       fmt::format("{}, which the file states", count));
    commands = std::move(*parsed);
    return {};
  };
  if (auto ok = parse(machine::Engine::Tiu, group.tiu, group.numTiu, "TIU", streams.tiu); !ok)
    return propagate(ok);
  if (auto ok = parse(machine::Engine::Gdma, group.dma, group.numDma, "DMA", streams.dma); !ok)
    return propagate(ok);
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
    uint32_t subNet, group;
    machine::Program program;
  };

  Expected<std::unique_ptr<Device>> createDevice(unsigned numThreads) const override;

  std::vector<Group> groups;
  uint64_t contextAddress = 0, contextSize = 0;
  uint64_t coefficientAddress = 0;
  bmodel::Bytes coefficients;
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
    if (!program.coefficients.empty())
      if (auto ok =
              memory.mapGlobalReadOnly(program.coefficientAddress, octets(program.coefficients));
          !ok)
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
          call({group.subNet, group.group, engine == 0 ? Engine::Tiu : Engine::Dma, done[engine],
                prepared.command.operation().name});
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

class BM1684XTimeLine : public TimeLine {
public:
  TimeEstimate estimate() const override {
    const machine::TimingReport &report = reports.vendor;
    const auto seconds = [](int64_t cycles) { return static_cast<double>(cycles) * 1e-9; };
    const auto bytes = [&](machine::Direction direction) {
      return static_cast<uint64_t>(report.bytes[static_cast<size_t>(direction)]);
    };
    const uint64_t inside = bytes(machine::Direction::SystemToSystem);
    return {.seconds = seconds(report.totalCycles),
            .conservativeSeconds = seconds(reports.conservative.totalCycles),
            .computeBusy = report.tiuShare(),
            .transferBusy = report.gdmaShare(),
            .macUtilisation = report.macUtilisation(),
            .bytesRead = bytes(machine::Direction::SystemToLocal) + inside,
            .bytesWritten = bytes(machine::Direction::LocalToSystem) + inside};
  }
  std::string trace() const override { return machine::timingTrace(reports, layers); }
  std::string csv() const override { return machine::timingCsv(reports, layers); }
  std::string summary() const override { return machine::timingSummary(reports, layers); }
  nlohmann::ordered_json json() const override { return machine::timingJson(reports, layers); }

  /// Adds a command group, which begins when all before it have ended.
  Expected<void> add(const bmodel::CommandGroup &group, uint32_t subNet, uint32_t index,
                     const LayerNames &names, const std::string &where);

private:
  machine::TimingReports reports;
  machine::CommandLayers layers;
};

Expected<void> BM1684XTimeLine::add(const bmodel::CommandGroup &group, uint32_t subNet,
                                    uint32_t index, const LayerNames &names,
                                    const std::string &where) {
  const auto streams = parseGroup(group, where);
  if (!streams)
    return tl::unexpected(streams.error());
  const auto next =
      machine::simulateTimings(std::span<const machine::Command>(streams->tiu),
                               std::span<const machine::Command>(streams->dma), where);
  if (!next)
    return tl::unexpected(next.error());
  reports.append(*next);
  const auto addNames = [&](std::vector<std::string> &list, Engine engine, size_t count) {
    for (uint32_t i = 0; i < count; ++i)
      list.emplace_back(names(subNet, index, engine, i));
  };
  addNames(layers.tiu, Engine::Tiu, streams->tiu.size());
  addNames(layers.gdma, Engine::Dma, streams->dma.size());
  return {};
}

class BM1684X : public Chip {
public:
  std::string_view name() const override { return "BM1684X"; }

  Expected<Listing> disassemble(const bmodel::CommandGroup &group,
                                const std::string &where) const override {
    const auto streams = parseGroup(group, where);
    if (!streams)
      return tl::unexpected(streams.error());
    Listing listing;
    if (auto ok = addLines(streams->tiu, where, listing.tiu); !ok)
      return propagate(ok);
    if (auto ok = addLines(streams->dma, where, listing.dma); !ok)
      return propagate(ok);
    return listing;
  }

  Expected<std::shared_ptr<const Program>> load(const bmodel::Stage &stage,
                                                std::span<const uint32_t> path,
                                                const std::string &where) const override {
    auto program = std::make_shared<BM1684XProgram>();
    program->contextAddress = stage.contextAddress;
    program->contextSize = stage.contextSize;
    for (uint64_t total = 0; const uint64_t size : stage.contextSizes)
      program->contextSize = std::max(program->contextSize, total += size);
    // The commands can only be right for memory that fits behind the chip's 40-bit addresses.
    constexpr uint64_t kGlobalEnd = uint64_t{1} << 40;
    if (program->contextSize > kGlobalEnd || stage.contextAddress > kGlobalEnd)
      return makeError(where,
                       fmt::format("{} bytes of activations at 0x{:X}", program->contextSize,
                                   stage.contextAddress),
                       "memory below 2^40");
    if (stage.coefficients) {
      program->coefficientAddress = stage.coefficients->address;
      program->coefficients = stage.coefficients->data;
    }
    for (const uint32_t subNet : path)
      for (uint32_t i = 0; i < stage.subNets[subNet].groups.size(); ++i) {
        const auto streams = parseGroup(stage.subNets[subNet].groups[i], where);
        if (!streams)
          return tl::unexpected(streams.error());
        auto created = machine::Program::create(streams->tiu, streams->dma, where);
        if (!created)
          return propagate(created);
        program->groups.push_back({subNet, i, std::move(*created)});
      }
    return program;
  }

  Expected<std::unique_ptr<const TimeLine>> time(const bmodel::Stage &stage,
                                                 std::span<const uint32_t> path,
                                                 const LayerNames &layers,
                                                 const std::string &where) const override {
    auto line = std::make_unique<BM1684XTimeLine>();
    for (const uint32_t subNet : path)
      for (uint32_t i = 0; i < stage.subNets[subNet].groups.size(); ++i)
        if (auto ok = line->add(stage.subNets[subNet].groups[i], subNet, i, layers, where); !ok)
          return propagate(ok);
    return line;
  }
};

} // namespace

const Chip &chipBM1684X() {
  static const BM1684X chip;
  return chip;
}

} // namespace tpuc::runtime
