//===- Binary.cpp - What ops on two tensors and comparisons compute -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Binary.h"
#include "tpuc/Interpreter/Kernels/Elementwise.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"

#include <algorithm>
#include <cmath>

using namespace tpuc;
using namespace tpuc::ops;
using kernels::BinaryOp;
using kernels::BinaryParams;

/// Room for the result that the operands, broadcast, give in `type`.
static Expected<Tensor *> allocateBroadcast(OpContext &context, DataType type) {
  std::vector<Shape> shapes;
  std::string text;
  for (unsigned index = 0; index < context.numOperands(); ++index) {
    shapes.push_back(context.operand(index).shape());
    text += " " + shapes.back().str();
  }
  std::optional<Shape> shape = kernels::broadcastShape(shapes);
  if (!shape)
    return context.error("operands have shapes" + text, "shapes that broadcast together");
  return context.allocate(0, type, *shape);
}

/// A tensor of one element of `type`; a fraction is cut off for integers.
static Tensor scalar(double value, DataType type) {
  Tensor tensor(type, Shape{});
  kernels::storeBlock<double>(std::span<const double>(&value, 1), tensor, 0);
  return tensor;
}

static bool isNarrow(DataType type) { return type == DataType::F16 || type == DataType::BF16; }

/// Whether tensors are of F32 and one type of 16 bits, which the result has.
static bool goTogether(std::span<const Tensor> tensors) {
  std::optional<DataType> narrow;
  for (const Tensor &tensor : tensors) {
    if (tensor.type() == DataType::F32)
      continue;
    if (!isNarrow(tensor.type()) || narrow.value_or(tensor.type()) != tensor.type())
      return false;
    narrow = tensor.type();
  }
  return true;
}

static Expected<void> fold(OpContext &context, BinaryOp kind, const BinaryParams &params) {
  std::vector<Tensor> inputs;
  for (unsigned index = 0; index < context.numOperands(); ++index) {
    inputs.push_back(context.operand(index));
    if (inputs.back().type() != inputs.front().type() && !goTogether(inputs))
      return context.error("operands have element types " +
                               std::string(dataTypeName(inputs.front().type())) + " and " +
                               std::string(dataTypeName(inputs.back().type())),
                           "one type");
  }
  const auto narrow =
      std::ranges::find_if(inputs, [](const Tensor &t) { return isNarrow(t.type()); });
  const DataType type = (narrow == inputs.end() ? inputs.front() : *narrow).type();
  Expected<Tensor *> output = allocateBroadcast(context, type);
  if (!output)
    return propagate(output);
  kernels::binary(kind, inputs, params, **output, context.threads());
  return {};
}

static BinaryParams reluParams(const OpContext &context) {
  BinaryParams params;
  params.doRelu = context.flag("do_relu");
  params.reluLimit = context.real("relu_limit");
  return params;
}

/// Add and Sub.
template <BinaryOp kind> static Expected<void> evaluateSum(OpContext &context) {
  BinaryParams params = reluParams(context);
  params.coeff = context.realList("coeff");
  if (!params.coeff.empty() && params.coeff.size() != context.numOperands())
    return context.error(std::to_string(params.coeff.size()) + " coefficients",
                         std::to_string(context.numOperands()) + ", one for each operand");
  return fold(context, kind, params);
}

/// Mul and Div.
template <BinaryOp kind> static Expected<void> evaluateScaled(OpContext &context) {
  BinaryParams params = reluParams(context);
  params.factor =
      std::ldexp(static_cast<double>(context.integer("multiplier")),
                 -static_cast<int>(std::clamp<int64_t>(context.integer("rshift"), -2000, 2000)));
  return fold(context, kind, params);
}

template <BinaryOp kind> static Expected<void> evaluatePlain(OpContext &context) {
  return fold(context, kind, {});
}

static Expected<void> evaluateMean(OpContext &context) {
  BinaryParams params;
  params.divisor = context.numOperands();
  return fold(context, BinaryOp::Add, params);
}

static Expected<void> evaluateMod(OpContext &context) {
  return fold(context, context.flag("fmod") ? BinaryOp::FMod : BinaryOp::Mod, {});
}

static Expected<void> evaluateBitwise(OpContext &context) {
  return fold(context,
              context.text("mode") == "And"  ? BinaryOp::And
              : context.text("mode") == "Or" ? BinaryOp::Or
                                             : BinaryOp::Xor,
              {});
}

static Expected<void> evaluateLogical(OpContext &context) {
  return fold(context,
              context.text("mode") == "And"  ? BinaryOp::And
              : context.text("mode") == "Or" ? BinaryOp::Or
                                             : BinaryOp::Xor,
              {});
}

static Expected<void> evaluateShift(OpContext &context) {
  return fold(context,
              context.text("direction") == "LEFT" ? BinaryOp::ShiftLeft : BinaryOp::ShiftRight, {});
}

static Expected<void> evaluatePRelu(OpContext &context) {
  const Shape &input = context.operand(0).shape();
  const Shape &slope = context.operand(1).shape();
  const std::array shapes{input, slope};
  std::optional<Shape> shape = kernels::broadcastShape(shapes);
  if (!shape || !(*shape == input))
    return context.error("slope has shape " + slope.str(),
                         "one that broadcasts to that of the input, " + input.str());
  return fold(context, BinaryOp::PRelu, {});
}

/// input kind constant, or constant kind input.
static Expected<void> foldConstant(OpContext &context, BinaryOp kind, double value, bool isReverse,
                                   const BinaryParams &params) {
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  // Numbers beside 16 bits are not rounded to them.
  std::array inputs{input, scalar(value, isNarrow(input.type()) ? DataType::F32 : input.type())};
  if (isReverse)
    std::swap(inputs[0], inputs[1]);
  kernels::binary(kind, inputs, params, **output, context.threads());
  return {};
}

