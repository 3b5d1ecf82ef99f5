//===- ConvertElementwise.cpp - Ops that work element by element ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

/// The attribute of opset 1 about memory that may be overwritten.
constexpr StringRef kOldAttribute = "consumed_inputs";

template <typename Op> void unary(NodeBuilder &node) {
  node.ignore({kOldAttribute});
  node.emit<Op>(node.in(0));
}

template <typename Op, int alphaPercent> void withAlpha(NodeBuilder &node) {
  node.ignore({kOldAttribute});
  node.emit<Op>(node.in(0),
                node.attrs().setFloat("alpha", node.getFloat("alpha", alphaPercent / 100.0)));
}

void selu(NodeBuilder &node) {
  node.ignore({kOldAttribute});
  // The digits of the first version were fewer.
  bool old = node.opset() < 6;
  node.emit<top::SeluOp>(
      node.in(0),
      node.attrs()
          .setFloat("alpha", node.getFloat("alpha", old ? 1.6732 : 1.67326319217681884765625))
          .setFloat("gamma", node.getFloat("gamma", old ? 1.0507 : 1.05070102214813232421875)));
}

void hardSigmoid(NodeBuilder &node) {
  node.ignore({kOldAttribute});
  node.emit<top::HardSigmoidOp>(node.in(0), node.attrs()
                                                .setFloat("alpha", node.getFloat("alpha", 0.2))
                                                .setFloat("beta", node.getFloat("beta", 0.5)));
}

void shrink(NodeBuilder &node) {
  node.emit<top::ShrinkOp>(node.in(0), node.attrs()
                                           .setFloat("bias", node.getFloat("bias", 0.0))
                                           .setFloat("lambd", node.getFloat("lambd", 0.5)));
}

void gelu(NodeBuilder &node) {
  node.emit<top::GELUOp>(
      node.in(0), node.attrs().setString("approx_mode",
                                         node.getChoice("approximate", "none", {"none", "tanh"})));
}

void swish(NodeBuilder &node) {
  node.emit<top::SwishOp>(node.in(0), node.attrs().setFloat("beta", node.getFloat("alpha", 1.0)));
}

void isInf(NodeBuilder &node) {
  node.emit<top::IsInfOp>(node.in(0),
                          node.attrs()
                              .setBool("detect_negative", node.getInt("detect_negative", 1) != 0)
                              .setBool("detect_positive", node.getInt("detect_positive", 1) != 0));
}

/// The second operand as the broadcasting of today takes it: before opset 7, attribute `axis` said
/// at which dimension of the first it begins.
Value secondOperand(NodeBuilder &node) {
  Value second = node.in(1);
  if (node.opset() >= 7)
    return second;
  node.ignore({kOldAttribute});
  bool broadcasts = node.getInt("broadcast", 0) != 0;
  if (!node.hasAttribute("axis") || !broadcasts)
    return second;
  int64_t rank = node.needRank(0, "attribute 'axis'");
  int64_t inner = node.needRank(1, "attribute 'axis'");
  int64_t axis = node.getInt("axis", 0);
  axis += axis < 0 ? rank : 0;
  int64_t behind = rank - axis - inner;
  if (axis < 0 || behind < 0)
    node.fail(fmt::format("axis {} does not fit operands of rank {} and {}", axis, rank, inner));
  if (node.failed() || behind == 0)
    return second;
  Ints axes(static_cast<size_t>(behind));
  std::iota(axes.begin(), axes.end(), inner);
  return node.temp<top::UnsqueezeOp>("aligned", {second, node.none()},
                                     node.attrs().setInts("axes", axes));
}

template <typename Op> void binary(NodeBuilder &node) {
  Value second = secondOperand(node);
  node.emit<Op>({node.in(0), second});
}

/// Comparisons and logical ops: the dialect's mode is the name of the ONNX op.
template <typename Op> void binaryMode(NodeBuilder &node) {
  Value second = secondOperand(node);
  node.emit<Op>({node.in(0), second}, node.attrs().setString("mode", opName(node)));
}

void bitwise(NodeBuilder &node) {
  StringRef name = opName(node);
  name.consume_front("Bitwise");
  node.emit<top::BitwiseBinaryOp>({node.in(0), node.in(1)}, node.attrs().setString("mode", name));
}

