//===- Simulator.cpp - Runs commands, bit for bit -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Simulator.h"

#include <fmt/format.h>

namespace tpuc::cv18xx {

namespace {

/// The functional model shifts by 32 and more otherwise than it does by less, and nobody knows how.
Expected<void> checkParameters(Memory &memory, const TiuCommand &command,
                               const std::string &where) {
  constexpr unsigned kMost = 31;
  const Planes parameters = viewsOf(memory.chip(), command).opd2;
  if (!command.hasRequant || parameters.count == 0)
    return {};
  const size_t shiftAt = command.numOperands == 3 ? 8 : 4;
  for (uint32_t c = 0; c < parameters.view.shape[1]; ++c)
    if (const unsigned shift = memory.at(parameters.view, 0, c, 0)[shiftAt]; shift > kMost)
      return makeError(where, fmt::format("channel {} is shifted by {}", c, shift),
                       fmt::format("at most {}", kMost));
  return {};
}

} // namespace

Expected<void> runCommand(Memory &memory, const Command &command, const std::string &where) {
  if (command.engine() == Engine::Dma)
    return runDma(memory, readDma(memory.chip(), command), where);
  const TiuCommand tiu = readTiu(memory.chip(), command);
  if (tiu.type == tiu::kConv || tiu.type == tiu::kPool)
    if (Expected<void> checked = checkParameters(memory, tiu, where); !checked)
      return checked;
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
