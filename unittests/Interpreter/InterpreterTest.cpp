//===- InterpreterTest.cpp ------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Dialect/Quant/QuantDialect.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"
#include "tpuc/Support/Convert.h"
#include "unittests/Interpreter/TestTensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <mutex>

using namespace tpuc;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class InterpreterTest : public testing::Test {
protected:
  InterpreterTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<mlir::func::FuncDialect, quant::QuantDialect, top::TopDialect,
                        tpu::TpuDialect>();
    registerEvaluators(context);
  }

  Expected<std::unique_ptr<Interpreter>> make(llvm::StringRef text,
                                              InterpreterOptions options = {.numThreads = 1}) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return Interpreter::create(*module, std::move(options));
  }
  void addWeight(llvm::StringRef name, Tensor tensor) {
    const mlir::OwningOpRef<mlir::ModuleOp> any =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    auto store = context.getLoadedDialect<top::TopDialect>()->weights(*any);
    (*store)->set(name, std::move(tensor));
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

// c = relu(a + w); d = c * c; e = c + d. Only e and c leave.
constexpr const char *kSmall = R"(
  func.func @main(%0: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %1 = "top.Input"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("a")
    %2 = "top.Weight"() : () -> tensor<3xf32> loc("w")
    %3 = "top.Add"(%1, %2) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("b")
    %4 = "top.Relu"(%3) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("c")
    %5 = "top.Mul"(%4, %4) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("d")
    %6 = "top.Add"(%4, %5) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("e")
    return %6, %4 : tensor<2x3xf32>, tensor<2x3xf32>
  })";

// Unsigned integers in, signed ones out: two types of one width.
TEST_F(InterpreterTest, ComputesStoredIntegersOfOtherTypesByTheNumbers) {
  auto interpreter = make(R"(
  module attributes {module.state = "TOP_QUANTIZED"} {
  func.func @main(%0: tensor<3x!quant.uniform<u8:f32, 1.0:128>>)
      -> tensor<3x!quant.uniform<i8:f32, 2.0:1>> {
    %1 = "top.Input"(%0) : (tensor<3x!quant.uniform<u8:f32, 1.0:128>>)
        -> tensor<3x!quant.uniform<u8:f32, 1.0:128>> loc("a")
    %2 = "top.LeakyRelu"(%1) {alpha = 2.5e-1 : f64} :
        (tensor<3x!quant.uniform<u8:f32, 1.0:128>>)
        -> tensor<3x!quant.uniform<i8:f32, 2.0:1>> loc("b")
    return %2 : tensor<3x!quant.uniform<i8:f32, 2.0:1>>
  }})");
  ASSERT_TRUE(interpreter) << interpreter.error().message();
  auto results = (*interpreter)->run({{"a", Tensor::of<uint8_t>({3}, {104, 128, 228})}});
  ASSERT_TRUE(results) << results.error().message();
  // -24, 0 and 100 become -6, 0 and 100.
  EXPECT_THAT(results->at("b").data<int8_t>(), ElementsAre(-2, 1, 51));
}

TEST_F(InterpreterTest, GivesTheOutputsByName) {
  addWeight("w", Tensor::of<float>({3}, {1, -2, 0}));
  auto interpreter = make(kSmall);
  ASSERT_TRUE(interpreter) << interpreter.error().message();
  EXPECT_EQ((*interpreter)->inputs()[0].name, "a");
  auto results = (*interpreter)->run({{"a", Tensor::of<float>({2, 3}, {1, 2, 3, -4, 5, -6})}});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ(results->size(), 2u);
  EXPECT_THAT(floats(results->at("c")), ElementsAre(2, 0, 3, 0, 3, 0));
  EXPECT_THAT(floats(results->at("e")), ElementsAre(6, 0, 12, 0, 12, 0));
}

