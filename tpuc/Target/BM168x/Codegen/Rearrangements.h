//===- Rearrangements.h - Ops that take elements by dimension - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_CODEGEN_REARRANGEMENTS_H
#define TPUC_TARGET_BM168X_CODEGEN_REARRANGEMENTS_H

#include "tpuc/Support/Error.h"

#include "mlir/IR/Operation.h"
#include <vector>

namespace tpuc::bm168x::backend {

/// Elements of one dimension of a result: `count` ones from `to` on are those of the operand from
/// `from` on, each `step` behind the one before; 0 repeats one.
struct Run {
  int64_t to = 0, from = 0, count = 0, step = 1;
};

/// output[i, j, ...] = input[source 0 of i, source 1 of j, ...].
struct Rearrangement {
  /// Of each dimension; what no run reaches is `fill`.
  std::vector<std::vector<Run>> runs;
  double fill = 0;
  bool isFilled = false;
};

/// Whether `op` is of this kind: a tile, a pad, a crop or a tile with any steps.
bool isRearrangement(mlir::Operation *op);

/// What it does. Errors (without `where`): parameters that are computed.
Expected<Rearrangement> rearrangementOf(mlir::Operation *op);

} // namespace tpuc::bm168x::backend

#endif // TPUC_TARGET_BM168X_CODEGEN_REARRANGEMENTS_H
