//===- PhaseTest.cpp - What module.state says -----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/Phase.h"

#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace tpuc;

namespace {

struct PhaseTest : ::testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
};

TEST_F(PhaseTest, IsWhatWasSet) {
  std::set<std::string_view> states;
  for (auto number = 0U; number <= static_cast<unsigned>(kLastPhase); ++number) {
    const auto phase = static_cast<Phase>(number);
    setPhase(*module, phase);
    EXPECT_EQ(phaseOf(*module), phase);
    EXPECT_EQ(isLowered(*module), phase >= Phase::Lower);
    // Ops are of the dialect that the state begins with.
    EXPECT_TRUE(stateAfter(phase).starts_with(isLowered(*module) ? "TPU_" : "TOP_"));
    states.insert(stateAfter(phase));
  }
  EXPECT_EQ(states.size(), static_cast<size_t>(kLastPhase) + 1);
}

TEST_F(PhaseTest, IsNoneWithoutAKnownState) {
  EXPECT_EQ(phaseOf(*module), std::nullopt);
  (*module)->setAttr("module.state", StringAttr::get(&context, "TPU_BLUE"));
  EXPECT_EQ(phaseOf(*module), std::nullopt);
  EXPECT_FALSE(isLowered(*module));
}

} // namespace
