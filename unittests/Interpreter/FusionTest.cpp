//===- FusionTest.cpp - Passes leave what a network computes ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Transforms/Passes.h"
#include "unittests/Interpreter/TestTensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gmock/gmock.h>

using namespace tpuc;

namespace {

/// Weights `name` of a shape, filled with different numbers above 0.
using Weights = std::vector<std::pair<std::string, Shape>>;

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
    (*store)->set(name, filled(shape, start += 0.13, 0.1));
  std::vector<Tensor> inputs = {filled(input, 0.5, 0.1)};
  std::vector<Tensor> results;
  for (int round = 0; round < 2; ++round) {
    if (round == 1) {
      mlir::PassManager manager(&context);
      manager.addPass(createShapeInfer());
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

TEST(FusionTest, ModulationOutOfFilter) {
  Weights weights = {{"w", {1, 6, 4, 3, 2}}};
  expectSame(R"(
    func.func @main(%0: tensor<2x4x5x5xf32>) -> tensor<2x6x3x4xf32> {
      %none = "top.None"() : () -> none
      %w = "top.Weight"() : () -> tensor<1x6x4x3x2xf32> loc("w")
      %m = "top.Reduce"(%0, %none) {axes = [0, 2, 3], mode = "ReduceMean", keepdims = true}
           : (tensor<2x4x5x5xf32>, none) -> tensor<1x4x1x1xf32> loc("m")
      %s = "top.Reshape"(%m, %none) {shape = [1, 1, 4, 1, 1]} : (tensor<1x4x1x1xf32>, none)
           -> tensor<1x1x4x1x1xf32> loc("s")
      %1 = "top.Mul"(%w, %s) : (tensor<1x6x4x3x2xf32>, tensor<1x1x4x1x1xf32>)
           -> tensor<1x6x4x3x2xf32> loc("1")
      %d = "top.Reduce"(%1, %none) {axes = [2, 3, 4], mode = "ReduceL2", keepdims = true}
           : (tensor<1x6x4x3x2xf32>, none) -> tensor<1x6x1x1x1xf32> loc("d")
      %2 = "top.Mul"(%d, %1) : (tensor<1x6x1x1x1xf32>, tensor<1x6x4x3x2xf32>)
           -> tensor<1x6x4x3x2xf32> loc("2")
      %f = "top.Reshape"(%2, %none) {shape = [6, 4, 3, 2]} : (tensor<1x6x4x3x2xf32>, none)
           -> tensor<6x4x3x2xf32> loc("f")
      %y = "top.Conv"(%0, %f, %none) {kernel_shape = [3, 2], strides = [1, 1]}
           : (tensor<2x4x5x5xf32>, tensor<6x4x3x2xf32>, none) -> tensor<2x6x3x4xf32> loc("y")
      return %y : tensor<2x6x3x4xf32>
    })",
             weights, {2, 4, 5, 5}, "top.Mul", {});
}

TEST(FusionTest, PartsBeforeHeads) {
  for (const bool isTurned : {false, true}) {
    const std::string text = R"(
      func.func @main(%0: tensor<2x5x4xf32>) -> tensor<2x2x5x7xf32> {
        %none = "top.None"() : () -> none
        %w = "top.Weight"() : () -> tensor<WEIGHTxf32> loc("w")
        %k = "top.Weight"() : () -> tensor<16xf32> loc("k")
        %1 = "top.MatMul"(%0, %w, %k) {right_transpose = TURNED}
             : (tensor<2x5x4xf32>, tensor<WEIGHTxf32>, tensor<16xf32>) -> tensor<2x5x16xf32>
             loc("x")
        %2 = "top.Reshape"(%1, %none) {shape = [2, 5, 2, 8]} : (tensor<2x5x16xf32>, none)
             -> tensor<2x5x2x8xf32> loc("heads")
        %b = "top.Slice"(%2, %none, %none, %none, %none) {axes = [-1], offset = [4], ends = [8]}
             : (tensor<2x5x2x8xf32>, none, none, none, none) -> tensor<2x5x2x4xf32> loc("b")
        %a = "top.Slice"(%2, %none, %none, %none, %none) {axes = [3], offset = [0], ends = [3]}
             : (tensor<2x5x2x8xf32>, none, none, none, none) -> tensor<2x5x2x3xf32> loc("a")
        %p = "top.Permute"(%a) {order = [0, 2, 1, 3]} : (tensor<2x5x2x3xf32>)
             -> tensor<2x2x5x3xf32> loc("p")
        %q = "top.Permute"(%b) {order = [0, 2, 1, 3]} : (tensor<2x5x2x4xf32>)
             -> tensor<2x2x5x4xf32> loc("q")
        %y = "top.Concat"(%q, %p) {axis = 3 : i64} : (tensor<2x2x5x4xf32>, tensor<2x2x5x3xf32>)
             -> tensor<2x2x5x7xf32> loc("y")
        return %y : tensor<2x2x5x7xf32>
      })";
    const Shape weight = isTurned ? Shape{16, 4} : Shape{4, 16};
    std::string net = replaced(text, "TURNED", isTurned ? "true" : "false");
    for (int times = 0; times < 2; ++times)
      net = replaced(net, "WEIGHT", isTurned ? "16x4" : "4x16");
    expectSame(net, {{"w", weight}, {"k", {16}}}, {2, 5, 4}, "top.MatMul", {});
  }
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

std::string typeText(const Shape &shape) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + "f32>";
}

/// A function of %x with the weights %name, `%none`, and `body`, where `X` and `Y` stand for the
/// types of input and result, which is %y.
std::string network(const Shape &input, const Shape &output, const Weights &weights,
                    std::string body) {
  std::string text = "func.func @main(%x: X) -> Y {\n%none = \"top.None\"() : () -> none\n";
  for (const auto &[name, shape] : weights)
    text +=
        "%" + name + " = \"top.Weight\"() : () -> " + typeText(shape) + " loc(\"" + name + "\")\n";
  text += body + "\nreturn %y : Y\n}";
  std::string result;
  for (char letter : text)
    result += letter == 'X'   ? typeText(input)
              : letter == 'Y' ? typeText(output)
                              : std::string(1, letter);
  return result;
}

constexpr const char *kAffine = R"(
  %2 = "top.Mul"(%1, %k) : (Y, KTYPE) -> Y loc("m")
  %3 = "top.SubConst"(%2) {const_val = 0.7 : f64, is_reverse = true} : (Y) -> Y loc("d")
  %4 = "top.Div"(%3, %c) : (Y, KTYPE) -> Y loc("q")
  %5 = "top.Add"(%k, %4) {coeff = [0.5, 2.0]} : (KTYPE, Y) -> Y loc("a")
  %y = "top.Relu"(%5) : (Y) -> Y loc("y"))";

