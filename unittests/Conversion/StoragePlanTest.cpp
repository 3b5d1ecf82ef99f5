//===- StoragePlanTest.cpp --------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/StoragePlan.h"
#include "tpuc/Dialect/Quant/QuantDialect.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Target/Registry.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace tpuc;

namespace {

// Two branches that a Concat joins; what it makes is moved on and leaves.
constexpr const char *kNetwork = R"(
  !x = tensor<1x2x4x4x!quant.calibrated<f32<-1.0:3.0>>>
  !s = tensor<1x2x4x4x!quant.calibrated<f32<0.0:1.0>>>
  !t = tensor<1x2x4x4x!quant.calibrated<f32<-2.0:2.0>>>
  !c = tensor<1x4x4x4x!quant.calibrated<f32<-4.0:4.0>>>
  !m = tensor<1x4x2x2x!quant.calibrated<f32<-8.0:8.0>>>
  func.func @main(%0: !x) -> (!m, tensor<1x4x4x4xf32>) {
    %n = "top.None"() : () -> none
    %1 = "top.Input"(%0) : (!x) -> !x loc("x")
    %2 = "top.Sigmoid"(%1) : (!x) -> !s loc("sigmoid")
    %3 = "top.Tanh"(%1) : (!x) -> !t loc("tanh")
    %4 = "top.Concat"(%2, %3) {axis = 1} : (!s, !t) -> !c loc("concat")
    %5 = "top.MaxPool"(%4) {kernel_shape = [2, 2], strides = [2, 2]} : (!c) -> !m loc("pool")
    %6 = "top.Exp"(%4) : (!c) -> tensor<1x4x4x4xf32> loc("exp")
    %7 = "top.Permute"(%6) {order = [0, 1, 3, 2]} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("permute")
    return %5, %7 : !m, tensor<1x4x4x4xf32>
  })";

class StoragePlanTest : public testing::Test {
protected:
  // Schemes that no chip offers: the plan follows from their types.
  static constexpr QuantScheme kW4A8 = {DataType::I4, DataType::I8, DataType::I32,
                                        Granularity::PerChannel};
  static constexpr QuantScheme kW8A16 = {DataType::I8, DataType::I16, DataType::I32,
                                         Granularity::PerChannel};

  StoragePlanTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<mlir::func::FuncDialect, top::TopDialect, quant::QuantDialect>();
  }

  /// The network's plan for `chip`.
  const StoragePlan &make(PlanOptions options, const char *chip = "bm1684x",
                          llvm::StringRef text = kNetwork) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
    plan.emplace(main, **lookupTarget(chip), std::move(options));
    return *plan;
  }
  mlir::Operation *layer(llvm::StringRef name) {
    mlir::Operation *found = nullptr;
    module->walk([&](mlir::Operation *op) {
      if (op->getNumResults() > 0 && layerName(op) == name)
        found = op;
    });
    EXPECT_TRUE(found) << name.str();
    return found;
  }
  /// `SCHEME reason`.
  std::string decision(llvm::StringRef name) {
    const Decision &found = plan->of(layer(name));
    return schemeName(found.scheme) + " " + found.reason;
  }
  std::string type(llvm::StringRef name) {
    quant::UniformQuantizedType found = plan->quantized(layer(name)->getResult(0));
    if (!found)
      return "none";
    return std::string(dataTypeName(*storageDataType(found))) + " " +
           std::to_string(found.getScale()) + " " + std::to_string(found.getZeroPoint());
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<StoragePlan> plan;
};

// Boxes and scores leave in one tensor.
constexpr const char *kDetector = R"(
  !x = tensor<1x4x1x64x!quant.calibrated<f32<-6.0:6.0>>>
  !s = tensor<1x4x1x64x!quant.calibrated<f32<0.0:1.0>>>
  !b = tensor<1x4x1x64x!quant.calibrated<f32<0.0:320.0>>>
  !c = tensor<1x8x1x64x!quant.calibrated<f32<0.0:320.0>>>
  func.func @main(%0: !x) -> !c {
    %1 = "top.Input"(%0) : (!x) -> !x loc("x")
    %2 = "top.Sigmoid"(%1) : (!x) -> !s loc("scores")
    %3 = "top.Relu"(%1) : (!x) -> !b loc("boxes")
    %4 = "top.Concat"(%3, %2) {axis = 1} : (!b, !s) -> !c loc("concat")
    return %4 : !c
  })";