template <typename Op> void variadic(NodeBuilder &node) {
  node.ignore({kOldAttribute});
  node.emit<Op>(node.inputsFrom(0));
}

void mod(NodeBuilder &node) {
  node.emit<top::ModOp>({node.in(0), node.in(1)},
                        node.attrs().setBool("fmod", node.getInt("fmod", 0) != 0));
}

void bitShift(NodeBuilder &node) {
  node.emit<top::BitShiftOp>(
      {node.in(0), node.in(1)},
      node.attrs().setString("direction", node.getChoice("direction", "", {"LEFT", "RIGHT"})));
}

void where(NodeBuilder &node) { node.emit<top::WhereOp>({node.in(0), node.in(1), node.in(2)}); }

void prelu(NodeBuilder &node) {
  node.ignore({kOldAttribute});
  Value slope = node.in(1);
  // Before opset 7 a vector was one slope per channel, dimension 1.
  std::optional<Ints> dims = NodeBuilder::dims(slope);
  if (node.opset() < 7 && dims && dims->size() == 1 && (*dims)[0] != 1) {
    int64_t rank = node.needRank(0, "PRelu");
    Ints axes;
    for (int64_t axis = 1; axis + 1 < rank; ++axis)
      axes.push_back(axis);
    if (!axes.empty())
      slope = node.temp<top::UnsqueezeOp>("slope", {slope, node.none()},
                                          node.attrs().setInts("axes", axes));
  }
  node.emit<top::PReluOp>({node.in(0), slope});
}

void emitClip(NodeBuilder &node, double low, double high) {
  node.emit<top::ClipOp>(node.in(0), node.attrs().setFloat("min", low).setFloat("max", high));
}

void clipAttributes(NodeBuilder &node) {
  node.ignore({kOldAttribute});
  constexpr double kLargest = std::numeric_limits<float>::max();
  double low = node.getFloat("min", -kLargest);
  emitClip(node, low, node.getFloat("max", kLargest));
}

void clip(NodeBuilder &node) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::optional<double> low = node.has(1) ? node.constantFloat(1) : -kInfinity;
  std::optional<double> high = node.has(2) ? node.constantFloat(2) : kInfinity;
  // Limits of integers keep their digits as tensors.
  if (low && high && isa<FloatType>(NodeBuilder::elementType(node.in(0))))
    return emitClip(node, *low, *high);
  node.emit<top::ClipTensorOp>({node.in(0), node.in(1), node.in(2)});
}

/// The types of the first version, by name.
std::optional<DataType> typeByName(StringRef name) {
  return llvm::StringSwitch<std::optional<DataType>>(name)
      .Case("FLOAT", DataType::F32)
      .Case("FLOAT16", DataType::F16)
      .Case("DOUBLE", DataType::F64)
      .Case("INT8", DataType::I8)
      .Case("INT16", DataType::I16)
      .Case("INT32", DataType::I32)
      .Case("INT64", DataType::I64)
      .Case("UINT8", DataType::U8)
      .Case("UINT16", DataType::U16)
      .Case("UINT32", DataType::U32)
      .Case("UINT64", DataType::U64)
      .Case("BOOL", DataType::Bool)
      .Default(std::nullopt);
}

void emitCast(NodeBuilder &node, Type to) {
  // How f8E8M0 is rounded to, a type that there is not here.
  node.ignore({"round_mode"});
  node.emit<top::CastOp>(node.in(0), node.attrs().setType("to", to).setBool(
                                         "saturate", node.getInt("saturate", 1) != 0));
}

void castByName(NodeBuilder &node) {
  std::string name = node.getString("to", "");
  std::optional<DataType> type = typeByName(name);
  if (!type)
    return node.fail("attribute 'to' is '" + name + "'", "FLOAT, INT64, BOOL, ...");
  emitCast(node, elementType(node.context(), *type));
}

void cast(NodeBuilder &node) {
  if (!node.hasAttribute("to"))
    return node.fail("attribute 'to' is missing");
  emitCast(node, node.getType("to", {}));
}

void castLike(NodeBuilder &node) { emitCast(node, NodeBuilder::elementType(node.in(1))); }

