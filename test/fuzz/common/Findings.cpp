//===- Findings.cpp - What came of cases ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/common/Findings.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <set>
#include <sstream>

namespace tpuc::fuzz {

namespace {

constexpr size_t kMostDetail = 160;

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty())
      lines.push_back(line);
  return lines;
}

/// The line that names an assertion or what LLVM gives up on; else nothing.
std::string causeIn(const std::string &errors) {
  for (const std::string &line : linesOf(errors)) {
    if (const size_t at = line.find("Assertion `"); at != std::string::npos)
      return line.substr(at);
    for (const char *beginning : {"LLVM ERROR:", "UNREACHABLE executed"})
      if (line.starts_with(beginning))
        return line;
  }
  return {};
}

std::string nameOf(Ending::Kind kind, int signal) {
  switch (kind) {
  case Ending::Kind::Done:
    return "done";
  case Ending::Kind::TimeOut:
    return "time-out";
  case Ending::Kind::Memory:
    return "memory";
  case Ending::Kind::Left:
    return "left behind";
  case Ending::Kind::Signal:
    break;
  }
  return signal == 0 ? "exit" : fmt::format("SIG{}", ::sigabbrev_np(signal));
}

} // namespace

Outcome outcomeOf(const Ending &ending, const Allowance &allowed) {
  Outcome outcome;
  outcome.kind = ending.kind;
  outcome.signal = ending.signal;
  outcome.peak = ending.peak;
  std::string left;
  // What memory there was behind each step.
  std::vector<std::pair<std::string, uint64_t>> peaks;
  for (const std::string &line : linesOf(ending.notes)) {
    const size_t space = line.find(' ');
    const std::string what = line.substr(0, space);
    const std::string rest = line.substr(space + 1);
    if (what == "begin")
      outcome.step = rest;
    else if (what == "states")
      outcome.stated = std::strtoull(rest.c_str(), nullptr, 10);
    else if (what == "left")
      left = rest;
    else if (what == "peak")
      peaks.emplace_back(outcome.step, std::strtoull(rest.c_str(), nullptr, 10));
    else if (const size_t colon = rest.find(": "); colon != std::string::npos)
      outcome.steps.push_back({rest.substr(0, colon), what, rest.substr(colon + 2)});
    else
      outcome.steps.push_back({rest, what, ""});
  }
  if (!outcome.isFinding() && allowed.isExceeded(outcome.peak, outcome.stated)) {
    outcome.kind = Ending::Kind::Memory;
    const auto greedy = std::ranges::find_if(
        peaks, [&](const auto &each) { return allowed.isExceeded(each.second, outcome.stated); });
    if (greedy != peaks.end())
      outcome.step = greedy->first;
  }
  outcome.detail = causeIn(ending.errors).substr(0, kMostDetail);
  if (!outcome.isFinding() && !left.empty()) {
    outcome.kind = Ending::Kind::Left;
    outcome.detail = left;
  }
  return outcome;
}

std::string Outcome::signature() const {
  if (!isFinding())
    return {};
  const std::string ended = fmt::format("{} in {}", nameOf(kind, signal), step);
  return detail.empty() ? ended : ended + ": " + detail;
}

std::vector<std::string> Outcome::remarks() const {
  std::vector<std::string> found;
  for (const Step &step : steps)
    if (step.what == "differs" || step.what == "mute")
      found.push_back(fmt::format("{} in {}", step.what, step.name));
  return found;
}

std::string endingOf(const Outcome &outcome) {
  if (outcome.isFinding())
    return nameOf(outcome.kind, outcome.signal);
  const auto isRefusal = [](const Outcome::Step &step) { return step.what != "passed"; };
  for (const Outcome::Step &step : outcome.steps)
    if (isRefusal(step))
      return fmt::format("{} in {}", step.what == "mute" ? "refused" : step.what, step.name);
  return "passed all steps";
}

std::string tableOf(const std::string &heading, const std::map<std::string, Counts> &rows) {
  std::set<std::string> columns;
  for (const auto &[row, counts] : rows)
    for (const auto &[column, count] : counts)
      columns.insert(column);
  std::string text = fmt::format("| {} | {} |\n| --- |", heading, fmt::join(columns, " | "));
  for (size_t i = 0; i < columns.size(); ++i)
    text += " ---: |";
  text += '\n';
  for (const auto &[row, counts] : rows) {
    text += fmt::format("| {} |", row);
    for (const std::string &column : columns) {
      const auto found = counts.find(column);
      text += fmt::format(" {} |", found == counts.end() ? 0 : found->second);
    }
    text += '\n';
  }
  return text;
}