// A product whose result leaves, and one that leaves behind a reshape.
constexpr const char *kScores = R"(
  !x = tensor<1x8x1x1x!quant.calibrated<f32<-6.0:6.0>>>
  !y = tensor<1x4x1x1x!quant.calibrated<f32<-9.0:9.0>>>
  !z = tensor<1x4x!quant.calibrated<f32<-9.0:9.0>>>
  func.func @main(%0: !x) -> (!y, !z) {
    %n = "top.None"() : () -> none
    %w = "top.Weight"() : () -> tensor<4x8x1x1xf32> loc("w")
    %1 = "top.Input"(%0) : (!x) -> !x loc("x")
    %2 = "top.Conv"(%1, %w, %n) {kernel_shape = [1, 1]} : (!x, tensor<4x8x1x1xf32>, none) -> !y loc("first")
    %3 = "top.Conv"(%1, %w, %n) {kernel_shape = [1, 1]} : (!x, tensor<4x8x1x1xf32>, none) -> !y loc("second")
    %4 = "top.Reshape"(%3, %n) {shape = [1, 4]} : (!y, none) -> !z loc("reshape")
    return %2, %4 : !y, !z
  })";

// Numbers of a range that 8 bits divide into coarser steps than F16, and of one that they do not.
constexpr const char *kSmall = R"(
  !x = tensor<1x2x4x4x!quant.calibrated<f32<-0.0001:0.0001>>>
  !y = tensor<1x2x4x4x!quant.calibrated<f32<-0.00001:0.00001>>>
  func.func @main(%0: !x) -> (!x, !y) {
    %1 = "top.Input"(%0) : (!x) -> !x loc("x")
    %2 = "top.Tanh"(%1) : (!x) -> !x loc("near")
    %3 = "top.Tanh"(%1) : (!x) -> !y loc("below")
    return %2, %3 : !x, !y
  })";

TEST_F(StoragePlanTest, TakesFasterFloatsWhereTheirStepsAreFinerThanThoseOfIntegers) {
  PlanOptions options;
  options.scheme = schemes::kInt8;
  options.faster = {{"near", schemes::kF16}, {"below", schemes::kF16}};
  make(options, "bm1684x", kSmall);
  EXPECT_EQ(decision("near"), "F16 it takes fewer cycles so");
  EXPECT_EQ(decision("below"), "INT8 ");
}

TEST_F(StoragePlanTest, GivesOutputsOfProductsInFloats) {
  for (const QuantScheme &scheme : {schemes::kInt8, schemes::kInt8Asymmetric}) {
    make({.scheme = scheme, .floatOutputs = true}, "bm1684x", kScores);
    EXPECT_TRUE(plan->isInteger(layer("first")) && plan->isInteger(layer("second")));
    EXPECT_EQ(plan->of(layer("first")).result, DataType::F32);
    EXPECT_EQ(plan->of(layer("second")).result, DataType::F32);
    EXPECT_EQ(decision("first"), schemeName(scheme) + " by need: it gives an output");
    EXPECT_EQ(decision("reshape"), "F32 by need: it gives an output");
    EXPECT_EQ(plan->of(layer("reshape")).step, "second");
    make({.scheme = scheme, .onIntegers = {"first"}, .floatOutputs = true}, "bm1684x", kScores);
    EXPECT_FALSE(plan->givesFloats(layer("first")));
    EXPECT_TRUE(plan->givesFloats(layer("second")));
    for (bool isStrict : {false, true}) {
      make({.scheme = scheme, .isStrict = isStrict, .floatOutputs = isStrict}, "bm1684x", kScores);
      EXPECT_FALSE(plan->givesFloats(layer("first")));
      EXPECT_FALSE(plan->givesFloats(layer("second")));
      EXPECT_TRUE(plan->isInteger(layer("reshape")));
    }
  }
}

