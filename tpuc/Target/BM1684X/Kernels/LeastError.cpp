//===- LeastError.cpp - Sums of columns close to a table-------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/LeastError.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tpuc::bm1684x {

/// Solves the symmetric system of `size` rows by elimination; false where it is singular.
static bool solve(std::vector<std::vector<double>> &rows) {
  const size_t size = rows.size();
  for (size_t i = 0; i < size; ++i) {
    const auto pivot = std::max_element(
        rows.begin() + static_cast<std::ptrdiff_t>(i), rows.end(),
        [&](const auto &a, const auto &b) { return std::abs(a[i]) < std::abs(b[i]); });
    std::swap(rows[i], *pivot);
    if (rows[i][i] == 0)
      return false;
    for (size_t j = 0; j < size; ++j) {
      const double factor = j == i ? 0 : rows[j][i] / rows[i][i];
      for (size_t k = i; k <= size && factor != 0; ++k)
        rows[j][k] -= factor * rows[i][k];
    }
  }
  for (size_t i = 0; i < size; ++i)
    rows[i][size] /= rows[i][i];
  return true;
}

/// In four sums, so that one does not wait for the other.
static double product(const Column &a, const Column &b) {
  std::array<double, 4> sums{};
  for (size_t x = 0; x < a.size(); x += sums.size())
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += a[x + i] * b[x + i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

Fit fitLeastError(const std::vector<Column> &columns, const Column &target, unsigned rounds) {
  const auto [lowest, highest] = std::ranges::minmax(target);
  Fit best;
  Column weights;
  weights.fill(1);
  const size_t size = columns.size();
  for (unsigned round = 0; round < rounds; ++round) {
    std::vector<std::vector<double>> rows(size, std::vector<double>(size + 1));
    for (size_t i = 0; i < size; ++i) {
      Column weighted = columns[i];
      for (size_t x = 0; x < target.size(); ++x)
        weighted[x] *= weights[x];
      for (size_t j = i; j < size; ++j)
        rows[i][j] = rows[j][i] = product(weighted, columns[j]);
      rows[i][size] = product(weighted, target);
    }
    if (!solve(rows))
      return best;
    Column values{};
    for (size_t i = 0; i < size; ++i)
      for (size_t x = 0; x < target.size(); ++x)
        values[x] += rows[i][size] * columns[i][x];
    double greatest = 0;
    double sum = 0;
    for (size_t x = 0; x < target.size(); ++x) {
      const double value = values[x];
      const bool isCutOff =
          (value > target[x] && target[x] == highest) || (value < target[x] && target[x] == lowest);
      const double error = isCutOff ? 0 : std::abs(value - target[x]);
      greatest = std::max(greatest, error);
      // What is cut off now may not be with the next coefficients.
      weights[x] *= std::max(error, 0.01);
      sum += weights[x];
    }
    if (greatest < best.error) {
      best = {.coefficients = {}, .error = greatest};
      for (const std::vector<double> &row : rows)
        best.coefficients.push_back(row[size]);
    }
    for (double &weight : weights)
      weight /= sum;
  }
  return best;
}

} // namespace tpuc::bm1684x
