//===- Check.cpp - Checks of whole programs -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Check.h"

#include "tpuc/Target/BM1684X/Machine/Operands.h"
#include "tpuc/Target/BM168x/Check.h"
#include "tpuc/Target/Common/Check.h"

#include <fmt/format.h>

namespace tpuc::bm1684x {

Expected<std::vector<ScheduledCommand>>
serialOrder(std::span<const Command> tiu, std::span<const Command> gdma, const std::string &where) {
  return bm168x::serialOrder(kCommandTable, tiu, gdma, where);
}

std::optional<Error> checkCommand(const Command &command, const std::string &where) {
  Expected<OperandList> operands = operandsOf(command, where);
  if (!operands)
    return operands.error();
  return checkOperands(*operands, where);
}

std::optional<Error> checkProgram(std::span<const Command> tiu, std::span<const Command> gdma,
                                  const std::string &where) {
  return bm168x::checkProgram(kCommandTable, tiu, gdma, where, checkCommand);
}

std::optional<Error> checkHazards(std::span<const Command> tiu, std::span<const Command> gdma,
                                  const std::string &where) {
  const std::span<const Command> queues[] = {tiu, gdma};
  const auto accessesOf = [&](const Command &command) {
    const Expected<OperandList> operands = operandsOf(command, where);
    return operands ? bm168x::localAccesses(kLocalMemory, *operands) : std::vector<mc::Access>();
  };
  const Expected<std::optional<mc::Hazard>> hazard =
      mc::findHazard(kCommandTable, queues, accessesOf, where);
  if (!hazard)
    return hazard.error();
  if (!*hazard)
    return std::nullopt;
  const auto name = [&](mc::ScheduledCommand one) {
    const Command &command = queues[one.engine.index()][one.index];
    return fmt::format("{} ({})", mc::commandName(where, command, one.index),
                       command.operation().name);
  };
  return Error{name((*hazard)->other), "no id that orders it and " + name((*hazard)->one),
               "commands on the same bytes in one order"};
}

} // namespace tpuc::bm1684x
