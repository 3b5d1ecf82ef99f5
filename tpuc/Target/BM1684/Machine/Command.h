//===- Command.h - Commands of the BM1684 --------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_MACHINE_COMMAND_H
#define TPUC_TARGET_BM1684_MACHINE_COMMAND_H

#include "tpuc/Target/BM1684/Machine/CommandTable.h"
#include "tpuc/Target/Common/Command.h"

namespace tpuc::bm1684 {

using mc::Command;
using mc::disassemble;

// The functions of tpuc/Target/Common for the table of this chip; what they do and which errors
// they give stands there.

Expected<Command> decode(mc::EngineId engine, std::span<const uint8_t> bytes,
                         const std::string &where);
Expected<Command> assemble(std::string_view line, const std::string &where);

/// A whole stream: nothing but commands, 128 bytes each.
Expected<std::vector<Command>> parseStream(mc::EngineId engine, std::span<const uint8_t> bytes,
                                           const std::string &where);
std::vector<uint8_t> encodeStream(std::span<const Command> commands);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_MACHINE_COMMAND_H