TEST_F(StoragePlanTest, KeepsFloatsWhereASharedScaleLosesAPart) {
  for (const QuantScheme &scheme : {schemes::kInt8, schemes::kInt8Asymmetric}) {
    make({.scheme = scheme}, "bm1684x", kDetector);
    EXPECT_EQ(decision("concat"),
              "F16 by need: operand 1 would cover fewer than 16 steps of the shared scale");
    EXPECT_EQ(decision("scores"), "F16 by need: it is before 'concat'");
    EXPECT_EQ(decision("boxes"), "F16 by need: it is before 'concat'");
  }
  // Without F16 they are in the floats that the chip has.
  make({.scheme = schemes::kInt8}, "cv183x", kDetector);
  EXPECT_EQ(decision("scores"), "BF16 by need: it is before 'concat'");
}

TEST_F(StoragePlanTest, LosesPartsWhereToldSo) {
  make({.scheme = schemes::kInt8, .isStrict = true}, "bm1684x", kDetector);
  for (const char *name : {"concat", "scores", "boxes"})
    EXPECT_EQ(decision(name), "INT8 ");
  // A line of the quantize table goes before the need.
  make({.scheme = schemes::kInt8, .exceptions = {{"concat", schemes::kInt8}}}, "bm1684x",
       kDetector);
  EXPECT_EQ(decision("concat"), "INT8 ");
}

TEST_F(StoragePlanTest, SharesScalesWhoseStepsSuffice) {
  std::string text = kDetector;
  for (size_t at = 0; (at = text.find("320.0", at)) != std::string::npos; at += 4)
    text.replace(at, 5, "15.0");
  make({.scheme = schemes::kInt8}, "bm1684x", text);
  for (const char *name : {"concat", "scores", "boxes"})
    EXPECT_EQ(decision(name), "INT8 ");
}

// Two small convolutions before one of many channels.
constexpr const char *kFirstLayers = R"(
  !x = tensor<1x1x8x8x!quant.calibrated<f32<-1.0:1.0>>>
  !a = tensor<1x2x8x8x!quant.calibrated<f32<-2.0:2.0>>>
  !b = tensor<1xCHANNELSx8x8x!quant.calibrated<f32<-2.0:2.0>>>
  func.func @main(%0: !x) -> !b {
    %n = "top.None"() : () -> none
    %1 = "top.Input"(%0) : (!x) -> !x loc("x")
    %2 = "top.Weight"() : () -> tensor<2x1x1x1xf32> loc("w1")
    %3 = "top.Conv"(%1, %2, %n) {kernel_shape = [1, 1], group = 1 : i64} : (!x, tensor<2x1x1x1xf32>, none) -> !a loc("first")
    %4 = "top.Weight"() : () -> tensor<2x1x1x1xf32> loc("w2")
    %5 = "top.Conv"(%3, %4, %n) {kernel_shape = [1, 1], group = 2 : i64} : (!a, tensor<2x1x1x1xf32>, none) -> !a loc("second")
    %6 = "top.Weight"() : () -> tensor<CHANNELSx2x1x1xf32> loc("w3")
    %7 = "top.Conv"(%5, %6, %n) {kernel_shape = [1, 1], group = 1 : i64} : (!a, tensor<CHANNELSx2x1x1xf32>, none) -> !b loc("third")
    return %7 : !b
  })";

