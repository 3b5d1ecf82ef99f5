//===- ControlTest.cpp - Loops through the interpreter --------------------===//
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
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class ControlTest : public testing::Test {
protected:
  ControlTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<mlir::func::FuncDialect, top::TopDialect>();
    registerEvaluators(context);
  }

  Expected<TensorMap> run(llvm::StringRef text, const std::vector<Tensor> &inputs) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto interpreter = Interpreter::create(*module, {.numThreads = 1});
    if (!interpreter)
      return propagate(interpreter);
    return (*interpreter)->run(inputs);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

Tensor count(int64_t value) { return Tensor::of<int64_t>({}, {value}); }

Tensor truth(bool value) {
  Tensor tensor(DataType::Bool, {});
  tensor.mutableData<uint8_t>()[0] = value;
  return tensor;
}

// x = x + x and gathers x before and after; ends once the sum of x reaches 10.
constexpr const char *kDouble = R"(
  func.func @main(%n: tensor<i64>, %go: tensor<i1>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
    %none = "top.None"() : () -> none
    %0:3 = "top.Loop"(%n, %go, %x) ({
    ^bb0(%i: tensor<i64>, %c: tensor<i1>, %a: tensor<2xf32>):
      %1 = "top.Add"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("twice")
      %2 = "top.Reduce"(%1, %none) {mode = "ReduceSum", keepdims = false} : (tensor<2xf32>, none) -> tensor<f32> loc("sum")
      %3 = "top.CompareConst"(%2) {mode = "Less", const_val = 10.0 : f64} : (tensor<f32>) -> tensor<i1> loc("less")
      "top.Yield"(%3, %1, %a, %1) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
    }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) loc(fused["last", "before", "after"])
    return %0#0, %0#1, %0#2 : tensor<2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
  })";

// What an iteration yields stays as it was while the next ones run.
TEST_F(ControlTest, LoopGathersEachIteration) {
  auto results = run(kDouble, {count(3), truth(true), Tensor::of<float>({2}, {0.5, 0.25})});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_THAT(floats(results->at("last")), ElementsAre(4, 2));
  EXPECT_EQ(results->at("before").shape(), Shape({3, 2}));
  EXPECT_THAT(floats(results->at("before")), ElementsAre(0.5, 0.25, 1, 0.5, 2, 1));
  EXPECT_THAT(floats(results->at("after")), ElementsAre(1, 0.5, 2, 1, 4, 2));
}

TEST_F(ControlTest, LoopEndsWithItsCondition) {
  auto results = run(kDouble, {count(100), truth(true), Tensor::of<float>({2}, {2, 1})});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_THAT(floats(results->at("last")), ElementsAre(8, 4));
  EXPECT_THAT(floats(results->at("before")), ElementsAre(2, 1, 4, 2));
}

TEST_F(ControlTest, LoopMayRunNever) {
  for (auto [trips, goes] : {std::pair(0, true), {5, false}}) {
    auto results = run(kDouble, {count(trips), truth(goes), Tensor::of<float>({2}, {2, 1})});
    ASSERT_TRUE(results) << results.error().message();
    EXPECT_THAT(floats(results->at("last")), ElementsAre(2, 1));
    EXPECT_EQ(results->at("after").shape(), Shape({0, 2}));
    EXPECT_THAT(floats(results->at("after")), IsEmpty());
  }
}

// The carried value is handed on untouched, and a value from outside is gathered.
TEST_F(ControlTest, LoopHandsOnWhatItDoesNotCompute) {
  auto results = run(R"(
    func.func @main(%n: tensor<i64>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>, tensor<?xi64>) {
      %none = "top.None"() : () -> none
      %y = "top.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("neg")
      %0:3 = "top.Loop"(%n, %none, %y) ({
      ^bb0(%i: tensor<i64>, %c: tensor<i1>, %a: tensor<2xf32>):
        "top.Yield"(%c, %a, %y, %i) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>, tensor<i64>) -> ()
      }) : (tensor<i64>, none, tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>, tensor<?xi64>) loc(fused["kept", "outer", "numbers"])
      return %0#0, %0#1, %0#2 : tensor<2xf32>, tensor<?x2xf32>, tensor<?xi64>
    })",
                     {count(2), Tensor::of<float>({2}, {1, -3})});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_THAT(floats(results->at("kept")), ElementsAre(-1, 3));
  EXPECT_THAT(floats(results->at("outer")), ElementsAre(-1, 3, -1, 3));
  EXPECT_THAT(results->at("numbers").data<int64_t>(), ElementsAre(0, 1));
}

