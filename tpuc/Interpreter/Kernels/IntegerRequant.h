//===- IntegerRequant.h - From accumulators to 8 bits ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERREQUANT_H
#define TPUC_INTERPRETER_KERNELS_INTEGERREQUANT_H

#include "tpuc/Support/Requant.h"
#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <span>
#include <vector>

namespace tpuc::kernels {

/// How the 32-bit accumulator of an integer op becomes its result:
///   y = saturate(round(acc * M / 2^s) + zeroPoint)
/// in the way that `mode` names; with MultiplierShift one rounding of a 64-bit product.
/// MultiplierShift with HalfUp and shifts of 0 to 62 is the fast way, all others are exact too.
struct RequantParams {
  RequantMode mode = RequantMode::MultiplierShift;
  /// One for all, or one for each of what the op says (channels, columns, counts).
  std::vector<MultiplierShift> factors;
  /// For MultiplierShift and OnlyShift; the others have their own.
  RoundingMode rounding = RoundingMode::HalfUp;
  int32_t zeroPoint = 0;
  /// Where the result is saturated: within the output's type, narrower for a fused ReLU.
  IntegerRange range = integerRange<int8_t>();

  /// What `requantize` needs for channel `index`.
  Requantization at(size_t index) const {
    return {mode, factors[factors.size() == 1 ? 0 : index], zeroPoint, rounding, range};
  }
};

/// acc = input - inputZero through `params`, with one factor or one for each position along `axis`.
/// The input is i8, u8, i16, u16 or i32, and acc must fit in 32 bits; the output is one of these
/// types. Both have the same shape.
void integerRequantize(const Tensor &input, int32_t inputZero, int64_t axis,
                       const RequantParams &params, Tensor &output, ThreadPool &threads);

/// y = f32(acc) * scale of an accumulator (i32), within [low, high], with one scale or one for each
/// position along `axis`. The output is f32 and has the same shape.
void dequantizeSums(const Tensor &sums, int64_t axis, std::span<const float> scales, float low,
                    float high, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERREQUANT_H