class FirstLayersTest : public StoragePlanTest {
protected:
  /// The plan where all elements of a filter are one number.
  void makeWith(float first, float second, int64_t channels, PlanOptions options) {
    std::string text = kFirstLayers;
    for (size_t at = 0; (at = text.find("CHANNELS", at)) != std::string::npos;)
      text.replace(at, 8, std::to_string(channels));
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto store = context.getLoadedDialect<top::TopDialect>()->weights(*module);
    const auto set = [&](const char *name, const Shape &shape, float number) {
      Tensor tensor(DataType::F32, shape);
      std::ranges::fill(tensor.mutableData<float>(), number);
      (*store)->set(name, tensor);
    };
    set("w1", {2, 1, 1, 1}, first);
    set("w2", {2, 1, 1, 1}, second);
    set("w3", {channels, 2, 1, 1}, 100);
    plan.emplace(module->lookupSymbol<mlir::func::FuncOp>("main"), **lookupTarget("bm1684x"),
                 std::move(options));
  }
};

/// s |w| / t is `second` for the second layer, and half of `first` for the first.
TEST_F(FirstLayersTest, AreInFloatsWhereTheyAmplifyRounding) {
  makeWith(1, 4.5, 512, {.scheme = schemes::kInt8});
  EXPECT_EQ(decision("first"), "F16 by need: it is before 'second'");
  EXPECT_EQ(decision("second"),
            "F16 by need: rounding its input adds 4.5 times the error of rounding its result");
  // Last ones cost, however large their filters are.
  EXPECT_EQ(decision("third"), "INT8 ");
  makeWith(9, 1, 512, {.scheme = schemes::kInt8});
  EXPECT_EQ(decision("first"),
            "F16 by need: rounding its input adds 4.5 times the error of rounding its result");
  EXPECT_EQ(decision("second"), "INT8 ");
  // What is slight is only found here; the budget of cycles decides.
  makeWith(1, 2.1, 512, {.scheme = schemes::kInt8});
  EXPECT_EQ(decision("second"),
            "F16 by need: rounding its input adds 2.1 times the error of rounding its result");
}

TEST_F(FirstLayersTest, AreOnIntegersWhereTheyDoNotOrCost) {
  makeWith(1, 1.9, 512, {.scheme = schemes::kInt8});
  for (const char *name : {"first", "second", "third"})
    EXPECT_EQ(decision(name), "INT8 ");
  makeWith(9, 4.5, 4, {.scheme = schemes::kInt8});
  for (const char *name : {"first", "second", "third"})
    EXPECT_EQ(decision(name), "INT8 ");
  makeWith(9, 4.5, 512, {.scheme = schemes::kInt8, .isStrict = true});
  for (const char *name : {"first", "second", "third"})
    EXPECT_EQ(decision(name), "INT8 ");
  // What the quantize table says stays, and so does what is behind it.
  makeWith(1, 4.5, 512, {.scheme = schemes::kInt8, .exceptions = {{"first", schemes::kInt8}}});
  for (const char *name : {"first", "second"})
    EXPECT_EQ(decision(name), "INT8 ");
}

TEST_F(StoragePlanTest, FollowsTheMode) {
  for (const QuantScheme &scheme : {schemes::kF32, schemes::kF16, schemes::kBF16}) {
    make({.scheme = scheme});
    for (const char *name : {"sigmoid", "concat", "pool", "exp", "permute"})
      EXPECT_EQ(decision(name), schemeName(scheme) + " ");
  }
}

TEST_F(StoragePlanTest, KeepsFloatsWhereIntegersHaveNoForm) {
  make({.scheme = schemes::kInt8});
  for (const char *name : {"sigmoid", "tanh", "concat", "pool"})
    EXPECT_EQ(decision(name), "INT8 ");
  EXPECT_EQ(decision("exp"), "F32 top.Exp has no form on integers");
  EXPECT_EQ(decision("permute"), "F32 operand 0 has no range");
}

TEST_F(StoragePlanTest, SharesScalesThroughOpsThatMove) {
  make({.scheme = schemes::kInt8});
  // 'concat' has two readers and keeps its range; both operands take it, 'pool' does as well.
  EXPECT_EQ(type("concat"), "i8 0.031250 0");
  EXPECT_EQ(type("sigmoid"), "i8 0.031250 0");
  EXPECT_EQ(type("tanh"), "i8 0.031250 0");
  EXPECT_EQ(type("pool"), "i8 0.031250 0");
  EXPECT_EQ(type("exp"), "none");
}

