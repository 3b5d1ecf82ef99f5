//===- FasterLayersTest.cpp -----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/FasterLayers.h"
#include "tpuc/Dialect/Top/TopDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "unittests/Driver/MeasuredNetworks.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tpuc;

namespace {

constexpr const char *kNetwork = R"(
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %b = "top.Exp"(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("b")
    %c = "top.Exp"(%b) : (tensor<4xf32>) -> tensor<4xf32> loc("c")
    return %c : tensor<4xf32>
  })";

struct FasterLayersTest : ::testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;

  FasterLayersTest() {
    context.loadDialect<func::FuncDialect, top::TopDialect>();
    module = parseSourceString<ModuleOp>(kNetwork, &context);
  }

  /// Of a network that takes 100 cycles, 200 by the conservative parameters, and `wide` with all
  /// layers in wider floats.
  std::vector<std::string> found(const MeasuredNetwork &wide) {
    const MeasuredNetwork made = taking(100, 200);
    Expected<FasterLayers> layers = fasterLayers(
        {.top = *module,
         .made = made,
         .measure = [&](const std::vector<std::string> &) -> Expected<MeasuredNetwork> {
           return wide;
         }});
    EXPECT_TRUE(layers);
    EXPECT_EQ(layers->network.file.cycles, layers->names.empty() ? 100 : wide.file.cycles);
    return layers->names;
  }
};

TEST_F(FasterLayersTest, TakesWhatIsFasterByBothParameters) {
  const std::vector<std::string> all = {"b", "c"};
  EXPECT_EQ(found(taking(90, 200)), all);
  EXPECT_TRUE(found(taking(100, 190)).empty());
  EXPECT_TRUE(found(taking(90, 190, /*hostLayers=*/1)).empty());
}

TEST_F(FasterLayersTest, KeepsWhatASearchOrStillWiderFloatsMayMend) {
  const std::vector<std::string> all = {"b", "c"};
  EXPECT_EQ(found(taking(90, 201)), all);
  EXPECT_TRUE(found(taking(90, 201, /*hostLayers=*/1)).empty());
}

/// In a network of few commands a little less is kept, too: F32 may bring more on top of it.
TEST_F(FasterLayersTest, KeepsLittleInNetworksOfFewCommands) {
  const auto isKept = [&](int64_t commands) {
    MeasuredNetwork made = taking(1000);
    made.file.commands = commands;
    Expected<FasterLayers> layers = fasterLayers(
        {.top = *module,
         .made = made,
         .measure = [&](const std::vector<std::string> &) -> Expected<MeasuredNetwork> {
           return taking(998);
         }});
    EXPECT_TRUE(layers);
    return !layers->names.empty();
  };
  EXPECT_TRUE(isKept(599));
  EXPECT_FALSE(isKept(600));
}

constexpr const char *kThreeLayers = R"(
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %b = "top.Exp"(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("b")
    %c = "top.Exp"(%b) : (tensor<4xf32>) -> tensor<4xf32> loc("c")
    %d = "top.Exp"(%c) : (tensor<4xf32>) -> tensor<4xf32> loc("d")
    return %d : tensor<4xf32>
  })";

/// A network that takes 100 cycles. In wider floats `b` takes 40 less and `d` 20, but `c` far more.
/// With casts of 24 cycles `b` alone pays, with those of 6 `d` does, too.
struct DividedLayersTest : FasterLayersTest {
  MeasuredNetwork made = taking(100, 200);
  MeasuredNetwork wide = taking(150, 300), one = taking(95, 190), two = taking(90, 201);
  int looks = 0;

  DividedLayersTest() {
    module = parseSourceString<ModuleOp>(kThreeLayers, &context);
    made.castCycles = 6;
    made.file.layers = {{"b", 60, 0}, {"c", 20, 0}, {"d", 20, 0}};
    wide.file.layers = {{"b", 20, 0}, {"c", 1000, 0}, {"d", 0, 0}};
  }

  std::vector<std::string> found() {
    looks = 0;
    Expected<FasterLayers> layers = fasterLayers(
        {.top = *module,
         .made = made,
         .measure = [&](const std::vector<std::string> &names) -> Expected<MeasuredNetwork> {
           ++looks;
           return names.size() == 3 ? wide : names.size() == 2 ? two : one;
         }});
    EXPECT_TRUE(layers);
    return layers->names;
  }
};

