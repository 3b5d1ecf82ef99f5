//===- Attention.h - Shapes of attention and what comes with it ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_OPSHAPES_ATTENTION_H
#define TPUC_SUPPORT_OPSHAPES_ATTENTION_H

#include "tpuc/Support/OpShapes/Dims.h"

namespace tpuc::shapes {

/// The extents of an operand; none where it is left out or unranked.
using OperandDims = std::span<const std::optional<Dims>>;

/// What the attributes of an attention say of its shapes, and whether it has keys from before.
struct AttentionSpec {
  std::optional<int64_t> queryHeads, keyHeads;
  bool hasPast = false;
};

/// What the attributes of a rotary embedding say of its shapes, and whether it is given positions.
struct RopeSpec {
  int64_t heads = 0;
  /// 0: all elements.
  int64_t rotated = 0;
  bool hasPositions = false;
};

// The extents of each op's results, from those of its operands in their order. Extents that are not
// known are kDynamic, shapes of unknown rank none. The same functions serve shape inference and
// evaluation, which knows all of them. Errors (without `where`): operands that do not fit each
// other or the attributes.

struct AttentionShapes {
  std::optional<Dims> output;
  Dims presentKey, presentValue, scores;
};
Expected<AttentionShapes> attentionShapes(const AttentionSpec &spec, OperandDims operands);

/// Checks what Rope needs; the result is like the input.
Expected<void> checkRope(const RopeSpec &spec, OperandDims operands);

struct LinearAttentionShapes {
  Dims output, state;
};
Expected<LinearAttentionShapes> linearAttentionShapes(int64_t queryHeads, int64_t keyHeads,
                                                      OperandDims operands);

/// The shape of the state; the result is like the input.
Expected<Dims> causalConvState(OperandDims operands);

} // namespace tpuc::shapes

#endif // TPUC_SUPPORT_OPSHAPES_ATTENTION_H