TEST_F(InterpreterTest, KeepsAllTensors) {
  addWeight("w", Tensor::of<float>({3}, {1, -2, 0}));
  std::vector<std::string> told;
  InterpreterOptions options{.numThreads = 1, .keepAll = true};
  options.probe = [&](const std::string &name, const Tensor &) -> Expected<void> {
    told.push_back(name);
    return {};
  };
  auto interpreter = make(kSmall, options);
  ASSERT_TRUE(interpreter);
  auto results = (*interpreter)->run({{"a", Tensor::of<float>({2, 3}, {1, 2, 3, -4, 5, -6})}});
  ASSERT_TRUE(results);
  EXPECT_THAT(told, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(floats(results->at("b")), ElementsAre(2, 0, 3, -3, 3, -6));
  EXPECT_THAT(floats(results->at("d")), ElementsAre(4, 0, 9, 0, 9, 0));
}

TEST_F(InterpreterTest, SubstitutesWhatLaterOpsRead) {
  addWeight("w", Tensor::of<float>({3}, {1, -2, 0}));
  std::map<std::string, std::vector<float>> made;
  InterpreterOptions options{.numThreads = 1};
  options.substitute = [&](const std::string &name,
                           const Tensor &tensor) -> Expected<std::optional<Tensor>> {
    made.emplace(name, floats(tensor));
    if (name != "c")
      return std::nullopt;
    return Tensor::of<float>({2, 3}, {1, 1, 1, 2, 2, 2});
  };
  auto interpreter = make(kSmall, options);
  ASSERT_TRUE(interpreter);
  auto results = (*interpreter)->run({{"a", Tensor::of<float>({2, 3}, {1, 2, 3, -4, 5, -6})}});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_THAT(made.at("c"), ElementsAre(2, 0, 3, 0, 3, 0));
  EXPECT_THAT(made.at("d"), ElementsAre(1, 1, 1, 4, 4, 4));
  EXPECT_THAT(floats(results->at("c")), ElementsAre(1, 1, 1, 2, 2, 2));
  EXPECT_THAT(floats(results->at("e")), ElementsAre(2, 2, 2, 6, 6, 6));
}

TEST_F(InterpreterTest, SubstitutesOnlyWhatFits) {
  addWeight("w", Tensor::of<float>({3}, {1, -2, 0}));
  InterpreterOptions options{.numThreads = 1};
  options.substitute = [](const std::string &, const Tensor &) -> Expected<std::optional<Tensor>> {
    return Tensor::of<float>({2}, {1, 1});
  };
  auto interpreter = make(kSmall, options);
  ASSERT_TRUE(interpreter);
  auto results = (*interpreter)->run({{"a", Tensor::of<float>({2, 3}, {1, 2, 3, -4, 5, -6})}});
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().message(),
            "tensor 'a': is to be replaced by [2] f32; expected [2, 3] f32");
}

TEST_F(InterpreterTest, ProbeEndsTheRun) {
  addWeight("w", Tensor::of<float>({3}, {1, -2, 0}));
  InterpreterOptions options{.numThreads = 1};
  options.probe = [](const std::string &name, const Tensor &) -> Expected<void> {
    if (name == "c")
      return makeError("c", "is enough");
    return {};
  };
  auto interpreter = make(kSmall, options);
  ASSERT_TRUE(interpreter);
  auto results = (*interpreter)->run({{"a", Tensor(DataType::F32, {2, 3})}});
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().message(), "c: is enough");
}

/// x0 = x; x(i+1) = x(i) + 1 ...: `length` tensors of 4 KiB, of which two are alive at a time.
std::string chain(int length) {
  std::string text = "func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {\n"
                     "%0 = \"top.Input\"(%x) : (tensor<1024xf32>) -> tensor<1024xf32> loc(\"x\")\n";
  for (int index = 0; index < length; ++index)
    text += "%" + std::to_string(index + 1) + " = \"top.AddConst\"(%" + std::to_string(index) +
            ") {const_val = 1.0 : f64} : (tensor<1024xf32>) -> tensor<1024xf32> loc(\"t" +
            std::to_string(index + 1) + "\")\n";
  return text + "return %" + std::to_string(length) + " : tensor<1024xf32>\n}";
}

TEST_F(InterpreterTest, SharesMemory) {
  InterpreterOptions options{.numThreads = 1};
  // A probe sees every tensor: nothing is fused.
  options.probe = [](const std::string &, const Tensor &) -> Expected<void> { return {}; };
  auto interpreter = make(chain(20), options);
  ASSERT_TRUE(interpreter) << interpreter.error().message();
  EXPECT_EQ((*interpreter)->plannedBytes(), 2 * 4096);
  auto results = (*interpreter)->run({{"x", Tensor(DataType::F32, {1024})}});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_THAT(floats(results->at("t20")), testing::Each(20));
}

TEST_F(InterpreterTest, LeavesAloneWhatAProbeHolds) {
  std::vector<Tensor> held;
  InterpreterOptions options{.numThreads = 1};
  options.probe = [&](const std::string &, const Tensor &tensor) -> Expected<void> {
    held.push_back(tensor);
    return {};
  };
  auto interpreter = make(chain(10), options);
  ASSERT_TRUE(interpreter);
  for (int run = 0; run < 2; ++run)
    ASSERT_TRUE((*interpreter)->run({{"x", Tensor(DataType::F32, {1024})}}));
  interpreter->reset();
  ASSERT_EQ(held.size(), 22u);
  for (size_t index = 0; index < held.size(); ++index)
    EXPECT_THAT(floats(held[index]), testing::Each(static_cast<float>(index % 11)));
}

