//===- WiderSearchTest.cpp ------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/WiderSearch.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Target/Registry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "unittests/Driver/MeasuredNetworks.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tpuc;

namespace {

using Names = std::vector<std::string>;

constexpr const char *kProducts = R"(
  func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %n = "top.None"() : () -> none
    %b = "top.Exp"(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32> loc("b")
    %c = "top.MatMul"(%b, %a, %n) : (tensor<64x64xf32>, tensor<64x64xf32>, none) -> tensor<64x64xf32> loc("c")
    return %c : tensor<64x64xf32>
  })";

struct WiderSearchTest : ::testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  const Names all = {"b", "c"};
  /// What the network takes with layers in F16 and in F32, and where the search brings something.
  std::map<std::pair<Names, Names>, MeasuredNetwork> networks, searched;
  /// The networks that are searched, in that order.
  std::vector<std::pair<Names, Names>> searches;
  int looks = 0;

  WiderSearchTest() {
    context.loadDialect<func::FuncDialect, top::TopDialect>();
    module = parseSourceString<ModuleOp>(kProducts, &context);
  }

  /// `isMade`: `made` was searched already.
  std::optional<std::pair<Names, Names>> found(const MeasuredNetwork &made,
                                               const QuantScheme &scheme = schemes::kInt8,
                                               bool mayDivide = true, bool isMade = false) {
    LoweringOptions lowering;
    lowering.scheme = scheme;
    searches.clear();
    networks[{{}, {}}] = made;
    std::optional<LoweringOptions> options = searchWiderFloats(
        {.top = *module,
         .target = **lookupTarget("bm1684x"),
         .lowering = lowering,
         .made = isMade ? std::optional(made) : std::nullopt,
         .measure = [&](const LoweringOptions &wanted, bool isQuick) -> Expected<MeasuredNetwork> {
           const std::pair layers(wanted.fasterInF16, wanted.fasterInF32);
           ++looks;
           if (!isQuick)
             searches.push_back(layers);
           if (!isQuick && searched.contains(layers))
             return searched[layers];
           return networks.contains(layers) ? networks[layers] : taking(1'000'000, 2000);
         },
         .mayDivide = mayDivide});
    if (!options)
      return std::nullopt;
    return std::pair(options->fasterInF16, options->fasterInF32);
  }
};

TEST_F(WiderSearchTest, TakesNoMoreCyclesThanAWholeNetworkInWiderFloats) {
  networks[{all, {}}] = taking(95, 201);
  EXPECT_EQ(found(taking(100)), std::pair(all, Names()));
  EXPECT_EQ(found(taking(95)), std::nullopt);
  networks[{all, {}}] = taking(95, 190, /*hostLayers=*/1);
  EXPECT_EQ(found(taking(100)), std::nullopt);
  networks[{{}, all}] = taking(295, 501);
  EXPECT_EQ(found(taking(300, 500), schemes::kF16), std::pair(Names(), all));
  EXPECT_EQ(found(taking(300, 500), schemes::kBF16), std::pair(Names(), all));
}

/// --quantize F16 would find the layers that are faster in F32.
TEST_F(WiderSearchTest, SearchesAWiderNetworkAsItWouldBeSearchedItself) {
  MeasuredNetwork halves = taking(105);
  halves.file.layers = {{"b", 90, 0}, {"c", 15, 0}};
  MeasuredNetwork single = taking(500);
  single.file.layers = {{"b", 50, 0}, {"c", 450, 0}};
  networks[{all, {}}] = halves;
  networks[{all, all}] = single;
  networks[{all, {"b"}}] = taking(97, 210);
  EXPECT_EQ(found(taking(100)), std::nullopt);
  networks[{all, {"b"}}] = taking(97, 190);
  EXPECT_EQ(found(taking(100)), std::pair(all, Names({"b"})));
  EXPECT_EQ(found(taking(97)), std::nullopt);
}

