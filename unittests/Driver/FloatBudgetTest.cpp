//===- FloatBudgetTest.cpp -----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/FloatBudget.h"

#include <gtest/gtest.h>

using namespace tpuc;

namespace {

TriedStep step(double gain, double cost, bool fits = false) {
  TriedStep tried;
  tried.step.gain = gain;
  tried.step.cost = cost;
  tried.fits = fits;
  return tried;
}

TEST(FloatBudget, MissesWhatSparesLeastForItsCycles) {
  // The dearest step spares the most for each cycle.
  EXPECT_EQ(stepToMiss({step(7, 0.08), step(4, 0.07), step(1, 0.03)}), 2u);
  EXPECT_EQ(stepToMiss({step(40, 0.08), step(4, 0.07), step(2, 0.03)}), 1u);
  // Of equal ones the first.
  EXPECT_EQ(stepToMiss({step(4, 0.08), step(2, 0.04)}), 0u);
}

TEST(FloatBudget, OneThatSufficesIsMissedAlone) {
  EXPECT_EQ(stepToMiss({step(7, 0.08, true), step(1, 0.03)}), 0u);
  EXPECT_EQ(stepToMiss({step(7, 0.08, true), step(4, 0.06, true), step(1, 0.01)}), 1u);
  // Of two that spare as much, the network is faster without the dearer one.
  EXPECT_EQ(stepToMiss({step(4, 0.06, true), step(4, 0.08, true)}), 1u);
}

TEST(FloatBudget, WhatCostsNothingStays) {
  EXPECT_EQ(stepToMiss({}), std::nullopt);
  EXPECT_EQ(stepToMiss({step(1, 0), step(1, -0.02, true)}), std::nullopt);
  EXPECT_EQ(stepToMiss({step(1, -0.02), step(9, 0.01)}), 1u);
}

} // namespace
