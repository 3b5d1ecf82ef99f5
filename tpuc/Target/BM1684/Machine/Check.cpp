//===- Check.cpp - Checks of whole programs -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Check.h"

#include "tpuc/Target/BM1684/Machine/Operands.h"
#include "tpuc/Target/Common/Check.h"

namespace tpuc::bm1684 {

Expected<std::vector<ScheduledCommand>>
serialOrder(std::span<const Command> tiu, std::span<const Command> gdma, const std::string &where) {
  const std::span<const Command> queues[] = {tiu, gdma};
  return mc::serialOrder(kCommandTable, queues, where);
}

std::optional<Error> checkCommand(const Command &command, const std::string &where) {
  const Expected<OperandList> operands = operandsOf(command, where);
  if (!operands)
    return operands.error();
  return bm168x::checkOperands(kLocalMemory, *operands, where);
}

std::optional<Error> checkProgram(std::span<const Command> tiu, std::span<const Command> gdma,
                                  const std::string &where) {
  for (const std::span<const Command> commands : {tiu, gdma})
    for (size_t i = 0; i < commands.size(); ++i)
      if (std::optional<Error> error =
              checkCommand(commands[i], mc::commandName(where, commands[i], i)))
        return error;
  const Expected<std::vector<ScheduledCommand>> order = serialOrder(tiu, gdma, where);
  if (!order)
    return order.error();
  return std::nullopt;
}

} // namespace tpuc::bm1684
