//===- ConvertElementwise.cpp - Ops on each element by itself -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Frontend/TFLite/TFLiteLayer.h"
#include "tpuc/Support/Convert.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;
using fb::ActivationFunction;
using fb::BuiltinOperator;

namespace {

Layout layoutOfInput(TFLiteLayer &layer) { return layer.layoutOf({0}); }

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

template <typename Op> void unary(TFLiteLayer &layer) {
  Layout layout = layoutOfInput(layer);
  layer.put<Op>(layout, layer.in(0, layout));
}

void relu(TFLiteLayer &layer, double low, std::optional<double> high) {
  Layout layout = layoutOfInput(layer);
  if (low == 0)
    layer.put<top::ReluOp>(layout, layer.in(0, layout), layer.attrs().setFloat("relu_limit", high));
  else
    layer.put<top::ClipOp>(layout, layer.in(0, layout),
                           layer.attrs().setFloat("min", low).setFloat("max", high));
}

void plainRelu(TFLiteLayer &layer) { relu(layer, 0, std::nullopt); }
void relu6(TFLiteLayer &layer) { relu(layer, 0, 6); }
void reluN1To1(TFLiteLayer &layer) { relu(layer, -1, 1); }
void relu0To1(TFLiteLayer &layer) { relu(layer, 0, 1); }

void leakyRelu(TFLiteLayer &layer) {
  Layout layout = layoutOfInput(layer);
  layer.put<top::LeakyReluOp>(
      layout, layer.in(0, layout),
      layer.attrs().setFloat("alpha", layer.options<fb::LeakyReluOptions>().alpha()));
}

void elu(TFLiteLayer &layer) {
  Layout layout = layoutOfInput(layer);
  layer.put<top::EluOp>(layout, layer.in(0, layout), layer.attrs().setFloat("alpha", 1.0));
}

void gelu(TFLiteLayer &layer) {
  Layout layout = layoutOfInput(layer);
  bool approximate = layer.options<fb::GeluOptions>().approximate();
  layer.put<top::GELUOp>(layout, layer.in(0, layout),
                         layer.attrs().setString("approx_mode", approximate ? "tanh" : "none"));
}

void square(TFLiteLayer &layer) {
  Layout layout = layoutOfInput(layer);
  Value value = layer.in(0, layout);
  layer.put<top::MulOp>(layout, {value, value});
}

void castOp(TFLiteLayer &layer) {
  std::optional<DataType> type = dataTypeOf(layer.output(0).type);
  if (!type)
    return layer.fail(fmt::format("makes elements of {}", typeName(layer.output(0).type)),
                      "numbers");
  Layout layout = layoutOfInput(layer);
  layer.put<top::CastOp>(layout, layer.in(0, layout),
                         layer.attrs().setType("to", elementType(layer.context(), *type)));
}

/// What the elements stand for: the value layer makes floats of 16-bit ones and of integers.
void dequantize(TFLiteLayer &layer) {
  Layout layout = layoutOfInput(layer);
  Type wanted = Float32Type::get(layer.context());
  std::optional<Tensor> known = layer.has(0) ? layer.constant(0) : std::nullopt;
  if (known)
    return layer.emitConstant(convert(*known, DataType::F32));
  Value value = layer.in(0, layout);
  if (TFLiteLayer::elementType(value) != wanted)
    layer.put<top::CastOp>(layout, value, layer.attrs().setType("to", wanted));
  else
    layer.put<top::CopyOp>(layout, value);
}

/// The value layer makes the integers.
void quantize(TFLiteLayer &layer) {
  if (!layer.output(0).quantization)
    return layer.fail("makes a tensor without a scale", "a scale and a zero point");
  Layout layout = layoutOfInput(layer);
  layer.bindAs(0, layout, layer.in(0, layout));
}

/// The range moved so that 0 is one of its 2^bits numbers, then the number nearest to each element.
void fakeQuant(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::FakeQuantOptions>();
  if (options.num_bits() < 2 || options.num_bits() > 16)
    return layer.fail(fmt::format("has {} bits", options.num_bits()), "2 to 16");
  const float low = options.min();
  const float high = options.max();
  if (!(low <= 0) || !(high >= 0) || low == high)
    return layer.fail(fmt::format("has the range {} to {}", low, high), "a range around 0");
  const float first = options.narrow_range() ? 1.0F : 0.0F;
  const auto last = static_cast<float>((1 << options.num_bits()) - 1);
  const float scale = (high - low) / (last - first);
  const float zero = std::clamp(std::round(first - low / scale), first, last);
  const float from = (first - zero) * scale;
  const float to = (last - zero) * scale;
  Layout layout = layoutOfInput(layer);
  Value value = layer.temp<top::ClipOp>("limited", layer.in(0, layout),
                                        layer.attrs().setFloat("min", from).setFloat("max", to));
  auto step = [&]<typename Op>(StringRef suffix, double number) {
    value = layer.temp<Op>(suffix, value, layer.attrs().setFloat("const_val", number));
  };
  step.operator()<top::SubConstOp>("above", from);
  step.operator()<top::MulConstOp>("steps", 1.0F / scale);
  step.operator()<top::AddConstOp>("half", 0.5);
  value = layer.temp<top::FloorOp>("whole", value);
  step.operator()<top::MulConstOp>("scaled", scale);
  layer.put<top::AddConstOp>(layout, value, layer.attrs().setFloat("const_val", from));
}

void zerosLike(TFLiteLayer &layer) {
  Layout layout = layoutOfInput(layer);
  Value value = layer.in(0, layout);
  layer.put<top::SubOp>(layout, {value, value});
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

/// The layout of a broadcast result, and operands 0 to `count` - 1 in it.
std::pair<Layout, SmallVector<Value>> broadcast(TFLiteLayer &layer, unsigned count) {
  SmallVector<unsigned> indices;
  int64_t rank = 0;
  for (unsigned index = 0; index < count; ++index) {
    indices.push_back(index);
    rank = std::max(rank, layer.inputRank(index));
  }
  Layout layout = layer.layoutOf(indices);
  SmallVector<Value> values;
  for (unsigned index : indices)
    values.push_back(layer.broadcastable(index, layout, rank));
  return {layout, values};
}

template <typename Op, typename Options> void arithmetic(TFLiteLayer &layer) {
  auto [layout, values] = broadcast(layer, 2);
  ActivationFunction activation = layer.options<Options>().fused_activation_function();
  layer.putActivated<Op>(layout, activation, values, layer.attrs());
}

template <typename Op> void binary(TFLiteLayer &layer) {
  auto [layout, values] = broadcast(layer, 2);
  layer.put<Op>(layout, values);
}

void addN(TFLiteLayer &layer) {
  auto [layout, values] = broadcast(layer, layer.numInputs());
  layer.put<top::AddOp>(layout, values);
}

/// Floats: the floor of the quotient. Integers: (a - a mod b) / b, whose division leaves no rest.
void floorDiv(TFLiteLayer &layer) {
  auto [layout, values] = broadcast(layer, 2);
  if (layer.failed())
    return;
  if (isa<FloatType>(TFLiteLayer::elementType(values[0]))) {
    layer.put<top::FloorOp>(layout, layer.temp<top::DivOp>("quotient", values));
    return;
  }
  Value rest = layer.temp<top::ModOp>("rest", values);
  Value whole = layer.temp<top::SubOp>("whole", {values[0], rest});
  layer.put<top::DivOp>(layout, {whole, values[1]});
}

void squaredDifference(TFLiteLayer &layer) {
  auto [layout, values] = broadcast(layer, 2);
  Value difference = layer.temp<top::SubOp>("difference", values);
  layer.put<top::MulOp>(layout, {difference, difference});
}

template <size_t N> struct Mode {
  char text[N];
  constexpr Mode(const char (&from)[N]) { std::copy_n(from, N, text); }
};

template <typename Op, Mode mode> void withMode(TFLiteLayer &layer) {
  auto [layout, values] = broadcast(layer, 2);
  layer.put<Op>(layout, values, layer.attrs().setString("mode", mode.text));
}

void rightShift(TFLiteLayer &layer) {
  auto [layout, values] = broadcast(layer, 2);
  layer.put<top::BitShiftOp>(layout, values, layer.attrs().setString("direction", "RIGHT"));
}

/// Of three operands; SELECT's condition of rank 1 chooses rows.
void select(TFLiteLayer &layer) {
  const bool rows = layer.source().code == BuiltinOperator::SELECT && layer.inputRank(0) == 1 &&
                    layer.inputRank(1) > 1;
  if (!rows) {
    auto [layout, values] = broadcast(layer, 3);
    layer.put<top::WhereOp>(layout, values);
    return;
  }
  Ints dims(static_cast<size_t>(layer.inputRank(1)), 1);
  dims[0] = layer.shape(0)[0];
  layer.put<top::WhereOp>(Layout::Source,
                          {layer.reshaped("rows", layer.in(0), dims), layer.in(1), layer.in(2)});
}

void prelu(TFLiteLayer &layer) { binary<top::PReluOp>(layer); }

void shiftLeft(TFLiteLayer &layer) {
  auto [layout, values] = broadcast(layer, 2);
  layer.put<top::BitShiftOp>(layout, values, layer.attrs().setString("direction", "LEFT"));
}

/// The angle of the point (x, y), y being input 0, as the C library has it: that of (|x|, y),
/// mirrored where the sign of x is set. Zeros have signs, and infinite points lie on the diagonal.
void atan2(TFLiteLayer &layer) {
  auto [layout, values] = broadcast(layer, 2);
  Value y = values[0];
  const auto number = [&](StringRef suffix, double value) {
    return layer.filled(suffix, {}, static_cast<float>(value));
  };
  // A comparison of floats does not tell -0 from 0.
  const auto hasSign = [&](StringRef suffix, Value value) {
    const Type bits = elementType(layer.context(), DataType::I32);
    Value integer = layer.temp<top::BitCastOp>((suffix + "_bits").str(), value,
                                               layer.attrs().setType("to", bits));
    Value zero = layer.weight((suffix + "_zero").str(), Tensor::of<int32_t>({}, {0}));
    return layer.temp<top::CompareOp>(suffix, {integer, zero},
                                      layer.attrs().setString("mode", "Less"));
  };
  const auto areEqual = [&](StringRef suffix, Value left, Value right) {
    return layer.temp<top::CompareOp>(suffix, {left, right},
                                      layer.attrs().setString("mode", "Equal"));
  };
  Value width = layer.temp<top::AbsOp>("width", values[1]);
  Value isBelow = hasSign("below", y);
  // Where both are 0 or infinite, there is no slope.
  Value slope = layer.temp<top::ArctanOp>("arc", layer.temp<top::DivOp>("slope", {y, width}));
  Value eighth = layer.temp<top::WhereOp>(
      "eighth", {isBelow, number("minus_eighth", -M_PI / 4), number("plus_eighth", M_PI / 4)});
  Value diagonal =
      layer.temp<top::WhereOp>("diagonal", {areEqual("level", y, number("zero", 0)), y, eighth});
  Value angle = layer.temp<top::WhereOp>(
      "angle", {areEqual("square", layer.temp<top::AbsOp>("height", y), width), diagonal, slope});
  Value half = layer.temp<top::WhereOp>(
      "half", {isBelow, number("minus_half", -M_PI), number("plus_half", M_PI)});
  Value mirrored = layer.temp<top::SubOp>("mirrored", {half, angle});
  layer.put<top::WhereOp>(layout, {hasSign("left", values[1]), mirrored, angle});
}

/// The bits of each element as another type of as many.
void bitcast(TFLiteLayer &layer) {
  std::optional<DataType> from = dataTypeOf(layer.inputType(0));
  std::optional<DataType> to = dataTypeOf(layer.output(0).type);
  if (!from || !to || bitWidth(*from) != bitWidth(*to))
    return layer.fail(
        fmt::format("makes {} of {}", typeName(layer.output(0).type), typeName(layer.inputType(0))),
        "elements of as many bits");
  Layout layout = layoutOfInput(layer);
  layer.put<top::BitCastOp>(layout, layer.in(0, layout),
                            layer.attrs().setType("to", elementType(layer.context(), *to)));
}

/// How many of the boundaries are not above each element.
void bucketize(TFLiteLayer &layer) {
  const auto *stated = layer.options<fb::BucketizeOptions>().boundaries();
  const std::vector<float> boundaries =
      stated ? std::vector<float>(stated->begin(), stated->end()) : std::vector<float>();
  if (!std::ranges::is_sorted(boundaries))
    return layer.fail("has boundaries that are not in order", "ascending ones");
  const int64_t rank = layer.inputRank(0);
  if (layer.failed())
    return;
  Value column = layer.temp<top::UnsqueezeOp>(
      "column", {layer.cast("number", layer.in(0), DataType::F32), layer.none()},
      layer.attrs().setInts("axes", Ints{rank}));
  const auto count = static_cast<int64_t>(boundaries.size());
  Value row = layer.weight("boundaries", Tensor::of<float>({count}, boundaries));
  Value isBelow = layer.temp<top::CompareOp>("below", {column, row},
                                             layer.attrs().setString("mode", "GreaterOrEqual"));
  layer.emit<top::ReduceOp>({layer.cast("ones", isBelow, DataType::I32), layer.none()},
                            layer.attrs()
                                .setString("mode", "ReduceSum")
                                .setInts("axes", Ints{rank})
                                .setBool("keepdims", false));
}

/// The cube root: that of the size, with the sign.
void cubeRoot(TFLiteLayer &layer) {
  Layout layout = layoutOfInput(layer);
  Value value = layer.in(0, layout);
  Value size = layer.temp<top::PowConstOp>("root", layer.temp<top::AbsOp>("size", value),
                                           layer.attrs().setFloat("const_val", 1.0 / 3));
  layer.put<top::MulOp>(layout, {size, layer.temp<top::SignOp>("sign", value)});
}

constexpr OpRow kElementwiseRows[] = {
    {BuiltinOperator::ABS, 1, 1, unary<top::AbsOp>, "Abs"},
    {BuiltinOperator::ADD, 2, 2, arithmetic<top::AddOp, fb::AddOptions>, "Add"},
    {BuiltinOperator::ADD_N, 1, -1, addN, "Add"},
    {BuiltinOperator::ATAN2, 2, 2, atan2, "BitCast, Div, Arctan, Where"},
    {BuiltinOperator::BITCAST, 1, 1, bitcast, "BitCast"},
    {BuiltinOperator::BITWISE_XOR, 2, 2, withMode<top::BitwiseBinaryOp, "Xor">, "BitwiseBinary"},
    {BuiltinOperator::BUCKETIZE, 1, 1, bucketize, "Compare, Cast, Reduce"},
    {BuiltinOperator::CAST, 1, 1, castOp, "Cast"},
    {BuiltinOperator::CEIL, 1, 1, unary<top::CeilOp>, "Ceil"},
    {BuiltinOperator::COS, 1, 1, unary<top::CosOp>, "Cos"},
    {BuiltinOperator::DEQUANTIZE, 1, 1, dequantize, "DequantizeLinear, Cast"},
    {BuiltinOperator::DIV, 2, 2, arithmetic<top::DivOp, fb::DivOptions>, "Div"},
    {BuiltinOperator::ELU, 1, 1, elu, "Elu"},
    {BuiltinOperator::EQUAL, 2, 2, withMode<top::CompareOp, "Equal">, "Compare"},
    {BuiltinOperator::EXP, 1, 1, unary<top::ExpOp>, "Exp"},
    {BuiltinOperator::FAKE_QUANT, 1, 1, fakeQuant, "Clip, Floor and arithmetic"},
    {BuiltinOperator::FLOOR, 1, 1, unary<top::FloorOp>, "Floor"},
    {BuiltinOperator::FLOOR_DIV, 2, 2, floorDiv, "Div, Floor; Mod, Sub, Div of integers"},
    {BuiltinOperator::FLOOR_MOD, 2, 2, binary<top::ModOp>, "Mod"},
    {BuiltinOperator::GELU, 1, 1, gelu, "GELU"},
    {BuiltinOperator::GREATER, 2, 2, withMode<top::CompareOp, "Greater">, "Compare"},
    {BuiltinOperator::GREATER_EQUAL, 2, 2, withMode<top::CompareOp, "GreaterOrEqual">, "Compare"},
    {BuiltinOperator::HARD_SWISH, 1, 1, unary<top::HardSwishOp>, "HardSwish"},
    {BuiltinOperator::LEAKY_RELU, 1, 1, leakyRelu, "LeakyRelu"},
    {BuiltinOperator::LESS, 2, 2, withMode<top::CompareOp, "Less">, "Compare"},
    {BuiltinOperator::LESS_EQUAL, 2, 2, withMode<top::CompareOp, "LessOrEqual">, "Compare"},
    {BuiltinOperator::LOG, 1, 1, unary<top::LogOp>, "Log"},
    {BuiltinOperator::LOGICAL_AND, 2, 2, withMode<top::LogicalBinaryOp, "And">, "LogicalBinary"},
    {BuiltinOperator::LOGICAL_NOT, 1, 1, unary<top::LogicalNotOp>, "LogicalNot"},
    {BuiltinOperator::LOGICAL_OR, 2, 2, withMode<top::LogicalBinaryOp, "Or">, "LogicalBinary"},
    {BuiltinOperator::LOGISTIC, 1, 1, unary<top::SigmoidOp>, "Sigmoid"},
    {BuiltinOperator::MAXIMUM, 2, 2, binary<top::MaxOp>, "Max"},
    {BuiltinOperator::MINIMUM, 2, 2, binary<top::MinOp>, "Min"},
    {BuiltinOperator::MUL, 2, 2, arithmetic<top::MulOp, fb::MulOptions>, "Mul"},
    {BuiltinOperator::NEG, 1, 1, unary<top::NegOp>, "Neg"},
    {BuiltinOperator::NOT_EQUAL, 2, 2, withMode<top::CompareOp, "NotEqual">, "Compare"},
    {BuiltinOperator::POW, 2, 2, binary<top::PowOp>, "Pow"},
    {BuiltinOperator::PRELU, 2, 2, prelu, "PRelu"},
    {BuiltinOperator::QUANTIZE, 1, 1, quantize, "QuantizeLinear"},
    {BuiltinOperator::RELU, 1, 1, plainRelu, "Relu"},
    {BuiltinOperator::RELU6, 1, 1, relu6, "Relu"},
    {BuiltinOperator::RELU_0_TO_1, 1, 1, relu0To1, "Relu"},
    {BuiltinOperator::RELU_N1_TO_1, 1, 1, reluN1To1, "Clip"},
    {BuiltinOperator::RIGHT_SHIFT, 2, 2, rightShift, "BitShift"},
    {BuiltinOperator::ROUND, 1, 1, unary<top::RoundOp>, "Round"},
    {BuiltinOperator::RSQRT, 1, 1, unary<top::RsqrtOp>, "Rsqrt"},
    {BuiltinOperator::SELECT, 3, 3, select, "Where"},
    {BuiltinOperator::SELECT_V2, 3, 3, select, "Where"},
    {BuiltinOperator::SIGN, 1, 1, unary<top::SignOp>, "Sign"},
    {BuiltinOperator::SIN, 1, 1, unary<top::SinOp>, "Sin"},
    {BuiltinOperator::SQRT, 1, 1, unary<top::SqrtOp>, "Sqrt"},
    {BuiltinOperator::SQUARE, 1, 1, square, "Mul"},
    {BuiltinOperator::SQUARED_DIFFERENCE, 2, 2, squaredDifference, "Sub, Mul"},
    {BuiltinOperator::STABLEHLO_ADD, 2, 2, binary<top::AddOp>, "Add"},
    {BuiltinOperator::STABLEHLO_CBRT, 1, 1, cubeRoot, "Abs, PowConst, Sign, Mul"},
    {BuiltinOperator::STABLEHLO_MAXIMUM, 2, 2, binary<top::MaxOp>, "Max"},
    {BuiltinOperator::STABLEHLO_MINIMUM, 2, 2, binary<top::MinOp>, "Min"},
    {BuiltinOperator::STABLEHLO_MULTIPLY, 2, 2, binary<top::MulOp>, "Mul"},
    {BuiltinOperator::STABLEHLO_SHIFT_LEFT, 2, 2, shiftLeft, "BitShift"},
    {BuiltinOperator::SUB, 2, 2, arithmetic<top::SubOp, fb::SubOptions>, "Sub"},
    {BuiltinOperator::TANH, 1, 1, unary<top::TanhOp>, "Tanh"},
    {BuiltinOperator::ZEROS_LIKE, 1, 1, zerosLike, "Sub"},
};

} // namespace

ArrayRef<OpRow> tpuc::tflite::elementwiseRows() { return kElementwiseRows; }
