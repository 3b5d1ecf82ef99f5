//===- TimingText.cpp - Time lines for people and programs ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/TimingText.h"
#include "tpuc/Support/Counted.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace tpuc::model {

namespace {

using Json = nlohmann::ordered_json;
using Set = TimingResult::ParameterSet;
using Span = TimingResult::Span;

double milliseconds(const TimingResult &result, int64_t cycles) {
  return static_cast<double>(cycles) / (result.clockHz / 1e3);
}

double microseconds(const TimingResult &result, int64_t cycles) {
  return static_cast<double>(cycles) / (result.clockHz / 1e6);
}

/// The name as keys of JSON have it.
std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string_view layerNameOf(const TimingResult &result, const TimingResult::Command &command) {
  return command.layer ? std::string_view(result.layerNames[*command.layer]) : std::string_view();
}

std::string_view boundName(bool isCompute) { return isCompute ? "compute" : "DDR"; }

Json metadata(std::string_view what, size_t pid, size_t tid, const std::string &name) {
  return {{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", tid}, {"args", {{"name", name}}}};
}

/// The events of one run for one engine.
class EngineEvents {
public:
  EngineEvents(const TimingResult &result, size_t set, size_t engine, Json &events)
      : result(result), commands(result.engines[engine].commands),
        spans(result.sets[set].spans[engine]), pid(set + 1), tid(engine + 1), events(events) {}

  /// Commands in order, each row of commands of one layer preceded by the layer's own slice.
  void add();

private:
  Json slice(std::string_view name, std::string_view category, Span span) const;
  Json commandSlice(size_t index) const;

  const TimingResult &result;
  const std::vector<TimingResult::Command> &commands;
  const std::vector<Span> &spans;
  size_t pid, tid;
  Json &events;
};

Json EngineEvents::slice(std::string_view name, std::string_view category, Span span) const {
  return {{"ph", "X"},
          {"name", name},
          {"cat", category},
          {"pid", pid},
          {"tid", tid},
          {"ts", microseconds(result, span.start)},
          {"dur", microseconds(result, span.cycles)}};
}

Json EngineEvents::commandSlice(size_t index) const {
  const TimingResult::Command &command = commands[index];
  const std::string_view layer = layerNameOf(result, command);
  Json event = slice(command.operation, command.kind, spans[index]);
  Json args = {{"id", command.id}, {"awaits", command.awaited}, {"cycles", spans[index].cycles}};
  if (!layer.empty())
    args["layer"] = layer;
  if (!command.direction.empty())
    args["direction"] = command.direction;
  if (command.bytes > 0)
    args["bytes"] = command.bytes;
  if (command.macs > 0)
    args["macs"] = command.macs;
  event["args"] = std::move(args);
  return event;
}

void EngineEvents::add() {
  for (size_t i = 0; i < commands.size();) {
    const std::string_view layer = layerNameOf(result, commands[i]);
    size_t last = i;
    while (last + 1 < commands.size() && layerNameOf(result, commands[last + 1]) == layer)
      ++last;
    const int64_t start = spans[i].start;
    if (!layer.empty())
      events.push_back(
          slice(layer, "layer", {start, spans[last].start + spans[last].cycles - start}));
    for (; i <= last; ++i)
      events.push_back(commandSlice(i));
  }
}

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string(text);
  std::string result = "\"";
  for (char c : text) {
    result += c;
    if (c == '"')
      result += c;
  }
  return result + '"';
}

/// The tables of the summary.
class SummaryText {
public:
  SummaryText(const TimingResult &result, std::optional<size_t> slowest)
      : result(result), slowest(slowest) {}
  std::string str();

private:
  template <typename... Args> void add(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }
  /// A name and a figure of each set.
  template <typename Value> void row(std::string_view name, Value value) {
    add("{:<24}", name);
    for (const Set &set : result.sets)
      add("{:>16}", value(set));
    text += '\n';
  }
  void addTotals();
  void addMoved();
  void addKinds();
  void addLayers();
  std::vector<TimingResult::LayerTime> shownLayers() const;

  const TimingResult &result;
  std::optional<size_t> slowest;
  std::string text;
};

void SummaryText::addTotals() {
  const auto percent = [](double part) { return fmt::format("{:.1f} %", 100 * part); };
  const auto whole = [](double cycles) { return fmt::format("{:.0f}", cycles); };
  row("", [](const Set &set) { return set.name; });
  row("total cycles", [](const Set &set) { return set.cycles; });
  row(fmt::format("time at {:g} GHz", result.clockHz / 1e9),
      [&](const Set &set) { return fmt::format("{:.3f} ms", milliseconds(result, set.cycles)); });
  for (size_t i = 0; i < result.engines.size(); ++i)
    row(fmt::format("{} busy", result.engines[i].name),
        [&](const Set &set) { return percent(set.engineShare(i)); });
  row("overlap", [&](const Set &set) { return percent(set.overlap); });
  row("MAC array used", [&](const Set &set) { return percent(set.macUtilisation()); });
  row("DDR used", [&](const Set &set) { return percent(set.globalUtilisation()); });
  row("bound by", [&](const Set &set) {
    return boundName(result.isComputeBound(static_cast<size_t>(&set - result.sets.data())));
  });
  row("busier engine, cycles", [](const Set &set) { return set.engineBound(); });
  row("MACs at peak, cycles", [&](const Set &set) { return whole(set.macCycles); });
  row("DDR at peak, cycles", [&](const Set &set) { return whole(set.globalCycles); });
  row("roofline", [](const Set &set) { return boundName(set.rooflineIsCompute()); });
}

void SummaryText::addMoved() {
  add("{} MACs, {} bytes of DDR, {:.1f} MACs per byte\n", result.macs, result.globalBytes,
      result.intensity());
  for (const TimingResult::Moved &moved : result.moved)
    add("{} {} bytes, ", moved.direction, moved.bytes);
  add("filled {} bytes\n\n", result.filledBytes);
}

void SummaryText::addKinds() {
  add("{:<24}", "command");
  for (const Set &set : result.sets)
    add("{:>16}", set.name);
  add("{:>10}\n", "count");
  for (const TimingResult::KindTime &kind : result.kinds) {
    add("{:<24}", kind.kind);
    for (const int64_t cycles : kind.cycles)
      add("{:>16}", cycles);
    add("{:>10}\n", kind.commands);
  }
}

std::vector<TimingResult::LayerTime> SummaryText::shownLayers() const {
  std::vector<TimingResult::LayerTime> layers = result.layers;
  if (!slowest)
    return layers;
  std::ranges::stable_sort(layers, std::ranges::greater(), [](const auto &layer) {
    return std::ranges::max(layer.cycles.front());
  });
  layers.resize(std::min(layers.size(), *slowest));
  return layers;
}

/// The engines' cycles of each layer under all sets; the names of all but the first are shortened.
void SummaryText::addLayers() {
  if (result.layers.empty())
    return;
  constexpr size_t kShort = 4;
  text += '\n';
  for (const Set &set : result.sets)
    for (const TimingResult::Engine &engine : result.engines)
      add("{:>12}", &set == result.sets.data()
                        ? engine.name
                        : fmt::format("{} {}.", engine.name, set.name.substr(0, kShort)));
  add("{:>14}{:>12}  {}\n", "MACs", "bytes", "layer");
  const std::vector<TimingResult::LayerTime> shown = shownLayers();
  for (const TimingResult::LayerTime &layer : shown) {
    for (const std::vector<int64_t> &engines : layer.cycles)
      for (const int64_t cycles : engines)
        add("{:>12}", cycles);
    add("{:>14}{:>12}  {}\n", layer.macs, layer.bytes,
        layer.name.empty() ? "(no layer)" : layer.name);
  }
  if (const size_t more = result.layers.size() - shown.size(); more > 0)
    add("and {} that take{} less\n",
        counted(std::ssize(result.layers) - std::ssize(shown), "layer"), more == 1 ? "s" : "");
}

std::string SummaryText::str() {
  addTotals();
  addMoved();
  addKinds();
  addLayers();
  if (!result.hostLayers.empty())
    add("\nnot counted: {} on the CPU: {}\n", counted(std::ssize(result.hostLayers), "layer"),
        fmt::join(result.hostLayers, ", "));
  return std::move(text);
}

Json setJson(const TimingResult &result, size_t index) {
  const Set &set = result.sets[index];
  Json bytes;
  for (const TimingResult::Moved &moved : result.moved)
    bytes[std::string(moved.direction)] = moved.bytes;
  bytes["filled"] = result.filledBytes;
  Json json = {{"cycles", set.cycles}, {"seconds", milliseconds(result, set.cycles) / 1e3}};
  for (size_t i = 0; i < result.engines.size(); ++i)
    json[lower(result.engines[i].name) + "_cycles"] = set.engineCycles[i];
  json["overlap"] = set.overlap;
  json["mac_utilisation"] = set.macUtilisation();
  json["ddr_utilisation"] = set.globalUtilisation();
  json["bound"] = boundName(result.isComputeBound(index));
  json["roofline"] = boundName(set.rooflineIsCompute());
  json["roofline_cycles"] = set.rooflineBound();
  json["macs"] = result.macs;
  json["mac_cycles"] = set.macCycles;
  json["ddr_bytes"] = result.globalBytes;
  json["bytes"] = std::move(bytes);
  return json;
}

Json layerJson(const TimingResult &result, const TimingResult::LayerTime &layer) {
  Json json = {{"name", layer.name}};
  for (size_t i = 0; i < result.engines.size(); ++i)
    json[lower(result.engines[i].name) + "_commands"] = layer.commands[i];
  for (size_t s = 0; s < result.sets.size(); ++s) {
    Json cycles = Json::object();
    for (size_t i = 0; i < result.engines.size(); ++i)
      cycles[lower(result.engines[i].name) + "_cycles"] = layer.cycles[s][i];
    json[result.sets[s].name] = std::move(cycles);
  }
  json["macs"] = layer.macs;
  json["mac_cycles"] = layer.macCycles;
  json["bytes"] = layer.bytes;
  return json;
}

} // namespace

std::string timingTrace(const TimingResult &result) {
  Json events = Json::array();
  Json totals = Json::object();
  for (size_t s = 0; s < result.sets.size(); ++s) {
    const Set &set = result.sets[s];
    totals[fmt::format("{}_cycles", set.name)] = set.cycles;
    events.push_back(metadata("process_name", s + 1, 0,
                              fmt::format("{}: {} cycles, {:.3f} ms", set.name, set.cycles,
                                          milliseconds(result, set.cycles))));
    for (size_t i = 0; i < result.engines.size(); ++i)
      events.push_back(metadata("thread_name", s + 1, i + 1, result.engines[i].name));
    for (size_t i = 0; i < result.engines.size(); ++i)
      EngineEvents(result, s, i, events).add();
  }
  Json trace = {{"displayTimeUnit", "ns"}, {"otherData", totals}, {"traceEvents", events}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string timingCsv(const TimingResult &result) {
  std::string csv = "engine,id,awaited,operation,kind";
  const auto add = [&]<typename... Args>(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(csv), format, std::forward<Args>(args)...);
  };
  for (const Set &set : result.sets) {
    const std::string prefix = &set == result.sets.data() ? "" : set.name + "_";
    add(",{}start,{}cycles", prefix, prefix);
  }
  csv += ",direction,bytes,macs,layer\n";
  for (size_t engine = 0; engine < result.engines.size(); ++engine) {
    const auto &[name, computes, commands] = result.engines[engine];
    for (size_t i = 0; i < commands.size(); ++i) {
      const TimingResult::Command &command = commands[i];
      add("{},{},{},{},{}", name, command.id, command.awaited, command.operation, command.kind);
      for (const Set &set : result.sets)
        add(",{},{}", set.spans[engine][i].start, set.spans[engine][i].cycles);
      add(",{},{},{},{}\n", command.direction, command.bytes, command.macs,
          quoted(layerNameOf(result, command)));
    }
  }
  int64_t bytes = result.filledBytes;
  for (const TimingResult::Moved &moved : result.moved)
    bytes += moved.bytes;
  csv += "total,,,,";
  for (const Set &set : result.sets)
    add(",0,{}", set.cycles);
  add(",,{},{},\n", bytes, result.macs);
  return csv;
}

std::string timingSummary(const TimingResult &result, std::optional<size_t> slowest) {
  return SummaryText(result, slowest).str();
}

Json timingJson(const TimingResult &result) {
  Json json = Json::object();
  for (size_t s = 0; s < result.sets.size(); ++s)
    json[result.sets[s].name] = setJson(result, s);
  json["kinds"] = Json::array();
  for (const TimingResult::KindTime &kind : result.kinds) {
    Json row = {{"kind", kind.kind}, {"commands", kind.commands}};
    for (size_t s = 0; s < result.sets.size(); ++s)
      row[result.sets[s].name + "_cycles"] = kind.cycles[s];
    json["kinds"].push_back(std::move(row));
  }
  json["layers"] = Json::array();
  for (const TimingResult::LayerTime &layer : result.layers)
    json["layers"].push_back(layerJson(result, layer));
  if (!result.hostLayers.empty())
    json["cpu_layers"] = result.hostLayers;
  return json;
}

} // namespace tpuc::model
