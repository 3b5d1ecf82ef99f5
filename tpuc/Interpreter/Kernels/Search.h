//===- Search.h - Where elements are ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_SEARCH_H
#define TPUC_INTERPRETER_KERNELS_SEARCH_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <optional>

namespace tpuc::kernels {

/// indices (i64) = where the largest (or smallest) element along `axis` is: the first of equal ones
/// or the last. NaN counts as both. `values`, if wanted, has the input's element type. Outputs have
/// the input's elements without `axis`, which must not be empty.
void argExtreme(const Tensor &input, int64_t axis, bool largest, bool selectLast, Tensor &indices,
                Tensor *values, ThreadPool &threads);

/// The first elements along `axis`, as many as the outputs have there, in the order of value
/// (descending for `largest`); equal ones in the order of their indices. NaN is the largest. Always
/// sorted. `values` has the input's element type, `indices` is i64.
void topK(const Tensor &input, int64_t axis, bool largest, Tensor &values, Tensor &indices,
          ThreadPool &threads);

/// The coordinates of elements that are not 0, in row-major order: i64 [rank, n].
Tensor nonZero(const Tensor &input);

struct UniqueResult {
  Tensor values;  ///< The input's element type.
  Tensor first;   ///< i64 [n]: where each value occurs first.
  Tensor inverse; ///< i64: which value each element (or slice) of the input is.
  Tensor counts;  ///< i64 [n]: how often each value occurs.
};
/// The distinct elements of the flattened input, or its distinct slices along `axis`: in ascending
/// (lexicographic) order, or in that of their first occurrence. NaNs are equal, the largest.
UniqueResult unique(const Tensor &input, std::optional<int64_t> axis, bool sorted);

struct NmsParams {
  int64_t maxOutputSize = 0;            ///< Per batch and class.
  double iouThreshold = 0;              ///< A box is dropped if it overlaps a kept one by more.
  std::optional<double> scoreThreshold; ///< Only boxes with a score above count.
  bool isCenter = false; ///< Boxes are (x, y, width, height), else two corners (y, x).
};
/// Boxes [batch, n, 4] and scores [batch, classes, n]: the kept (batch, class, box) triples in the
/// order of batch, class and descending score: i64 [k, 3].
Tensor nonMaximumSuppression(const Tensor &boxes, const Tensor &scores, const NmsParams &params);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_SEARCH_H
