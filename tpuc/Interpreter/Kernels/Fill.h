//===- Fill.h - Tensors from few numbers -----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_FILL_H
#define TPUC_INTERPRETER_KERNELS_FILL_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

namespace tpuc::kernels {

/// Every element of `output` is the one of `value`, which has the same type.
void fill(const Tensor &value, Tensor &output, ThreadPool &threads);

/// max(ceil((limit - start) / delta), 0) for operands of one element each and one type. Errors,
/// with an empty `where`: a delta of 0, a NaN, or more numbers than memory could hold.
Expected<int64_t> rangeCount(const Tensor &start, const Tensor &limit, const Tensor &delta);
/// `output[i] = start + i * delta`: integers exactly, floats in f64 and rounded once.
void range(const Tensor &start, const Tensor &delta, Tensor &output);

/// 1 where j = i + k in the matrix `output`, else 0.
void eye(int64_t k, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_FILL_H
