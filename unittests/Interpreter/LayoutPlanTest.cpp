//===- LayoutPlanTest.cpp - Which steps run as kernels, and in which layout -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Interpreter/Interpreter.h"
#include "unittests/Interpreter/TestTensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>

using namespace tpuc;
using testing::ElementsAre;

namespace {

class LayoutPlanTest : public testing::Test {
protected:
  LayoutPlanTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<mlir::func::FuncDialect, top::TopDialect>();
    registerEvaluators(context);
  }

  void parse(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto store = context.getLoadedDialect<top::TopDialect>()->weights(*module);
    double start = 0.1;
    for (auto [name, shape] : {std::pair<const char *, Shape>{"f", {24, 3, 3, 3}},
                               {"g", {24, 24, 1, 1}},
                               {"d", {24, 1, 3, 3}},
                               {"b", {24}},
                               {"m", {24, 10}}})
      (*store)->set(name, filled(shape, start += 0.17, -0.5));
  }

  TensorMap run(InterpreterOptions options) {
    kinds.clear();
    options.timer = [&](const std::string &, const std::string &kind, double) {
      kinds.push_back(kind);
    };
    auto interpreter = Interpreter::create(*module, std::move(options));
    EXPECT_TRUE(interpreter) << interpreter.error().message();
    const std::vector<Tensor> inputs{filled({1, 3, 16, 18}, 0.3, -0.5)};
    auto results = (*interpreter)->run(inputs);
    EXPECT_TRUE(results) << results.error().message();
    return *results;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<std::string> kinds;
};

/// Convolutions with a residual connection, a gate per channel, and a classifier.
constexpr const char *kNetwork = R"(
  func.func @main(%0: tensor<1x3x16x18xf32>) -> (tensor<1x10xf32>, tensor<1x24x8x9xf32>) {
    %x = "top.Input"(%0) : (tensor<1x3x16x18xf32>) -> tensor<1x3x16x18xf32> loc("x")
    %none = "top.None"() : () -> none
    %f = "top.Weight"() : () -> tensor<24x3x3x3xf32> loc("f")
    %g = "top.Weight"() : () -> tensor<24x24x1x1xf32> loc("g")
    %d = "top.Weight"() : () -> tensor<24x1x3x3xf32> loc("d")
    %b = "top.Weight"() : () -> tensor<24xf32> loc("b")
    %m = "top.Weight"() : () -> tensor<24x10xf32> loc("m")
    %1 = "top.Conv"(%x, %f, %b) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]} : (tensor<1x3x16x18xf32>, tensor<24x3x3x3xf32>, tensor<24xf32>) -> tensor<1x24x8x9xf32> loc("c1")
    %2 = "top.HardSwish"(%1) : (tensor<1x24x8x9xf32>) -> tensor<1x24x8x9xf32> loc("a1")
    %3 = "top.Conv"(%2, %d, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 24 : i64, do_relu = true} : (tensor<1x24x8x9xf32>, tensor<24x1x3x3xf32>, none) -> tensor<1x24x8x9xf32> loc("c2")
    %4 = "top.AvgPool"(%3) {kernel_shape = [8, 9]} : (tensor<1x24x8x9xf32>) -> tensor<1x24x1x1xf32> loc("p1")
    %5 = "top.Conv"(%4, %g, %b) {kernel_shape = [1, 1]} : (tensor<1x24x1x1xf32>, tensor<24x24x1x1xf32>, tensor<24xf32>) -> tensor<1x24x1x1xf32> loc("c3")
    %6 = "top.Sigmoid"(%5) : (tensor<1x24x1x1xf32>) -> tensor<1x24x1x1xf32> loc("a3")
    %7 = "top.Mul"(%3, %6) : (tensor<1x24x8x9xf32>, tensor<1x24x1x1xf32>) -> tensor<1x24x8x9xf32> loc("g1")
    %8 = "top.Conv"(%7, %g, %none) {kernel_shape = [1, 1]} : (tensor<1x24x8x9xf32>, tensor<24x24x1x1xf32>, none) -> tensor<1x24x8x9xf32> loc("c4")
    %9 = "top.Add"(%2, %8) {do_relu = true} : (tensor<1x24x8x9xf32>, tensor<1x24x8x9xf32>) -> tensor<1x24x8x9xf32> loc("y")
    %10 = "top.MaxPool"(%9) {kernel_shape = [8, 9]} : (tensor<1x24x8x9xf32>) -> tensor<1x24x1x1xf32> loc("p2")
    %11 = "top.Reshape"(%10, %none) {shape = [1, 24]} : (tensor<1x24x1x1xf32>, none) -> tensor<1x24xf32> loc("r")
    %12 = "top.MatMul"(%11, %m, %none) : (tensor<1x24xf32>, tensor<24x10xf32>, none) -> tensor<1x10xf32> loc("z")
    return %12, %9 : tensor<1x10xf32>, tensor<1x24x8x9xf32>
  })";

