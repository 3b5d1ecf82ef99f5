//===- Findings.cpp - What came of networks -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/networks/Findings.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
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
  case Ending::Kind::Signal:
    break;
  }
  return signal == 0 ? "exit" : fmt::format("SIG{}", ::sigabbrev_np(signal));
}

} // namespace

Outcome outcomeOf(const Ending &ending) {
  Outcome outcome;
  outcome.kind = ending.kind;
  outcome.signal = ending.signal;
  for (const std::string &line : linesOf(ending.notes)) {
    const size_t space = line.find(' ');
    const std::string what = line.substr(0, space);
    const std::string rest = line.substr(space + 1);
    if (what == "begin")
      outcome.step = rest;
    else if (const size_t colon = rest.find(": "); colon != std::string::npos)
      outcome.steps.push_back({rest.substr(0, colon), what, rest.substr(colon + 2)});
    else
      outcome.steps.push_back({rest, what, ""});
  }
  outcome.detail = causeIn(ending.errors).substr(0, kMostDetail);
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

void Tally::add(const Outcome &outcome) {
  for (const Outcome::Step &step : outcome.steps)
    ++counts[step.name][step.what];
  if (outcome.isFinding())
    ++counts[outcome.step][nameOf(outcome.kind, outcome.signal)];
}

void Tally::print() const {
  for (const auto &[step, each] : counts) {
    fmt::print("  {:<12}", step);
    for (const auto &[what, count] : each)
      fmt::print(" {} {},", count, what);
    fmt::print("\n");
  }
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
               signature, finding.network, fmt::join(finding.changes, "; "));
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
    const std::string path = fmt::format("{}/{}.onnx", folder, name);
    std::ofstream file(path, std::ios::binary);
    if (!file.write("", 0) || !finding.model.SerializeToOstream(&file))
      return makeError(path, "cannot be written");
    list << fmt::format("{}\n    {}: {}\n    {}.onnx\n", signature, finding.network,
                        fmt::join(finding.changes, "; "), name);
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