void bitCast(NodeBuilder &node) {
  if (!node.hasAttribute("to"))
    return node.fail("attribute 'to' is missing");
  node.emit<top::BitCastOp>(node.in(0), node.attrs().setType("to", node.getType("to", {})));
}

/// Nothing is dropped in inference: the input, and a mask that keeps all of it.
void dropout(NodeBuilder &node) {
  node.ignore({kOldAttribute, "seed", "ratio"});
  bool trains = node.opset() < 7 && node.getInt("is_test", 0) == 0 && node.wants(1);
  if (node.opset() >= 12 && node.has(2)) {
    std::optional<double> flag = node.constantFloat(2);
    double ratio = node.has(1) ? node.constantFloat(1).value_or(1.0) : 0.5;
    trains = (!flag || *flag != 0) && ratio != 0;
  }
  if (trains)
    return node.fail("drops elements at random, in training mode", "inference");
  node.emit<top::CopyOp>(node.in(0));
  if (!node.wants(1))
    return;
  Type type = node.opset() < 10 ? NodeBuilder::elementType(node.in(0))
                                : Type(IntegerType::get(node.context(), 1));
  TypedAttr one = isa<FloatType>(type) ? TypedAttr(FloatAttr::get(type, 1.0))
                                       : TypedAttr(IntegerAttr::get(type, 1));
  Value shape = node.temp<top::ShapeOp>("shape", node.in(0));
  node.emitAs<top::ConstantFillOp>(1, shape, node.attrs().set("value", one));
}

