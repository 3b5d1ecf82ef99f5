//===- ScalePartsTest.cpp -------------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Concatenations of a wide and of narrow parts, lowered to integers and run, against the network in
// float: the narrow parts are as exact as if they stood alone.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Dialect/Quant/QuantDialect.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Interpreter/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>
#include <random>

using namespace tpuc;

namespace {

// PART makes %n, within 1 / 4, of %x; BESIDE reads what it likes.
constexpr const char *kPartsNetwork = R"(
  !x = tensor<1x4x6x6x!quant.calibrated<f32<-2.0:2.0>>>
  !u = tensor<1x4x12x12x!quant.calibrated<f32<-2.0:2.0>>>
  !t = tensor<1x4x6x6x!quant.calibrated<f32<-0.25:0.25>>>
  !n = tensor<1x4x12x12x!quant.calibrated<f32<-0.25:0.25>>>
  !c = tensor<1x8x12x12x!quant.calibrated<f32<-64.0:64.0>>>
  !w = tensor<1x4x12x12x!quant.calibrated<f32<-64.0:64.0>>>
  !o = tensor<1x4x12x12x!quant.calibrated<f32<-4.0:4.0>>>
  func.func @main(%0: !x) -> (!o, !t) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%0) : (!x) -> !x loc("x")
    %up = "top.Tile"(%x, %none) {tile = [1, 1, 2, 2]} : (!x, none) -> !u loc("up")
    %wide = "top.MulConst"(%up) {const_val = 32.0 : f64} : (!u) -> !w loc("wide")
    PART
    %c = "top.Concat"(%wide, %n) {axis = 1} : (!w, !n) -> !c loc("concat")
    %f = "top.Weight"() : () -> tensor<4x8x3x3xf32> loc("f")
    %b = "top.Weight"() : () -> tensor<4xf32> loc("b")
    %r = "top.Conv"(%c, %f, %b) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (!c, tensor<4x8x3x3xf32>, tensor<4xf32>) -> !o loc("r")
    return %r, BESIDE : !o, !t
  })";

struct Part {
  const char *name;
  const char *text;
  /// What else the network gives, of the type !t.
  const char *beside;
  /// Requantizations that the lowered network has, and of the parts as they are, had.
  int requants;
};

constexpr const char *kProduct = R"(
    %g = "top.Weight"() : () -> tensor<4x1x1x1xf32> loc("g")
    %s = "top.Conv"(%x, %g, %none) {kernel_shape = [1, 1], group = 4 : i64} : (!x, tensor<4x1x1x1xf32>, none) -> !t loc("s")
)";
constexpr const char *kTable = R"(
    %s = "top.MulConst"(%x) {const_val = 0.125 : f64} : (!x) -> !t loc("s")
)";
constexpr const char *kMoved = R"(
    %n = "top.Tile"(%s, %none) {tile = [1, 1, 2, 2]} : (!t, none) -> !n loc("n")
)";
constexpr const char *kBeside = R"(
    %t = "top.MulConst"(%x) {const_val = 0.125 : f64} : (!x) -> !t loc("t")
)";

const std::vector<Part> kParts = {{"Product", kProduct, "%t", 0},
                                  {"Table", kTable, "%t", 0},
                                  {"ProductOfTwoReaders", kProduct, "%s", 1},
                                  {"TableOfTwoReaders", kTable, "%s", 1}};

struct Kind {
  const char *name;
  bool isAsymmetric;
  bool isStrict;
};

void PrintTo(const Part &part, std::ostream *out) { *out << part.name; }
void PrintTo(const Kind &kind, std::ostream *out) { *out << kind.name; }

