//===- Gemm.h - Row-major matrix products -----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_GEMM_H
#define TPUC_INTERPRETER_KERNELS_GEMM_H

#include "tpuc/Interpreter/Kernels/ComputeType.h"
#include "tpuc/Interpreter/Kernels/Dnnl.h"

namespace tpuc::kernels {

/// C[m, n] = op(A) op(B), plus C if `accumulate`, in the calling thread. All are row-major with
/// rows `lda`, `ldb`, `ldc` elements apart; op transposes where asked. f32 by oneDNN; integers
/// modulo 2^64.
template <typename T>
void gemm(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t k, const T *a,
          int64_t lda, const T *b, int64_t ldb, bool accumulate, T *c, int64_t ldc) {
  if (m == 0 || n == 0)
    return;
  if constexpr (std::is_same_v<T, float>) {
    if (k > 0)
      return sgemm(transposeA, transposeB, m, n, k, a, lda, b, ldb, accumulate ? 1.0F : 0.0F, c,
                   ldc);
  }
  using Sum = Accumulator<T>;
  for (int64_t row = 0; row < m; ++row) {
    T *result = c + row * ldc;
    if (!accumulate)
      std::fill_n(result, n, T(0));
    for (int64_t i = 0; i < k; ++i) {
      auto factor = static_cast<Sum>(transposeA ? a[i * lda + row] : a[row * lda + i]);
      for (int64_t column = 0; column < n; ++column) {
        T other = transposeB ? b[column * ldb + i] : b[i * ldb + column];
        result[column] =
            static_cast<T>(static_cast<Sum>(result[column]) + factor * static_cast<Sum>(other));
      }
    }
  }
}

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_GEMM_H
