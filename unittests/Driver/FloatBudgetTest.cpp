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
#include "tpuc/Target/Registry.h"

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

TEST(FloatBudget, WhatGoesWithAStepIsMissedToo) {
  std::vector<FloatStep> steps(3);
  steps[0].name = "stem", steps[0].gain = 3;
  steps[1].name = "behind", steps[1].gain = 4;
  steps[2].name = "other", steps[2].gain = 9;
  EXPECT_EQ(gainMissed(steps, {"other"}), 5);
  EXPECT_EQ(gainMissed(steps, {"stem", "other"}), 4);
  EXPECT_EQ(gainMissed(steps, {"stem", "behind", "other"}), 0);
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

const std::set<std::string> kLayers = {"slight", "slighter", "strong"};

/// A network of three layers, `slight`, `slighter` and `strong`, that are on floats for first
/// layers' sake unless `integers` has them.
mlir::OwningOpRef<mlir::ModuleOp> network(mlir::MLIRContext &context,
                                          const std::set<std::string> &integers) {
  const auto layer = [&](const std::string &name, const std::string &from,
                         const std::string &gain) {
    return "%" + name + " = \"tpu.Abs\"(%" + from + ") {" +
           (integers.contains(name)
                ? ""
                : "storage_reason = \"by need: it amplifies\", storage_step = \"" + name +
                      "\", storage_gain = " + gain + " : f64") +
           "} : (tensor<4xf32>) -> tensor<4xf32> loc(\"" + name + "\")\n";
  };
  return mlir::parseSourceString<mlir::ModuleOp>(
      "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n" + layer("slight", "x", "3.0") +
          layer("slighter", "slight", "2.5") + layer("strong", "slighter", "9.0") +
          "return %strong : tensor<4xf32> }",
      &context);
}

/// The layers that go back to integers, one after the other, where floats of each cost so many
/// cycles beside 1,000 of the network on integers and 5 % are allowed.
std::vector<std::string> givenUp(std::map<std::string, int64_t> costs) {
  const auto modelFileOf = [&](mlir::ModuleOp module) {
    ModelFileReport report;
    report.cycles = 1000;
    module.walk([&](mlir::Operation *op) {
      if (auto step = op->getAttrOfType<mlir::StringAttr>("storage_step")) {
        report.cycles += costs.at(step.str());
        report.layers.push_back({step.str(), 500, 0});
      }
    });
    return report;
  };
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, top::TopDialect, tpu::TpuDialect>();
  LoweringOptions lowering;
  mlir::OwningOpRef<mlir::ModuleOp> source = network(context, kLayers);
  FloatBudget budget(
      {.percent = 5,
       .top = *source,
       .target = **lookupTarget("bm1684x"),
       .lower = [](const LoweringOptions &wanted) -> Expected<Network> {
         Network made;
         made.context->loadDialect<mlir::func::FuncDialect, tpu::TpuDialect>();
         const auto &given = wanted.onIntegers;
         made.module =
             network(*made.context,
                     wanted.strict ? kLayers : std::set<std::string>(given.begin(), given.end()));
         return made;
       },
       .measure = [&](mlir::ModuleOp module) -> Expected<ModelFileReport> {
         return modelFileOf(module);
       }});
  while (true) {
    mlir::OwningOpRef<mlir::ModuleOp> lowered =
        network(context, {lowering.onIntegers.begin(), lowering.onIntegers.end()});
    auto step = budget.stepToGiveUp(*lowered, lowering, modelFileOf(*lowered));
    EXPECT_TRUE(step);
    if (!step || !*step)
      return {lowering.onIntegers.begin(), lowering.onIntegers.end()};
    lowering.onIntegers.insert(lowering.onIntegers.end(), (*step)->layers.begin(),
                               (*step)->layers.end());
  }
}

TEST(FloatBudget, WhatSparesLittleMayNotMakeTheRunLonger) {
  using Layers = std::vector<std::string>;
  const Layers slight = {"slight", "slighter"};
  EXPECT_EQ(givenUp({{"slight", 10}, {"slighter", 5}, {"strong", 20}}), slight);
  // One trial run tells what all of them cost.
  EXPECT_EQ(givenUp({{"slight", 10}, {"slighter", -5}, {"strong", 20}}), slight);
  EXPECT_EQ(givenUp({{"slight", 10}, {"slighter", -10}, {"strong", 20}}), Layers{});
  // The run is as long as on integers, or shorter.
  EXPECT_EQ(givenUp({{"slight", 10}, {"slighter", 5}, {"strong", -15}}), Layers{});
  EXPECT_EQ(givenUp({{"slight", -5}, {"slighter", 0}, {"strong", 0}}), Layers{});
  // The budget is there for what spares much.
  EXPECT_EQ(givenUp({{"slight", 0}, {"slighter", 0}, {"strong", 49}}), Layers{});
  EXPECT_EQ(givenUp({{"slight", 10}, {"slighter", 5}, {"strong", 80}}),
            (Layers{"slight", "slighter", "strong"}));
}

TEST(FloatBudget, ComparesFloatsWithTheSameLayersOnIntegers) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, top::TopDialect, tpu::TpuDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> lowered = network(context, {});
  mlir::OwningOpRef<mlir::ModuleOp> source = network(context, kLayers);
  ModelFileReport file, strict;
  file.layers = {{"slight", 500, 100}, {"strong", 20, 300}};
  // A layer of the file whose name goes on belongs to the one before.
  strict.layers = {{"slight", 400, 0}, {"strong", 10, 350}, {"strong_f32", 50, 150}};
  EXPECT_EQ(excessCycles(*lowered, file, strict), 500 + 300 - 400 - 350 - 150);
  std::optional<FloatShare> share = floatShare(*lowered, *source, **lookupTarget("bm1684x"), &file);
  ASSERT_TRUE(share);
  share->excessCycles = -100;
  EXPECT_NE(share->text().find("100.0 % of the estimated cycles"), std::string::npos);
  EXPECT_NE(share->text().find("on integers they would take 112.5 %"), std::string::npos);
}

