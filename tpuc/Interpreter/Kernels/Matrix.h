//===- Matrix.h - Products of matrices --------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_MATRIX_H
#define TPUC_INTERPRETER_KERNELS_MATRIX_H

#include "tpuc/Interpreter/Kernels/KernelCache.h"
#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <vector>

namespace tpuc::kernels {

struct MatMulParams {
  bool transposeLeft = false;
  bool transposeRight = false;
  bool doRelu = false;
  double reluLimit = -1; ///< Negative: none.
};

/// numpy.matmul of operands whose last two axes may be transposed, plus `bias` (may be null), which
/// has one element per column or one in all. Shapes must fit, as shape inference checks. Floats but
/// f64 are computed in f32, integers modulo 2^n. `cache`: for a right operand and bias that are the
/// same in every run, else null.
void matMul(const Tensor &left, const Tensor &right, const Tensor *bias, const MatMulParams &params,
            Tensor &output, ThreadPool &threads, KernelCache *cache);

/// result[o...] = the sum over all other indices of the product of the operands. `operands` and
/// `result` name the index of each axis, `extents` is indexed by them; an axis of extent 1 under an
/// index that is longer is repeated.
struct EinsumParams {
  std::vector<std::vector<int64_t>> operands;
  std::vector<int64_t> result;
  std::vector<int64_t> extents;
};
void einsum(const std::vector<Tensor> &operands, const EinsumParams &params, Tensor &output,
            ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_MATRIX_H
