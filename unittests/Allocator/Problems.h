//===- Problems.h - Small problems for tests --------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small problems that several tests share.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_ALLOCATOR_PROBLEMS_H
#define UNITTESTS_ALLOCATOR_PROBLEMS_H

#include "tpuc/Support/Allocator/AllocationProblem.h"

#include <random>

namespace tpuc::alloc {

inline Buffer makeBuffer(int64_t lower, int64_t upper, int64_t size, int64_t alignment = 1) {
  Buffer buffer;
  buffer.lower = lower;
  buffer.upper = upper;
  buffer.size = size;
  buffer.alignment = alignment;
  return buffer;
}

/// A number in [low, high], the same with every standard library.
inline int64_t draw(std::mt19937_64 &random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

/// Lifetimes in [0, span), sizes of 1 to 9.
inline AllocationProblem drawProblem(std::mt19937_64 &random, int64_t count, int64_t span) {
  AllocationProblem problem;
  for (int64_t i = 0; i < count; ++i) {
    int64_t lower = draw(random, 0, span - 1);
    problem.buffers.push_back(makeBuffer(lower, draw(random, lower + 1, span), draw(random, 1, 9)));
  }
  return problem;
}

} // namespace tpuc::alloc

#endif // UNITTESTS_ALLOCATOR_PROBLEMS_H
