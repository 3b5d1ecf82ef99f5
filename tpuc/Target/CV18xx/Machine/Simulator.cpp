//===- Simulator.cpp - Runs commands, bit for bit -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Simulator.h"

namespace tpuc::cv18xx {

Expected<void> runCommand(Memory &memory, const Command &command, const std::string &where) {
  if (command.engine() == Engine::Dma)
    return runDma(memory, readDma(memory.chip(), command), where);
  const TiuCommand tiu = readTiu(memory.chip(), command);
  switch (tiu.type) {
  case tiu::kConv:
    runConv(memory, tiu);
    break;
  case tiu::kPool:
    runPool(memory, tiu);
    break;
  case tiu::kMatrix:
    runMatrix(memory, tiu);
    break;
  default:
    runElementwise(memory, tiu);
  }
  return {};
}

} // namespace tpuc::cv18xx
