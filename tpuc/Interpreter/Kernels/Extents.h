//===- Extents.h - Arithmetic with extents ---------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_EXTENTS_H
#define TPUC_INTERPRETER_KERNELS_EXTENTS_H

#include <cstdint>
#include <functional>
#include <numeric>
#include <span>

namespace tpuc::kernels {

/// How many elements the dimensions with these extents have together; 1 for none.
inline int64_t product(std::span<const int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}

/// a / b, rounded up; both are positive.
constexpr int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The first multiple of b that is at least a.
constexpr int64_t roundUp(int64_t a, int64_t b) { return divideUp(a, b) * b; }

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_EXTENTS_H
