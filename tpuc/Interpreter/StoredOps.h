//===- StoredOps.h - What top ops compute of stored integers -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_STOREDOPS_H
#define TPUC_INTERPRETER_STOREDOPS_H

#include "tpuc/Interpreter/Evaluate.h"

namespace tpuc {

/// Whether `op` is of a network that its source has quantized, and reads or makes `!quant.uniform`.
/// In modules that were lowered, ops on such tensors mean the integers themselves.
bool isOnStoredNumbers(mlir::Operation *op);

/// What such an op computes. Convolutions, inner products, sums, products, averages, softmax and
/// copies whose tensors all are stored integers are computed in fixed point (Kernels/FixedPoint.h).
/// Of other ops, the numbers that operands stand for are computed with in f32, and the results
/// rounded, ties away from zero.
Expected<void> evaluateOnStoredNumbers(mlir::Operation *op, EvalContext &context);

} // namespace tpuc

#endif // TPUC_INTERPRETER_STOREDOPS_H
