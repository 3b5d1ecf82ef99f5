//===- Profile.cpp - Where the time of a simulation goes ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/model_runner/Profile.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tpuc::modelrunner {

void Profile::before() { begin = Clock::now(); }

void Profile::after(const runtime::CommandEvent &event) {
  const std::chrono::duration<double> taken = Clock::now() - begin;
  auto found = rows.find(event.operation);
  if (found == rows.end())
    found = rows.emplace(event.operation, Row()).first;
  ++found->second.commands;
  found->second.seconds += taken.count();
}

std::vector<std::pair<std::string, Profile::Row>> Profile::sorted() const {
  std::vector<std::pair<std::string, Row>> result(rows.begin(), rows.end());
  std::ranges::sort(result, std::greater<>(),
                    [](const auto &entry) { return entry.second.seconds; });
  return result;
}

std::string Profile::str() const {
  std::string text =
      fmt::format("{:<24} {:>9} {:>11} {:>7}\n", "operation", "commands", "simulation", "share");
  Row total;
  for (const auto &[name, row] : rows) {
    total.commands += row.commands;
    total.seconds += row.seconds;
  }
  const auto line = [&](std::string_view name, const Row &row) {
    const double share = total.seconds > 0 ? row.seconds / total.seconds : 0;
    text += fmt::format("{:<24} {:>9} {:>8.1f} ms {:>6.1f}%\n", name, row.commands,
                        row.seconds * 1e3, share * 100);
  };
  for (const auto &[name, row] : sorted())
    line(name, row);
  line("total", total);
  return text;
}

nlohmann::ordered_json Profile::toJson() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto &[name, row] : sorted())
    json.push_back(
        {{"operation", name}, {"commands", row.commands}, {"simulation_seconds", row.seconds}});
  return json;
}

} // namespace tpuc::modelrunner
