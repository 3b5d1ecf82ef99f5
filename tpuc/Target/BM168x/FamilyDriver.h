//===- FamilyDriver.h - The device driver of a chip of the family  -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_FAMILYDRIVER_H
#define TPUC_TARGET_BM168X_FAMILYDRIVER_H

#include "runtime/DeviceDriver.h"
#include "tpuc/Support/ThreadPool.h"
#include "tpuc/Target/BM168x/TimingReport.h"

#include <array>
#include <cstdlib>
#include <fmt/format.h>

namespace tpuc::bm168x {

/// The same bytes as machines take them.
inline std::span<const uint8_t> octets(model::Bytes bytes) {
  return {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()};
}

/// Which stream of a group has the commands of which engine, and these.
struct GroupStreams {
  std::vector<mc::Command> tiu, dma;
  uint32_t tiuStream = 0, dmaStream = 0;
};

/// All streams of a group, which are named like those of the table: the TIU's, then the GDMA's.
/// Errors: those of `mc::parseStream`, other engines, other numbers of commands than the file says.
Expected<GroupStreams> parseGroup(const mc::CommandTable &table, const model::CommandGroup &group,
                                  const std::string &where);

/// Each command as text from which the same bits come back.
Expected<std::vector<std::vector<std::string>>> listGroup(const mc::CommandTable &table,
                                                          const model::CommandGroup &group,
                                                          const std::string &where);

template <typename Chip> class FamilyProgram : public runtime::Program {
public:
  struct Group {
    uint32_t subNet, group, tiuStream, dmaStream;
    typename Chip::Program program;
  };

  Expected<std::unique_ptr<runtime::Device>> createDevice(unsigned numThreads) const override;

  std::vector<Group> groups;
  uint64_t contextAddress = 0, contextSize = 0;
  std::vector<model::Section> constants;
};

template <typename Chip> class FamilyDevice : public runtime::Device {
public:
  FamilyDevice(const FamilyProgram<Chip> &program, unsigned numThreads)
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

  Expected<void> run(uint32_t subNet, const runtime::RunHooks &hooks) override {
    for (const typename FamilyProgram<Chip>::Group &group : program.groups) {
      if (group.subNet != subNet)
        continue;
      std::array<uint32_t, 2> done{};
      const auto hook = [&](const typename Chip::PreparedCommand &prepared, bool isDone) {
        const auto &call = isDone ? hooks.after : hooks.before;
        const size_t engine = prepared.command.engine() == mc::EngineId(Engine::Tiu) ? 0 : 1;
        if (call)
          call({group.subNet, group.group, engine == 0 ? group.tiuStream : group.dmaStream,
                done[engine], prepared.command.operation().name});
        if (isDone)
          ++done[engine];
      };
      const bool isHooked = hooks.before || hooks.after;
      if (auto ok = group.program.run(memory, pool,
                                      isHooked ? typename Chip::Program::Hook(hook) : nullptr);
          !ok)
        return ok;
    }
    return {};
  }

private:
  const FamilyProgram<Chip> &program;
  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t, Free> storage;
  std::span<uint8_t> context;
  typename Chip::Memory memory;
  ThreadPool pool;
};

template <typename Chip>
Expected<std::unique_ptr<runtime::Device>>
FamilyProgram<Chip>::createDevice(unsigned numThreads) const {
  auto device = std::make_unique<FamilyDevice<Chip>>(*this, numThreads);
  if (auto ok = device->map(); !ok)
    return propagate(ok);
  return device;
}

/// The time lines of command groups that follow each other.
template <typename Chip> class FamilyTimeLine {
public:
  explicit FamilyTimeLine(const model::CompiledModel &model) : model(model) {}

  /// Adds a command group, which begins when all before it have ended.
  Expected<void> add(const model::CommandGroup &group, const std::string &where);
  model::TimingResult result() const { return Chip::timingResult(reports, layers); }

private:
  const model::CompiledModel &model;
  typename Chip::TimingReports reports;
  CommandLayers layers;
};

template <typename Chip>
Expected<void> FamilyTimeLine<Chip>::add(const model::CommandGroup &group,
                                         const std::string &where) {
  const auto streams = parseGroup(Chip::table(), group, where);
  if (!streams)
    return tl::unexpected(streams.error());
  const auto next = Chip::simulateTimings(streams->tiu, streams->dma, where);
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

/// The driver of a chip of the family. `Chip` has the name in model files (`kName`), the command
/// `table()`, the machine's `Program`, `PreparedCommand` and `Memory`, and for its time
/// `TimingReports`, `simulateTimings(tiu, gdma, where)` and `timingResult(reports, layers)`.
template <typename Chip> class FamilyDriver : public runtime::DeviceDriver {
public:
  std::string_view name() const override { return Chip::kName; }
  Expected<std::vector<std::vector<std::string>>>
  disassemble(const model::CommandGroup &group, const std::string &where) const override {
    return listGroup(Chip::table(), group, where);
  }
  Expected<std::shared_ptr<const runtime::Program>> load(const model::Stage &stage,
                                                         const std::string &where) const override;
  Expected<model::TimingResult> time(const model::CompiledModel &model, const model::Stage &stage,
                                     const std::string &where) const override;
};

template <typename Chip>
Expected<std::shared_ptr<const runtime::Program>>
FamilyDriver<Chip>::load(const model::Stage &stage, const std::string &where) const {
  auto program = std::make_shared<FamilyProgram<Chip>>();
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
      const auto streams = parseGroup(Chip::table(), stage.subNets[subNet].groups[i], where);
      if (!streams)
        return tl::unexpected(streams.error());
      auto created = Chip::Program::create(streams->tiu, streams->dma, where);
      if (!created)
        return propagate(created);
      program->groups.push_back(
          {subNet, i, streams->tiuStream, streams->dmaStream, std::move(*created)});
    }
  return program;
}

template <typename Chip>
Expected<model::TimingResult> FamilyDriver<Chip>::time(const model::CompiledModel &model,
                                                       const model::Stage &stage,
                                                       const std::string &where) const {
  FamilyTimeLine<Chip> line(model);
  for (const uint32_t subNet : stage.chipOrder())
    for (const model::CommandGroup &group : stage.subNets[subNet].groups)
      if (auto ok = line.add(group, where); !ok)
        return propagate(ok);
  return line.result();
}

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_FAMILYDRIVER_H
