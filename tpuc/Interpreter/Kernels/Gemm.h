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
#include "tpuc/Interpreter/Kernels/PackedMatMul.h"

#include <algorithm>
#include <optional>

namespace tpuc::kernels {

/// C[m, n] = op(A) op(B), in the calling thread. All are row-major with rows `lda`, `ldb`, `ldc`
/// elements apart; op transposes where asked. Terms are added in their order; integers modulo 2^64.
template <typename T>
void gemm(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t k, const T *a,
          int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc) {
  using Sum = Accumulator<T>;
  for (int64_t row = 0; row < m; ++row) {
    T *result = c + row * ldc;
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

/// A right matrix [k, n], or transposed [n, k], with rows `step` elements apart, for products in
/// the calling thread. One of f32 is packed once; others must outlive this.
template <typename T> class RightFactor {
public:
  RightFactor(bool transposed, int64_t k, int64_t n, const T *elements, int64_t step)
      : transposed(transposed), k(k), n(n), elements(elements), step(step) {
    if constexpr (std::is_same_v<T, float>)
      if (k > 0 && n > 0)
        packed.emplace(elements, step, k, n, transposed);
  }

  /// C[m, n] = A[m, k] times the matrix.
  void multiply(int64_t m, const T *a, int64_t lda, T *c, int64_t ldc) const {
    if (packed)
      if constexpr (std::is_same_v<T, float>)
        return packed->multiply(a, lda, m, c, ldc);
    gemm<T>(false, transposed, m, n, k, a, lda, elements, step, c, ldc);
  }

private:
  bool transposed;
  int64_t k, n;
  const T *elements;
  int64_t step;
  std::optional<PackedMatrix> packed; ///< Of f32 only.
};

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_GEMM_H