TEST_F(DividedLayersTest, TakesTheFewestCyclesOfThoseThatAreFasterByBothParameters) {
  EXPECT_EQ(found(), std::vector<std::string>{"b"});
  two.file.conservativeCycles = 200;
  EXPECT_EQ(found(), std::vector<std::string>({"b", "d"}));
  // By the conservative parameters it takes the fewest, but not by the others.
  wide = taking(97, 100);
  wide.file.layers = {{"b", 20, 0}, {"c", 1000, 0}, {"d", 0, 0}};
  EXPECT_EQ(found(), std::vector<std::string>({"b", "d"}));
  one.file.conservativeCycles = two.file.conservativeCycles = 201;
  EXPECT_EQ(found(), std::vector<std::string>({"b", "c", "d"}));
  wide.file.conservativeCycles = 201;
  EXPECT_EQ(found(), std::vector<std::string>({"b", "d"}));
}

TEST_F(DividedLayersTest, LooksAtNoDivisionBehindOneThatIsFar) {
  made.file.commands = 600;
  two.file.conservativeCycles = 200;
  one.file.cycles = 107;
  EXPECT_EQ(found(), std::vector<std::string>({"b", "d"}));
  EXPECT_EQ(looks, 3);
  one.file.cycles = 108;
  EXPECT_TRUE(found().empty());
  EXPECT_EQ(looks, 2);
  made.file.commands = 599;
  EXPECT_EQ(found(), std::vector<std::string>({"b", "d"}));
  one.file.cycles = 95;
  made.file.commands = 12'000;
  EXPECT_EQ(found(), std::vector<std::string>{"b"});
  EXPECT_EQ(looks, 2);
  // With casts of 48 cycles nothing pays, but with those of 12 both do.
  made.file.commands = 0;
  made.castCycles = 12;
  EXPECT_EQ(found(), std::vector<std::string>({"b", "d"}));
  EXPECT_EQ(looks, 2);
}

TEST_F(FasterLayersTest, TriesWhatComputesInFewerCycles) {
  MeasuredNetwork made = taking(100, 200);
  made.file.layers = {{"b", 60, 0}, {"c", 40, 0}};
  MeasuredNetwork wide = taking(150, 300);
  wide.file.layers = {{"b", 50, 100}, {"c", 40, 0}};
  const auto measure = [&](const std::vector<std::string> &names) -> Expected<MeasuredNetwork> {
    return names == std::vector<std::string>{"b"} ? taking(90, 190) : wide;
  };
  FasterLayersRequest request{.top = *module, .made = made, .measure = measure};
  EXPECT_TRUE(fasterLayers(request)->names.empty());
  request.triesLighter = true;
  EXPECT_EQ(fasterLayers(request)->names, std::vector<std::string>{"b"});
  request.fixed = {"b"};
  EXPECT_TRUE(fasterLayers(request)->names.empty());
}

TEST_F(FasterLayersTest, NeededLayersAreInWiderFloatsWithAllOthersOnly) {
  const MeasuredNetwork made = taking(100, 200);
  const std::vector<std::string> all = {"b", "c"};
  int64_t whole = 80;
  int64_t others = 90;
  FasterLayersRequest request{
      .top = *module,
      .made = made,
      .needed = {"b"},
      .measure = [&](const std::vector<std::string> &names) -> Expected<MeasuredNetwork> {
        return taking(names == all ? whole : others, 190);
      }};
  EXPECT_EQ(fasterLayers(request)->names, all);
  whole = 95;
  EXPECT_EQ(fasterLayers(request)->names, std::vector<std::string>{"c"});
  request.fixed = {"b"};
  whole = 80;
  EXPECT_EQ(fasterLayers(request)->names, std::vector<std::string>{"c"});
  // What is far behind without them is not looked at with them.
  request.fixed = {};
  others = 116;
  EXPECT_TRUE(fasterLayers(request)->names.empty());
  others = 114;
  EXPECT_EQ(fasterLayers(request)->names, all);
}

} // namespace
