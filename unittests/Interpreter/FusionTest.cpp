//===- FusionTest.cpp - Passes leave what a network computes ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gmock/gmock.h>

using namespace tpuc;

namespace {

/// Weights `name` of a shape, filled with different numbers above 0.
using Weights = std::vector<std::pair<std::string, Shape>>;

Tensor fill(const Shape &shape, double start) {
  Tensor tensor(DataType::F32, shape);
  double value = start;
  for (float &element : tensor.mutableData<float>()) {
    value = value * 1.37 + 0.11;
    value -= static_cast<int>(value);
    element = static_cast<float>(value + 0.1);
  }
  return tensor;
}

/// Runs `text` before and after --top-fuse; expects the same numbers, and `left` among the ops but
/// none of `gone`.
void expectSame(llvm::StringRef text, const Weights &weights, const Shape &input,
                llvm::StringRef left, llvm::ArrayRef<llvm::StringRef> gone) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, top::TopDialect>();
  registerEvaluators(context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  auto store = context.getLoadedDialect<top::TopDialect>()->weights(*module);
  double start = 0.2;
  for (const auto &[name, shape] : weights)
    (*store)->set(name, fill(shape, start += 0.13));
  std::vector<Tensor> inputs = {fill(input, 0.5)};
  std::vector<Tensor> results;
  for (int round = 0; round < 2; ++round) {
    if (round == 1) {
      mlir::PassManager manager(&context);
      manager.addPass(createTopFuse());
      ASSERT_TRUE(mlir::succeeded(manager.run(*module)));
    }
    auto interpreter =
        Interpreter::create(*module, {.numThreads = 1, .keepAll = false, .probe = nullptr});
    ASSERT_TRUE(interpreter) << interpreter.error().message();
    auto outputs = (*interpreter)->run(inputs);
    ASSERT_TRUE(outputs) << outputs.error().message();
    results.push_back(outputs->at("y"));
  }
  EXPECT_EQ(results[0].shape(), results[1].shape());
  auto before = results[0].data<float>();
  auto after = results[1].data<float>();
  for (size_t index = 0; index < before.size(); ++index)
    EXPECT_NEAR(before[index], after[index], 1e-5 * (1 + std::abs(before[index])));
  std::string ops;
  module->walk([&](mlir::Operation *op) { ops += op->getName().getStringRef().str() + " "; });
  EXPECT_THAT(ops, testing::HasSubstr(left.str()));
  for (llvm::StringRef name : gone)
    EXPECT_THAT(ops, testing::Not(testing::HasSubstr(name.str() + " ")));
}

constexpr const char *kConv = R"(
  func.func @main(%0: tensor<1x4x5x5xf32>) -> tensor<1x6x3x3xf32> {
    %none = "top.None"() : () -> none
    %f = "top.Weight"() : () -> tensor<6x2x3x3xf32> loc("f")
    %a = "top.Weight"() : () -> tensor<6xf32> loc("a")
    %b = "top.Weight"() : () -> tensor<6xf32> loc("b")
    %c = "top.Weight"() : () -> tensor<6xf32> loc("c")
    %d = "top.Weight"() : () -> tensor<6xf32> loc("d")
    %k = "top.Weight"() : () -> tensor<6x1x1xf32> loc("k")
    %1 = "top.Conv"(%0, %f, BIAS) {kernel_shape = [3, 3], group = 2 : i64} :
         (tensor<1x4x5x5xf32>, tensor<6x2x3x3xf32>, BIAS_TYPE) -> tensor<1x6x3x3xf32> loc("x")
    NEXT
    return %y : tensor<1x6x3x3xf32>
  })";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  return text.replace(text.find(what), what.size(), by);
}

void expectConv(llvm::StringRef next) {
  Weights weights = {{"f", {6, 2, 3, 3}}, {"a", {6}}, {"b", {6}},
                     {"c", {6}},          {"d", {6}}, {"k", {6, 1, 1}}};
  for (bool hasBias : {false, true}) {
    std::string text = replaced(kConv, "BIAS", hasBias ? "%a" : "%none");
    text = replaced(text, "BIAS_TYPE", hasBias ? "tensor<6xf32>" : "none");
    expectSame(replaced(text, "NEXT", next), weights, {1, 4, 5, 5}, "top.Conv",
               {"top.BatchNorm", "top.Scale", "top.Add", "top.Relu"});
  }
}

TEST(FusionTest, BatchNormIntoConv) {
  expectConv(R"(%y = "top.BatchNorm"(%1, %a, %b, %c, %d) : (tensor<1x6x3x3xf32>, tensor<6xf32>,
                tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x3x3xf32> loc("y"))");
  expectConv(R"(%y = "top.BatchNorm"(%1, %a, %b, %none, %none) {do_relu = true} :
                (tensor<1x6x3x3xf32>, tensor<6xf32>, tensor<6xf32>, none, none)
                -> tensor<1x6x3x3xf32> loc("y"))");
}

TEST(FusionTest, ScaleAndReluIntoConv) {
  expectConv(R"(%2 = "top.Scale"(%1, %a, %b) : (tensor<1x6x3x3xf32>, tensor<6xf32>, tensor<6xf32>)
                     -> tensor<1x6x3x3xf32> loc("s")
                %y = "top.Relu"(%2) {relu_limit = 2.0 : f64} : (tensor<1x6x3x3xf32>)
                     -> tensor<1x6x3x3xf32> loc("y"))");
}

TEST(FusionTest, AddIntoConv) {
  expectConv(R"(%y = "top.Add"(%k, %1) : (tensor<6x1x1xf32>, tensor<1x6x3x3xf32>)
                     -> tensor<1x6x3x3xf32> loc("y"))");
}

TEST(FusionTest, AddIntoMatMul) {
  expectSame(R"(
    func.func @main(%0: tensor<2x3x4xf32>) -> tensor<2x3x5xf32> {
      %none = "top.None"() : () -> none
      %w = "top.Weight"() : () -> tensor<4x5xf32> loc("w")
      %k = "top.Weight"() : () -> tensor<1x5xf32> loc("k")
      %1 = "top.MatMul"(%0, %w, %none) : (tensor<2x3x4xf32>, tensor<4x5xf32>, none)
           -> tensor<2x3x5xf32> loc("x")
      %2 = "top.Add"(%1, %k) : (tensor<2x3x5xf32>, tensor<1x5xf32>) -> tensor<2x3x5xf32> loc("y")
      return %2 : tensor<2x3x5xf32>
    })",
             {{"w", {4, 5}}, {"k", {1, 5}}}, {2, 3, 4}, "top.MatMul", {"top.Add"});
}

// One constant per row is no bias.
TEST(FusionTest, AddPerRowStays) {
  expectSame(R"(
    func.func @main(%0: tensor<5x4xf32>) -> tensor<5x5xf32> {
      %none = "top.None"() : () -> none
      %w = "top.Weight"() : () -> tensor<4x5xf32> loc("w")
      %k = "top.Weight"() : () -> tensor<5x1xf32> loc("k")
      %1 = "top.MatMul"(%0, %w, %none) : (tensor<5x4xf32>, tensor<4x5xf32>, none)
           -> tensor<5x5xf32> loc("x")
      %2 = "top.Add"(%1, %k) : (tensor<5x5xf32>, tensor<5x1xf32>) -> tensor<5x5xf32> loc("y")
      return %2 : tensor<5x5xf32>
    })",
             {{"w", {4, 5}}, {"k", {5, 1}}}, {5, 4}, "top.Add", {});
}

} // namespace
