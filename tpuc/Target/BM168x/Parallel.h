//===- Parallel.h - Work that threads share ------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_PARALLEL_H
#define TPUC_TARGET_BM168X_PARALLEL_H

#include "tpuc/Support/ThreadPool.h"

#include <algorithm>
#include <cstdint>

namespace tpuc::bm168x {

/// Calls `body(begin, end)` for pieces of [0, count), in parallel where that is worth waking a
/// thread. `work` is about what one index takes, in nanoseconds: one for each element moved or
/// calculated.
template <typename Body>
void overIndices(ThreadPool &pool, int64_t count, int64_t work, const Body &body) {
  constexpr int64_t kLeastPiece = 50'000;
  int64_t grain =
      std::clamp<int64_t>(kLeastPiece / std::max<int64_t>(work, 1), 1, std::max<int64_t>(count, 1));
  if (grain * 2 > count)
    return body(int64_t{0}, count);
  pool.parallelFor(count, grain, body);
}

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_PARALLEL_H
