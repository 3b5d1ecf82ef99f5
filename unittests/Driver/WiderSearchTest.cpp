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
  /// What the network takes with layers in F16 and in F32.
  std::map<std::pair<Names, Names>, MeasuredNetwork> networks;
  int searches = 0;

  WiderSearchTest() {
    context.loadDialect<func::FuncDialect, top::TopDialect>();
    module = parseSourceString<ModuleOp>(kProducts, &context);
  }

  std::optional<std::pair<Names, Names>> found(const MeasuredNetwork &made,
                                               const QuantScheme &scheme = schemes::kInt8,
                                               bool mayDivide = true) {
    LoweringOptions lowering;
    lowering.scheme = scheme;
    searches = 0;
    std::optional<LoweringOptions> options = searchWiderFloats(
        {.top = *module,
         .target = **lookupTarget("bm1684x"),
         .lowering = lowering,
         .made = made,
         .measure = [&](const LoweringOptions &wanted, bool isQuick) -> Expected<MeasuredNetwork> {
           searches += isQuick ? 0 : 1;
           auto network = networks.find({wanted.fasterInF16, wanted.fasterInF32});
           return network == networks.end() ? taking(1000, 2000) : network->second;
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
  EXPECT_EQ(found(taking(32), schemes::kInt8, /*mayDivide=*/false), std::nullopt);
  EXPECT_EQ(searches, 0);
  EXPECT_EQ(found(taking(33), schemes::kInt8, /*mayDivide=*/false), std::pair(all, Names()));
  networks[{all, {}}] = taking(130);
  EXPECT_EQ(found(taking(100), schemes::kInt8, /*mayDivide=*/false), std::nullopt);
  EXPECT_EQ(searches, 0);
  // Still wider floats may bring so much.
  networks[{all, {}}] = taking(129);
  EXPECT_EQ(found(taking(100), schemes::kInt8, /*mayDivide=*/false), std::nullopt);
  EXPECT_EQ(searches, 1);
}

} // namespace
