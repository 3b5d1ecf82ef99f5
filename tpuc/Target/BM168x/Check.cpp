//===- Check.cpp - Which programs are legal and in what order -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Check.h"

#include "tpuc/Target/Common/Check.h"

namespace tpuc::bm168x {

Expected<std::vector<mc::ScheduledCommand>> serialOrder(const mc::CommandTable &table,
                                                        std::span<const mc::Command> tiu,
                                                        std::span<const mc::Command> gdma,
                                                        const std::string &where) {
  const std::span<const mc::Command> queues[] = {tiu, gdma};
  return mc::serialOrder(table, queues, where);
}

std::optional<Error> checkProgram(
    const mc::CommandTable &table, std::span<const mc::Command> tiu,
    std::span<const mc::Command> gdma, const std::string &where,
    const std::function<std::optional<Error>(const mc::Command &command, const std::string &where)>
        &checkCommand) {
  for (const std::span<const mc::Command> commands : {tiu, gdma})
    for (size_t i = 0; i < commands.size(); ++i)
      if (std::optional<Error> error =
              checkCommand(commands[i], mc::commandName(where, commands[i], i)))
        return error;
  const auto order = serialOrder(table, tiu, gdma, where);
  return order ? std::nullopt : std::optional(order.error());
}

} // namespace tpuc::bm168x
