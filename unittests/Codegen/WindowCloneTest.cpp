//===- WindowCloneTest.cpp --------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/WindowClone.h"
#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Group/WindowCost.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Target/Registry.h"
#include "unittests/Codegen/Network.h"

#include "mlir/IR/Verifier.h"

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

constexpr const char *kNetwork =
    R"(module attributes {module.chip = "bm1684x", module.name = "net"} {
  func.func @main(%arg: tensor<1x8x4x4xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) {
    %w = "top.Weight"() : () -> tensor<8x8x1x1xf32> loc("w")
    %v = "top.Weight"() : () -> tensor<8x8x1x1xf32> loc("v")
    %n = "top.None"() : () -> none loc("n")
    %x = "top.Input"(%arg) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> loc("x")
    %a = "tpu.Conv"(%x, %v, %n) {kernel_shape = [1, 1]} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>, none) -> tensor<1x8x4x4xf32> loc("a")
    %b = "tpu.Relu"(%a) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> loc("b")
    %c = "tpu.Conv"(%b, %w, %n) {kernel_shape = [1, 1]} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>, none) -> tensor<1x8x4x4xf32> loc("c")
    %d = "tpu.Relu"(%c) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> loc("d")
    %e = "tpu.Add"(%b, %d) : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> loc("e")
    %f = "tpu.Add"(%d, %d) : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> loc("f")
    return %e, %f : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
  }
})";

struct WindowCloneTest : testing::Test {
  std::vector<std::string> namesOf(mlir::Block &block) {
    std::vector<std::string> names;
    for (mlir::Operation &op : block.without_terminator())
      names.push_back(layerName(&op));
    return names;
  }
  std::string text() {
    std::string printed;
    llvm::raw_string_ostream stream(printed);
    network.main()->getParentOp()->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
    return printed;
  }

  Network network{kNetwork};
};

TEST_F(WindowCloneTest, HoldsWhatMakesTheOperands) {
  WindowClone clone({network.layer("d"), network.layer("c"), network.layer("d")});
  // Of what makes an operand the constants, but not what else it reads.
  EXPECT_EQ(namesOf(clone.block()), (std::vector<std::string>{"w", "n", "b", "c", "d"}));
  EXPECT_EQ(clone.block().getNumArguments(), 1U);
  EXPECT_EQ(clone.of(network.layer("a")), nullptr);
  EXPECT_EQ(clone.of(nullptr), nullptr);
  EXPECT_EQ(layerName(clone.of(network.layer("c"))), "c");
  EXPECT_TRUE(mlir::succeeded(mlir::verify(clone.module())));
  EXPECT_EQ(clone.module()->getAttrOfType<mlir::StringAttr>("module.chip").getValue(), "bm1684x");
}

TEST_F(WindowCloneTest, KeepsTheNumberOfUses) {
  WindowClone clone({network.layer("c"), network.layer("d")});
  for (const char *name : {"b", "c", "d"}) {
    mlir::Operation *op = network.layer(name);
    EXPECT_EQ(llvm::range_size(op->getUses()), llvm::range_size(clone.of(op)->getUses())) << name;
  }
}

TEST_F(WindowCloneTest, ReadsTheWeightsOfTheNetwork) {
  auto conv = network.layer("c");
  auto weight = conv->getOperand(1).getDefiningOp<top::WeightOp>();
  auto *dialect = conv->getContext()->getLoadedDialect<top::TopDialect>();
  auto store = dialect->weights(weight->getParentOfType<mlir::ModuleOp>());
  ASSERT_TRUE(store);
  (*store)->set("w", Tensor(DataType::F32, {8, 8, 1, 1}));
  WindowClone clone({conv});
  EXPECT_TRUE(clone.of(conv)->getOperand(1).getDefiningOp<top::WeightOp>().read());
}

TEST_F(WindowCloneTest, RewritingTheCopyLeavesTheNetworkAsItIs) {
  const std::string before = text();
  {
    WindowClone clone({network.layer("c"), network.layer("d")});
    mlir::Operation *op = clone.of(network.layer("d"));
    mlir::Operation *conv = clone.of(network.layer("c"));
    conv->setAttr("tried", mlir::UnitAttr::get(conv->getContext()));
    op->getResult(0).replaceAllUsesWith(conv->getResult(0));
    op->erase();
  }
  EXPECT_EQ(text(), before);
}

/// Ops of copies that are gone may stand where others stood.
TEST_F(WindowCloneTest, CostsWhatItCostsByItselfWhateverWasAskedBefore) {
  const std::unique_ptr<Backend> backend = backendOf(**lookupTarget("bm1684x"));
  const auto price = [](const GroupTable::Option &option, llvm::ArrayRef<mlir::Operation *>) {
    return static_cast<double>(option.estimate);
  };
  const auto costOf = [&](WindowCosts &costs, const char *name, bool isWider) {
    const OpWindow window = windowAround(network.layer(name), network.layer(name), 1, 1);
    WindowClone clone(window.ops);
    mlir::Operation *copy = clone.of(network.layer(name));
    if (isWider)
      copy->getResult(0).setType(
          mlir::RankedTensorType::get({1, 8, 4, 4}, mlir::Float16Type::get(copy->getContext())));
    return costs.of(window, clone, price);
  };
  WindowCosts shared(*backend);
  std::set<double> met;
  for (int round = 0; round < 8; ++round)
    for (const char *name : {"b", "c", "d"})
      for (const bool isWider : {false, true}) {
        WindowCosts own(*backend);
        const std::optional<double> cost = costOf(shared, name, isWider);
        EXPECT_EQ(cost, costOf(own, name, isWider)) << name;
        met.insert(cost.value_or(-1));
      }
  EXPECT_GE(met.size(), 3U);
}

} // namespace
