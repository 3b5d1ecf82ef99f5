//===- LaneMoves.h - Copies that pass the lanes --------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transfer between two places of global memory moves rows that are dense in both. Where a copy
// exchanges the innermost dimensions these are single elements, and each takes as long as 64 bytes.
// In local memory a command puts elements in another order: a part is loaded in rows of the source,
// and stored in rows of the target.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_KERNELS_LANEMOVES_H
#define TPUC_TARGET_CV18XX_KERNELS_LANEMOVES_H

#include "tpuc/Target/CV18xx/Kernels/LocalTensor.h"
#include "tpuc/Target/CV18xx/Machine/Timing.h"

namespace tpuc::cv18xx {

/// A dimension of a copy: its extent, and the strides of both tensors.
struct CopyAxis {
  int64_t extent = 1, from = 0, to = 0;
};

/// A copy of bytes that exchanges runs: those that follow each other along axis `source` of the
/// tensor that is read follow each other along axis `target` of the one that is written.
struct Exchange {
  /// Bytes that follow each other in both.
  int64_t run = 1;
  std::vector<CopyAxis> axes = {};
  size_t source = 0, target = 0;
};

/// That of a copy whose last dimension is a run; none where no two dimensions are exchanged.
std::optional<Exchange> exchangeOf(std::span<const CopyAxis> axes);

/// How an exchange passes the lanes.
struct LanePlan {
  /// The axis whose parts lie in lanes that follow each other.
  int64_t lanes = 0;
  /// What a lane holds at a time: elements along `source` and along `target`.
  int64_t rows = 1, columns = 1;
};

/// The plan that takes the least time by the first set of timing parameters. None where none takes
/// less than `direct`, nanoseconds by each set, by all of them.
std::optional<LanePlan> bestPlan(const Chip &chip, const Exchange &exchange,
                                 std::span<const double, kNumTimingSets> direct);

/// Whether a plan is one of this exchange, whose parts fit the lanes.
bool isPlanOf(const Exchange &exchange, const LanePlan &plan);

/// Copies from one address of global memory to another, with all of local memory. The next part is
/// loaded while one is put in order and the one before stored. Errors (without `where`): what the
/// chip refuses.
Expected<void> emitThroughLanes(Builder &builder, const Exchange &exchange, const LanePlan &plan,
                                const GlobalTensor &from, const GlobalTensor &to);

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_KERNELS_LANEMOVES_H
