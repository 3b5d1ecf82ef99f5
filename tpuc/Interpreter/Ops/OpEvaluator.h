//===- OpEvaluator.h - What an op computes, by its name -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_OPS_OPEVALUATOR_H
#define TPUC_INTERPRETER_OPS_OPEVALUATOR_H

#include "tpuc/Interpreter/Ops/OpContext.h"

namespace tpuc::ops {

/// What the ops of a name compute. Of the dialects, `top` has them all; only `RoundTo` is of `tpu`.
struct OpEvaluator {
  /// Without the dialect: `Gather`.
  std::string_view name;
  Expected<void> (*function)(OpContext &context);
};

/// All ops of this component.
std::span<const OpEvaluator> evaluators();

/// Null for ops that are not in this component: control flow, and those on stored integers with
/// requantization.
const OpEvaluator *findEvaluator(std::string_view name);

/// Computes the results from the operands that the context holds. The shapes are those of the
/// tensors. Errors name what does not fit: operands, attributes that are missing, and memory.
Expected<void> evaluate(const OpEvaluator &evaluator, OpContext &context);

} // namespace tpuc::ops

#endif // TPUC_INTERPRETER_OPS_OPEVALUATOR_H
