//===- Parallel.cpp - How kernels share work among threads ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Parallel.h"

#include <algorithm>

int64_t tpuc::kernels::grainFor(int64_t costPerIteration) {
  constexpr int64_t kPieceCost = 32768;
  return std::max<int64_t>(1, kPieceCost / std::max<int64_t>(costPerIteration, 1));
}