TEST(FusionTest, AffineIntoConv) {
  std::string body = R"(%1 = "top.Conv"(%x, %f, %b) {kernel_shape = [3, 3], group = 2 : i64} :
      (X, tensor<6x2x3x3xf32>, tensor<6xf32>) -> Y loc("x"))";
  Weights weights = {{"f", {6, 2, 3, 3}}, {"b", {6}}, {"k", {6, 1, 1}}, {"c", {6, 1, 1}}};
  std::string affine = kAffine;
  while (affine.find("KTYPE") != std::string::npos)
    affine = replaced(affine, "KTYPE", "tensor<6x1x1xf32>");
  expectSame(network({1, 4, 5, 5}, {1, 6, 3, 3}, weights, body + affine), weights, {1, 4, 5, 5},
             "top.Conv", {"top.Mul", "top.SubConst", "top.Div", "top.Add", "top.Relu"});
}

// The channels of a filter [C, M/group, kernel...] lie in two of its dimensions.
TEST(FusionTest, AffineIntoDeconv) {
  for (int64_t group : {1, 2}) {
    Weights weights = {{"f", {4, 6 / group, 2, 2}}, {"b", {6}}, {"k", {6, 1, 1}}, {"c", {6, 1, 1}}};
    std::string body = R"(%1 = "top.Deconv"(%x, %f, %b) {kernel_shape = [2, 2], strides = [2, 2],
        group = )" + std::to_string(group) +
                       " : i64} : (X, " + typeText(weights[0].second) +
                       R"(, tensor<6xf32>) -> Y loc("x"))";
    std::string affine = kAffine;
    while (affine.find("KTYPE") != std::string::npos)
      affine = replaced(affine, "KTYPE", "tensor<6x1x1xf32>");
    expectSame(network({1, 4, 3, 3}, {1, 6, 6, 6}, weights, body + affine), weights, {1, 4, 3, 3},
               "top.Deconv", {"top.Mul", "top.SubConst", "top.Div", "top.Add", "top.Relu"});
  }
}

