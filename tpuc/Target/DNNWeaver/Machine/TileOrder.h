//===- TileOrder.h - Which tiles load, and what becomes of sums  -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_MACHINE_TILEORDER_H
#define TPUC_TARGET_DNNWEAVER_MACHINE_TILEORDER_H

#include "tpuc/Target/DNNWeaver/Machine/Program.h"

namespace tpuc::dnnweaver {

/// The tiles of a block, in order, as the base address generator gives them.
class TileOrder {
public:
  explicit TileOrder(const Block &block);

  std::array<uint64_t, kNumBuffers> address() const;
  /// Whether the tile of `buffer` is another one than in the step before.
  bool isNew(Buffer buffer) const { return isFirst || changed[index(buffer)]; }
  /// Whether sums begin with what the output buffer holds, instead of the bias.
  bool addsToSums() const;
  /// Whether the sums are finished, so that they go to the ALU and not back to DDR.
  bool isFinished() const { return finished; }
  /// The next tile; false behind the last one.
  bool next();

private:
  void updateFinished(size_t from);

  const Block *block;
  Iteration at;
  bool isFirst = true;
  bool finished = true;
  std::array<bool, kNumBuffers> changed = {};
};

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_MACHINE_TILEORDER_H
