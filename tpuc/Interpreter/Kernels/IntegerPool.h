//===- IntegerPool.h - Means and sums of 8-bit tensors ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERPOOL_H
#define TPUC_INTERPRETER_KERNELS_INTEGERPOOL_H

#include "tpuc/Interpreter/Kernels/Convolution.h"
#include "tpuc/Interpreter/Kernels/IntegerRequant.h"

#include <span>

namespace tpuc::kernels {

struct IntegerPoolParams {
  WindowParams window;
  bool countIncludePad = false;
  int32_t inputZero = 0;
  /// factors[n] is for windows of n counted elements: those inside of the input, or with
  /// countIncludePad also those in its padding (but not what lies beyond padsEnd, as with a rounded
  /// up output). Or one factor for all. It contains 1 / n.
  RequantParams requant;
};

/// acc = sum of input - inputZero over the window's elements inside of the input, then `requant`.
/// Input ([N, C, spatial...], 1 to 3 spatial dimensions) and output are i8 or u8.
void integerAveragePool(const Tensor &input, const IntegerPoolParams &params, Tensor &output,
                        ThreadPool &threads);

/// The maximum over the window's elements inside of the input; the lowest number of the type where
/// there are none. Input ([N, C, spatial...], 1 to 3 spatial dimensions) and output are both i8 or
/// both u8.
void integerMaxPool(const Tensor &input, const WindowParams &window, Tensor &output,
                    ThreadPool &threads);

/// The largest number of elements that a window counts: integerAveragePool needs factors from 1 to
/// this. Shapes are those of the pool's input and output.
int64_t largestPoolCount(const Shape &input, const Shape &output, const IntegerPoolParams &params);

/// acc = sum of input - inputZero over the dimensions `axes` (0 to rank - 1, each at most once),
/// which must fit in 32 bits, then `requant` with one factor (which contains 1 / count for a mean).
/// Input and output are i8 or u8; the output has as many elements as `reducedShape` says.
void integerReduceSum(const Tensor &input, std::span<const int64_t> axes, int32_t inputZero,
                      const RequantParams &requant, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERPOOL_H