TEST(FusionTest, AffineIntoMatMul) {
  for (bool transposed : {false, true})
    for (bool batched : {false, true}) {
      Shape right = transposed ? Shape{5, 4} : Shape{4, 5};
      if (batched)
        right = Shape{2, right[0], right[1]};
      Weights weights = {{"w", right}, {"b", {1}}, {"k", {5}}, {"c", {5}}};
      std::string body = R"(%1 = "top.MatMul"(%x, %w, %b) {right_transpose = )" +
                         std::string(transposed ? "true" : "false") + "} : (X, " + typeText(right) +
                         R"(, tensor<1xf32>) -> Y loc("x"))";
      std::string affine = kAffine;
      while (affine.find("KTYPE") != std::string::npos)
        affine = replaced(affine, "KTYPE", "tensor<5xf32>");
      expectSame(network({2, 3, 4}, {2, 3, 5}, weights, body + affine), weights, {2, 3, 4},
                 "top.MatMul", {"top.Mul", "top.SubConst", "top.Div", "top.Add", "top.Relu"});
    }
}

TEST(FusionTest, ScaleToDepthwise) {
  Weights weights = {{"s", {4}}, {"b", {4}}};
  expectSame(network({2, 4, 5, 3}, {2, 4, 5, 3}, weights, R"(
      %1 = "top.Scale"(%x, %s, %b) : (X, tensor<4xf32>, tensor<4xf32>) -> Y loc("x")
      %2 = "top.Scale"(%1, %b, %s) : (Y, tensor<4xf32>, tensor<4xf32>) -> Y loc("t")
      %y = "top.Relu"(%2) {relu_limit = 1.5 : f64} : (Y) -> Y loc("y"))"),
             weights, {2, 4, 5, 3}, "top.Conv", {"top.Scale", "top.Relu"});
}

TEST(FusionTest, ScaleIntoNextConv) {
  Weights weights = {{"s", {4}}, {"b", {4}}, {"f", {6, 2, 3, 3}}};
  expectSame(network({1, 4, 5, 5}, {1, 6, 3, 3}, weights, R"(
      %1 = "top.Scale"(%x, %s, %b) : (X, tensor<4xf32>, tensor<4xf32>) -> X loc("x")
      %y = "top.Conv"(%1, %f, %none) {kernel_shape = [3, 3], group = 2 : i64} :
           (X, tensor<6x2x3x3xf32>, none) -> Y loc("y"))"),
             weights, {1, 4, 5, 5}, "top.Conv", {"top.Scale"});
}

TEST(FusionTest, PermuteIntoMatMul) {
  Weights weights = {{"w", {2, 5, 3}}};
  expectSame(network({2, 3, 4}, {2, 4, 5}, weights, R"(
      %1 = "top.Permute"(%x) {order = [0, 2, 1]} : (X) -> tensor<2x4x3xf32> loc("p")
      %2 = "top.Permute"(%w) {order = [0, 2, 1]} : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32> loc("q")
      %y = "top.MatMul"(%1, %2, %none) : (tensor<2x4x3xf32>, tensor<2x3x5xf32>, none) -> Y
           loc("y"))"),
             weights, {2, 3, 4}, "top.MatMul", {"top.Permute"});
}

