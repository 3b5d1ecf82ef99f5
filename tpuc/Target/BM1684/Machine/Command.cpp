//===- Command.cpp - Commands of the BM1684 -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Command.h"

#include "tpuc/Target/Common/Stream.h"

namespace tpuc::bm1684 {

Expected<Command> decode(mc::EngineId engine, std::span<const uint8_t> bytes,
                         const std::string &where) {
  return mc::decode(kCommandTable, engine, bytes, where);
}

Expected<Command> assemble(std::string_view line, const std::string &where) {
  return mc::assemble(kCommandTable, line, where);
}

Expected<std::vector<Command>> parseStream(mc::EngineId engine, std::span<const uint8_t> bytes,
                                           const std::string &where) {
  return mc::parseStream(kCommandTable, kCommandTable.streams[engine.index()], bytes, where);
}

std::vector<uint8_t> encodeStream(std::span<const Command> commands) {
  const size_t engine = commands.empty() ? 0 : commands.front().engine().index();
  return mc::encodeStream(kCommandTable.streams[engine], commands);
}

} // namespace tpuc::bm1684