TEST_F(WiderSearchTest, LeavesOutWhatCannotBeFaster) {
  // 64 * 64 * 64 products at 8,192 for each cycle are 32.
  networks[{all, {}}] = taking(31);
  EXPECT_EQ(found(taking(32), schemes::kInt8, /*mayDivide=*/false, /*isMade=*/true), std::nullopt);
  EXPECT_EQ(looks, 0);
  EXPECT_EQ(found(taking(32), schemes::kInt8, /*mayDivide=*/false), std::nullopt);
  EXPECT_TRUE(searches.empty());
  EXPECT_EQ(found(taking(33), schemes::kInt8, /*mayDivide=*/false), std::pair(all, Names()));
  networks[{all, {}}] = taking(101);
  searched[{all, {}}] = taking(90);
  EXPECT_EQ(found(taking(100), schemes::kInt8, /*mayDivide=*/false), std::pair(all, Names()));
  networks[{all, {}}] = taking(111);
  EXPECT_EQ(found(taking(100), schemes::kInt8, /*mayDivide=*/false), std::nullopt);
  EXPECT_TRUE(searches.empty());
  // It computes for longer than the other one takes.
  networks[{all, {}}] = taking(104);
  networks[{all, {}}].file.computeBusy = 1;
  EXPECT_EQ(found(taking(100), schemes::kInt8, /*mayDivide=*/false), std::nullopt);
}

/// In a network of few cycles, layers in F32 may bring much.
TEST_F(WiderSearchTest, LooksForF32WhereF16IsNotFarBehind) {
  const auto isFound = [&](int64_t cycles, double behind) {
    MeasuredNetwork halves = taking(int64_t(double(cycles) * behind));
    halves.file.layers = {{"b", cycles, 0}, {"c", halves.file.cycles - cycles, 0}};
    MeasuredNetwork single = taking(5 * cycles);
    single.file.layers = {{"b", cycles / 2, 0}, {"c", 9 * cycles / 2, 0}};
    networks[{all, {}}] = halves;
    networks[{all, all}] = single;
    networks[{all, {"b"}}] = taking(9 * cycles / 10, 190);
    const auto layers = found(taking(cycles));
    EXPECT_TRUE(!layers || *layers == std::pair(all, Names({"b"})));
    return layers.has_value();
  };
  EXPECT_TRUE(isFound(40'000, 1.29));
  EXPECT_FALSE(isFound(40'000, 1.31));
  EXPECT_TRUE(isFound(50'000, 1.09));
  EXPECT_FALSE(isFound(50'000, 1.29));
}

/// Where a look takes no time, F32 is looked at though no layers are faster in F16.
TEST_F(WiderSearchTest, DividesBetweenIntegersAndF32InNetworksOfFewCommands) {
  const auto isFound = [&](int64_t commands) {
    MeasuredNetwork made = taking(100);
    made.file.commands = commands;
    made.file.layers = {{"b", 90, 0}, {"c", 10, 0}};
    networks[{all, {}}] = taking(150);
    networks[{all, {}}].file.layers = {{"b", 100, 0}, {"c", 50, 0}};
    networks[{{}, all}] = taking(500);
    networks[{{}, all}].file.layers = {{"b", 50, 0}, {"c", 450, 0}};
    networks[{{}, {"b"}}] = taking(70, 190);
    const auto layers = found(made);
    EXPECT_TRUE(!layers || *layers == std::pair(Names(), Names({"b"})));
    return layers.has_value();
  };
  EXPECT_TRUE(isFound(999));
  EXPECT_FALSE(isFound(1000));
}

TEST_F(WiderSearchTest, SearchesOnlyWhatMayBecomeFaster) {
  const std::pair<Names, Names> integers, halves(all, {});
  networks[halves] = taking(90, 150);
  EXPECT_EQ(found(taking(100)), halves);
  EXPECT_EQ(searches, std::vector{halves});
  // What the search brought the one, it may bring the other.
  searched[halves] = taking(86, 150);
  EXPECT_EQ(found(taking(94)), halves);
  EXPECT_EQ(searches, std::vector({halves, integers}));
  searched[integers] = taking(85, 200);
  EXPECT_EQ(found(taking(94)), std::nullopt);
  // In networks of many commands it brings one about as much as another.
  searched[halves] = taking(89, 150);
  searched[integers] = taking(80, 200);
  networks[halves].file.commands = searched[halves].file.commands = 12'000;
  MeasuredNetwork made = taking(94);
  made.file.commands = 12'000;
  EXPECT_EQ(found(made), halves);
  EXPECT_EQ(searches, std::vector{halves});
}

/// By the conservative parameters a division takes no more, whatever a search brings.
TEST_F(WiderSearchTest, AsksForTheConservativeParametersWhereTheyAreClose) {
  const std::pair<Names, Names> integers, halves(all, {});
  networks[halves] = taking(50, 200);
  searched[halves] = taking(50, 195);
  EXPECT_EQ(found(taking(100, 198)), halves);
  EXPECT_EQ(searches, std::vector({halves, integers}));
  EXPECT_EQ(found(taking(100, 300)), halves);
  EXPECT_EQ(searches, std::vector{halves});
}

} // namespace
