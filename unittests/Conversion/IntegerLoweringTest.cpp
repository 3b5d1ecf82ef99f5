//===- IntegerLoweringTest.cpp ----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Single ops, lowered to integers and run, against the ops in float on the very numbers that the
// stored inputs stand for: what differs is what rounding to the result's scale explains.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"
#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/Convert.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <gmock/gmock.h>
#include <random>

using namespace tpuc;

namespace {

using Dims = std::vector<int64_t>;

struct Layer {
  const char *name;
  /// Ops that read %x and perhaps %y, the last of which makes %r.
  const char *text;
  /// The inputs' shapes.
  std::vector<Dims> inputs;
  /// The weights %w, %b: shapes.
  std::vector<Dims> weights = {};
  /// How far results may be from the float ones, in units of their scale: one half is the rounding.
  double tolerance = 0.55;
};

const std::vector<Layer> kLayers = {
    {"Conv",
     R"(%r = "top.Conv"(%x, %w, %b) {kernel_shape = [3, 3], pads = [1, 0, 2, 1], strides = [2, 1]})",
     {{2, 4, 7, 8}},
     {{6, 4, 3, 3}, {6}}},
    {"ConvWithoutBias",
     R"(%r = "top.Conv"(%x, %w, %n) {kernel_shape = [1, 1]})",
     {{1, 4, 5, 5}},
     {{8, 4, 1, 1}}},
    {"ConvRelu6",
     R"(%r = "top.Conv"(%x, %w, %b) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], do_relu = true, relu_limit = 6.0 : f64})",
     {{1, 4, 6, 6}},
     {{6, 4, 3, 3}, {6}}},
    {"ConvGrouped",
     R"(%r = "top.Conv"(%x, %w, %b) {kernel_shape = [3], pads = [2, 2], dilations = [2], group = 2 : i64, do_relu = true})",
     {{1, 4, 12}},
     {{6, 2, 3}, {6}}},
    {"ConvDepthwise",
     R"(%r = "top.Conv"(%x, %w, %b) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 4 : i64})",
     {{1, 4, 6, 6}},
     {{4, 1, 3, 3}, {4}}},
    {"Deconv",
     R"(%r = "top.Deconv"(%x, %w, %b) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2], output_padding = [1, 1]})",
     {{1, 4, 4, 4}},
     {{4, 3, 3, 3}, {3}}},
    {"DeconvGrouped",
     R"(%r = "top.Deconv"(%x, %w, %b) {kernel_shape = [2, 2], strides = [2, 2], group = 2 : i64, do_relu = true})",
     {{1, 4, 3, 3}},
     {{4, 3, 2, 2}, {6}}},
    {"MatMulWeight",
     R"(%r = "top.MatMul"(%x, %w, %b) {do_relu = true})",
     {{3, 5, 16}},
     {{16, 7}, {7}}},
    {"MatMulTransposedWeight",
     R"(%r = "top.MatMul"(%x, %w, %n) {right_transpose = true})",
     {{5, 16}},
     {{7, 16}}},
    {"MatMulBatchedWeight", R"(%r = "top.MatMul"(%x, %w, %n))", {{3, 5, 16}}, {{3, 16, 7}}},
    {"MatMulTensors",
     R"(%r = "top.MatMul"(%x, %y, %n) {left_transpose = true})",
     {{2, 16, 5}, {2, 16, 7}}},
    {"MatMulTensorsBias", R"(%r = "top.MatMul"(%x, %y, %w))", {{5, 16}, {16, 7}}, {{7}}},
    {"Add", R"(%r = "top.Add"(%x, %y))", {{2, 3, 4}, {3, 1}}},
    {"AddCoefficients",
     R"(%r = "top.Add"(%x, %y, %x) {coeff = [2.0, -0.5, 0.25], do_relu = true, relu_limit = 3.0 : f64})",
     {{2, 3, 4}, {2, 3, 4}}},
    {"AddWeight", R"(%r = "top.Add"(%x, %w))", {{2, 3, 4}}, {{3, 4}}},
    {"Sub", R"(%r = "top.Sub"(%x, %y) {do_relu = true})", {{2, 3, 4}, {2, 3, 4}}},
    {"SubFromWeight", R"(%r = "top.Sub"(%w, %x))", {{2, 3, 4}}, {{3, 4}}},
    {"Mul", R"(%r = "top.Mul"(%x, %y))", {{2, 3, 4}, {2, 1, 4}}},
    {"MulWeight", R"(%r = "top.Mul"(%x, %w) {do_relu = true})", {{2, 3, 4}}, {{3, 1}}},
    {"Square", R"(%r = "top.Mul"(%x, %x))", {{2, 3, 4}}},
    {"Max", R"(%r = "top.Max"(%x, %y))", {{2, 3, 4}, {4}}},
    {"MinWeight", R"(%r = "top.Min"(%x, %w))", {{2, 3, 4}}, {{4}}},
    {"LeakyRelu", R"(%r = "top.LeakyRelu"(%x) {alpha = 0.1 : f64})", {{2, 3, 4}}},
    {"PRelu", R"(%r = "top.PRelu"(%x, %w))", {{2, 3, 4, 4}}, {{3, 1, 1}}},
    {"PReluOfOneSlope", R"(%r = "top.PRelu"(%x, %w))", {{2, 3, 4}}, {{1}}},
    {"AvgPool",
     R"(%r = "top.AvgPool"(%x) {kernel_shape = [2, 2], strides = [2, 2]})",
     {{1, 3, 6, 6}}},
    {"AvgPoolPadded",
     R"(%r = "top.AvgPool"(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], do_relu = true})",
     {{1, 3, 6, 6}}},
    {"AvgPoolCountingPads",
     R"(%r = "top.AvgPool"(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2], count_include_pad = true, ceil_mode = true})",
     {{1, 3, 6, 6}}},
    {"ReduceMean",
     R"(%r = "top.Reduce"(%x, %n) {axes = [2, -1], mode = "ReduceMean"})",
     {{2, 3, 4, 5}}},
    {"ReduceSum",
     R"(%r = "top.Reduce"(%x, %n) {axes = [1], keepdims = false, mode = "ReduceSum"})",
     {{2, 3, 4, 5}}},
    {"ReduceAll", R"(%r = "top.Reduce"(%x, %n) {mode = "ReduceMean"})", {{2, 3, 4, 5}}},
    {"ResizeLinear",
     R"(%r = "top.Interp"(%x, %n, %n, %n) {mode = "linear", sizes = [1, 3, 9, 5]})",
     {{1, 3, 4, 8}},
     {},
     0.75},
    {"Relu", R"(%r = "top.Relu"(%x) {relu_limit = 1.0 : f64})", {{4, 30}}},
    {"Clip", R"(%r = "top.Clip"(%x) {min = -0.5 : f64, max = 1.0 : f64})", {{4, 30}}},
    {"Sigmoid", R"(%r = "top.Sigmoid"(%x))", {{4, 30}}},
    {"LogSigmoid", R"(%r = "top.Sigmoid"(%x) {log = true})", {{4, 30}}},
    {"SiLU", R"(%r = "top.SiLU"(%x))", {{4, 30}}},
    {"HardSwish", R"(%r = "top.HardSwish"(%x))", {{4, 30}}},
    {"Tanh", R"(%r = "top.Tanh"(%x))", {{4, 30}}},
    {"GELU", R"(%r = "top.GELU"(%x))", {{4, 30}}},
    {"AddConst", R"(%r = "top.AddConst"(%x) {const_val = 0.7 : f64, do_relu = true})", {{4, 30}}},
    {"SubFromConst",
     R"(%r = "top.SubConst"(%x) {const_val = 1.0 : f64, is_reverse = true})",
     {{4, 30}}},
    {"MulConst", R"(%r = "top.MulConst"(%x) {const_val = -3.0 : f64})", {{4, 30}}},
    {"Abs", R"(%r = "top.Abs"(%x))", {{4, 30}}},
    {"Neg", R"(%r = "top.Neg"(%x))", {{4, 30}}},
    // Movers: what they move is made by an op on integers.
    {"Concat",
     R"(%s = "top.Tanh"(%x) : TX -> TX loc("s")
      %r = "top.Concat"(%s, %y) {axis = 1 : i64})",
     {{2, 3, 4}, {2, 5, 4}},
     {},
     1.05},
    {"ConcatRelu",
     R"(%s = "top.Neg"(%x) : TX -> TX loc("s")
      %r = "top.Concat"(%s, %y) {axis = 1 : i64, do_relu = true, relu_limit = 2.0 : f64})",
     {{2, 3, 4}, {2, 5, 4}},
     {},
     1.05},
    {"Pad",
     R"(%s = "top.Neg"(%x) : TX -> TX loc("s")
      %r = "top.Pad"(%s, %n, %n, %n) {paddings = [0, 1, 0, 2], val = -0.4 : f64})",
     {{4, 6}},
     {},
     1.05},
    {"MaxPool",
     R"(%s = "top.Neg"(%x) : TX -> TX loc("s")
      %r = "top.MaxPool"(%s) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]})",
     {{1, 2, 5, 5}},
     {},
     1.05},
    {"ReduceMax",
     R"(%s = "top.Neg"(%x) : TX -> TX loc("s")
      %r = "top.Reduce"(%s, %n) {axes = [1], mode = "ReduceMax"})",
     {{2, 3, 4, 5}},
     {},
     1.05},
    {"ResizeNearest",
     R"(%s = "top.Neg"(%x) : TX -> TX loc("s")
      %r = "top.Interp"(%s, %n, %n, %n) {mode = "nearest", scales = [1.0, 1.0, 2.0, 2.0]})",
     {{1, 3, 4, 4}},
     {},
     1.05},
    {"MaxPoolRelu",
     R"(%s = "top.Neg"(%x) : TX -> TX loc("s")
      %r = "top.MaxPool"(%s) {kernel_shape = [1, 2], do_relu = true, relu_limit = 1.0 : f64})",
     {{1, 2, 5, 5}},
     {},
     1.05},
    {"UpsampleRelu",
     R"(%s = "top.Neg"(%x) : TX -> TX loc("s")
      %r = "top.Upsample"(%s) {scale_h = 2 : i64, scale_w = 2 : i64, do_relu = true})",
     {{1, 2, 5, 5}},
     {},
     1.05},
    {"Slice",
     R"(%s = "top.Neg"(%x) : TX -> TX loc("s")
      %r = "top.Slice"(%s, %n, %n, %n, %n) {offset = [1, 0], ends = [4, 6], steps = [1, 2]})",
     {{4, 6}},
     {},
     1.05},
    {"CompareConst",
     R"(%r = "top.CompareConst"(%x) {const_val = 0.5 : f64, mode = "Greater"})",
     {{4, 30}}},
    {"CompareWithConst",
     R"(%r = "top.CompareConst"(%x) {const_val = -0.3 : f64, inversed = true, mode = "LessOrEqual"})",
     {{4, 30}}},
};