constexpr OpRow kElementwiseRows[] = {
    {"Abs", 1, 1, 1, unary<top::AbsOp>, "Abs"},
    {"Acos", 7, 1, 1, unary<top::ArccosOp>, "Arccos"},
    {"Acosh", 9, 1, 1, unary<top::ArccoshOp>, "Arccosh"},
    {"Add", 1, 2, 2, binary<top::AddOp>, "Add"},
    {"And", 1, 2, 2, binaryMode<top::LogicalBinaryOp>, "LogicalBinary"},
    {"Asin", 7, 1, 1, unary<top::ArcsinOp>, "Arcsin"},
    {"Asinh", 9, 1, 1, unary<top::ArcsinhOp>, "Arcsinh"},
    {"Atan", 7, 1, 1, unary<top::ArctanOp>, "Arctan"},
    {"Atanh", 9, 1, 1, unary<top::ArctanhOp>, "Arctanh"},
    {"BitCast", 26, 1, 1, bitCast, "BitCast"},
    {"BitShift", 11, 2, 2, bitShift, "BitShift"},
    {"BitwiseAnd", 18, 2, 2, bitwise, "BitwiseBinary"},
    {"BitwiseNot", 18, 1, 1, unary<top::BitwiseNotOp>, "BitwiseNot"},
    {"BitwiseOr", 18, 2, 2, bitwise, "BitwiseBinary"},
    {"BitwiseXor", 18, 2, 2, bitwise, "BitwiseBinary"},
    {"Cast", 1, 1, 1, castByName, "Cast"},
    {"Cast", 6, 1, 1, cast, "Cast"},
    {"CastLike", 15, 2, 2, castLike, "Cast"},
    {"Ceil", 1, 1, 1, unary<top::CeilOp>, "Ceil"},
    {"Celu", 12, 1, 1, withAlpha<top::CeluOp, 100>, "Celu"},
    {"Clip", 1, 1, 1, clipAttributes, "Clip"},
    {"Clip", 11, 1, 3, clip, "Clip, ClipTensor"},
    {"Cos", 7, 1, 1, unary<top::CosOp>, "Cos"},
    {"Cosh", 9, 1, 1, unary<top::CoshOp>, "Cosh"},
    {"Det", 11, 1, 1, unary<top::DetOp>, "Det"},
    {"Div", 1, 2, 2, binary<top::DivOp>, "Div"},
    {"Dropout", 1, 1, 3, dropout, "Copy, Shape, ConstantFill"},
    {"Elu", 1, 1, 1, withAlpha<top::EluOp, 100>, "Elu"},
    {"Equal", 1, 2, 2, binaryMode<top::CompareOp>, "Compare"},
    {"Erf", 9, 1, 1, unary<top::ErfOp>, "Erf"},
    {"Exp", 1, 1, 1, unary<top::ExpOp>, "Exp"},
    {"Floor", 1, 1, 1, unary<top::FloorOp>, "Floor"},
    {"Gelu", 20, 1, 1, gelu, "GELU"},
    {"Greater", 1, 2, 2, binaryMode<top::CompareOp>, "Compare"},
    {"GreaterOrEqual", 12, 2, 2, binaryMode<top::CompareOp>, "Compare"},
    {"HardSigmoid", 1, 1, 1, hardSigmoid, "HardSigmoid"},
    {"HardSwish", 14, 1, 1, unary<top::HardSwishOp>, "HardSwish"},
    {"Identity", 1, 1, 1, unary<top::CopyOp>, "Copy"},
    {"IsInf", 10, 1, 1, isInf, "IsInf"},
    {"IsNaN", 9, 1, 1, unary<top::IsNaNOp>, "IsNaN"},
    {"LeakyRelu", 1, 1, 1, withAlpha<top::LeakyReluOp, 1>, "LeakyRelu"},
    {"Less", 1, 2, 2, binaryMode<top::CompareOp>, "Compare"},
    {"LessOrEqual", 12, 2, 2, binaryMode<top::CompareOp>, "Compare"},
    {"Log", 1, 1, 1, unary<top::LogOp>, "Log"},
    {"Max", 1, 1, -1, variadic<top::MaxOp>, "Max"},
    {"Mean", 1, 1, -1, variadic<top::MeanOp>, "Mean"},
    {"Min", 1, 1, -1, variadic<top::MinOp>, "Min"},
    {"Mish", 18, 1, 1, unary<top::MishOp>, "Mish"},
    {"Mod", 10, 2, 2, mod, "Mod"},
    {"Mul", 1, 2, 2, binary<top::MulOp>, "Mul"},
    {"Neg", 1, 1, 1, unary<top::NegOp>, "Neg"},
    {"Not", 1, 1, 1, unary<top::LogicalNotOp>, "LogicalNot"},
    {"Or", 1, 2, 2, binaryMode<top::LogicalBinaryOp>, "LogicalBinary"},
    {"PRelu", 1, 2, 2, prelu, "PRelu"},
    {"Pow", 1, 2, 2, binary<top::PowOp>, "Pow"},
    {"Reciprocal", 1, 1, 1, unary<top::ReciprocalOp>, "Reciprocal"},
    {"Relu", 1, 1, 1, unary<top::ReluOp>, "Relu"},
    {"Round", 11, 1, 1, unary<top::RoundOp>, "Round"},
    {"Selu", 1, 1, 1, selu, "Selu"},
    {"Shrink", 9, 1, 1, shrink, "Shrink"},
    {"Sigmoid", 1, 1, 1, unary<top::SigmoidOp>, "Sigmoid"},
    {"Sign", 9, 1, 1, unary<top::SignOp>, "Sign"},
    {"Sin", 7, 1, 1, unary<top::SinOp>, "Sin"},
    {"Sinh", 9, 1, 1, unary<top::SinhOp>, "Sinh"},
    {"Softplus", 1, 1, 1, unary<top::SoftplusOp>, "Softplus"},
    {"Softsign", 1, 1, 1, unary<top::SoftsignOp>, "Softsign"},
    {"Sqrt", 1, 1, 1, unary<top::SqrtOp>, "Sqrt"},
    {"Sub", 1, 2, 2, binary<top::SubOp>, "Sub"},
    {"Sum", 1, 1, -1, variadic<top::AddOp>, "Add"},
    {"Swish", 24, 1, 1, swish, "Swish"},
    {"Tan", 7, 1, 1, unary<top::TanOp>, "Tan"},
    {"Tanh", 1, 1, 1, unary<top::TanhOp>, "Tanh"},
    {"ThresholdedRelu", 10, 1, 1, withAlpha<top::ThresholdedReluOp, 100>, "ThresholdedRelu"},
    {"Where", 9, 3, 3, where, "Where"},
    {"Xor", 1, 2, 2, binaryMode<top::LogicalBinaryOp>, "LogicalBinary"},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::elementwiseRows() { return kElementwiseRows; }