/// Constants of 8 bits are loaded, and outputs stored, for products on integers, too.
TEST(FloatBudget, KnowsWhatIntegersTakeAtLeast) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, top::TopDialect, tpu::TpuDialect>();
  const auto product = [&](const std::string &dialect, const std::string &attributes) {
    return mlir::parseSourceString<mlir::ModuleOp>(
        R"(func.func @main(%x: tensor<1x512xf32>) -> tensor<1x1000xf32> {
             %n = "top.None"() : () -> none
             %w = "top.Weight"() : () -> tensor<512x1000xf16> loc("w")
             %y = ")" +
            dialect + R"(.MatMul"(%x, %w, %n) {)" + attributes +
            R"(} : (tensor<1x512xf32>, tensor<512x1000xf16>, none) -> tensor<1x1000xf32> loc("y")
             return %y : tensor<1x1000xf32>
           })",
        &context);
  };
  const TargetInfo &target = **lookupTarget("bm1684x");
  auto lowered = product("tpu", R"(storage_reason = "by need: it gives an output")");
  auto source = product("top", "");
  ModelFileReport file;
  file.cycles = 100'000;
  file.layers = {{"y", 100, 20'000}};
  const std::optional<FloatShare> share = floatShare(*lowered, *source, target, &file);
  ASSERT_TRUE(share);
  const auto least = int64_t((512'000 + 4'000) / target.timing->peakGlobalBytesPerCycle);
  EXPECT_EQ(share->layers.front().leastCycles, least);
  EXPECT_DOUBLE_EQ(*share->mostCost(), double(20'000 - least) / double(80'000 + least));
  file.layers = {{"y", 100, 1'000}};
  EXPECT_EQ(floatShare(*lowered, *source, target, &file)->mostCost(), 0);
}

} // namespace
