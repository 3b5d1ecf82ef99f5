//===- Check.cpp - Checks of whole programs -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Check.h"

#include "tpuc/Target/BM1684X/Machine/Operands.h"

#include <fmt/format.h>

namespace tpuc::bm1684x {

namespace {

std::string commandName(const std::string &where, const Command &command, size_t index) {
  return fmt::format("{}: {} command {}", where, command.engine() == Engine::Tiu ? "TIU" : "GDMA",
                     index);
}

std::optional<Error> checkIds(std::span<const Command> commands, const std::string &where) {
  for (size_t i = 0; i < commands.size(); ++i)
    if (commands[i].id() != i + 1)
      return Error{commandName(where, commands[i], i), fmt::format("id {}", commands[i].id()),
                   fmt::format("{}: ids count from 1", i + 1)};
  return std::nullopt;
}

} // namespace

Expected<std::vector<ScheduledCommand>>
serialOrder(std::span<const Command> tiu, std::span<const Command> gdma, const std::string &where) {
  for (std::span<const Command> commands : {tiu, gdma})
    if (std::optional<Error> error = checkIds(commands, where))
      return tl::unexpected<Error>(std::move(*error));
  std::vector<ScheduledCommand> order;
  order.reserve(tiu.size() + gdma.size());
  size_t t = 0;
  size_t g = 0;
  while (t < tiu.size() || g < gdma.size()) {
    if (t < tiu.size() && tiu[t].dependency() <= g) {
      order.push_back({Engine::Tiu, static_cast<uint32_t>(t++)});
      continue;
    }
    if (g < gdma.size() && gdma[g].dependency() <= t) {
      order.push_back({Engine::Gdma, static_cast<uint32_t>(g++)});
      continue;
    }
    bool tiuWaits = t < tiu.size();
    const Command &command = tiuWaits ? tiu[t] : gdma[g];
    std::string other =
        tiuWaits && g < gdma.size()
            ? fmt::format(", and GDMA command {} for TIU id {}", g, gdma[g].dependency())
            : "";
    return makeError(
        commandName(where, command, tiuWaits ? t : g),
        fmt::format("waits for {} id {}{}", tiuWaits ? "GDMA" : "TIU", command.dependency(), other),
        "an id that the other engine reaches");
  }
  return order;
}

std::optional<Error> checkCommand(const Command &command, const std::string &where) {
  Expected<OperandList> operands = operandsOf(command, where);
  if (!operands)
    return operands.error();
  return checkOperands(*operands, where);
}

std::optional<Error> checkProgram(std::span<const Command> tiu, std::span<const Command> gdma,
                                  const std::string &where) {
  for (std::span<const Command> commands : {tiu, gdma})
    for (size_t i = 0; i < commands.size(); ++i)
      if (std::optional<Error> error =
              checkCommand(commands[i], commandName(where, commands[i], i)))
        return error;
  Expected<std::vector<ScheduledCommand>> order = serialOrder(tiu, gdma, where);
  if (!order)
    return order.error();
  return std::nullopt;
}

} // namespace tpuc::bm1684x
