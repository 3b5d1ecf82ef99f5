//===- Profile.h - Where the time of a simulation goes ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_MODEL_RUNNER_PROFILE_H
#define TOOLS_MODEL_RUNNER_PROFILE_H

#include "runtime/DeviceDriver.h"

#include <chrono>
#include <map>
#include <nlohmann/json_fwd.hpp>

namespace tpuc::modelrunner {

/// Sums up how long this machine takes for the commands of each kind. That is the speed of the
/// simulation, and nothing that a device would show.
class Profile {
public:
  void before();
  void after(const runtime::CommandEvent &event);

  /// A table, the slowest operation first.
  std::string str() const;
  nlohmann::ordered_json toJson() const;

private:
  using Clock = std::chrono::steady_clock;
  struct Row {
    uint64_t commands = 0;
    double seconds = 0;
  };
  std::vector<std::pair<std::string, Row>> sorted() const;

  Clock::time_point begin;
  std::map<std::string, Row, std::less<>> rows;
};

} // namespace tpuc::modelrunner

#endif // TOOLS_MODEL_RUNNER_PROFILE_H