TEST_F(StoragePlanTest, HasZeroPointsWhereRangesAreAsymmetric) {
  make({.scheme = schemes::kInt8Asymmetric});
  // 4 / 255; -1 is stored as -128.
  EXPECT_EQ(type("x"), "i8 0.015686 -64");
}

TEST_F(StoragePlanTest, StoresWithoutSignWhatCannotBeNegative) {
  constexpr const char *text = R"(
    !x = tensor<4x!quant.calibrated<f32<-2.0:1.0>>>
    func.func @main(%0: !x) -> (!x, !x, !x) {
      %1 = "top.Input"(%0) : (!x) -> !x loc("x")
      %2 = "top.Relu"(%1) : (!x) -> !x loc("relu")
      %3 = "top.Softmax"(%1) {axis = 0 : i64} : (!x) -> !x loc("softmax")
      %4 = "top.Softmax"(%1) {axis = 0 : i64, log = true} : (!x) -> !x loc("log")
      return %2, %3, %4 : !x, !x, !x
    })";
  make({.scheme = schemes::kInt8}, "bm1684x", text);
  EXPECT_EQ(type("x"), "i8 0.015625 0");
  EXPECT_EQ(type("relu"), "u8 0.007843 0");
  EXPECT_EQ(type("softmax"), "u8 0.007843 0");
  EXPECT_EQ(type("log"), "i8 0.015625 0");
}

TEST_F(StoragePlanTest, MakesExceptionsForNamedLayers) {
  make(
      {.scheme = schemes::kInt8, .exceptions = {{"tanh", schemes::kF16}, {"pool", schemes::kF32}}});
  EXPECT_EQ(decision("tanh"), "F16 the quantize table says so");
  EXPECT_EQ(decision("pool"), "F32 the quantize table says so");
  EXPECT_EQ(decision("sigmoid"), "INT8 ");
  make({.scheme = schemes::kF32, .exceptions = {{"sigmoid", schemes::kInt8}}});
  EXPECT_EQ(decision("sigmoid"), "INT8 the quantize table says so");
  EXPECT_EQ(decision("concat"), "F32 ");
}

TEST_F(StoragePlanTest, MovesFloatsBetweenFloats) {
  make({.scheme = schemes::kInt8,
        .exceptions = {{"sigmoid", schemes::kF16}, {"tanh", schemes::kF16}}});
  EXPECT_EQ(decision("concat"), "F16 it moves floats between ops on floats");
  EXPECT_EQ(decision("pool"), "F16 it moves floats between ops on floats");
}

TEST_F(StoragePlanTest, StoresActivationsInTheTypesOfTheScheme) {
  constexpr const char *text = R"(
    !x = tensor<4x!quant.calibrated<f32<-2.0:1.0>>>
    func.func @main(%0: !x) -> (!x, !x, !x) {
      %1 = "top.Input"(%0) : (!x) -> !x loc("x")
      %2 = "top.Relu"(%1) : (!x) -> !x loc("relu")
      %3 = "top.Add"(%1, %1) : (!x, !x) -> !x loc("add")
      %4 = "top.LeakyRelu"(%3) {alpha = 0.5 : f64} : (!x) -> !x loc("leaky")
      return %2, %3, %4 : !x, !x, !x
    })";
  // The bits of weights do not matter here: 2 / 128 and 2 / 255.
  make({.scheme = kW4A8}, "bm1684x", text);
  EXPECT_EQ(type("x"), "i8 0.015625 0");
  EXPECT_EQ(type("relu"), "u8 0.007843 0");
  EXPECT_EQ(decision("relu"), "W4A8 ");
  // 2 / 32768 and 2 / 65535. A table of 65536 entries is no form.
  make({.scheme = kW8A16}, "bm1684x", text);
  EXPECT_EQ(type("x"), "i16 0.000061 0");
  EXPECT_EQ(plan->quantized(layer("x")->getResult(0)).getScale(), 2.0 / 32768);
  EXPECT_EQ(type("relu"), "u16 0.000031 0");
  EXPECT_EQ(plan->quantized(layer("relu")->getResult(0)).getScale(), 2.0 / 65535);
  EXPECT_EQ(decision("add"), "W8A16 ");
  EXPECT_EQ(decision("leaky"), "W8A16 ");
  EXPECT_EQ(decision("relu"), "F32 top.Relu has no form on integers of 16 bits");
  QuantScheme asymmetric = kW8A16;
  asymmetric.zeroPoint = true;
  make({.scheme = asymmetric}, "bm1684x", text);
  EXPECT_EQ(plan->quantized(layer("x")->getResult(0)).getScale(), 3.0 / 65535);
  // -2 is stored as -32768.
  EXPECT_EQ(plan->quantized(layer("x")->getResult(0)).getZeroPoint(), 10922);
}

