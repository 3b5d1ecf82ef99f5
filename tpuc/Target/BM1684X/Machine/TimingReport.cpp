//===- TimingReport.cpp - Time lines for people and programs --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/TimingReport.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

namespace tpuc::bm1684x {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kCyclesPerMicrosecond = 1000;
constexpr double kCyclesPerMillisecond = 1e6;

std::string_view layerOf(const std::vector<std::string> &layers, size_t index) {
  return index < layers.size() ? std::string_view(layers[index]) : std::string_view();
}

double milliseconds(int64_t cycles) { return static_cast<double>(cycles) / kCyclesPerMillisecond; }

Json metadata(std::string_view what, int pid, int tid, const std::string &name) {
  return {{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", tid}, {"args", {{"name", name}}}};
}

Json slice(std::string_view name, std::string_view category, int pid, int tid, int64_t start,
           int64_t cycles) {
  return {{"ph", "X"},
          {"name", name},
          {"cat", category},
          {"pid", pid},
          {"tid", tid},
          {"ts", static_cast<double>(start) / kCyclesPerMicrosecond},
          {"dur", static_cast<double>(cycles) / kCyclesPerMicrosecond}};
}

Json commandSlice(const TimedCommand &command, std::string_view layer, int pid, int tid) {
  const CommandCost &cost = command.cost;
  Json event = slice(command.operation->name, cost.kind, pid, tid, command.start, cost.cycles);
  Json args = {{"id", command.id}, {"awaits", command.awaited}, {"cycles", cost.cycles}};
  if (!layer.empty())
    args["layer"] = layer;
  if (cost.direction)
    args["direction"] = directionName(*cost.direction);
  if (cost.bytes > 0)
    args["bytes"] = cost.bytes;
  if (cost.macs > 0)
    args["macs"] = cost.macs;
  event["args"] = std::move(args);
  return event;
}

/// Commands in order, each row of commands of one layer preceded by the layer's own slice.
void addEngine(Json &events, const std::vector<TimedCommand> &commands,
               const std::vector<std::string> &layers, int pid, int tid) {
  for (size_t i = 0; i < commands.size();) {
    std::string_view layer = layerOf(layers, i);
    size_t last = i;
    while (last + 1 < commands.size() && layerOf(layers, last + 1) == layer)
      ++last;
    int64_t start = commands[i].start;
    if (!layer.empty())
      events.push_back(slice(layer, "layer", pid, tid, start,
                             commands[last].start + commands[last].cost.cycles - start));
    for (; i <= last; ++i)
      events.push_back(commandSlice(commands[i], layer, pid, tid));
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

void addRows(std::string &csv, std::string_view engine, const std::vector<TimedCommand> &vendor,
             const std::vector<TimedCommand> &conservative,
             const std::vector<std::string> &layers) {
  for (size_t i = 0; i < vendor.size(); ++i) {
    const TimedCommand &command = vendor[i];
    const CommandCost &cost = command.cost;
    fmt::format_to(std::back_inserter(csv), "{},{},{},{},{},{},{},{},{},{},{},{},{}\n", engine,
                   command.id, command.awaited, command.operation->name, cost.kind, command.start,
                   cost.cycles, conservative[i].start, conservative[i].cost.cycles,
                   cost.direction ? directionName(*cost.direction) : "", cost.bytes, cost.macs,
                   quoted(layerOf(layers, i)));
  }
}

struct KindSum {
  int64_t count = 0, vendor = 0, conservative = 0;
};

void addKinds(std::map<std::string_view, KindSum> &kinds, const std::vector<TimedCommand> &vendor,
              const std::vector<TimedCommand> &conservative) {
  for (size_t i = 0; i < vendor.size(); ++i) {
    KindSum &sum = kinds[vendor[i].cost.kind];
    ++sum.count;
    sum.vendor += vendor[i].cost.cycles;
    sum.conservative += conservative[i].cost.cycles;
  }
}

/// The kinds of commands, the longest first.
std::vector<std::pair<std::string_view, KindSum>> kindSums(const TimingReports &reports) {
  std::map<std::string_view, KindSum> kinds;
  addKinds(kinds, reports.vendor.tiu, reports.conservative.tiu);
  addKinds(kinds, reports.vendor.gdma, reports.conservative.gdma);
  kinds.erase("SYS");
  std::vector<std::pair<std::string_view, KindSum>> rows(kinds.begin(), kinds.end());
  std::ranges::sort(rows, [](const auto &a, const auto &b) {
    return a.second.vendor != b.second.vendor ? a.second.vendor > b.second.vendor
                                              : a.first < b.first;
  });
  return rows;
}

std::string kindTable(const TimingReports &reports) {
  std::string text =
      fmt::format("{:<24}{:>16}{:>16}{:>10}\n", "command", "vendor", "conservative", "count");
  for (const auto &[kind, sum] : kindSums(reports))
    fmt::format_to(std::back_inserter(text), "{:<24}{:>16}{:>16}{:>10}\n", kind, sum.vendor,
                   sum.conservative, sum.count);
  return text;
}

/// The engines' cycles of each layer under both sets; empty without layers.
std::string layerTable(const std::vector<LayerTime> &layers) {
  if (layers.empty())
    return {};
  std::string text = fmt::format("\n{:>12}{:>12}{:>12}{:>12}{:>14}{:>12}  {}\n", "TIU", "GDMA",
                                 "TIU cons.", "GDMA cons.", "MACs", "bytes", "layer");
  for (const LayerTime &layer : layers)
    fmt::format_to(std::back_inserter(text), "{:>12}{:>12}{:>12}{:>12}{:>14}{:>12}  {}\n",
                   layer.vendor.tiu, layer.vendor.gdma, layer.conservative.tiu,
                   layer.conservative.gdma, layer.macs, layer.bytes,
                   layer.name.empty() ? "(no layer)" : layer.name);
  return text;
}

/// Adds the commands of one engine to the layers, which begin in the order of time.
class LayerSums {
public:
  void add(const std::vector<TimedCommand> &vendor, const std::vector<TimedCommand> &conservative,
           const std::vector<std::string> &names, bool isTiu);
  std::vector<LayerTime> sorted();

private:
  struct Sum {
    LayerTime time;
    int64_t start = 0;
  };
  std::map<std::string_view, size_t> places;
  std::vector<Sum> sums;
};

void LayerSums::add(const std::vector<TimedCommand> &vendor,
                    const std::vector<TimedCommand> &conservative,
                    const std::vector<std::string> &names, bool isTiu) {
  for (size_t i = 0; i < vendor.size(); ++i) {
    const std::string_view name = layerOf(names, i);
    const auto [place, isNew] = places.emplace(name, sums.size());
    if (isNew)
      sums.push_back({{}, vendor[i].start});
    Sum &sum = sums[place->second];
    sum.time.name = name;
    sum.start = std::min(sum.start, vendor[i].start);
    const CommandCost &cost = vendor[i].cost;
    ++(isTiu ? sum.time.numTiu : sum.time.numGdma);
    (isTiu ? sum.time.vendor.tiu : sum.time.vendor.gdma) += cost.cycles;
    (isTiu ? sum.time.conservative.tiu : sum.time.conservative.gdma) += conservative[i].cost.cycles;
    sum.time.macs += cost.macs;
    sum.time.macCycles += cost.macCycles;
    sum.time.bytes += cost.bytes;
  }
}

std::vector<LayerTime> LayerSums::sorted() {
  std::ranges::stable_sort(sums, {}, &Sum::start);
  std::vector<LayerTime> named;
  std::optional<LayerTime> others;
  for (Sum &sum : sums)
    if (!sum.time.name.empty())
      named.push_back(std::move(sum.time));
    else if (sum.time.vendor.tiu + sum.time.vendor.gdma > 0)
      others = std::move(sum.time);
  if (!named.empty() && others)
    named.push_back(*std::move(others));
  return named;
}

std::string boundText(const TimingReport &report) {
  return report.bound() == Bound::Compute ? "compute" : "DDR";
}

std::string rooflineText(const TimingReport &report) {
  return report.macCycles >= report.globalCycles ? "compute" : "DDR";
}

} // namespace

std::string timingTrace(const TimingReports &reports, const CommandLayers &layers) {
  Json events = Json::array();
  Json totals = Json::object();
  for (TimingModel model : kTimingModels) {
    const TimingReport &report =
        model == TimingModel::Vendor ? reports.vendor : reports.conservative;
    int pid = static_cast<int>(model) + 1;
    totals[fmt::format("{}_cycles", timingModelName(model))] = report.totalCycles;
    events.push_back(metadata("process_name", pid, 0,
                              fmt::format("{}: {} cycles, {:.3f} ms", timingModelName(model),
                                          report.totalCycles, milliseconds(report.totalCycles))));
    events.push_back(metadata("thread_name", pid, 1, "TIU"));
    events.push_back(metadata("thread_name", pid, 2, "GDMA"));
    addEngine(events, report.tiu, layers.tiu, pid, 1);
    addEngine(events, report.gdma, layers.gdma, pid, 2);
  }
  Json trace = {{"displayTimeUnit", "ns"}, {"otherData", totals}, {"traceEvents", events}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string timingCsv(const TimingReports &reports, const CommandLayers &layers) {
  const TimingReport &vendor = reports.vendor;
  const TimingReport &conservative = reports.conservative;
  std::string csv = "engine,id,awaited,operation,kind,start,cycles,conservative_start,"
                    "conservative_cycles,direction,bytes,macs,layer\n";
  addRows(csv, "TIU", vendor.tiu, conservative.tiu, layers.tiu);
  addRows(csv, "GDMA", vendor.gdma, conservative.gdma, layers.gdma);
  int64_t bytes = vendor.filledBytes;
  for (int64_t moved : vendor.bytes)
    bytes += moved;
  fmt::format_to(std::back_inserter(csv), "total,,,,,0,{},0,{},,{},{},\n", vendor.totalCycles,
                 conservative.totalCycles, bytes, vendor.macs);
  return csv;
}

std::vector<LayerTime> timingByLayer(const TimingReports &reports, const CommandLayers &layers) {
  LayerSums sums;
  sums.add(reports.vendor.tiu, reports.conservative.tiu, layers.tiu, true);
  sums.add(reports.vendor.gdma, reports.conservative.gdma, layers.gdma, false);
  return sums.sorted();
}

std::string timingSummary(const TimingReports &reports, const CommandLayers &layers) {
  std::string text = fmt::format("{:<24}{:>16}{:>16}\n", "", "vendor", "conservative");
  auto row = [&](std::string_view name, auto &&value) {
    fmt::format_to(std::back_inserter(text), "{:<24}{:>16}{:>16}\n", name, value(reports.vendor),
                   value(reports.conservative));
  };
  auto percent = [](double part) { return fmt::format("{:.1f} %", 100 * part); };
  auto whole = [](double cycles) { return fmt::format("{:.0f}", cycles); };
  using Report = const TimingReport &;
  row("total cycles", [](Report r) { return r.totalCycles; });
  row("time at 1 GHz",
      [](Report r) { return fmt::format("{:.3f} ms", milliseconds(r.totalCycles)); });
  row("TIU busy", [&](Report r) { return percent(r.tiuShare()); });
  row("GDMA busy", [&](Report r) { return percent(r.gdmaShare()); });
  row("overlap", [&](Report r) { return percent(r.overlap()); });
  row("MAC array used", [&](Report r) { return percent(r.macUtilisation()); });
  row("DDR used", [&](Report r) { return percent(r.globalUtilisation()); });
  row("bound by", boundText);
  row("busier engine, cycles", [](Report r) { return r.engineBound(); });
  row("MACs at peak, cycles", [&](Report r) { return whole(r.macCycles); });
  row("DDR at peak, cycles", [&](Report r) { return whole(r.globalCycles); });
  row("roofline", rooflineText);
  Report report = reports.vendor;
  fmt::format_to(std::back_inserter(text), "{} MACs, {} bytes of DDR, {:.1f} MACs per byte\n",
                 report.macs, report.globalBytes, report.intensity());
  for (size_t i = 0; i < kNumDirections; ++i)
    fmt::format_to(std::back_inserter(text), "{} {} bytes, ",
                   directionName(static_cast<Direction>(i)), report.bytes[i]);
  fmt::format_to(std::back_inserter(text), "filled {} bytes\n\n", report.filledBytes);
  return text + kindTable(reports) + layerTable(timingByLayer(reports, layers));
}

Json timingJson(const TimingReports &reports, const CommandLayers &layers) {
  const auto totals = [](const TimingReport &report) {
    Json bytes;
    for (size_t i = 0; i < kNumDirections; ++i)
      bytes[directionName(static_cast<Direction>(i))] = report.bytes[i];
    bytes["filled"] = report.filledBytes;
    return Json{{"cycles", report.totalCycles},
                {"seconds", milliseconds(report.totalCycles) / 1e3},
                {"tiu_cycles", report.tiuCycles},
                {"gdma_cycles", report.gdmaCycles},
                {"overlap", report.overlap()},
                {"mac_utilisation", report.macUtilisation()},
                {"ddr_utilisation", report.globalUtilisation()},
                {"bound", boundText(report)},
                {"roofline", rooflineText(report)},
                {"roofline_cycles", report.rooflineBound()},
                {"macs", report.macs},
                {"mac_cycles", report.macCycles},
                {"ddr_bytes", report.globalBytes},
                {"bytes", std::move(bytes)}};
  };
  Json json = {{"vendor", totals(reports.vendor)}, {"conservative", totals(reports.conservative)}};
  json["kinds"] = Json::array();
  for (const auto &[kind, sum] : kindSums(reports))
    json["kinds"].push_back({{"kind", kind},
                             {"commands", sum.count},
                             {"vendor_cycles", sum.vendor},
                             {"conservative_cycles", sum.conservative}});
  const auto cycles = [](const LayerTime::Cycles &sum) {
    return Json{{"tiu_cycles", sum.tiu}, {"gdma_cycles", sum.gdma}};
  };
  json["layers"] = Json::array();
  for (const LayerTime &layer : timingByLayer(reports, layers))
    json["layers"].push_back({{"name", layer.name},
                              {"tiu_commands", layer.numTiu},
                              {"gdma_commands", layer.numGdma},
                              {"vendor", cycles(layer.vendor)},
                              {"conservative", cycles(layer.conservative)},
                              {"macs", layer.macs},
                              {"mac_cycles", layer.macCycles},
                              {"bytes", layer.bytes}});
  return json;
}

} // namespace tpuc::bm1684x
