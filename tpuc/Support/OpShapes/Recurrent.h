//===- Recurrent.h - Shapes of recurrent layers -----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_OPSHAPES_RECURRENT_H
#define TPUC_SUPPORT_OPSHAPES_RECURRENT_H

#include "tpuc/Support/OpShapes/Dims.h"

namespace tpuc::shapes {

/// What the attributes of a recurrent layer say of its shapes; `gates` are those of its cell.
struct RecurrentSpec {
  int64_t gates = 1;
  int64_t hidden = 0;
  bool isBidirectional = false;
  bool batchFirst = false;
};

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
Expected<RecurrentShapes> recurrentShapes(const RecurrentSpec &spec,
                                          const RecurrentOperands &operands);

/// The operands of an LSTM of integers, none where one is left out or unranked.
struct IntegerLstmOperands {
  std::optional<Dims> input, filter, recurrence, bias, peephole, norm, projection, projectionBias;
};

/// The shape of the output of such a cell with `gates` gates (3 or 4). Errors: as recurrentShapes;
/// peepholes of fewer units than outputs.
Expected<Dims> integerLstmShape(int64_t gates, const IntegerLstmOperands &operands);

} // namespace tpuc::shapes

#endif // TPUC_SUPPORT_OPSHAPES_RECURRENT_H