/// What messages call a layer.
void PrintTo(const Layer &layer, std::ostream *out) { *out << layer.name; }

std::string tensorText(const Dims &dims) {
  std::string text = "tensor<";
  for (int64_t extent : dims)
    text += std::to_string(extent) + "x";
  return text + "f32>";
}

Tensor random(const Dims &dims, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> numbers;
  Tensor tensor(DataType::F32, Shape(std::span(dims.data(), dims.size())));
  for (float &number : tensor.mutableData<float>())
    number = numbers(generator);
  return tensor;
}

/// Multiples of 1/64 up to 127/64, which is often there: 8 bits hold them as they are.
Tensor coarse(const Dims &dims, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> integers(-127, 127);
  Tensor tensor(DataType::F32, Shape(std::span(dims.data(), dims.size())));
  for (float &number : tensor.mutableData<float>()) {
    const int integer = integers(generator);
    number = static_cast<float>(integer % 3 == 0 ? integer : integer < 0 ? -127 : 127) / 64;
  }
  return tensor;
}

llvm::ArrayRef<int64_t> extents(const Tensor &tensor) {
  return {tensor.shape().dims().data(), tensor.shape().rank()};
}

quant::FloatRange rangeOf(const Tensor &tensor) {
  auto [least, most] = std::ranges::minmax(tensor.data<float>());
  // Beyond what there is: 127 of the 128 steps of a symmetric range are above 0.
  return {1.02 * std::min(least, 0.0F) - 1e-3, 1.02 * std::max(most, 0.0F) + 1e-3};
}