// The inner loop runs anew, with the same steps, in each iteration of the outer one.
TEST_F(ControlTest, LoopsNest) {
  auto results = run(R"(
    func.func @main(%n: tensor<i64>, %x: tensor<1xf32>) -> (tensor<1xf32>, tensor<?x?x1xf32>) {
      %none = "top.None"() : () -> none
      %0:2 = "top.Loop"(%n, %none, %x) ({
      ^bb0(%i: tensor<i64>, %c: tensor<i1>, %a: tensor<1xf32>):
        %1:2 = "top.Loop"(%n, %none, %a) ({
        ^bb0(%j: tensor<i64>, %d: tensor<i1>, %b: tensor<1xf32>):
          %2 = "top.AddConst"(%b) {const_val = 1.0 : f64} : (tensor<1xf32>) -> tensor<1xf32> loc("next")
          "top.Yield"(%d, %2, %2) : (tensor<i1>, tensor<1xf32>, tensor<1xf32>) -> ()
        }) : (tensor<i64>, none, tensor<1xf32>) -> (tensor<1xf32>, tensor<?x1xf32>) loc(fused["sum", "sums"])
        "top.Yield"(%c, %1#0, %1#1) : (tensor<i1>, tensor<1xf32>, tensor<?x1xf32>) -> ()
      }) : (tensor<i64>, none, tensor<1xf32>) -> (tensor<1xf32>, tensor<?x?x1xf32>) loc(fused["last", "all"])
      return %0#0, %0#1 : tensor<1xf32>, tensor<?x?x1xf32>
    })",
                     {count(2), Tensor::of<float>({1}, {0})});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_THAT(floats(results->at("last")), ElementsAre(4));
  EXPECT_EQ(results->at("all").shape(), Shape({2, 2, 1}));
  EXPECT_THAT(floats(results->at("all")), ElementsAre(1, 2, 3, 4));
}

/// A running sum over the columns of x, from `direction`, stacked as columns.
std::string scan(int direction, int outputDirection) {
  std::string text = R"(
    func.func @main(%s: tensor<2xf32>, %x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>) {
      %0:2 = "top.Scan"(%s, %x) ({
      ^bb0(%state: tensor<2xf32>, %slice: tensor<2xf32>):
        %1 = "top.Add"(%state, %slice) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("sum")
        "top.Yield"(%1, %1) : (tensor<2xf32>, tensor<2xf32>) -> ()
      }) {num_scan_inputs = 1 : i64, input_axes = [1], output_axes = [-1], )";
  return text + "input_directions = [" + std::to_string(direction) + "], output_directions = [" +
         std::to_string(outputDirection) + R"(]}
        : (tensor<2xf32>, tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>) loc(fused["last", "sums"])
      return %0#0, %0#1 : tensor<2xf32>, tensor<2x3xf32>
    })";
}

TEST_F(ControlTest, ScanRunsOverSlices) {
  std::vector<Tensor> inputs = {Tensor::of<float>({2}, {10, 20}),
                                Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})};
  auto results = run(scan(0, 0), inputs);
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_THAT(floats(results->at("last")), ElementsAre(16, 35));
  EXPECT_THAT(floats(results->at("sums")), ElementsAre(11, 13, 16, 24, 29, 35));
  results = run(scan(1, 0), inputs);
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_THAT(floats(results->at("sums")), ElementsAre(13, 15, 16, 26, 31, 35));
  results = run(scan(1, 1), inputs);
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_THAT(floats(results->at("sums")), ElementsAre(16, 15, 13, 35, 31, 26));
}

TEST_F(ControlTest, ScanWantsAsManySlicesOfEach) {
  auto results = run(R"(
    func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %0 = "top.Scan"(%x, %y) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        "top.Yield"(%a) : (tensor<f32>) -> ()
      }) {num_scan_inputs = 2 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> loc("z")
      return %0 : tensor<?xf32>
    })",
                     {Tensor(DataType::F32, {2}), Tensor(DataType::F32, {3})});
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().message(), HasSubstr("scans 2 and 3 slices"));
}

} // namespace
