//===- Families.h - The ops of this component, family by family ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_OPS_FAMILIES_H
#define TPUC_INTERPRETER_OPS_FAMILIES_H

#include "tpuc/Interpreter/Ops/OpEvaluator.h"

namespace tpuc::ops {

// Each gives the ops of the file of that name.
std::span<const OpEvaluator> attentionOps();
std::span<const OpEvaluator> binaryOps();
std::span<const OpEvaluator> convolutionOps();
std::span<const OpEvaluator> detectionOps();
std::span<const OpEvaluator> indexOps();
std::span<const OpEvaluator> matrixOps();
std::span<const OpEvaluator> movementOps();
std::span<const OpEvaluator> normOps();
std::span<const OpEvaluator> poolOps();
std::span<const OpEvaluator> preprocessOps();
std::span<const OpEvaluator> quantizeOps();
std::span<const OpEvaluator> recurrentOps();
std::span<const OpEvaluator> reduceOps();
std::span<const OpEvaluator> resizeOps();
std::span<const OpEvaluator> shapeOps();
std::span<const OpEvaluator> signalOps();
std::span<const OpEvaluator> unaryOps();

} // namespace tpuc::ops

#endif // TPUC_INTERPRETER_OPS_FAMILIES_H
