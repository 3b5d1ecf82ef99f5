//===- BenchCycles.cpp - What the commands of a bench take ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Timing.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <gtest/gtest.h>

namespace tpuc::bm1684x {

int64_t Bench::computeCycles() const {
  int64_t cycles = 0;
  for (const Command &command : done.tiu) {
    const auto cost = commandCost(command, timingParameters(TimingModel::Vendor), "");
    EXPECT_TRUE(cost);
    cycles += cost ? cost->cycles : 0;
  }
  return cycles;
}

} // namespace tpuc::bm1684x
