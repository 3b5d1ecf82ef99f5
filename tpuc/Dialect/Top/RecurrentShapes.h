//===- RecurrentShapes.h - Shapes of recurrent cells ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_RECURRENTSHAPES_H
#define TPUC_DIALECT_TOP_RECURRENTSHAPES_H

#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Support/Error.h"

namespace tpuc::top {

/// The operands that LSTM, GRU and RNN share, in this order; none where one is left out or
/// unranked.
struct RecurrentOperands {
  std::optional<Dims> input, filter, recurrence, bias, sequenceLens, initialH, initialC, peephole;
};

struct RecurrentShapes {
  int64_t sequence, batch, directions, inputSize;
  Dims y, yH; ///< Y_c has the shape of Y_h.
};

/// The extents of a recurrent op (LSTM, GRU or RNN) with `gates` gates. Extents that are not known
/// are kDynamic. Errors (without `where`): operands that do not fit each other or the attributes.
Expected<RecurrentShapes> recurrentShapes(mlir::Operation *op, int64_t gates,
                                          const RecurrentOperands &operands);

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_RECURRENTSHAPES_H
