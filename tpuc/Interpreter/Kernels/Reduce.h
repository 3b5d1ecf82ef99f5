//===- Reduce.h - Reductions and running sums ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_REDUCE_H
#define TPUC_INTERPRETER_KERNELS_REDUCE_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <span>

namespace tpuc::kernels {

enum class ReduceOp : uint8_t { L1, L2, LogSum, LogSumExp, Max, Mean, Min, Prod, Sum, SumSquare };

/// `shape` with the dimensions `axes` (from 0 to rank - 1, each at most once) of extent 1, or
/// without them.
Shape reducedShape(const Shape &shape, std::span<const int64_t> axes, bool keepDims);

/// Reduces the dimensions `axes` of `input` to one element each. The output has the input's element
/// type and as many elements as `reducedShape` says. Floats are accumulated in f64 and rounded
/// once; integers modulo 2^64, their roots, logarithms and means truncated. Over no element: sums
/// and norms 0, products 1, the logarithm of a sum -inf, the mean NaN (0 for integers), the maximum
/// the lowest value of the type (-inf), the minimum the highest. NaN gives NaN.
void reduce(ReduceOp op, const Tensor &input, std::span<const int64_t> axes, Tensor &output,
            ThreadPool &threads);

enum class Cumulative : uint8_t { Sum, Product };

/// output[i] = input[0] + ... + input[i] along `axis`, or the product of these; without the last
/// term with `exclusive`; from the end with `reverse`. Floats are accumulated in f64, integers
/// modulo 2^64.
void cumulative(Cumulative kind, const Tensor &input, int64_t axis, bool exclusive, bool reverse,
                Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_REDUCE_H