TEST(FusionTest, ScalarToConst) {
  Weights weights = {{"c", {1}}};
  expectSame(network({2, 3}, {2, 3}, weights, R"(
      %1 = "top.Sub"(%c, %x) : (tensor<1xf32>, X) -> X loc("a")
      %2 = "top.Max"(%1, %c) : (X, tensor<1xf32>) -> X loc("b")
      %3 = "top.Div"(%c, %2) : (tensor<1xf32>, X) -> X loc("d")
      %4 = "top.Pow"(%3, %c) : (X, tensor<1xf32>) -> X loc("e")
      %y = "top.Add"(%x, %4) : (X, X) -> Y loc("y"))"),
             weights, {2, 3}, "top.DivConst", {"top.Sub", "top.Max", "top.Div", "top.Pow"});
}

TEST(FusionTest, PadIntoConvAndPools) {
  Weights weights = {{"f", {4, 4, 3, 3}}};
  expectSame(network({1, 4, 6, 6}, {1, 4, 7, 8}, weights, R"(
      %1 = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, 1, 0, 0, 0, 0, 2]} :
           (X, none, none, none) -> tensor<1x4x7x8xf32> loc("p")
      %y = "top.Conv"(%1, %f, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} :
           (tensor<1x4x7x8xf32>, tensor<4x4x3x3xf32>, none) -> Y loc("y"))"),
             weights, {1, 4, 6, 6}, "top.Conv", {"top.Pad"});
  expectSame(network({1, 4, 6, 6}, {1, 4, 7, 8}, {}, R"(
      %1 = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, 1, 0, 0, 0, 0, 2]} :
           (X, none, none, none) -> tensor<1x4x7x8xf32> loc("p")
      %y = "top.AvgPool"(%1) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = true} :
           (tensor<1x4x7x8xf32>) -> Y loc("y"))"),
             {}, {1, 4, 6, 6}, "top.AvgPool", {"top.Pad"});
  expectSame(network({1, 4, 6, 6}, {1, 4, 3, 3}, {}, R"(
      %1 = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, 1, 1, 0, 0, 0, 0]} :
           (X, none, none, none) -> tensor<1x4x7x7xf32> loc("p")
      %y = "top.AvgPool"(%1) {kernel_shape = [3, 3], strides = [2, 2]} :
           (tensor<1x4x7x7xf32>) -> Y loc("y"))"),
             {}, {1, 4, 6, 6}, "top.AvgPool", {"top.Pad"});
  expectSame(network({1, 4, 6, 6}, {1, 4, 3, 3}, {}, R"(
      %1 = "top.SubConst"(%x) {const_val = 0.6 : f64} : (X) -> X loc("s")
      %2 = "top.Relu"(%1) : (X) -> X loc("r")
      %3 = "top.Pad"(%2, %none, %none, %none) {paddings = [0, 0, 1, 1, 0, 0, 0, 0]} :
           (X, none, none, none) -> tensor<1x4x7x7xf32> loc("p")
      %y = "top.MaxPool"(%3) {kernel_shape = [3, 3], strides = [2, 2]} :
           (tensor<1x4x7x7xf32>) -> Y loc("y"))"),
             {}, {1, 4, 6, 6}, "top.MaxPool", {"top.Pad"});
}

/// Elements on both sides of 0, which activations treat differently.
std::string centred(const std::string &body) {
  return R"(%z = "top.SubConst"(%x) {const_val = 0.5 : f64} : (X) -> X loc("z")
      %v = "top.MulConst"(%z) {const_val = 6.0 : f64} : (X) -> X loc("v")
      )" +
         body;
}