void Tally::add(const Outcome &outcome, std::span<const std::string> kinds) {
  ++endings[endingOf(outcome)];
  for (const Outcome::Step &step : outcome.steps)
    ++steps[step.name][step.what];
  if (outcome.isFinding())
    ++steps[outcome.step][nameOf(outcome.kind, outcome.signal)];
  const bool isRefused = std::ranges::any_of(outcome.steps, [](const Outcome::Step &step) {
    return step.what == "refused" || step.what == "mute";
  });
  for (const std::string &kind : std::set<std::string>(kinds.begin(), kinds.end())) {
    Counts &counts = changes[kind];
    ++counts["cases"];
    ++counts[outcome.isFinding() ? "findings" : isRefused ? "refused" : "taken"];
  }
}

void Tally::print() const {
  for (const auto &[step, each] : steps) {
    fmt::print("  {:<12}", step);
    for (const auto &[what, count] : each)
      fmt::print(" {} {},", count, what);
    fmt::print("\n");
  }
}

std::string Tally::tables() const {
  std::string text = "## How cases ended\n\n| ending | cases |\n| --- | ---: |\n";
  for (const auto &[ending, count] : endings)
    text += fmt::format("| {} | {} |\n", ending, count);
  text += "\n## What each step did\n\n" + tableOf("step", steps);
  text += "\n## What was changed\n\nA case counts once for each kind of its changes.\n\n" +
          tableOf("change", changes);
  return text;
}

size_t Findings::size() const {
  return static_cast<size_t>(
      std::ranges::count_if(all, [](const auto &each) { return !each.second.isRemark; }));
}

std::string Findings::list() const {
  std::string text;
  for (const auto &[signature, finding] : all)
    text += fmt::format("- `{}`: {}\n", signature,
                        finding.changes.empty()
                            ? fmt::format("`{}` as it is", finding.seed)
                            : fmt::format("`{}`", fmt::join(finding.changes, "`, `")));
  return text;
}

bool Findings::print(std::span<const std::string> known) const {
  size_t numNew = 0, numRemarks = 0;
  for (const auto &[signature, finding] : all) {
    const bool isKnown = std::ranges::any_of(
        known, [&](const std::string &part) { return signature.find(part) != std::string::npos; });
    numNew += isKnown || finding.isRemark ? 0 : 1;
    numRemarks += finding.isRemark ? 1 : 0;
    fmt::print("{:<6} {}\n       {}: {}\n",
               finding.isRemark ? "remark"
               : isKnown        ? "known"
                                : "NEW",
               signature, finding.seed, fmt::join(finding.changes, "; "));
  }
  fmt::print("{} findings, {} of them new; {} remarks\n", all.size() - numRemarks, numNew,
             numRemarks);
  return numNew == 0;
}

Expected<void> Findings::write(const std::string &folder) const {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  std::ofstream list(folder + "/list.txt");
  for (const auto &[signature, finding] : all) {
    std::string name = signature.substr(0, 100);
    std::ranges::replace_if(name, [](unsigned char letter) { return !std::isalnum(letter); }, '_');
    const std::string path = fmt::format("{}/{}{}", folder, name, finding.ending);
    std::ofstream file(path, std::ios::binary);
    if (!file.write(finding.bytes.data(), std::ssize(finding.bytes)))
      return makeError(path, "cannot be written");
    list << fmt::format("{}\n    {}: {}\n    {}{}\n", signature, finding.seed,
                        fmt::join(finding.changes, "; "), name, finding.ending);
  }
  return list ? Expected<void>() : makeError(folder + "/list.txt", "cannot be written");
}

Expected<std::vector<std::string>> readKnown(const std::string &path) {
  std::vector<std::string> known;
  if (path.empty())
    return known;
  std::ifstream file(path);
  if (!file)
    return makeError(path, "cannot be opened");
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && !line.starts_with('#'))
      known.push_back(line);
  return known;
}

} // namespace tpuc::fuzz