struct Chip {
  const char *name;
  bool asymmetric;
  /// Times the tolerance of a layer: multipliers of 8 bits, filters that share one power of two.
  double coarseness;
};

void PrintTo(const Chip &chip, std::ostream *out) { *out << chip.name; }

class IntegerLowering : public testing::TestWithParam<std::tuple<Layer, Chip>> {
protected:
  IntegerLowering() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<mlir::func::FuncDialect, top::TopDialect, quant::QuantDialect,
                        tpu::TpuDialect>();
    registerEvaluators(context);
  }

  void SetUp() override {
    const Layer &layer = std::get<0>(GetParam());
    module = parse(layer);
    ASSERT_TRUE(module);
    for (size_t i = 0; i < layer.inputs.size(); ++i)
      inputs[i == 0 ? "x" : "y"] = random(layer.inputs[i], static_cast<unsigned>(i + 1));
    auto store = context.getLoadedDialect<top::TopDialect>()->weights(*module);
    for (size_t i = 0; i < layer.weights.size(); ++i)
      (*store)->set(i == 0 ? "w" : "b", coarse(layer.weights[i], static_cast<unsigned>(i + 9)));
  }

  /// The types of %r are inferred.
  mlir::OwningOpRef<mlir::ModuleOp> parse(const Layer &layer) {
    std::string text = "func.func @main(";
    std::string body = "%n = \"top.None\"() : () -> none\n";
    const auto types = [](std::string op, const std::string &from, const std::string &to) {
      return op + " : " + from + " -> " + to;
    };
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const std::string name = i == 0 ? "x" : "y";
      const std::string type = tensorText(layer.inputs[i]);
      text += (i == 0 ? "%" : ", %") + name + "_in: " + type;
      body += types("%" + name + " = \"top.Input\"(%" + name + "_in)", "(" + type + ")", type) +
              " loc(\"" + name + "\")\n";
    }
    for (size_t i = 0; i < layer.weights.size(); ++i) {
      const std::string name = i == 0 ? "w" : "b";
      body += types("%" + name + " = \"top.Weight\"()", "()", tensorText(layer.weights[i])) +
              " loc(\"" + name + "\")\n";
    }
    body += layer.text;
    std::string operands;
    const size_t last = body.rfind("%r = ");
    const size_t open = body.find('(', last);
    for (size_t at = open; at < body.find(')', open); ++at) {
      if (body[at] != '%')
        continue;
      const char name = body[at + 1];
      const std::string type = name == 'n'                  ? "none"
                               : name == 'x' || name == 's' ? tensorText(layer.inputs[0])
                               : name == 'y'                ? tensorText(layer.inputs[1])
                               : name == 'w'                ? tensorText(layer.weights[0])
                                                            : tensorText(layer.weights[1]);
      operands += (operands.empty() ? "" : ", ") + type;
    }
    const bool isPredicate = llvm::StringRef(layer.name).starts_with("Compare");
    const std::string result = isPredicate ? "tensor<*xi1>" : "tensor<*xf32>";
    body += " : (" + operands + ") -> " + result + " loc(\"r\")\n";
    for (size_t at; (at = body.find(" TX ")) != std::string::npos;)
      body.replace(at, 4,
                   " " +
                       (body[at + 4] == '-' ? "(" + tensorText(layer.inputs[0]) + ")"
                                            : tensorText(layer.inputs[0])) +
                       " ");
    return mlir::parseSourceString<mlir::ModuleOp>(
        text + ") -> " + result + " {\n" + body + "return %r : " + result + "\n}", &context);
  }

  TensorMap run(mlir::ModuleOp of, const TensorMap &given, bool expressed) {
    auto interpreter =
        Interpreter::create(of, {.numThreads = 1, .keepAll = true, .expressed = expressed});
    EXPECT_TRUE(interpreter) << interpreter.error().message();
    if (!interpreter)
      return {};
    Expected<TensorMap> tensors = (*interpreter)->run(given);
    EXPECT_TRUE(tensors) << tensors.error().message();
    return tensors ? *tensors : TensorMap();
  }

  /// Gives every tensor its shape and the range that it has.
  void calibrate(mlir::ModuleOp of, const TensorMap &tensors) {
    auto main = of.lookupSymbol<mlir::func::FuncOp>("main");
    for (mlir::Operation &op : main.front().without_terminator()) {
      if (mlir::isa<top::WeightOp, top::NoneOp>(op))
        continue;
      const Tensor &tensor = tensors.at(layerName(&op));
      mlir::Type element = mlir::getElementTypeOrSelf(op.getResult(0).getType());
      if (element.isF32())
        element = quant::CalibratedQuantizedType::get(mlir::cast<mlir::FloatType>(element),
                                                      rangeOf(tensor));
      op.getResult(0).setType(mlir::RankedTensorType::get(extents(tensor), element));
      if (auto input = mlir::dyn_cast<top::InputOp>(op))
        input.getInput().setType(input.getOutput().getType());
    }
    main.setType(mlir::FunctionType::get(&context, main.front().getArgumentTypes(),
                                         main.front().getTerminator()->getOperandTypes()));
  }

  mlir::OwningOpRef<mlir::ModuleOp> lower(const Chip &chip) {
    mlir::OwningOpRef<mlir::ModuleOp> lowered(module->clone());
    calibrate(*lowered, run(*module, inputs, /*expressed=*/false));
    mlir::PassManager passes(&context);
    addLowering(passes, {.chip = chip.name,
                         .scheme = chip.asymmetric ? schemes::kInt8Asymmetric : schemes::kInt8});
    EXPECT_TRUE(mlir::succeeded(passes.run(*lowered)));
    return lowered;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  TensorMap inputs;
};