template <BinaryOp kind> static Expected<void> evaluateConst(OpContext &context) {
  return foldConstant(context, kind, context.real("const_val"), false, reluParams(context));
}

/// SubConst and DivConst.
template <BinaryOp kind> static Expected<void> evaluateReversible(OpContext &context) {
  return foldConstant(context, kind, context.real("const_val"), context.flag("is_reverse"),
                      reluParams(context));
}

/// MinConst and MaxConst.
template <BinaryOp kind> static Expected<void> evaluateLimit(OpContext &context) {
  return foldConstant(context, kind, context.real("const_val"), false, {});
}

static Expected<void> evaluatePow(OpContext &context) {
  Expected<Tensor *> output = allocateBroadcast(context, context.operand(0).type());
  if (!output)
    return propagate(output);
  kernels::power(context.operand(0), context.operand(1), **output, context.threads());
  return {};
}

/// The constant of PowConst and Pow2: in the type of the input where that can hold it.
static Tensor powerConstant(double value, DataType type) {
  return isFloat(type) || value != std::trunc(value)
             ? scalar(value, isFloat(type) ? type : DataType::F64)
             : scalar(value, DataType::I64);
}

static Expected<void> evaluatePowConst(OpContext &context) {
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::power(input, powerConstant(context.real("const_val"), input.type()), **output,
                 context.threads());
  return {};
}

static Expected<void> evaluatePow2(OpContext &context) {
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::power(powerConstant(context.real("const_val"), input.type()), input, **output,
                 context.threads());
  return {};
}

static kernels::CompareOp compareOp(std::string_view mode) {
  return choose<kernels::CompareOp>(mode,
                                    {{"Equal", kernels::CompareOp::Equal},
                                     {"NotEqual", kernels::CompareOp::NotEqual},
                                     {"Less", kernels::CompareOp::Less},
                                     {"LessOrEqual", kernels::CompareOp::LessOrEqual},
                                     {"Greater", kernels::CompareOp::Greater}},
                                    kernels::CompareOp::GreaterOrEqual);
}

static Expected<void> evaluateCompare(kernels::CompareOp kind, OpContext &context,
                                      const Tensor &lhs, const Tensor &rhs) {
  const std::array shapes{lhs.shape(), rhs.shape()};
  std::optional<Shape> shape = kernels::broadcastShape(shapes);
  if (!shape)
    return context.error("operands have shapes " + lhs.shape().str() + " " + rhs.shape().str(),
                         "shapes that broadcast together");
  Expected<Tensor *> output = context.allocate(0, DataType::Bool, *shape);
  if (!output)
    return propagate(output);
  kernels::compare(kind, lhs, rhs, **output, context.threads());
  return {};
}

static Expected<void> evaluateCompareOp(OpContext &context) {
  return evaluateCompare(compareOp(context.text("mode")), context, context.operand(0),
                         context.operand(1));
}

static Expected<void> evaluateCompareConst(OpContext &context) {
  const Tensor &input = context.operand(0);
  const double value = context.real("const_val");
  // A fraction compares with integers as it is.
  const bool isExact = isFloat(input.type()) || value == std::trunc(value);
  const Tensor constant =
      scalar(value, isExact ? kernels::workingType(input.type()) : DataType::F64);
  const kernels::CompareOp kind = compareOp(context.text("mode"));
  return context.flag("inversed") ? evaluateCompare(kind, context, constant, input)
                                  : evaluateCompare(kind, context, input, constant);
}

static Expected<void> evaluateWhere(OpContext &context) {
  const Tensor &x = context.operand(1);
  const Tensor &y = context.operand(2);
  if (context.operand(0).type() != DataType::Bool || x.type() != y.type())
    return context.error(
        "operands have element types " + std::string(dataTypeName(context.operand(0).type())) +
            ", " + std::string(dataTypeName(x.type())) + ", " + std::string(dataTypeName(y.type())),
        "bool and twice one type");
  Expected<Tensor *> output = allocateBroadcast(context, x.type());
  if (!output)
    return propagate(output);
  kernels::where(context.operand(0), x, y, **output, context.threads());
  return {};
}

std::span<const OpEvaluator> ops::binaryOps() {
  static constexpr OpEvaluator kOps[] = {
      {"Add", evaluateSum<BinaryOp::Add>},
      {"Sub", evaluateSum<BinaryOp::Sub>},
      {"Mul", evaluateScaled<BinaryOp::Mul>},
      {"Div", evaluateScaled<BinaryOp::Div>},
      {"Min", evaluatePlain<BinaryOp::Min>},
      {"Max", evaluatePlain<BinaryOp::Max>},
      {"Mean", evaluateMean},
      {"Pow", evaluatePow},
      {"Mod", evaluateMod},
      {"AddConst", evaluateConst<BinaryOp::Add>},
      {"SubConst", evaluateReversible<BinaryOp::Sub>},
      {"MulConst", evaluateConst<BinaryOp::Mul>},
      {"DivConst", evaluateReversible<BinaryOp::Div>},
      {"MinConst", evaluateLimit<BinaryOp::Min>},
      {"MaxConst", evaluateLimit<BinaryOp::Max>},
      {"PowConst", evaluatePowConst},
      {"Pow2", evaluatePow2},
      {"Compare", evaluateCompareOp},
      {"CompareConst", evaluateCompareConst},
      {"LogicalBinary", evaluateLogical},
      {"BitwiseBinary", evaluateBitwise},
      {"BitShift", evaluateShift},
      {"Where", evaluateWhere},
      {"PRelu", evaluatePRelu},
  };
  return kOps;
}
