//===- SideBySide.h - Folds whose steps need not wait for each other --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_SIDEBYSIDE_H
#define TPUC_SUPPORT_SIDEBYSIDE_H

#include <array>
#include <cstddef>
#include <functional>

namespace tpuc {

/// `combine` over `termOf(0)` to `termOf(count - 1)`, from `start` on, which must not change what
/// it is combined with: eight folds side by side, of every eighth term each, and then one of these.
/// An order that is the same every time, and that processors do not have to wait for.
template <typename T, typename Term, typename Combine>
T foldSideBySide(size_t count, T start, Term termOf, Combine combine) {
  std::array<T, 8> folds;
  folds.fill(start);
  size_t i = 0;
  for (; i + folds.size() <= count; i += folds.size())
    for (size_t lane = 0; lane < folds.size(); ++lane)
      folds[lane] = combine(folds[lane], termOf(i + lane));
  for (size_t lane = 0; i < count; ++i, ++lane)
    folds[lane] = combine(folds[lane], termOf(i));
  T result = start;
  for (T fold : folds)
    result = combine(result, fold);
  return result;
}

/// The sum of `termOf(0)` to `termOf(count - 1)`.
template <typename Term> double sumSideBySide(size_t count, Term termOf) {
  return foldSideBySide(count, 0.0, termOf, std::plus<>());
}

} // namespace tpuc

#endif // TPUC_SUPPORT_SIDEBYSIDE_H
