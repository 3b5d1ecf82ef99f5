//===- WindowCommands.h - What windows of the BM1684 are made of ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_WINDOWCOMMANDS_H
#define TPUC_TARGET_BM1684_KERNELS_WINDOWCOMMANDS_H

#include "tpuc/Target/BM1684/Kernels/Windows.h"

namespace tpuc::bm1684 {

/// A command over windows without its other operands.
Command windowCommand(Builder &builder, unsigned opcode, unsigned sub, const LocalTensor &output,
                      const LocalTensor &input, const Window2d &window,
                      const std::array<int64_t, 2> &insert);

/// A convolution of floats in one group.
struct ConvCommand {
  LocalTensor input, output;
  /// The addresses of both for the first output channel, as commands take them.
  uint64_t filter = 0;
  std::optional<uint64_t> bias = std::nullopt;
  Window2d window = {};
  std::array<int64_t, 2> insert = {0, 0};
  /// Words, of which there is an even number, from a filter's row to the one of the next slot.
  int64_t slotStride = 0;
  bool accumulates = false;
  bool isTurned = false;
  /// Taps of the whole kernel in a row of it, and how far apart the ones are that are taken, along
  /// both axes: `filter` is the first of them. None: those of the window.
  int64_t filterWidth = 0;
  std::array<int64_t, 2> tapStep = {1, 1};
};
/// Of more channels than a command takes several ones; of input channels for windows of one tap.
void addConv(Builder &builder, const ConvCommand &conv);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_WINDOWCOMMANDS_H
