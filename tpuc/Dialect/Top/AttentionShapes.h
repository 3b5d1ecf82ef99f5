//===- AttentionShapes.h - Extents of attention -----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_ATTENTIONSHAPES_H
#define TPUC_DIALECT_TOP_ATTENTIONSHAPES_H

#include "tpuc/Dialect/Top/AttentionOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Support/Error.h"

namespace tpuc::top {

/// The extents of an operand; none where it is left out or unranked.
using OperandDims = llvm::ArrayRef<std::optional<Dims>>;

// The extents of each op's results, from those of its operands in their order. Extents that are not
// known are kDynamic, shapes of unknown rank none. The same functions serve shape inference and
// evaluation, which knows all of them. Errors (without `where`): operands that do not fit each
// other or the attributes.

struct AttentionShapes {
  std::optional<Dims> output;
  Dims presentKey, presentValue, scores;
};
Expected<AttentionShapes> attentionShapes(ScaleDotProductAttentionOp op, OperandDims operands);

/// Checks what Rope needs; the result is like the input.
Expected<void> checkRope(RopeOp op, OperandDims operands);

struct LinearAttentionShapes {
  Dims output, state;
};
Expected<LinearAttentionShapes> linearAttentionShapes(LinearAttentionOp op, OperandDims operands);

/// The shape of the state; the result is like the input.
Expected<Dims> causalConvState(CausalConvOp op, OperandDims operands);

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_ATTENTIONSHAPES_H
