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
  std::vector<std::string> found(const MeasuredNetwork &wide, bool isLast) {
    const MeasuredNetwork made = taking(100, 200);
    Expected<FasterLayers> layers =
        fasterLayers({.top = *module,
                      .made = made,
                      .measure = [&](const std::vector<std::string> &,
                                     bool) -> Expected<MeasuredNetwork> { return wide; },
                      .isLast = isLast});
    EXPECT_TRUE(layers);
    EXPECT_EQ(layers->network.file.cycles, layers->names.empty() ? 100 : wide.file.cycles);
    return layers->names;
  }
};

TEST_F(FasterLayersTest, TakesWhatIsFasterByBothParameters) {
  const std::vector<std::string> all = {"b", "c"};
  EXPECT_EQ(found(taking(90, 200), false), all);
  EXPECT_EQ(found(taking(90, 200), true), all);
  EXPECT_TRUE(found(taking(100, 190), false).empty());
  EXPECT_TRUE(found(taking(90, 190, /*hostLayers=*/1), false).empty());
}

TEST_F(FasterLayersTest, KeepsWhatStillWiderFloatsMayMend) {
  const std::vector<std::string> all = {"b", "c"};
  EXPECT_EQ(found(taking(90, 201), false), all);
  EXPECT_TRUE(found(taking(90, 201), true).empty());
  EXPECT_TRUE(found(taking(90, 201, /*hostLayers=*/1), false).empty());
}

TEST_F(FasterLayersTest, TriesWhatComputesInFewerCycles) {
  MeasuredNetwork made = taking(100, 200);
  made.file.layers = {{"b", 60, 0}, {"c", 40, 0}};
  MeasuredNetwork wide = taking(150, 300);
  wide.file.layers = {{"b", 50, 100}, {"c", 40, 0}};
  const auto measure = [&](const std::vector<std::string> &names,
                           bool) -> Expected<MeasuredNetwork> {
    return names == std::vector<std::string>{"b"} ? taking(90, 190) : wide;
  };
  FasterLayersRequest request{.top = *module, .made = made, .measure = measure, .isLast = true};
  EXPECT_TRUE(fasterLayers(request)->names.empty());
  request.triesLighter = true;
  EXPECT_EQ(fasterLayers(request)->names, std::vector<std::string>{"b"});
  request.fixed = {"b"};
  EXPECT_TRUE(fasterLayers(request)->names.empty());
}

/// Of a network that takes 100 cycles and `quickly` by estimated groups: how often others are
/// searched of which the one with all layers in wider floats takes `wide` by estimated groups.
int searchesOf(ModuleOp module, int64_t quickly, int64_t wide, int64_t commands = 100'000) {
  MeasuredNetwork made = taking(100, 200);
  made.file.commands = commands;
  int searches = 0;
  const auto measure = [&](const std::vector<std::string> &,
                           bool isQuick) -> Expected<MeasuredNetwork> {
    searches += isQuick ? 0 : 1;
    return taking(wide, 200);
  };
  EXPECT_TRUE(fasterLayers(
      {.top = module,
       .made = made,
       .measure = measure,
       .measureQuickly = [&]() -> Expected<MeasuredNetwork> { return taking(quickly, 200); }}));
  return searches;
}

TEST_F(FasterLayersTest, SearchesWhatASearchMayMakeFaster) {
  EXPECT_EQ(searchesOf(*module, /*quickly=*/100, /*wide=*/99), 1);
  EXPECT_EQ(searchesOf(*module, /*quickly=*/100, /*wide=*/105), 0);
  EXPECT_EQ(searchesOf(*module, /*quickly=*/104, /*wide=*/105), 1);
  EXPECT_EQ(searchesOf(*module, /*quickly=*/130, /*wide=*/110), 0);
  EXPECT_EQ(searchesOf(*module, /*quickly=*/100, /*wide=*/105, /*commands=*/1'000), 1);
  EXPECT_EQ(searchesOf(*module, /*quickly=*/100, /*wide=*/103, /*commands=*/5'000), 0);
  EXPECT_EQ(searchesOf(*module, /*quickly=*/101, /*wide=*/103, /*commands=*/5'000), 1);
  EXPECT_EQ(searchesOf(*module, /*quickly=*/100, /*wide=*/101, /*commands=*/5'000), 1);
}

TEST_F(FasterLayersTest, SearchesNothingThatComputesForLonger) {
  const ModelFileReport made = taking(100).file;
  const std::function<Expected<MeasuredNetwork>()> nothing = nullptr;
  Prospects prospects(made, nothing);
  ModelFileReport quick = taking(108).file;
  EXPECT_TRUE(*prospects.mayBeFaster(quick));
  quick.computeBusy = 0.9;
  EXPECT_TRUE(*prospects.mayBeFaster(quick));
  quick.computeBusy = 0.97;
  EXPECT_FALSE(*prospects.mayBeFaster(quick));
}

TEST_F(FasterLayersTest, NeededLayersAreInWiderFloatsWithAllOthersOnly) {
  const MeasuredNetwork made = taking(100, 200);
  const std::vector<std::string> all = {"b", "c"};
  int64_t whole = 80;
  FasterLayersRequest request{
      .top = *module,
      .made = made,
      .needed = {"b"},
      .measure = [&](const std::vector<std::string> &names, bool) -> Expected<MeasuredNetwork> {
        return taking(names == all ? whole : 90, 190);
      }};
  EXPECT_EQ(fasterLayers(request)->names, all);
  whole = 95;
  EXPECT_EQ(fasterLayers(request)->names, std::vector<std::string>{"c"});
  request.fixed = {"b"};
  whole = 80;
  EXPECT_EQ(fasterLayers(request)->names, std::vector<std::string>{"c"});
}

} // namespace