TEST_F(LayoutPlanTest, ReordersOnlyAtBorders) {
  parse(kNetwork);
  run({.numThreads = 1});
  // c1 with a1; c2; p1; c3 with a3; g1; c4 with y.
  EXPECT_THAT(kinds, ElementsAre("top.Input", "top.HardSwish", "top.Conv", "top.AvgPool",
                                 "top.Sigmoid", "top.Mul", "top.Add", "top.MaxPool", "from blocks",
                                 "top.Reshape", "top.MatMul", "from blocks"));
}

TEST_F(LayoutPlanTest, KeepsAllTensorsInTheirShapes) {
  parse(kNetwork);
  const TensorMap fused = run({.numThreads = 1});
  InterpreterOptions options{.numThreads = 1, .keepAll = true};
  std::vector<std::string> told;
  options.probe = [&](const std::string &name, const Tensor &) -> Expected<void> {
    told.push_back(name);
    return {};
  };
  const TensorMap all = run(options);
  EXPECT_THAT(
      told, ElementsAre("x", "c1", "a1", "c2", "p1", "c3", "a3", "g1", "c4", "y", "p2", "r", "z"));
  EXPECT_EQ(all.size(), told.size());
  EXPECT_EQ(all.at("c4").shape(), (Shape{1, 24, 8, 9}));
  for (const auto &[name, tensor] : fused) {
    auto a = tensor.data<float>();
    auto b = all.at(name).data<float>();
    ASSERT_EQ(tensor.shape(), all.at(name).shape());
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i], b[i], 1e-5) << name;
  }
}

TEST_F(LayoutPlanTest, SameBitsWithAnyNumberOfThreads) {
  parse(kNetwork);
  const TensorMap one = run({.numThreads = 1});
  for (unsigned count : {2, 3, 5})
    for (const auto &[name, tensor] : run({.numThreads = count}))
      EXPECT_TRUE(std::ranges::equal(tensor.rawBytes(), one.at(name).rawBytes()))
          << name << ", " << count << " threads";
}

TEST_F(LayoutPlanTest, AValueThatTwoReadStays) {
  parse(R"(
  func.func @main(%0: tensor<1x3x16x18xf32>) -> (tensor<1x24x8x9xf32>, tensor<1x24x8x9xf32>) {
    %f = "top.Weight"() : () -> tensor<24x3x3x3xf32> loc("f")
    %b = "top.Weight"() : () -> tensor<24xf32> loc("b")
    %1 = "top.Conv"(%0, %f, %b) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]} : (tensor<1x3x16x18xf32>, tensor<24x3x3x3xf32>, tensor<24xf32>) -> tensor<1x24x8x9xf32> loc("c")
    %2 = "top.Relu"(%1) : (tensor<1x24x8x9xf32>) -> tensor<1x24x8x9xf32> loc("a")
    return %1, %2 : tensor<1x24x8x9xf32>, tensor<1x24x8x9xf32>
  })");
  const TensorMap results = run({.numThreads = 1});
  EXPECT_THAT(kinds, ElementsAre("top.Conv", "top.Relu", "from blocks", "from blocks"));
  auto before = results.at("c").data<float>();
  auto after = results.at("a").data<float>();
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(after[i], std::max(before[i], 0.0F));
}

// What stands between two plain ops stays plain.
TEST_F(LayoutPlanTest, ElementwiseOpsFollowTheirOperands) {
  parse(R"(
  func.func @main(%0: tensor<1x3x16x18xf32>) -> tensor<1x3x16x18xf32> {
    %1 = "top.Sin"(%0) : (tensor<1x3x16x18xf32>) -> tensor<1x3x16x18xf32> loc("s")
    %2 = "top.Add"(%1, %0) : (tensor<1x3x16x18xf32>, tensor<1x3x16x18xf32>) -> tensor<1x3x16x18xf32> loc("t")
    %3 = "top.Relu"(%2) : (tensor<1x3x16x18xf32>) -> tensor<1x3x16x18xf32> loc("u")
    %4 = "top.Cos"(%3) : (tensor<1x3x16x18xf32>) -> tensor<1x3x16x18xf32> loc("v")
    return %4 : tensor<1x3x16x18xf32>
  })");
  run({.numThreads = 1});
  EXPECT_THAT(kinds, ElementsAre("top.Sin", "top.Relu", "top.Cos"));
}

} // namespace
