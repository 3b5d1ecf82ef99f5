//===- LeastError.h - Sums of columns close to a table ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_LEASTERROR_H
#define TPUC_TARGET_BM1684X_KERNELS_LEASTERROR_H

#include <array>
#include <limits>
#include <vector>

namespace tpuc::bm1684x {

/// A number for each entry of a table.
using Column = std::array<double, 256>;

/// Coefficients of columns, and the greatest error of their sum.
struct Fit {
  std::vector<double> coefficients;
  double error = std::numeric_limits<double>::infinity();
};

/// The least greatest error that `rounds` of weighted least squares find, with weights that grow
/// where the error is large (Lawson). Beyond the least and the greatest entry of `target` sums are
/// cut off, which is no error. Columns that depend on each other: no coefficients.
Fit fitLeastError(const std::vector<Column> &columns, const Column &target, unsigned rounds);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_LEASTERROR_H
