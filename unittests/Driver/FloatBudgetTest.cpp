//===- FloatBudgetTest.cpp -----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/FloatBudget.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

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

/// Whether two layers with these reasons are on floats for outputs alone.
bool areOnlyForOutputs(const std::string &first, const std::string &second) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, top::TopDialect, tpu::TpuDialect>();
  const auto abs = [](const std::string &reason, int number) {
    return "%" + std::to_string(number) + " = \"tpu.Abs\"(%x) {" +
           (reason.empty() ? "" : "storage_reason = \"" + reason + "\"") +
           "} : (tensor<4xf32>) -> tensor<4xf32> loc(\"l" + std::to_string(number) + "\")\n";
  };
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(
      "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n" + abs(first, 0) +
          abs(second, 1) + "return %0, %1 : tensor<4xf32>, tensor<4xf32> }",
      &context);
  EXPECT_TRUE(module);
  return module && areOnlyOutputs(*module);
}

TEST(FloatBudget, KnowsFloatsThatOnlyGiveOutputs) {
  const std::string output = "by need: it gives an output";
  EXPECT_TRUE(areOnlyForOutputs(output, output));
  EXPECT_TRUE(areOnlyForOutputs(output, ""));
  // That is another's wish.
  EXPECT_TRUE(areOnlyForOutputs(output, "the quantize table says so"));
  EXPECT_FALSE(areOnlyForOutputs(output, "by need: it adds places"));
}

} // namespace
