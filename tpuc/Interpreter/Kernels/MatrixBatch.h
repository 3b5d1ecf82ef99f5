//===- MatrixBatch.h - Which matrices of a batch meet -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_MATRIXBATCH_H
#define TPUC_INTERPRETER_KERNELS_MATRIXBATCH_H

#include "tpuc/Support/Tensor.h"

#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace tpuc::kernels {

/// The matrices of one operand: their extents as stored, and where each of a batch begins.
struct Matrices {
  std::vector<int64_t> batch;
  int64_t rows, columns;

  Matrices(const Shape &shape, bool isLeft) {
    std::vector<int64_t> dims = shape.vec();
    if (dims.size() == 1)
      dims.insert(isLeft ? dims.begin() : dims.end(), 1);
    rows = dims[dims.size() - 2];
    columns = dims[dims.size() - 1];
    batch.assign(dims.begin(), dims.end() - 2);
  }

  /// The number of the matrix that meets matrix `index` of the batch `whole`.
  int64_t matrixFor(int64_t index, std::span<const int64_t> whole) const {
    int64_t result = 0;
    int64_t stride = 1;
    for (size_t back = 1; back <= whole.size(); ++back) {
      int64_t extent = whole[whole.size() - back];
      if (back <= batch.size()) {
        int64_t own = batch[batch.size() - back];
        result += own == 1 ? 0 : index % extent * stride;
        stride *= own;
      }
      index /= extent;
    }
    return result;
  }
  int64_t count() const {
    return std::accumulate(batch.begin(), batch.end(), int64_t(1), std::multiplies<>());
  }
};

/// A product of batches of matrices, m x k times k x n each.
struct MatrixProduct {
  Matrices left, right;
  bool transposeLeft, transposeRight;
  std::vector<int64_t> batch;
  int64_t m, n, k, count;

  MatrixProduct(const Shape &a, const Shape &b, bool isLeftTransposed, bool isRightTransposed)
      : left(a, true), right(b, false), transposeLeft(isLeftTransposed && a.rank() > 1),
        transposeRight(isRightTransposed && b.rank() > 1) {
    m = transposeLeft ? left.columns : left.rows;
    k = transposeLeft ? left.rows : left.columns;
    n = transposeRight ? right.rows : right.columns;
    const auto &longer = left.batch.size() >= right.batch.size() ? left.batch : right.batch;
    const auto &shorter = left.batch.size() >= right.batch.size() ? right.batch : left.batch;
    batch = longer;
    for (size_t back = 1; back <= shorter.size(); ++back)
      if (int64_t &extent = batch[batch.size() - back]; extent == 1)
        extent = shorter[shorter.size() - back];
    // One matrix on the right: the batch on the left is but more rows.
    if (right.count() == 1 && !transposeLeft) {
      m *= left.count();
      left.rows = m;
      left.batch.clear();
      right.batch.clear();
      batch.clear();
    }
    count = std::accumulate(batch.begin(), batch.end(), int64_t(1), std::multiplies<>());
  }
};

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_MATRIXBATCH_H
