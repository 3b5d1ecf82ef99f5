//===- Check.cpp - Checks of whole programs -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Check.h"

#include "tpuc/Target/BM1684/Machine/Operands.h"
#include "tpuc/Target/BM168x/Check.h"

namespace tpuc::bm1684 {

Expected<std::vector<ScheduledCommand>>
serialOrder(std::span<const Command> tiu, std::span<const Command> gdma, const std::string &where) {
  return bm168x::serialOrder(kCommandTable, tiu, gdma, where);
}

std::optional<Error> checkCommand(const Command &command, const std::string &where) {
  const Expected<OperandList> operands = operandsOf(command, where);
  if (!operands)
    return operands.error();
  return bm168x::checkOperands(kLocalMemory, *operands, where);
}

std::optional<Error> checkProgram(std::span<const Command> tiu, std::span<const Command> gdma,
                                  const std::string &where) {
  return bm168x::checkProgram(kCommandTable, tiu, gdma, where, checkCommand);
}

} // namespace tpuc::bm1684
