//===- MeaningFuzzTest.cpp ------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/meaning/CpuOps.h"
#include "tpuc/Interpreter/Ops/OpEvaluator.h"
#include "tpuc/Interpreter/Ops/OpRules.h"

#include <array>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace tpuc;
using namespace tpuc::fuzz;

namespace {

TEST(OpRules, StandForEveryOp) {
  for (const ops::OpEvaluator &each : ops::evaluators())
    EXPECT_NE(ops::findRule(each.name), nullptr) << each.name;
  EXPECT_EQ(ops::findRule("Nothing"), nullptr);
}

TEST(CpuOps, EndInEveryWay) {
  constexpr int kOps = 20'000;
  std::mt19937_64 random(1);
  std::map<OpEnd, int> ends;
  for (int i = 0; i < kOps; ++i) {
    std::array<uint8_t, 256> bytes{};
    for (uint8_t &byte : bytes)
      byte = static_cast<uint8_t>(random());
    Choices choices(bytes);
    ++ends[runAnyOp(choices)];
  }
  for (const OpEnd end : {OpEnd::RefusedByRules, OpEnd::RefusedByOp, OpEnd::Computed})
    EXPECT_GT(ends[end], kOps / 20) << static_cast<int>(end);
}

} // namespace