TEST_F(InterpreterTest, RunsDynamicShapes) {
  auto interpreter = make(R"(
    func.func @main(%0: tensor<?x2xf32>, %1: tensor<*xf32>) -> tensor<*xf32> {
      %2 = "top.Input"(%0) : (tensor<?x2xf32>) -> tensor<?x2xf32> loc("a")
      %3 = "top.Input"(%1) : (tensor<*xf32>) -> tensor<*xf32> loc("b")
      %4 = "top.Add"(%2, %3) : (tensor<?x2xf32>, tensor<*xf32>) -> tensor<*xf32> loc("c")
      %5 = "top.Relu"(%4) : (tensor<*xf32>) -> tensor<*xf32> loc("d")
      return %5 : tensor<*xf32>
    })");
  ASSERT_TRUE(interpreter) << interpreter.error().message();
  EXPECT_EQ((*interpreter)->plannedBytes(), 0);
  std::vector<Tensor> inputs = {Tensor::of<float>({1, 2}, {1, 2}), Tensor::of<float>({}, {-1})};
  auto results = (*interpreter)->run(inputs);
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ(results->at("d").shape(), Shape({1, 2}));
  EXPECT_THAT(floats(results->at("d")), ElementsAre(0, 1));
  inputs = {Tensor::of<float>({2, 2}, {1, 2, 3, 4}), Tensor::of<float>({3, 1, 1}, {0, 1, 2})};
  results = (*interpreter)->run(inputs);
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ(results->at("d").shape(), Shape({3, 2, 2}));
}

TEST_F(InterpreterTest, SamplesAtOnceGiveTheSameBits) {
  addWeight("w", Tensor::of<float>({3}, {1, -2, 0.1f}));
  auto interpreter = make(kSmall, {.numThreads = 4});
  ASSERT_TRUE(interpreter);
  std::vector<TensorMap> samples;
  for (int sample = 0; sample < 64; ++sample) {
    auto x = static_cast<float>(sample) * 0.37f;
    samples.push_back({{"a", Tensor::of<float>({2, 3}, {x, -x, 1 + x, 2 - x, 3 * x, x * x})}});
  }
  auto together = (*interpreter)->runSamples(samples);
  ASSERT_TRUE(together);
  for (size_t sample = 0; sample < samples.size(); ++sample) {
    auto alone = (*interpreter)->run(samples[sample]);
    ASSERT_TRUE(alone);
    EXPECT_EQ(floats(alone->at("e")), floats((*together)[sample].at("e")));
  }
  samples[7] = {{"b", Tensor()}};
  together = (*interpreter)->runSamples(samples);
  ASSERT_FALSE(together);
  EXPECT_EQ(together.error().message(), "inputs: b; expected a");
}

TEST_F(InterpreterTest, RefusesOtherInputs) {
  addWeight("w", Tensor::of<float>({3}, {1, -2, 0}));
  auto interpreter = make(kSmall);
  ASSERT_TRUE(interpreter);
  auto message = [&](const TensorMap &inputs) {
    auto results = (*interpreter)->run(inputs);
    return results ? "" : results.error().message();
  };
  EXPECT_EQ(message({}), "inputs: none; expected a");
  EXPECT_EQ(message({{"a", Tensor(DataType::F32, {2, 3})}, {"z", Tensor()}}),
            "inputs: a, z; expected a");
  EXPECT_EQ(message({{"a", Tensor(DataType::F32, {3, 3})}}),
            "input 'a': [3, 3] f32; expected [2, 3] f32");
  EXPECT_EQ(message({{"a", Tensor(DataType::I32, {2, 3})}}),
            "input 'a': [2, 3] i32; expected [2, 3] f32");
  auto results = (*interpreter)->run(std::span<const Tensor>());
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().message(), "inputs: 0 tensors; expected 1");
}