TEST_P(IntegerLowering, DiffersByRoundingOnly) {
  const auto &[layer, chip] = GetParam();
  mlir::OwningOpRef<mlir::ModuleOp> lowered = lower(chip);
  // Weights of neighbours have more bits than the factors of this chip's sums.
  if (layer.name == std::string_view("ResizeLinear") && chip.name == std::string_view("cv183x")) {
    bool isFloat = false;
    lowered->walk([&](mlir::Operation *op) { isFloat |= op->hasAttr("storage_reason"); });
    EXPECT_TRUE(isFloat);
    return;
  }
  // What the stored inputs stand for, and the scale of what is stored last.
  const TensorMap tensors = run(*lowered, inputs, /*expressed=*/true);
  TensorMap given = inputs;
  double scale = 0;
  lowered->walk([&](mlir::Operation *op) {
    if (op->getName().getDialectNamespace() != "tpu")
      return;
    EXPECT_FALSE(op->hasAttr("storage_reason")) << layerName(op);
    if (auto cast = mlir::dyn_cast<tpu::CastOp>(op)) {
      if (auto input = cast.getInput().getDefiningOp<top::InputOp>())
        given[layerName(input)] = tensors.at(layerName(cast));
      if (quant::UniformQuantizedType type = tpu::quantizedType(cast.getInput()))
        scale = type.getScale();
    } else {
      EXPECT_FALSE(mlir::getElementTypeOrSelf(op->getResult(0).getType()).isF32())
          << op->getName().getStringRef().str();
    }
  });
  const Tensor wanted = convert(run(*module, given, /*expressed=*/false).at("r"), DataType::F32);
  const Tensor found = convert(tensors.at("r"), DataType::F32);
  ASSERT_EQ(found.shape(), wanted.shape());
  const double bound = scale * layer.tolerance * chip.coarseness;
  for (size_t i = 0; i < wanted.data<float>().size(); ++i)
    ASSERT_NEAR(found.data<float>()[i], wanted.data<float>()[i], bound) << "element " << i;
}