TEST_F(StoragePlanTest, LetsLayersBeOnIntegersOfAnyScheme) {
  make({.scheme = schemes::kF16, .exceptions = {{"pool", kW8A16}, {"concat", kW8A16}}});
  EXPECT_EQ(decision("pool"), "W8A16 the quantize table says so");
  EXPECT_EQ(decision("exp"), "F16 ");
  EXPECT_EQ(type("pool"), "i16 0.000122 0");
}

TEST_F(StoragePlanTest, TakesTheFloatsThatAChipHas) {
  make({.scheme = schemes::kInt8}, "cv183x");
  EXPECT_EQ(decision("exp"), "BF16 top.Exp has no form on integers");
}

TEST_F(StoragePlanTest, AvoidsOverflowOfHalfFloats) {
  constexpr const char *text = R"(
    !x = tensor<4x!quant.calibrated<f32<-7.0e4:1.0>>>
    !y = tensor<4x!quant.calibrated<f32<-6.0:1.0>>>
    func.func @main(%0: !y) -> (!x, !y, tensor<1x!quant.calibrated<f32<-6.0:1.0>>>, !y) {
      %n = "top.None"() : () -> none
      %1 = "top.Input"(%0) : (!y) -> !y loc("y")
      %2 = "top.Neg"(%1) : (!y) -> !x loc("makes")
      %3 = "top.Tanh"(%2) : (!x) -> !y loc("reads")
      %4 = "top.Reduce"(%3, %n) {axes = [0], mode = "ReduceSum"} : (!y, none) -> tensor<1x!quant.calibrated<f32<-6.0:1.0>>> loc("sum")
      %5 = "top.AddConst"(%1) {const_val = 1.0e5 : f64} : (!y) -> !y loc("adds")
      %6 = "top.Sigmoid"(%1) : (!y) -> !y loc("small")
      return %2, %3, %4, %6 : !x, !y, tensor<1x!quant.calibrated<f32<-6.0:1.0>>>, !y
    })";
  make({.scheme = schemes::kF16}, "bm1684x", text);
  EXPECT_EQ(decision("makes"), "F16 ");
  EXPECT_EQ(decision("sum"), "F16 ");
  EXPECT_EQ(decision("adds"), "F32 a constant is beyond the range of f16");
  make({.scheme = schemes::kF16, .avoidF16Overflow = true}, "bm1684x", text);
  EXPECT_EQ(decision("makes"), "F32 values are beyond the range of f16");
  EXPECT_EQ(decision("reads"), "F32 values are beyond the range of f16");
  EXPECT_EQ(decision("sum"), "F32 sums may leave the range of f16");
  EXPECT_EQ(decision("small"), "F16 ");
  make({.scheme = schemes::kBF16, .avoidF16Overflow = true}, "bm1684x", text);
  EXPECT_EQ(decision("makes"), "BF16 ");
  EXPECT_EQ(decision("adds"), "BF16 ");
}

} // namespace
