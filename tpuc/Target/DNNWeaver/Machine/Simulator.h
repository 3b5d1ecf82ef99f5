//===- Simulator.h - What a program computes ------------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Carries out blocks over DDR, bit for bit as the machine does: buffers with two tags, of which a
// tile whose address did not change keeps its own, sums that go to DDR and come back, the array,
// the ALU. Tiles are carried out one after the other. The machine loads the next tile while it
// computes this one, so a program whose blocks read what they write themselves means nothing on it.
// Two faults of the public hardware description are not repeated: see docs/rationale/dnnweaver.md.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_MACHINE_SIMULATOR_H
#define TPUC_TARGET_DNNWEAVER_MACHINE_SIMULATOR_H

#include "tpuc/Target/DNNWeaver/Machine/Program.h"

namespace tpuc::dnnweaver {

/// What a program may do before it is stopped.
struct RunLimits {
  /// Steps of the array and words moved, of all blocks.
  uint64_t steps = uint64_t{1} << 34;
};

/// What a block must hold beyond its words: tiles that fit into the buffers, an ALU that takes and
/// gives as many words as are read and stored, a set of weights that stays long enough. Errors name
/// `where`.
Expected<void> checkBlock(const Parameters &machine, const Block &block, const std::string &where);

/// Carries out `blocks` over `memory`, whose first byte has address 0. Errors name `where` and the
/// block: what `checkBlock` says, addresses outside of memory, words of a buffer that were never
/// loaded, more steps than allowed. Memory is changed up to the error.
Expected<void> runBlocks(const Parameters &machine, std::span<const Block> blocks,
                         std::span<uint8_t> memory, const std::string &where,
                         const RunLimits &limits = {});

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_MACHINE_SIMULATOR_H
