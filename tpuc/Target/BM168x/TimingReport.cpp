//===- TimingReport.cpp - Time lines of both engines, by layer ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/TimingReport.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace tpuc::bm168x {

namespace {

using model::TimingResult;

constexpr std::array kEngines = {Engine::Tiu, Engine::Gdma};

const std::vector<TimedCommand> &commandsOf(const TimingReport &report, Engine engine) {
  return engine == Engine::Tiu ? report.tiu : report.gdma;
}

/// Puts the commands of both engines together.
class ResultMaker {
public:
  ResultMaker(std::span<const NamedReport> reports, double clockHz, const CommandLayers &layers)
      : reports(reports), clockHz(clockHz), layers(layers) {}
  TimingResult make();

private:
  /// The set that commands are described by.
  const TimingReport &first() const { return *reports.front().report; }
  std::string_view layerOf(Engine engine, size_t index) const;
  std::optional<uint32_t> layerNumber(std::string_view name);
  void addEngine(Engine engine);
  void addSet(const NamedReport &set);
  void addTotals();
  void addKinds();
  void addLayers();

  std::span<const NamedReport> reports;
  double clockHz;
  const CommandLayers &layers;
  std::map<std::string_view, uint32_t> numbers;
  TimingResult result;
};

std::string_view ResultMaker::layerOf(Engine engine, size_t index) const {
  const std::vector<std::string> &names = engine == Engine::Tiu ? layers.tiu : layers.gdma;
  return index < names.size() ? std::string_view(names[index]) : std::string_view();
}

std::optional<uint32_t> ResultMaker::layerNumber(std::string_view name) {
  if (name.empty())
    return std::nullopt;
  const auto [place, isNew] =
      numbers.emplace(name, static_cast<uint32_t>(result.layerNames.size()));
  if (isNew)
    result.layerNames.emplace_back(name);
  return place->second;
}

void ResultMaker::addEngine(Engine engine) {
  TimingResult::Engine &made = result.engines.emplace_back();
  made.name = engine == Engine::Tiu ? "TIU" : "GDMA";
  made.computes = engine == Engine::Tiu;
  const std::vector<TimedCommand> &commands = commandsOf(first(), engine);
  for (size_t i = 0; i < commands.size(); ++i) {
    const TimedCommand &command = commands[i];
    const CommandCost &cost = command.cost;
    made.commands.push_back(
        {.operation = command.operation->name,
         .kind = cost.kind,
         .id = command.id,
         .awaited = command.awaited,
         .direction = cost.direction ? directionName(*cost.direction) : std::string_view(),
         .bytes = cost.bytes,
         .macs = cost.macs,
         .layer = layerNumber(layerOf(engine, i))});
  }
}

void ResultMaker::addSet(const NamedReport &named) {
  const TimingReport &from = *named.report;
  TimingResult::ParameterSet &set = result.sets.emplace_back();
  set.name = named.name;
  set.cycles = from.totalCycles;
  for (const Engine engine : kEngines) {
    std::vector<TimingResult::Span> &spans = set.spans.emplace_back();
    for (const TimedCommand &command : commandsOf(from, engine))
      spans.push_back({command.start, command.cost.cycles});
  }
  set.engineCycles = {from.tiuCycles, from.gdmaCycles};
  set.overlap = from.overlap();
  set.macCycles = from.macCycles;
  set.globalCycles = from.globalCycles;
}

void ResultMaker::addTotals() {
  const TimingReport &report = first();
  const auto bytes = [&](Direction direction) {
    return report.bytes[static_cast<size_t>(direction)];
  };
  result.clockHz = clockHz;
  result.macs = report.macs;
  for (size_t i = 0; i < kNumDirections; ++i)
    result.moved.push_back({directionName(static_cast<Direction>(i)), report.bytes[i]});
  result.filledBytes = report.filledBytes;
  result.globalBytes = report.globalBytes;
  const int64_t inside = bytes(Direction::SystemToSystem);
  result.bytesRead = static_cast<uint64_t>(bytes(Direction::SystemToLocal) + inside);
  result.bytesWritten = static_cast<uint64_t>(bytes(Direction::LocalToSystem) + inside);
}

/// The kinds of commands, the longest first. What only controls the engines is left out.
void ResultMaker::addKinds() {
  std::map<std::string_view, TimingResult::KindTime> kinds;
  for (const Engine engine : kEngines) {
    const std::vector<TimedCommand> &commands = commandsOf(first(), engine);
    for (size_t i = 0; i < commands.size(); ++i) {
      TimingResult::KindTime &sum = kinds[commands[i].cost.kind];
      sum.kind = commands[i].cost.kind;
      sum.cycles.resize(reports.size());
      ++sum.commands;
      for (size_t set = 0; set < reports.size(); ++set)
        sum.cycles[set] += commandsOf(*reports[set].report, engine)[i].cost.cycles;
    }
  }
  kinds.erase("SYS");
  for (auto &[kind, sum] : kinds)
    result.kinds.push_back(std::move(sum));
  std::ranges::stable_sort(result.kinds, std::greater<>(),
                           [](const TimingResult::KindTime &kind) { return kind.cycles[0]; });
}

/// The commands of both engines added to their layers, which begin in the order of time.
void ResultMaker::addLayers() {
  struct Sum {
    TimingResult::LayerTime time;
    int64_t start = 0;
  };
  std::map<std::string_view, size_t> places;
  std::vector<Sum> sums;
  for (size_t engine = 0; engine < kEngines.size(); ++engine) {
    const std::vector<TimedCommand> &commands = commandsOf(first(), kEngines[engine]);
    for (size_t i = 0; i < commands.size(); ++i) {
      const std::string_view name = layerOf(kEngines[engine], i);
      const auto [place, isNew] = places.emplace(name, sums.size());
      if (isNew) {
        TimingResult::LayerTime time;
        time.name = name;
        time.commands.resize(kEngines.size());
        time.cycles.assign(reports.size(), std::vector<int64_t>(kEngines.size()));
        sums.push_back({std::move(time), commands[i].start});
      }
      Sum &sum = sums[place->second];
      sum.start = std::min(sum.start, commands[i].start);
      const CommandCost &cost = commands[i].cost;
      ++sum.time.commands[engine];
      for (size_t set = 0; set < reports.size(); ++set)
        sum.time.cycles[set][engine] +=
            commandsOf(*reports[set].report, kEngines[engine])[i].cost.cycles;
      sum.time.macs += cost.macs;
      sum.time.macCycles += cost.macCycles;
      sum.time.bytes += cost.bytes;
    }
  }
  std::ranges::stable_sort(sums, {}, &Sum::start);
  std::optional<TimingResult::LayerTime> others;
  for (Sum &sum : sums)
    if (!sum.time.name.empty())
      result.layers.push_back(std::move(sum.time));
    else if (sum.time.cycles[0][0] + sum.time.cycles[0][1] > 0)
      others = std::move(sum.time);
  if (!result.layers.empty() && others)
    result.layers.push_back(*std::move(others));
}

TimingResult ResultMaker::make() {
  for (const Engine engine : kEngines)
    addEngine(engine);
  for (const NamedReport &report : reports)
    addSet(report);
  addTotals();
  addKinds();
  addLayers();
  return std::move(result);
}

} // namespace

model::TimingResult timingResult(std::span<const NamedReport> reports, double clockHz,
                                 const CommandLayers &layers) {
  return ResultMaker(reports, clockHz, layers).make();
}

} // namespace tpuc::bm168x
