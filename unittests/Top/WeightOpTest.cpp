//===- WeightOpTest.cpp - How constants are printed -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TopDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace mlir;
using namespace tpuc;

namespace {

struct WeightOpTest : ::testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  OpBuilder builder{&context};
  top::WeightOp weight;

  WeightOpTest() {
    context.loadDialect<top::TopDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
    builder.setInsertionPointToStart(module->getBody());
    weight = builder.create<top::WeightOp>(NameLoc::get(builder.getStringAttr("filter")),
                                           RankedTensorType::get({2}, builder.getF32Type()),
                                           ArrayAttr());
  }

  std::string printed(bool isGeneric) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    auto flags = OpPrintingFlags().enableDebugInfo().useLocalScope();
    module->print(stream, isGeneric ? flags.printGenericOpForm() : flags);
    return text;
  }

  /// What MLIR prints of the module, and of the one that our text gives.
  std::pair<std::string, std::string> before() {
    const std::string plain = printed(/*isGeneric=*/true);
    module = parseSourceString<ModuleOp>(printed(/*isGeneric=*/false), &context);
    return {plain, module ? printed(/*isGeneric=*/true) : ""};
  }
};

TEST_F(WeightOpTest, ReadsTheScalesThatItPrints) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponents(-1070, 1020);
  std::vector<double> scales = {0,    -0.0, 1,    .5,      .1,        .001,
                                1e-5, 5e-7, 1e22, 1048575, 0x1p-1074, 0x1.fffffffffffffp1023};
  for (int index = 0; index < 2000; ++index) {
    scales.push_back(std::exp2(exponents(random)));
    scales.push_back(-static_cast<double>(std::exp2(static_cast<float>(exponents(random) / 8))));
  }
  weight.setWeightScaleAttr(builder.getF64ArrayAttr(scales));
  const auto [wanted, found] = before();
  EXPECT_EQ(wanted, found);
}

TEST_F(WeightOpTest, PrintsFewDigits) {
  weight.setWeightScaleAttr(builder.getF64ArrayAttr({.1, 3, 5e-7, -1.5e-9}));
  EXPECT_NE(printed(false).find("weight_scale = [0.1, 3.0, 5.0e-07, -1.5e-09]}"),
            std::string::npos);
}

TEST_F(WeightOpTest, ReadsTheOtherAttributes) {
  weight.setWeightScaleAttr(builder.getF64ArrayAttr({.007, 3.}));
  weight->setAttr("weight_rest", builder.getDenseI64ArrayAttr({1, -2}));
  weight->setAttr("a name", builder.getUnitAttr());
  const auto [wanted, found] = before();
  EXPECT_EQ(wanted, found);
  EXPECT_NE(found.find("weight_rest = array<i64: 1, -2>"), std::string::npos);
}

TEST_F(WeightOpTest, LeavesToMlirWhatIsNotFinite) {
  weight.setWeightScaleAttr(
      builder.getF64ArrayAttr({.5, std::numeric_limits<double>::infinity(), std::nan("")}));
  const auto [wanted, found] = before();
  EXPECT_EQ(wanted, found);
}

} // namespace
