//===- IntegerMatrix.h - Products of 8-bit matrices ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERMATRIX_H
#define TPUC_INTERPRETER_KERNELS_INTEGERMATRIX_H

#include "tpuc/Interpreter/Kernels/IntegerRequant.h"
#include "tpuc/Interpreter/Kernels/IntegerSimd.h"
#include "tpuc/Interpreter/Kernels/KernelCache.h"

#include <optional>

namespace tpuc::kernels {

struct IntegerMatMulParams {
  bool transposeLeft = false;
  bool transposeRight = false;
  int32_t leftZero = 0;
  int32_t rightZero = 0;
  /// One factor, or one for each column. None: the output is i32 and holds accumulators.
  std::optional<RequantParams> requant;
  /// The instructions to use. The result is the same with all.
  SimdLevel level = bestSimdLevel();
};

/// numpy.matmul of operands whose last two axes may be transposed:
///   acc = sum over k of (left[m, k] - leftZero) * (right[k, n] - rightZero) + bias[n]
/// which must fit in 32 bits. Operands are i8 or u8, the zero points within their ranges. `bias`
/// (i32, may be null) has one element per column or one in all. The output is i8 or u8, or i32
/// without requantization. An i8 right operand with zero point 0 is the fastest. `cache`: for a
/// right operand and bias that are the same in every run, else null.
void integerMatMul(const Tensor &left, const Tensor &right, const Tensor *bias,
                   const IntegerMatMulParams &params, Tensor &output, ThreadPool &threads,
                   KernelCache *cache);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERMATRIX_H