std::string nameOf(const testing::TestParamInfo<std::tuple<Layer, Chip>> &info) {
  const auto &[layer, chip] = info.param;
  return std::string(layer.name) + "_" + chip.name + (chip.asymmetric ? "_asymmetric" : "");
}

INSTANTIATE_TEST_SUITE_P(
    Layers, IntegerLowering,
    testing::Combine(testing::ValuesIn(kLayers),
                     testing::Values(Chip{"bm1684x", false, 1}, Chip{"bm1684x", true, 1},
                                     Chip{"cv183x", false, 3}, Chip{"bm1684", false, 8})),
    nameOf);

//===----------------------------------------------------------------------===//
// Means of what filters meet
//===----------------------------------------------------------------------===//

const std::vector<Layer> kProducts = {
    {"Conv",
     R"(%r = "top.Conv"(%x, %w, %b) {kernel_shape = [3], group = 2 : i64})",
     {{1, 4, 12}},
     {{6, 2, 3}, {6}}},
    {"Deconv",
     R"(%r = "top.Deconv"(%x, %w, %b) {kernel_shape = [2, 2], strides = [2, 2], group = 2 : i64})",
     {{1, 4, 3, 3}},
     {{4, 3, 2, 2}, {6}}},
    {"MatMul", R"(%r = "top.MatMul"(%x, %w, %b))", {{3, 4}}, {{4, 6}, {6}}},
    {"MatMulTransposed",
     R"(%r = "top.MatMul"(%x, %w, %b) {right_transpose = true})",
     {{3, 4}},
     {{6, 4}, {6}}},
};

