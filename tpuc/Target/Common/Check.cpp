//===- Check.cpp - Values of fields and whether they are legal ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Common/Check.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::mc {

std::optional<Error> checkFields(const Command &command, const std::string &where) {
  const unsigned opcode = command.operation().opcode;
  for (const FieldLimit &limit : command.table().limits) {
    const bool applies =
        limit.opcodes == ~0u || (opcode < 32 && (limit.opcodes >> opcode & 1) != 0);
    if (!applies || !command.has(limit.field))
      continue;
    const uint64_t value = command.get(limit.field);
    if (value >= limit.least && value <= limit.most)
      continue;
    const FieldInfo &field = command.table().field(limit.field);
    const uint64_t most = std::min(limit.most, command.find(limit.field)->bits().mask());
    return Error{
        where,
        fmt::format("{} {}={}", command.operation().name, field.name, valueText(field, value)),
        limit.expected.empty() ? fmt::format("{} to {}", limit.least, most)
                               : std::string(limit.expected)};
  }
  return std::nullopt;
}

std::string commandName(const std::string &where, const Command &command, size_t index) {
  return fmt::format("{}: {} command {}", where, command.engineInfo().name, index);
}

} // namespace tpuc::mc