// 1/11 is 0.09088 in f16: weights of 16 bits do not give the mean 1 of eleven ones. Those of a
// softmax in f32 are not rounded.
TEST_F(InterpreterTest, LoweredAttentionRoundsItsWeightsAsItsSoftmax) {
  const auto all = [](const Shape &shape, float value) {
    Tensor tensor(DataType::F32, shape);
    std::ranges::fill(tensor.mutableData<float>(), value);
    return convert(tensor, DataType::F16);
  };
  const auto meanOfOnes = [&](const std::string &attributes) {
    auto interpreter = make(fmt::format(
        R"(
    func.func @main(%0: tensor<1x1x1x2xf16>, %1: tensor<1x1x11x2xf16>, %2: tensor<1x1x11x1xf16>) -> tensor<1x1x1x1xf16> {{
      %n = "top.None"() : () -> none
      %q = "top.Input"(%0) : (tensor<1x1x1x2xf16>) -> tensor<1x1x1x2xf16> loc("q")
      %k = "top.Input"(%1) : (tensor<1x1x11x2xf16>) -> tensor<1x1x11x2xf16> loc("k")
      %v = "top.Input"(%2) : (tensor<1x1x11x1xf16>) -> tensor<1x1x11x1xf16> loc("v")
      %y:4 = "tpu.ScaleDotProductAttention"(%q, %k, %v, %n, %n, %n, %n) {{{}}} : (tensor<1x1x1x2xf16>, tensor<1x1x11x2xf16>, tensor<1x1x11x1xf16>, none, none, none, none) -> (tensor<1x1x1x1xf16>, none, none, none) loc("y")
      return %y#0 : tensor<1x1x1x1xf16>
    }})",
        attributes));
    EXPECT_TRUE(interpreter);
    auto results = interpreter ? (*interpreter)
                                     ->run({{"q", all({1, 1, 1, 2}, 0)},
                                            {"k", all({1, 1, 11, 2}, 0)},
                                            {"v", all({1, 1, 11, 1}, 1)}})
                               : Expected<TensorMap>(TensorMap());
    EXPECT_TRUE(results) << results.error().message();
    return results && results->contains("y") ? floats(convert(results->at("y"), DataType::F32))
                                             : std::vector<float>();
  };
  EXPECT_EQ(meanOfOnes(""), std::vector<float>{0.99951172F});
  EXPECT_EQ(meanOfOnes("softmax_type = f32"), std::vector<float>{1});
}

TEST_F(InterpreterTest, RefusesWhatItCannotRun) {
  auto interpreter = make("func.func @other() { return }");
  ASSERT_FALSE(interpreter);
  EXPECT_EQ(interpreter.error().message(), "module: has no function 'main'");
  interpreter = make(R"(
    func.func @main(%0: tensor<2xf32>) -> tensor<2xf32> {
      %1 = func.call @other(%0) : (tensor<2xf32>) -> tensor<2xf32> loc("x")
      return %1 : tensor<2xf32>
    }
    func.func private @other(tensor<2xf32>) -> tensor<2xf32>)");
  ASSERT_FALSE(interpreter);
  EXPECT_EQ(interpreter.error().message(), "layer 'x': the interpreter cannot compute func.call");
  interpreter = make(R"(
    func.func @main() -> tensor<2xf32> {
      %1 = "top.Weight"() : () -> tensor<2xf32> loc("nowhere")
      return %1 : tensor<2xf32>
    })");
  ASSERT_FALSE(interpreter);
  EXPECT_THAT(interpreter.error().message(), HasSubstr("nowhere"));
}

TEST_F(InterpreterTest, NamesTheLayerWhoseTypeIsWrong) {
  auto interpreter = make(R"(
    func.func @main(%0: tensor<2xf32>) -> tensor<3xf32> {
      %1 = "top.Relu"(%0) : (tensor<2xf32>) -> tensor<3xf32> loc("x")
      return %1 : tensor<3xf32>
    })");
  ASSERT_TRUE(interpreter) << interpreter.error().message();
  std::vector<Tensor> inputs = {Tensor(DataType::F32, {2})};
  auto results = (*interpreter)->run(inputs);
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().message(), "layer 'x' (top.Relu): computes [2] f32; expected [3] f32, "
                                       "as the module states");
}

// The branches read what is around them.
TEST_F(InterpreterTest, RunsBranches) {
  auto interpreter = make(R"(
    func.func @main(%0: tensor<i1>, %1: tensor<2xf32>) -> tensor<2xf32> {
      %2 = "top.Neg"(%1) : (tensor<2xf32>) -> tensor<2xf32> loc("n")
      %3 = "top.If"(%0) ({
        %4 = "top.Add"(%1, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("t")
        "top.Yield"(%4) : (tensor<2xf32>) -> ()
      }, {
        "top.Yield"(%2) : (tensor<2xf32>) -> ()
      }) : (tensor<i1>) -> tensor<2xf32> loc("y")
      return %3 : tensor<2xf32>
    })");
  ASSERT_TRUE(interpreter) << interpreter.error().message();
  for (bool condition : {true, false}) {
    std::vector<Tensor> inputs = {Tensor(DataType::Bool, {}), Tensor::of<float>({2}, {1, 2})};
    inputs[0].mutableData<uint8_t>()[0] = condition;
    auto results = (*interpreter)->run(inputs);
    ASSERT_TRUE(results) << results.error().message();
    if (condition)
      EXPECT_THAT(floats(results->at("y")), ElementsAre(2, 4));
    else
      EXPECT_THAT(floats(results->at("y")), ElementsAre(-1, -2));
  }
}

} // namespace