/// Whether element `index` of the filter of `layer` is multiplied with the last of four channels.
bool meetsLastChannel(const Layer &layer, size_t index) {
  const std::string name = layer.name;
  if (name == "Conv")
    return index / 18 == 1 && index / 3 % 2 == 1;
  if (name == "Deconv")
    return index / 12 == 3;
  return name == "MatMul" ? index / 6 == 3 : index % 4 == 3;
}

/// The elements of the constant of `module` whose name begins so.
template <typename T> std::vector<T> constantOf(mlir::ModuleOp module, std::string_view beginning) {
  std::vector<T> elements;
  module.walk([&](top::WeightOp weight) {
    if (!std::string_view(weight.name()).starts_with(beginning))
      return;
    Expected<Tensor> tensor = weight.read();
    ASSERT_TRUE(tensor);
    elements.assign(tensor->data<T>().begin(), tensor->data<T>().end());
  });
  return elements;
}

class InputMeans : public IntegerLowering {
protected:
  std::vector<int32_t> biases(const std::vector<float> &means) {
    module->walk([&](mlir::Operation *op) {
      if (layerName(op) == "r" && !means.empty())
        op->setAttr(kInputMeans, mlir::DenseF32ArrayAttr::get(&context, means));
    });
    mlir::OwningOpRef<mlir::ModuleOp> lowered = lower(std::get<1>(GetParam()));
    const std::vector<int32_t> result = constantOf<int32_t>(*lowered, "r_bias_i32");
    EXPECT_EQ(result.size(), 6U);
    return result;
  }
};

TEST_P(InputMeans, AreThoseOfTheChannelThatAnElementMeets) {
  // 8 bits hold all of the filter but what meets the last channel.
  const Layer &layer = std::get<0>(GetParam());
  const Dims &dims = layer.weights[0];
  Tensor filter(DataType::F32, Shape(std::span(dims.data(), dims.size())));
  for (size_t i = 0; i < filter.data<float>().size(); ++i)
    filter.mutableData<float>()[i] = meetsLastChannel(layer, i) ? 10.3F / 64 : 127.0F / 64;
  (*context.getLoadedDialect<top::TopDialect>()->weights(*module))->set("w", filter);
  const std::vector<int32_t> plain = biases({});
  EXPECT_EQ(biases({1000, 1000, 1000, 0}), plain);
  EXPECT_NE(biases({0, 0, 0, 1000}), plain);
}

INSTANTIATE_TEST_SUITE_P(Products, InputMeans,
                         testing::Combine(testing::ValuesIn(kProducts),
                                          testing::Values(Chip{"bm1684x", true, 1})),
                         nameOf);

//===----------------------------------------------------------------------===//
// A scale for each channel of what products read
//===----------------------------------------------------------------------===//

