//===- Simulator.h - Runs commands, bit for bit -----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_MACHINE_SIMULATOR_H
#define TPUC_TARGET_CV18XX_MACHINE_SIMULATOR_H

#include "tpuc/Target/CV18xx/Machine/Operands.h"

namespace tpuc::cv18xx {

/// The memories of a chip. Global memory is the caller's; addresses of commands count from the
/// value of a base register, which is an offset in it.
class Memory {
public:
  Memory(const Chip &chip, std::span<uint8_t> global)
      : chipInfo(&chip), globalBytes(global), localBytes(size_t{chip.lanes} * kLaneBytes) {}

  const Chip &chip() const { return *chipInfo; }
  /// Lane after lane.
  std::span<uint8_t> local() { return localBytes; }
  std::span<uint8_t> global() { return globalBytes; }
  std::array<uint64_t, kNumBases> bases = {};

  /// Where an element of a view lies. The view must have passed `checkCommand`.
  uint8_t *at(const View &view, uint32_t n, uint32_t c, uint32_t h) {
    const uint32_t channel = view.lane + c;
    return &localBytes[size_t{channel % chipInfo->lanes} * kLaneBytes + view.offset +
                       n * view.strides[0] + channel / chipInfo->lanes * view.strides[1] +
                       h * view.strides[2]];
  }

private:
  const Chip *chipInfo;
  std::span<uint8_t> globalBytes;
  std::vector<uint8_t> localBytes;
};

/// Runs a command that passed `checkCommand`. Operands are read before results are written. Errors
/// name `where`: bytes outside of global memory, streams that are not compressed values, no number
/// as the index of a table, parameters that shift a channel by 32 and more.
Expected<void> runCommand(Memory &memory, const Command &command, const std::string &where);

// The parts, by the type of the command.
void runConv(Memory &memory, const TiuCommand &command);
void runPool(Memory &memory, const TiuCommand &command);
void runMatrix(Memory &memory, const TiuCommand &command);
void runElementwise(Memory &memory, const TiuCommand &command);
Expected<void> runDma(Memory &memory, const DmaCommand &command, const std::string &where);

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_MACHINE_SIMULATOR_H
