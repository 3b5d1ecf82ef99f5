//===- Timing.h - How long a program takes -------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows the controllers of the public hardware description tile by tile. Each buffer has two
// tags: one is loaded while the array works on the other, and a tag of sums is free only when the
// ALU has taken it. Each buffer and the ALU have a DDR port of their own. The lengths of loads, of
// the array's work and of the ALU's work on one tile are sums over their loops' states.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_MACHINE_TIMING_H
#define TPUC_TARGET_DNNWEAVER_MACHINE_TIMING_H

#include "tpuc/Target/DNNWeaver/Machine/Program.h"

namespace tpuc::dnnweaver {

/// States of a loop controller: entering all levels, one for each innermost iteration, leaving and
/// entering each level that advances, leaving all of them.
///   (4 + 2) * 3 for 3 x 4 trips
uint64_t nestCycles(const Parameters &machine, const Levels &levels);

/// Cycles of the work on one tile, each by itself.
struct TileCycles {
  /// Loading each buffer, in the order of `Buffer`.
  std::array<uint64_t, kNumBuffers> load = {};
  /// The array.
  uint64_t compute = 0;
  /// The ALU with a finished tile, and until it has taken the last sum.
  uint64_t alu = 0;
  uint64_t aluReads = 0;
  /// Sums that go back to DDR.
  uint64_t store = 0;
};
TileCycles tileCycles(const Parameters &machine, const Block &block);

/// One piece of work for the time line.
struct Interval {
  enum class Unit : uint8_t { LoadInput, LoadOutput, LoadWeight, LoadBias, Array, Store, Alu };
  Unit unit;
  uint64_t begin, end;
  /// The tile that it is for, counted from 0.
  uint64_t tile;
};
inline constexpr std::array<std::string_view, 7> kUnitNames = {
    "load input", "load output", "load weight", "load bias", "array", "store", "alu"};

struct BlockCycles {
  uint64_t total = 0;
  /// Words of instructions, which are decoded one in a cycle.
  uint64_t decode = 0;
  /// The array, summed over tiles.
  uint64_t compute = 0;
  uint64_t tiles = 0;
  /// Whether a tile adds to sums that the array had finished before the tile was requested, in a
  /// tag that did so for the first time. The public hardware description then begins with the bias
  /// again: it takes over what a request says of the sums when the array ends, and a later request
  /// is lost, until that place holds the same from an earlier one. See `primingBlock`.
  bool needsPriming = false;
};

/// Cycles of a block from its first instruction to its end. `intervals`, where given, gets the time
/// line, counted from the block's begin. The block must pass `checkBlock`, which bounds its
/// tiles.
BlockCycles blockCycles(const Parameters &machine, const Block &block,
                        std::vector<Interval> *intervals = nullptr);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_MACHINE_TIMING_H