class ScaleParts : public testing::TestWithParam<std::tuple<Part, Kind>> {
protected:
  ScaleParts() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<mlir::func::FuncDialect, top::TopDialect, quant::QuantDialect,
                        tpu::TpuDialect>();
    registerEvaluators(context);
  }

  static Tensor random(const Shape &shape, float most, unsigned seed) {
    std::mt19937 generator(seed);
    Tensor tensor(DataType::F32, shape);
    for (float &number : tensor.mutableData<float>())
      number = most * (static_cast<float>(generator() % 4097) / 2048 - 1);
    return tensor;
  }

  /// `wideWeight` and `narrowWeight` bound what the filter meets the parts with.
  void parse(float wideWeight, float narrowWeight) {
    const Part &part = std::get<0>(GetParam());
    std::string text = kPartsNetwork;
    std::string body = std::string(part.text) + kMoved;
    if (std::string_view(part.beside) == "%t")
      body += kBeside;
    text.replace(text.find("PART"), 4, body);
    text.replace(text.find("BESIDE"), 6, part.beside);
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto store = *context.getLoadedDialect<top::TopDialect>()->weights(*module);
    Tensor filter = random({4, 8, 3, 3}, 1, 3);
    for (size_t i = 0; i < filter.data<float>().size(); ++i)
      filter.mutableData<float>()[i] *= i / 9 % 8 < 4 ? wideWeight : narrowWeight;
    store->set("f", filter);
    store->set("b", random({4}, 1, 4));
    Tensor each(DataType::F32, Shape{4, 1, 1, 1});
    std::ranges::fill(each.mutableData<float>(), 0.125F);
    store->set("g", each);
    inputs["x"] = random({1, 4, 6, 6}, 2, 5);
  }

  TensorMap run(mlir::ModuleOp of) {
    auto interpreter =
        Interpreter::create(of, {.numThreads = 1, .keepAll = true, .expressed = false});
    EXPECT_TRUE(interpreter) << interpreter.error().message();
    if (!interpreter)
      return {};
    Expected<TensorMap> tensors = (*interpreter)->run(inputs);
    EXPECT_TRUE(tensors) << tensors.error().message();
    return tensors ? *tensors : TensorMap();
  }

  mlir::OwningOpRef<mlir::ModuleOp> lower() {
    const Kind &kind = std::get<1>(GetParam());
    mlir::OwningOpRef<mlir::ModuleOp> lowered(module->clone());
    mlir::PassManager passes(&context);
    addLowering(passes, {.chip = "bm1684x",
                         .scheme = kind.isAsymmetric ? schemes::kInt8Asymmetric : schemes::kInt8,
                         .strict = kind.isStrict});
    EXPECT_TRUE(mlir::succeeded(passes.run(*lowered)));
    return lowered;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  TensorMap inputs;
};

bool hasTensor(mlir::ModuleOp module, llvm::StringRef name) {
  return module
      .walk([&](mlir::Operation *op) {
        return op->getNumResults() > 0 && layerName(op) == name ? mlir::WalkResult::interrupt()
                                                                : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// With one scale the narrow part would be less than one step: the result, its bias.
TEST_P(ScaleParts, LoseNothingOfNarrowParts) {
  parse(1.0F / 256, 1);
  mlir::OwningOpRef<mlir::ModuleOp> lowered = lower();
  EXPECT_TRUE(hasTensor(*lowered, "concat_widened"));
  int requants = 0;
  lowered->walk([&](mlir::Operation *op) {
    EXPECT_FALSE(op->hasAttr("storage_reason")) << layerName(op);
    requants += mlir::isa<tpu::RequantIntOp>(op);
  });
  EXPECT_EQ(requants, std::get<0>(GetParam()).requants);
  const Tensor wanted = run(*module).at("r");
  const Tensor found = run(*lowered).at("r");
  // 36 products each of parts in steps of 1 / 512 and 1 / 2, and their filters'.
  double power = 0;
  double error = 0;
  for (auto [a, b] : llvm::zip_equal(wanted.data<float>(), found.data<float>())) {
    power += double(a) * double(a);
    error += (double(a) - double(b)) * (double(a) - double(b));
  }
  EXPECT_LT(std::sqrt(error / power), 0.03);
}

TEST_P(ScaleParts, StayWhereTheyAddLittle) {
  // The filter hardly meets the narrow part: a scale of its own would only widen the filter.
  parse(1, 1.0F / 65536);
  EXPECT_FALSE(hasTensor(*lower(), "concat_widened"));
}

INSTANTIATE_TEST_SUITE_P(Networks, ScaleParts,
                         testing::Combine(testing::ValuesIn(kParts),
                                          testing::Values(Kind{"symmetric", false, false},
                                                          Kind{"asymmetric", true, false},
                                                          Kind{"strict", false, true})),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::get<1>(info.param).name;
                         });

} // namespace