/// The products of kProducts on what an op without a form on integers makes, %s.
std::vector<Layer> productsOfFloats() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> made;
    for (const Layer &layer : kProducts) {
      std::string text = layer.text;
      text.replace(text.find("(%x"), 3, "(%s");
      made.push_back("%s = \"top.Exp\"(%x) : TX -> TX loc(\"s\")\n" + text);
    }
    return made;
  }();
  std::vector<Layer> layers = kProducts;
  for (auto [layer, text] : llvm::zip_equal(layers, texts))
    layer.text = text.c_str();
  return layers;
}

class ChannelScales : public IntegerLowering {
protected:
  /// The channel of four to which element `index` of the input belongs.
  static size_t channelOf(const Layer &layer, size_t index) {
    const Dims &dims = layer.inputs[0];
    size_t inner = 1;
    for (size_t axis = 2; axis < dims.size(); ++axis)
      inner *= static_cast<size_t>(dims[axis]);
    return index / inner % 4;
  }

  /// The last channel, of which `narrow` makes a narrow one, is the only one that the filter meets.
  void narrowLastChannel(const Layer &layer, llvm::function_ref<float(float)> narrow, float bias) {
    Tensor input = inputs.at("x").clone();
    for (size_t i = 0; i < input.data<float>().size(); ++i) {
      float &x = input.mutableData<float>()[i];
      x = channelOf(layer, i) == 3 ? narrow(x) : x;
      const float made = std::exp(x);
      lowest[channelOf(layer, i)] = std::min(lowest[channelOf(layer, i)], made);
      highest[channelOf(layer, i)] = std::max(highest[channelOf(layer, i)], made);
    }
    inputs["x"] = input;
    const Dims &dims = layer.weights[0];
    Tensor filter(DataType::F32, Shape(std::span(dims.data(), dims.size())));
    for (size_t i = 0; i < filter.data<float>().size(); ++i)
      filter.mutableData<float>()[i] = meetsLastChannel(layer, i) ? 127.0F / 64 : 0.0F;
    auto store = *context.getLoadedDialect<top::TopDialect>()->weights(*module);
    store->set("w", filter);
    Tensor biases(DataType::F32, Shape{6});
    std::ranges::fill(biases.mutableData<float>(), bias);
    store->set("b", biases);
  }

  /// What calibration finds of the channels.
  void noteRanges() {
    module->walk([&](mlir::Operation *op) {
      if (op->getNumResults() == 0 || layerName(op) != "r")
        return;
      op->setAttr(kInputLowest, mlir::DenseF32ArrayAttr::get(&context, lowest));
      op->setAttr(kInputHighest, mlir::DenseF32ArrayAttr::get(&context, highest));
    });
  }

  /// The largest error of the result, in units of its scale.
  double error(const Chip &chip) {
    mlir::OwningOpRef<mlir::ModuleOp> lowered = lower(chip);
    double scale = 0;
    lowered->walk([&](tpu::CastOp cast) {
      if (layerName(cast) == "r")
        scale = tpu::quantizedType(cast.getInput()).getScale();
    });
    numScalings = 0;
    lowered->walk([&](mlir::Operation *op) {
      auto reason = op->getAttrOfType<mlir::StringAttr>("storage_reason");
      numScalings += reason && reason.getValue().contains("scales channels");
    });
    const Tensor wanted = run(*module, inputs, /*expressed=*/false).at("r");
    const Tensor found = run(*lowered, inputs, /*expressed=*/false).at("r");
    double most = 0;
    for (auto [a, b] : llvm::zip_equal(wanted.data<float>(), found.data<float>()))
      most = std::max(most, std::abs(double(a) - double(b)) / scale);
    return most;
  }

  std::vector<float> lowest = std::vector<float>(4, 1e9F);
  std::vector<float> highest = std::vector<float>(4, 0.0F);
  int numScalings = 0;
};

TEST_P(ChannelScales, LetNarrowChannelsUseAllIntegers) {
  const auto &[layer, chip] = GetParam();
  narrowLastChannel(layer, [](float x) { return x - 4; }, 0);
  EXPECT_GT(error(chip), 3);
  EXPECT_EQ(numScalings, 0);
  noteRanges();
  EXPECT_LT(error(chip), 2);
  EXPECT_GE(numScalings, 1);
}

