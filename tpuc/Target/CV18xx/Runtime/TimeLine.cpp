//===- TimeLine.cpp - Time lines of stages --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Runtime/TimeLine.h"

#include <algorithm>
#include <cmath>

namespace tpuc::runtime::cv18xx {

namespace machine = tpuc::cv18xx;
using machine::Command;
using model::TimingResult;

namespace {

constexpr std::array<std::string_view, 4> kDirections = {"DDR to lanes", "lanes to DDR",
                                                         "DDR to DDR", "lanes to lanes"};

int64_t whole(double nanoseconds) { return std::llround(nanoseconds); }

/// The bytes of the stream that a compressed load reads, 0 where nobody knows.
uint64_t streamBytesOf(const machine::Chip &chip, const Command &command, model::Bytes constants) {
  if (command.engine() != machine::Engine::Dma)
    return 0;
  const machine::DmaCommand dma = machine::readDma(chip, command);
  constexpr unsigned kConstants = 1;
  if (!dma.isCompressed || dma.direction != machine::Direction::Load ||
      dma.src.base != kConstants || dma.src.address > constants.size() ||
      constants.size() - dma.src.address < 3)
    return 0;
  const auto byte = [&](size_t i) {
    return std::to_integer<uint64_t>(constants[dma.src.address + i]);
  };
  const machine::Extents &shape = dma.src.shape;
  const uint64_t count = dma.isMatrix ? uint64_t{shape[1]} * shape[3]
                                      : uint64_t{shape[0]} * shape[1] * shape[2] * shape[3];
  const uint64_t map = ((count + 15) / 16 + 15) / 16 * 16;
  return 16 + map + (byte(0) | byte(1) << 8 | byte(2) << 16);
}

} // namespace

TimeLine::TimeLine(const model::CompiledModel &model) : model(model) {
  result.clockHz = 1e9;
  result.engines.resize(2);
  result.engines[0].name = "TIU";
  result.engines[0].computes = true;
  result.engines[1].name = "DMA";
  result.sets.resize(machine::kNumTimingSets);
  for (TimingResult::ParameterSet &set : result.sets) {
    set.spans.resize(2);
    set.engineCycles.resize(2);
  }
}

TimingResult::LayerTime &TimeLine::layerTime(const std::string &name) {
  const auto [place, isNew] = layers.emplace(name, result.layers.size());
  if (isNew) {
    TimingResult::LayerTime &time = result.layers.emplace_back();
    time.name = name;
    time.commands.resize(2);
    time.cycles.assign(machine::kNumTimingSets, std::vector<int64_t>(2));
    result.layerNames.push_back(name);
  }
  return result.layers[place->second];
}

void TimeLine::addCommand(const machine::Chip &chip, const Command &command,
                          const std::string &layer, uint64_t streamBytes) {
  const size_t engine = command.engine().index();
  TimingResult::Command made;
  made.operation = made.kind = command.operation().name;
  made.id = command.id();
  made.awaited = command.dependency();
  double macCycles = 0;
  if (engine == 0) {
    const machine::Products products = machine::productsOf(chip, machine::readTiu(chip, command));
    made.macs = products.count;
    macCycles = static_cast<double>(products.count) / static_cast<double>(products.perCycle);
    result.macs += products.count;
  } else {
    const machine::DmaCommand dma = machine::readDma(chip, command);
    made.bytes = static_cast<int64_t>(machine::trafficOf(dma, chip, streamBytes).bytes);
    made.direction = kDirections[static_cast<size_t>(dma.direction)];
    moved[made.direction] += made.bytes;
    result.globalBytes += made.bytes;
    (dma.direction == machine::Direction::Load ? result.bytesRead : result.bytesWritten) +=
        static_cast<uint64_t>(made.bytes);
  }
  const auto sets = machine::timingSets(chip);
  for (size_t i = 0; i < sets.size(); ++i)
    result.sets[i].macCycles += macCycles * 1000 / sets[i].tiuMegahertz;
  if (!layer.empty()) {
    TimingResult::LayerTime &time = layerTime(layer);
    made.layer = static_cast<uint32_t>(layers.at(layer));
    time.commands[engine] += 1;
    time.macs += made.macs;
    time.macCycles += macCycles * 1000 / sets[0].tiuMegahertz;
    time.bytes += made.bytes;
  }
  result.engines[engine].commands.push_back(made);
}

void TimeLine::add(const machine::Chip &chip, std::span<const Command> commands,
                   const model::Stream &stream, model::Bytes constants) {
  const auto sets = machine::timingSets(chip);
  std::vector<uint64_t> streams;
  for (uint32_t i = 0; i < commands.size(); ++i) {
    streams.push_back(streamBytesOf(chip, commands[i], constants));
    addCommand(chip, commands[i], std::string(model.layerName(stream, i)), streams.back());
    ++kinds[commands[i].operation().name].commands;
  }
  for (size_t s = 0; s < sets.size(); ++s) {
    TimingResult::ParameterSet &set = result.sets[s];
    set.name = sets[s].name;
    submission[s] = sets[s].runNanoseconds;
    begin[s] = std::max(begin[s], submission[s]);
    std::vector<double> lengths;
    for (size_t i = 0; i < commands.size(); ++i)
      lengths.push_back(machine::nanosecondsOf(chip, commands[i], sets[s], streams[i]));
    const std::vector<machine::TimeSpan> spans = machine::scheduleOf(commands, lengths);
    double end = 0;
    for (size_t i = 0; i < commands.size(); ++i) {
      const size_t engine = commands[i].engine().index();
      set.spans[engine].push_back({whole(begin[s] + spans[i].start), whole(spans[i].length)});
      set.engineCycles[engine] += whole(spans[i].length);
      kinds[commands[i].operation().name].nanoseconds[s] += spans[i].length;
      end = std::max(end, spans[i].start + spans[i].length);
      const std::string layer(model.layerName(stream, static_cast<uint32_t>(i)));
      if (!layer.empty())
        layerTime(layer).cycles[s][engine] += whole(spans[i].length);
    }
    begin[s] += end;
    set.cycles = whole(begin[s]);
    set.globalCycles = static_cast<double>(result.globalBytes) * 1000 / sets[s].megabytesPerSecond;
  }
}

TimingResult TimeLine::take() {
  for (size_t i = 0; i < result.sets.size(); ++i) {
    TimingResult::ParameterSet &set = result.sets[i];
    // Two engines: what both take beyond the time of the commands is beside each other.
    const auto both = static_cast<double>(set.engineCycles[0] + set.engineCycles[1] -
                                          (set.cycles - whole(submission[i])));
    const auto shorter = static_cast<double>(std::min(set.engineCycles[0], set.engineCycles[1]));
    set.overlap = shorter > 0 ? std::clamp(both / shorter, 0.0, 1.0) : 0;
  }
  for (const auto &[kind, sums] : kinds) {
    TimingResult::KindTime time{kind, sums.commands, {}};
    for (const double nanoseconds : sums.nanoseconds)
      time.cycles.push_back(whole(nanoseconds));
    result.kinds.push_back(std::move(time));
  }
  std::ranges::stable_sort(result.kinds, std::greater<>(),
                           [](const auto &kind) { return kind.cycles[0]; });
  for (const auto &[direction, bytes] : moved)
    result.moved.push_back({direction, bytes});
  return std::move(result);
}

} // namespace tpuc::runtime::cv18xx
