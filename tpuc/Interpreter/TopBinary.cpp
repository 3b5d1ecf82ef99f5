//===- TopBinary.cpp - What the ops of BinaryOps.td compute ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/Binary.h"
#include "tpuc/Interpreter/Kernels/Elementwise.h"

#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace tpuc;
using namespace tpuc::top;
using kernels::BinaryOp;
using kernels::BinaryParams;

/// Room for the result that the operands, broadcast, give in `type`.
static Expected<Tensor *> allocateBroadcast(EvalContext &context, DataType type) {
  llvm::SmallVector<Shape> shapes;
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

static Expected<void> fold(EvalContext &context, BinaryOp kind, const BinaryParams &params) {
  llvm::SmallVector<Tensor> inputs;
  for (unsigned index = 0; index < context.numOperands(); ++index) {
    inputs.push_back(context.operand(index));
    if (inputs.back().type() != inputs.front().type())
      return context.error("operands have element types " +
                               std::string(dataTypeName(inputs.front().type())) + " and " +
                               std::string(dataTypeName(inputs.back().type())),
                           "one type");
  }
  Expected<Tensor *> output = allocateBroadcast(context, inputs.front().type());
  if (!output)
    return propagate(output);
  kernels::binary(kind, inputs, params, **output, context.threads());
  return {};
}

template <typename Op> static BinaryParams reluParams(Op op) {
  BinaryParams params;
  params.doRelu = op.getDoRelu();
  params.reluLimit = op.getReluLimit().convertToDouble();
  return params;
}

/// Add and Sub.
template <typename Op, BinaryOp kind>
static Expected<void> evaluateSum(Op op, EvalContext &context) {
  BinaryParams params = reluParams(op);
  if (std::optional<mlir::ArrayAttr> coeff = op.getCoeff())
    for (mlir::Attribute value : *coeff)
      params.coeff.push_back(mlir::cast<mlir::FloatAttr>(value).getValueAsDouble());
  return fold(context, kind, params);
}

/// Mul and Div.
template <typename Op, BinaryOp kind>
static Expected<void> evaluateScaled(Op op, EvalContext &context) {
  BinaryParams params = reluParams(op);
  params.factor = std::ldexp(static_cast<double>(op.getMultiplier()),
                             -static_cast<int>(std::clamp<int64_t>(op.getRshift(), -2000, 2000)));
  return fold(context, kind, params);
}

template <typename Op, BinaryOp kind>
static Expected<void> evaluatePlain(Op, EvalContext &context) {
  return fold(context, kind, {});
}

static Expected<void> evaluateMean(MeanOp, EvalContext &context) {
  BinaryParams params;
  params.divisor = context.numOperands();
  return fold(context, BinaryOp::Add, params);
}

static Expected<void> evaluateMod(ModOp op, EvalContext &context) {
  return fold(context, op.getFmod() ? BinaryOp::FMod : BinaryOp::Mod, {});
}

static Expected<void> evaluateBitwise(BitwiseBinaryOp op, EvalContext &context) {
  return fold(context,
              op.getMode() == "And"  ? BinaryOp::And
              : op.getMode() == "Or" ? BinaryOp::Or
                                     : BinaryOp::Xor,
              {});
}

static Expected<void> evaluateLogical(LogicalBinaryOp op, EvalContext &context) {
  return fold(context,
              op.getMode() == "And"  ? BinaryOp::And
              : op.getMode() == "Or" ? BinaryOp::Or
                                     : BinaryOp::Xor,
              {});
}

static Expected<void> evaluateShift(BitShiftOp op, EvalContext &context) {
  return fold(context, op.getDirection() == "LEFT" ? BinaryOp::ShiftLeft : BinaryOp::ShiftRight,
              {});
}

static Expected<void> evaluatePRelu(PReluOp, EvalContext &context) {
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
static Expected<void> foldConstant(EvalContext &context, BinaryOp kind, double value,
                                   bool isReverse, const BinaryParams &params) {
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  std::array inputs{input, scalar(value, input.type())};
  if (isReverse)
    std::swap(inputs[0], inputs[1]);
  kernels::binary(kind, inputs, params, **output, context.threads());
  return {};
}

template <typename Op, BinaryOp kind>
static Expected<void> evaluateConst(Op op, EvalContext &context) {
  return foldConstant(context, kind, op.getConstVal().convertToDouble(), false, reluParams(op));
}

/// SubConst and DivConst.
template <typename Op, BinaryOp kind>
static Expected<void> evaluateReversible(Op op, EvalContext &context) {
  return foldConstant(context, kind, op.getConstVal().convertToDouble(), op.getIsReverse(),
                      reluParams(op));
}

/// MinConst and MaxConst.
template <typename Op, BinaryOp kind>
static Expected<void> evaluateLimit(Op op, EvalContext &context) {
  return foldConstant(context, kind, op.getConstVal().convertToDouble(), false, {});
}

static Expected<void> evaluatePow(PowOp, EvalContext &context) {
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

static Expected<void> evaluatePowConst(PowConstOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::power(input, powerConstant(op.getConstVal().convertToDouble(), input.type()), **output,
                 context.threads());
  return {};
}

static Expected<void> evaluatePow2(Pow2Op op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::power(powerConstant(op.getConstVal().convertToDouble(), input.type()), input, **output,
                 context.threads());
  return {};
}

static kernels::CompareOp compareOp(llvm::StringRef mode) {
  return llvm::StringSwitch<kernels::CompareOp>(mode)
      .Case("Equal", kernels::CompareOp::Equal)
      .Case("NotEqual", kernels::CompareOp::NotEqual)
      .Case("Less", kernels::CompareOp::Less)
      .Case("LessOrEqual", kernels::CompareOp::LessOrEqual)
      .Case("Greater", kernels::CompareOp::Greater)
      .Default(kernels::CompareOp::GreaterOrEqual);
}

static Expected<void> evaluateCompare(kernels::CompareOp kind, EvalContext &context,
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

static Expected<void> evaluateCompareOp(top::CompareOp op, EvalContext &context) {
  return evaluateCompare(compareOp(op.getMode()), context, context.operand(0), context.operand(1));
}

static Expected<void> evaluateCompareConst(CompareConstOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  const double value = op.getConstVal().convertToDouble();
  // A fraction compares with integers as it is.
  const bool isExact = isFloat(input.type()) || value == std::trunc(value);
  const Tensor constant =
      scalar(value, isExact ? kernels::workingType(input.type()) : DataType::F64);
  const kernels::CompareOp kind = compareOp(op.getMode());
  return op.getInversed() ? evaluateCompare(kind, context, constant, input)
                          : evaluateCompare(kind, context, input, constant);
}

static Expected<void> evaluateWhere(WhereOp, EvalContext &context) {
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

void tpuc::attachBinary(mlir::MLIRContext *context) {
  attachEvaluate<AddOp, evaluateSum<AddOp, BinaryOp::Add>>(context);
  attachEvaluate<SubOp, evaluateSum<SubOp, BinaryOp::Sub>>(context);
  attachEvaluate<MulOp, evaluateScaled<MulOp, BinaryOp::Mul>>(context);
  attachEvaluate<DivOp, evaluateScaled<DivOp, BinaryOp::Div>>(context);
  attachEvaluate<MinOp, evaluatePlain<MinOp, BinaryOp::Min>>(context);
  attachEvaluate<MaxOp, evaluatePlain<MaxOp, BinaryOp::Max>>(context);
  attachEvaluate<MeanOp, evaluateMean>(context);
  attachEvaluate<PowOp, evaluatePow>(context);
  attachEvaluate<ModOp, evaluateMod>(context);
  attachEvaluate<AddConstOp, evaluateConst<AddConstOp, BinaryOp::Add>>(context);
  attachEvaluate<SubConstOp, evaluateReversible<SubConstOp, BinaryOp::Sub>>(context);
  attachEvaluate<MulConstOp, evaluateConst<MulConstOp, BinaryOp::Mul>>(context);
  attachEvaluate<DivConstOp, evaluateReversible<DivConstOp, BinaryOp::Div>>(context);
  attachEvaluate<MinConstOp, evaluateLimit<MinConstOp, BinaryOp::Min>>(context);
  attachEvaluate<MaxConstOp, evaluateLimit<MaxConstOp, BinaryOp::Max>>(context);
  attachEvaluate<PowConstOp, evaluatePowConst>(context);
  attachEvaluate<Pow2Op, evaluatePow2>(context);
  attachEvaluate<top::CompareOp, evaluateCompareOp>(context);
  attachEvaluate<CompareConstOp, evaluateCompareConst>(context);
  attachEvaluate<LogicalBinaryOp, evaluateLogical>(context);
  attachEvaluate<BitwiseBinaryOp, evaluateBitwise>(context);
  attachEvaluate<BitShiftOp, evaluateShift>(context);
  attachEvaluate<WhereOp, evaluateWhere>(context);
  attachEvaluate<PReluOp, evaluatePRelu>(context);
}
