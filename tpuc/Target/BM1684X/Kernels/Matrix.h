//===- Matrix.h - Matrix products -------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_MATRIX_H
#define TPUC_TARGET_BM1684X_KERNELS_MATRIX_H

#include "tpuc/Target/BM1684X/Kernels/Convolution.h"

namespace tpuc::bm1684x {

/// output = left * right + bias, rows over lanes.
///
/// left [1,M,1,K], right [1,K,1,N] (or [1,N,1,K] with `rightIsTransposed`; F32 is turned in the
/// scratch), output [1,M,1,N], all Aligned from lane 0: row r in lane r mod 64. F32, F16, BF16, the
/// output of the operands' type or F32; sums are F32. `biasAddress`: F32 [1,64,1,N] Aligned, the
/// same in every lane (emitLoadToLanes). A product over a part of K is added to what the output
/// holds with `accumulates`, where the output is F32.
struct MatrixProduct {
  LocalTensor left;
  LocalTensor right;
  LocalTensor output;
  bool rightIsTransposed = false;
  std::optional<uint32_t> biasAddress;
  bool accumulates = false;
  Activation activation;
  Scratch scratch;
};
Expected<uint32_t> matrixProductScratch(const MatrixProduct &product);
Expected<void> emitMatrixProduct(Builder &builder, const MatrixProduct &product);

/// output = left * right + bias in F32 for few rows: rows are n, the columns of right and output
/// lie in chunks of `width` columns in successive lanes. left [M, ceil(K/leftWidth), 1, leftWidth],
/// right [K, ceil(N/width), 1, width], output [M, ceil(N/width), 1, width], bias
/// [1, ceil(N/width), 1, width], all Aligned F32. `inner` is K, `columns` N.
struct RowProduct {
  LocalTensor left;
  LocalTensor right;
  LocalTensor output;
  int64_t inner = 0;
  int64_t columns = 0;
  std::optional<uint32_t> biasAddress;
  bool accumulates = false;
  Activation activation;
};
Expected<void> checkRowProduct(const RowProduct &product);
Expected<void> emitRowProduct(Builder &builder, const RowProduct &product);

/// The chunks' width that spreads `columns` over all lanes, at least 16.
int64_t rowProductWidth(int64_t columns);
/// Rows `rows` of a matrix at `from` (row stride in elements) to [rows, chunks, 1, width] Aligned.
Expected<void> emitLoadMatrix(Builder &builder, uint64_t from, int64_t rowStride, int64_t columns,
                              const LocalTensor &to);
Expected<void> emitStoreMatrix(Builder &builder, const LocalTensor &from, int64_t columns,
                               uint64_t to, int64_t rowStride);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_MATRIX_H