TEST(FusionTest, Gelu) {
  expectSame(network({3, 7}, {3, 7}, {}, centred(R"(
      %1 = "top.DivConst"(%v) {const_val = 1.4142135 : f64} : (X) -> X loc("a")
      %2 = "top.Erf"(%1) : (X) -> X loc("b")
      %3 = "top.AddConst"(%2) {const_val = 1.0 : f64} : (X) -> X loc("c")
      %4 = "top.Mul"(%v, %3) : (X, X) -> X loc("d")
      %y = "top.MulConst"(%4) {const_val = 0.5 : f64} : (X) -> Y loc("y"))")),
             {}, {3, 7}, "top.GELU", {"top.Erf"});
  expectSame(network({3, 7}, {3, 7}, {}, centred(R"(
      %0 = "top.Mul"(%v, %v) : (X, X) -> X loc("k")
      %1 = "top.Mul"(%v, %0) : (X, X) -> X loc("l")
      %2 = "top.MulConst"(%1) {const_val = 0.044715 : f64} : (X) -> X loc("a")
      %3 = "top.Add"(%v, %2) : (X, X) -> X loc("b")
      %4 = "top.MulConst"(%3) {const_val = 0.7978845608 : f64} : (X) -> X loc("c")
      %5 = "top.Tanh"(%4) : (X) -> X loc("d")
      %6 = "top.AddConst"(%5) {const_val = 1.0 : f64} : (X) -> X loc("e")
      %7 = "top.MulConst"(%v) {const_val = 0.5 : f64} : (X) -> X loc("f")
      %y = "top.Mul"(%6, %7) : (X, X) -> Y loc("y"))")),
             {}, {3, 7}, "top.GELU", {"top.Tanh"});
}

TEST(FusionTest, HardSwish) {
  expectSame(network({3, 7}, {3, 7}, {}, centred(R"(
      %1 = "top.AddConst"(%v) {const_val = 3.0 : f64} : (X) -> X loc("a")
      %2 = "top.Clip"(%1) {min = 0.0 : f64, max = 6.0 : f64} : (X) -> X loc("b")
      %3 = "top.Mul"(%v, %2) : (X, X) -> X loc("c")
      %y = "top.DivConst"(%3) {const_val = 6.0 : f64} : (X) -> Y loc("y"))")),
             {}, {3, 7}, "top.HardSwish", {"top.Clip", "top.Relu"});
}

TEST(FusionTest, Mish) {
  expectSame(network({3, 7}, {3, 7}, {}, centred(R"(
      %1 = "top.Exp"(%v) : (X) -> X loc("a")
      %2 = "top.AddConst"(%1) {const_val = 1.0 : f64} : (X) -> X loc("b")
      %3 = "top.Log"(%2) : (X) -> X loc("c")
      %4 = "top.Tanh"(%3) : (X) -> X loc("d")
      %y = "top.Mul"(%v, %4) : (X, X) -> Y loc("y"))")),
             {}, {3, 7}, "top.Mish", {"top.Exp"});
}

/// (x - mean) / sqrt(variance + eps) over `axes`, of extents MEAN, then times %w and plus %b.
std::string layerNorm(const std::string &axes, const Shape &mean, const Shape &parameter) {
  std::string text = R"(
      %m = "top.Reduce"(%x, %none) {axes = AXES, mode = "ReduceMean"} : (X, none) -> MEAN loc("m")
      %d = "top.Sub"(%x, %m) : (X, MEAN) -> X loc("d")
      %e = "top.Sub"(%x, %m) : (X, MEAN) -> X loc("e")
      %q = "top.Mul"(%d, %d) : (X, X) -> X loc("q")
      %v = "top.Reduce"(%q, %none) {axes = AXES, mode = "ReduceMean"} : (X, none) -> MEAN loc("v")
      %a = "top.AddConst"(%v) {const_val = 0.001 : f64} : (MEAN) -> MEAN loc("a")
      %r = "top.Sqrt"(%a) : (MEAN) -> MEAN loc("r")
      %i = "top.Reciprocal"(%r) : (MEAN) -> MEAN loc("i")
      %n = "top.Mul"(%e, %i) : (X, MEAN) -> X loc("n")
      %s = "top.Mul"(%w, %n) : (WEIGHT, X) -> X loc("s")
      %y = "top.Add"(%s, %b) : (X, WEIGHT) -> Y loc("y"))";
  for (auto [name, value] : {std::pair<std::string, std::string>("AXES", axes),
                             {"MEAN", typeText(mean)},
                             {"WEIGHT", typeText(parameter)}})
    while (text.find(name) != std::string::npos)
      text = replaced(text, name, value);
  return text;
}

void expectNorm(const Shape &shape, const std::string &axes, const Shape &mean,
                const Shape &parameter, llvm::StringRef left) {
  Weights weights = {{"w", parameter}, {"b", parameter}};
  expectSame(network(shape, shape, weights, layerNorm(axes, mean, parameter)), weights, shape, left,
             {"top.Sqrt", "top.Mul", "top.Add", "top.Sub"});
}

TEST(FusionTest, LayerNorm) {
  expectNorm({2, 5, 8}, "[-1]", {2, 5, 1}, {8}, "top.LayerNorm");
  expectNorm({2, 5, 8}, "[-1]", {2, 5, 1}, {1}, "top.LayerNorm");
  expectNorm({2, 5, 8}, "[2, 1]", {2, 1, 1}, {5, 8}, "top.LayerNorm");
}
TEST(FusionTest, InstanceNorm) {
  expectNorm({2, 6, 4, 3}, "[2, 3]", {2, 6, 1, 1}, {1, 6, 1, 1}, "top.InstanceNorm");
}
TEST(FusionTest, PixelNorm) {
  expectNorm({2, 6, 4, 3}, "[1]", {2, 1, 4, 3}, {6, 1, 1}, "top.PixelNorm");
}

TEST(FusionTest, GroupNorm) {
  Weights weights = {{"w", {6, 1, 1}}, {"b", {6, 1, 1}}};
  expectSame(network({2, 6, 4, 3}, {2, 6, 4, 3}, weights, R"(
      %g = "top.Reshape"(%x, %none) {shape = [0, 3, -1]} : (X, none) -> tensor<2x3x24xf32> loc("g")
      %i = "top.InstanceNorm"(%g, %none, %none) : (tensor<2x3x24xf32>, none, none)
           -> tensor<2x3x24xf32> loc("i")
      %n = "top.Reshape"(%i, %none) {shape = [2, 6, 4, 3]} : (tensor<2x3x24xf32>, none) -> X loc("n")
      %s = "top.Mul"(%n, %w) : (X, tensor<6x1x1xf32>) -> X loc("s")
      %y = "top.Add"(%s, %b) : (X, tensor<6x1x1xf32>) -> Y loc("y"))"),
             weights, {2, 6, 4, 3}, "top.GroupNorm", {"top.Reshape", "top.Mul", "top.Add"});
}

TEST(FusionTest, RmsNorm) {
  Weights weights = {{"w", {8}}};
  expectSame(network({2, 5, 8}, {2, 5, 8}, weights, R"(
      %q = "top.PowConst"(%x) {const_val = 2.0 : f64} : (X) -> X loc("q")
      %v = "top.Reduce"(%q, %none) {axes = [-1], mode = "ReduceMean"} : (X, none)
           -> tensor<2x5x1xf32> loc("v")
      %a = "top.AddConst"(%v) {const_val = 0.001 : f64} : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
           loc("a")
      %r = "top.Sqrt"(%a) : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32> loc("r")
      %n = "top.Div"(%x, %r) : (X, tensor<2x5x1xf32>) -> X loc("n")
      %y = "top.Mul"(%n, %w) : (X, tensor<8xf32>) -> Y loc("y"))"),
             weights, {2, 5, 8}, "top.RMSNorm", {"top.Sqrt", "top.Mul"});
}

TEST(FusionTest, AffineIntoNextConv) {
  Weights weights = {{"k", {4, 1, 1}}, {"f", {6, 2, 3, 3}}, {"b", {6}}};
  expectSame(network({1, 4, 5, 5}, {1, 6, 3, 3}, weights, R"(
      %1 = "top.Mul"(%x, %k) : (X, tensor<4x1x1xf32>) -> X loc("m")
      %2 = "top.Add"(%1, %k) : (X, tensor<4x1x1xf32>) -> X loc("a")
      %3 = "top.SubConst"(%2) {const_val = 0.3 : f64, is_reverse = true} : (X) -> X loc("s")
      %y = "top.Conv"(%3, %f, %b) {kernel_shape = [3, 3], group = 2 : i64} :
           (X, tensor<6x2x3x3xf32>, tensor<6xf32>) -> Y loc("y"))"),
             weights, {1, 4, 5, 5}, "top.Conv", {"top.Mul", "top.Add", "top.SubConst"});
}

TEST(FusionTest, SwishAndSoftmax) {
  expectSame(network({3, 7}, {3, 7}, {}, centred(R"(
      %1 = "top.MulConst"(%v) {const_val = 1.702 : f64} : (X) -> X loc("a")
      %2 = "top.Sigmoid"(%1) : (X) -> X loc("b")
      %3 = "top.Mul"(%v, %2) : (X, X) -> X loc("c")
      %4 = "top.MulConst"(%3) {const_val = 0.25 : f64} : (X) -> X loc("d")
      %5 = "top.Reduce"(%4, %none) {axes = [0], mode = "ReduceMax"} : (X, none) -> tensor<1x7xf32>
           loc("e")
      %6 = "top.Sub"(%4, %5) : (X, tensor<1x7xf32>) -> X loc("f")
      %7 = "top.Exp"(%6) : (X) -> X loc("g")
      %8 = "top.Reduce"(%7, %none) {axes = [-2], mode = "ReduceSum"} : (X, none) -> tensor<1x7xf32>
           loc("h")
      %y = "top.Div"(%7, %8) : (X, tensor<1x7xf32>) -> Y loc("y"))")),
             {}, {3, 7}, "top.Swish top.Softmax", {"top.Sigmoid", "top.Exp", "top.Reduce"});
}

/// Reshape to `middle`, Permute by `order`, Reshape to `to`.
void expectRearranged(const Shape &from, const Shape &middle, const std::vector<size_t> &order,
                      const Shape &to, llvm::StringRef left) {
  Shape permuted = middle;
  std::string orderText;
  for (size_t axis = 0; axis < order.size(); ++axis) {
    permuted[axis] = middle[order[axis]];
    orderText += (axis == 0 ? "" : ", ") + std::to_string(order[axis]);
  }
  std::string body = R"(%1 = "top.Reshape"(%x, %none) {shape = )" + middle.str() +
                     "} : (X, none) -> " + typeText(middle) + " loc(\"a\")\n" +
                     R"(%2 = "top.Permute"(%1) {order = [)" + orderText + "]} : (" +
                     typeText(middle) + ") -> " + typeText(permuted) + " loc(\"b\")\n" +
                     R"(%y = "top.Reshape"(%2, %none) {shape = )" + to.str() + "} : (" +
                     typeText(permuted) + ", none) -> Y loc(\"y\")";
  expectSame(network(from, to, {}, body), {}, from, left, {"top.Permute", "top.Reshape"});
}

TEST(FusionTest, Depth2Space) {
  Shape deep = {2, 24, 5, 7};
  Shape wide = {2, 4, 10, 21};
  expectRearranged(deep, {2, 4, 2, 3, 5, 7}, {0, 1, 4, 2, 5, 3}, wide, "top.Depth2Space");
  expectRearranged(deep, {2, 2, 3, 4, 5, 7}, {0, 3, 4, 1, 5, 2}, wide, "top.Depth2Space");
  expectRearranged(wide, {2, 4, 5, 2, 7, 3}, {0, 1, 3, 5, 2, 4}, deep, "top.Depth2Space");
  expectRearranged(wide, {2, 4, 5, 2, 7, 3}, {0, 3, 5, 1, 2, 4}, deep, "top.Depth2Space");
}

TEST(FusionTest, ShuffleChannel) {
  expectRearranged({2, 6, 5, 7}, {2, 3, 2, 5, 7}, {0, 2, 1, 3, 4}, {2, 6, 5, 7},
                   "top.ShuffleChannel");
  expectRearranged({2, 6, 5}, {2, 2, 3, 5}, {0, 2, 1, 3}, {2, 6, 5}, "top.ShuffleChannel");
}

TEST(FusionTest, Focus) {
  Weights weights = {{"f", {5, 12, 3, 3}}};
  std::string slices;
  for (auto [name, rows, columns] : {std::tuple("a", 0, 0), {"b", 1, 0}, {"c", 0, 1}, {"d", 1, 1}})
    slices += "%" + std::string(name) +
              R"( = "top.Slice"(%x, %none, %none, %none, %none) {axes = [2, 3], offset = [)" +
              std::to_string(rows) + ", " + std::to_string(columns) +
              "], ends = [99, 99], steps = [2, 2]} : (X, none, none, none, none) -> "
              "tensor<2x3x4x5xf32> loc(\"" +
              name + "\")\n";
  expectSame(network({2, 3, 8, 10}, {2, 5, 2, 3}, weights, slices + R"(
      %j = "top.Concat"(%a, %b, %c, %d) {axis = 1 : i64} : (tensor<2x3x4x5xf32>,
           tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x12x4x5xf32>
           loc("j")
      %y = "top.Conv"(%j, %f, %none) {kernel_shape = [3, 3]} : (tensor<2x12x4x5xf32>,
           tensor<5x12x3x3xf32>, none) -> Y loc("y"))"),
             weights, {2, 3, 8, 10}, "top.Depth2Space", {"top.Slice", "top.Concat"});
}

TEST(FusionTest, SharesEqualOps) {
  expectSame(network({3, 4}, {3, 4}, {}, R"(
      %1 = "top.Exp"(%x) : (X) -> X loc("a")
      %2 = "top.Exp"(%x) : (X) -> X loc("b")
      %3 = "top.Neg"(%2) : (X) -> X loc("c")
      %y = "top.Mul"(%1, %3) : (X, X) -> Y loc("y"))"),
             {}, {3, 4}, "top.Exp top.Neg", {});
}

TEST(FusionTest, Movement) {
  expectSame(network({2, 3, 4}, {1, 12, 2}, {}, R"(
      %1 = "top.Permute"(%x) {order = [2, 0, 1]} : (X) -> tensor<4x2x3xf32> loc("a")
      %2 = "top.Copy"(%1) : (tensor<4x2x3xf32>) -> tensor<4x2x3xf32> loc("b")
      %3 = "top.Permute"(%2) {order = [2, 0, 1]} : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32> loc("c")
      %4 = "top.Reshape"(%3, %none) {shape = [-1, 2]} : (tensor<3x4x2xf32>, none)
           -> tensor<12x2xf32> loc("d")
      %y = "top.Unsqueeze"(%4, %none) {axes = [0]} : (tensor<12x2xf32>, none) -> Y loc("y"))"),
             {}, {2, 3, 4}, "top.Permute top.None top.Reshape", {"top.Copy", "top.Unsqueeze"});
}

TEST(FusionTest, CountsWhatIsApplied) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, top::TopDialect>();
  registerEvaluators(context);
  const char *text = R"(
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %1 = "top.Copy"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("a")
      %2 = "top.Sigmoid"(%1) : (tensor<4xf32>) -> tensor<4xf32> loc("b")
      %3 = "top.Mul"(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("y")
      return %3 : tensor<4xf32>
    })";
  for (bool disables : {false, true}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    FusionCounts counts;
    mlir::PassManager manager(&context);
    std::vector<std::string> disabled;
    if (disables)
      disabled.emplace_back("mul-to-silu");
    addTopOptimization(manager, disabled, &counts);
    ASSERT_TRUE(mlir::succeeded(manager.run(*module)));
    FusionCounts wanted = {{"remove-no-op", 1}};
    if (!disables)
      wanted["mul-to-silu"] = 1;
    EXPECT_EQ(counts, wanted);
  }
  EXPECT_THAT(fusionNames(), testing::Contains("mul-to-silu"));
}

} // namespace