TEST_P(ChannelScales, PutTheMiddleOfChannelsAtZero) {
  const auto &[layer, chip] = GetParam();
  narrowLastChannel(layer, [](float x) { return x / 64; }, -3);
  const double plain = error(chip);
  noteRanges();
  const double mapped = error(chip);
  if (std::string(layer.name).starts_with("Deconv")) {
    // Some of its outputs see fewer elements: no bias takes up what is added to them.
    EXPECT_LT(numScalings, 2);
    return;
  }
  EXPECT_GT(plain, 0.8);
  EXPECT_LT(mapped, 0.6);
  EXPECT_EQ(numScalings, 2);
}

TEST_P(ChannelScales, CostNothingWhereAllChannelsAreAlike) {
  const auto &[layer, chip] = GetParam();
  narrowLastChannel(layer, [](float x) { return x; }, 0);
  // The best that 8 bits can do; symmetric integers lose the negative half.
  std::ranges::fill(lowest, chip.asymmetric ? 0.0F : -*std::ranges::max_element(highest));
  std::ranges::fill(highest, *std::ranges::max_element(highest));
  noteRanges();
  error(chip);
  EXPECT_EQ(numScalings, 0);
}

class ChannelCovariances : public ChannelScales {};

TEST_P(ChannelCovariances, AreThoseOfTheScaledChannels) {
  // Scaled by 1, 8, 1 and 1, the filter is 3.4, 102.4, 0 and 127 for each of the outputs.
  const auto &[layer, chip] = GetParam();
  const Dims &dims = layer.weights[0];
  Tensor filter(DataType::F32, Shape(std::span(dims.data(), dims.size())));
  const std::vector<float> elements = {3.4F, 8 * 102.4F, 0, 127};
  const bool isTransposed = dims[1] == 4;
  for (size_t i = 0; i < filter.data<float>().size(); ++i)
    filter.mutableData<float>()[i] = elements[isTransposed ? i % 4 : i / 6];
  (*context.getLoadedDialect<top::TopDialect>()->weights(*module))->set("w", filter);
  lowest = {0, 0, 0, 0};
  highest = {8, 1, 8, 8};
  noteRanges();
  // Variances 2 and 3 and a covariance of 2 once the second channel is scaled: it is rounded first,
  // to 102, and what that takes away the first brings back. Unscaled, the second hardly varies.
  module->walk([&](mlir::Operation *op) {
    if (op->getNumResults() == 0 || layerName(op) != "r")
      return;
    const std::vector<float> means(4, 0);
    const std::vector<float> pairs = {2, 2.0F / 8, 3.0F / 64, 0, 0, 0, 0, 0, 0, 0};
    op->setAttr(kInputMeans, mlir::DenseF32ArrayAttr::get(&context, means));
    op->setAttr(kInputCovariances, mlir::DenseF32ArrayAttr::get(&context, pairs));
  });
  const std::vector<int8_t> found = constantOf<int8_t>(*lower(chip), "r_filter_i8");
  ASSERT_EQ(found.size(), 24U);
  const std::vector<int8_t> expected = {4, 102, 0, 127};
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], expected[isTransposed ? i % 4 : i / 6]) << "element " << i;
}

/// The products of productsOfFloats with one tap.
std::vector<Layer> productsOfOneTap() {
  std::vector<Layer> layers = productsOfFloats();
  std::erase_if(layers, [](const Layer &layer) {
    return !std::string_view(layer.name).starts_with("MatMul");
  });
  return layers;
}

INSTANTIATE_TEST_SUITE_P(Products, ChannelCovariances,
                         testing::Combine(testing::ValuesIn(productsOfOneTap()),
                                          testing::Values(Chip{"bm1684x", false, 1},
                                                          Chip{"bm1684x", true, 1})),
                         nameOf);

INSTANTIATE_TEST_SUITE_P(Products, ChannelScales,
                         testing::Combine(testing::ValuesIn(productsOfFloats()),
                                          testing::Values(Chip{"bm1684x", false, 1},
                                                          Chip{"bm1684x", true, 1})),
                         nameOf);

} // namespace
