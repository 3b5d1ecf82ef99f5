//===- Parallel.h - How kernels share work among threads --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_PARALLEL_H
#define TPUC_INTERPRETER_KERNELS_PARALLEL_H

#include "tpuc/Support/ThreadPool.h"

namespace tpuc::kernels {

/// Iterations per piece of a parallel loop whose iterations take about `costPerIteration` simple
/// operations each: enough that a piece outweighs the hand-over to a thread (some 20 microseconds).
int64_t grainFor(int64_t costPerIteration);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_PARALLEL_H
