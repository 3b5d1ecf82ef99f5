//===- IntegerElementwise.h - Sums, products, extremes of 8-bit tensors ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERELEMENTWISE_H
#define TPUC_INTERPRETER_KERNELS_INTEGERELEMENTWISE_H

#include "tpuc/Interpreter/Kernels/IntegerRequant.h"

#include <span>

namespace tpuc::kernels {

// Inputs and outputs are i8 or u8; inputs are broadcast to the output. `requant` has one factor.

/// acc = sum over i of inputs[i] * multipliers[i] + constant, which must fit in 32 bits whatever
/// the inputs hold, then `requant`: with factor {1, s} saturate(round(acc / 2^s) + zeroPoint).
struct WeightedSumParams {
  std::vector<int32_t> multipliers; ///< One for each input.
  int32_t constant = 0;
  RequantParams requant;
};
void integerWeightedSum(std::span<const Tensor> inputs, const WeightedSumParams &params,
                        Tensor &output, ThreadPool &threads);

/// acc = (left - leftZero) * (right - rightZero), then `requant`.
void integerProduct(const Tensor &left, int32_t leftZero, const Tensor &right, int32_t rightZero,
                    const RequantParams &requant, Tensor &output, ThreadPool &threads);

/// What an operand becomes before it is compared: operand - zero through `requant`.
struct ExtremeOperand {
  int32_t zero = 0;
  RequantParams requant;
};
/// The largest (`isMax`) or smallest of the inputs, each requantized to the output first. One
/// operand for each input.
void integerExtreme(std::span<const Tensor> inputs, std::span<const ExtremeOperand> operands,
                    bool isMax, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERELEMENTWISE_H
