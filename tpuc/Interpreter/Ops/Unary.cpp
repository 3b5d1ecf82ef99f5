//===- Unary.cpp - What ops on single elements compute --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Unary.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"

using namespace tpuc;
using namespace tpuc::ops;
using kernels::UnaryOp;
using kernels::UnaryParams;

static Expected<void> evaluateAs(UnaryOp kind, const UnaryParams &params, OpContext &context) {
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::unary(kind, params, input, **output, context.threads());
  return {};
}

template <UnaryOp kind> static Expected<void> evaluatePlainUnary(OpContext &context) {
  return evaluateAs(kind, {}, context);
}

static Expected<void> evaluateRelu(OpContext &context) {
  return evaluateAs(UnaryOp::Relu, {context.real("relu_limit")}, context);
}

/// LeakyRelu, Elu, Celu, ThresholdedRelu.
template <UnaryOp kind> static Expected<void> evaluateAlpha(OpContext &context) {
  return evaluateAs(kind, {context.real("alpha")}, context);
}

static Expected<void> evaluateSelu(OpContext &context) {
  return evaluateAs(UnaryOp::Selu, {context.real("alpha"), context.real("gamma")}, context);
}

static Expected<void> evaluateShrink(OpContext &context) {
  return evaluateAs(UnaryOp::Shrink, {context.real("bias"), context.real("lambd")}, context);
}

static Expected<void> evaluateHardSigmoid(OpContext &context) {
  return evaluateAs(UnaryOp::HardSigmoid, {context.real("alpha"), context.real("beta")}, context);
}

static Expected<void> evaluateSigmoid(OpContext &context) {
  return evaluateAs(context.flag("log") ? UnaryOp::LogSigmoid : UnaryOp::Sigmoid,
                    {context.real("scale"), context.real("bias")}, context);
}

static Expected<void> evaluateSiLU(OpContext &context) {
  return evaluateAs(UnaryOp::Swish, {1}, context);
}

static Expected<void> evaluateSwish(OpContext &context) {
  return evaluateAs(UnaryOp::Swish, {context.real("beta")}, context);
}

static Expected<void> evaluateGelu(OpContext &context) {
  return evaluateAs(context.text("approx_mode") == "tanh" ? UnaryOp::GeluTanh : UnaryOp::GeluErf,
                    {}, context);
}

static Expected<void> evaluateIsNaN(OpContext &context) {
  Expected<Tensor *> output = context.allocate(0, DataType::Bool, context.operand(0).shape());
  if (!output)
    return propagate(output);
  kernels::isNaN(context.operand(0), **output, context.threads());
  return {};
}

static Expected<void> evaluateIsInf(OpContext &context) {
  Expected<Tensor *> output = context.allocate(0, DataType::Bool, context.operand(0).shape());
  if (!output)
    return propagate(output);
  kernels::isInf(context.operand(0), context.flag("detect_negative"),
                 context.flag("detect_positive"), **output, context.threads());
  return {};
}

static Expected<void> evaluateClip(OpContext &context) {
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::clip(input, context.real("min"), context.real("max"), **output, context.threads());
  return {};
}

static Expected<void> evaluateClipTensor(OpContext &context) {
  const Tensor &input = context.operand(0);
  for (unsigned index : {1, 2})
    if (const Tensor *bound = context.optional(index); bound && bound->numElements() != 1)
      return context.error("bound has shape " + bound->shape().str(), "one element");
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::clip(input, context.optional(1), context.optional(2), **output, context.threads());
  return {};
}

/// Whether the bits from `firstBit` on are integers of type `to`, in whole bytes.
static bool isIntegerPart(DataType from, int64_t firstBit, DataType to) {
  const auto isOfBytes = [](DataType type) {
    return !isFloat(type) && type != DataType::Bool && bitWidth(type) % 8 == 0;
  };
  return isOfBytes(from) && isOfBytes(to) && firstBit % bitWidth(to) == 0 &&
         firstBit + bitWidth(to) <= bitWidth(from);
}

static Expected<void> evaluateCast(OpContext &context) {
  const Tensor &input = context.operand(0);
  // The verifier saw that tensors can hold the type.
  const DataType to = context.type("to");
  if (const int64_t firstBit = context.optionalInteger("from_bit").value_or(0); firstBit != 0) {
    if (!isIntegerPart(input.type(), firstBit, to))
      return context.error("takes " + std::string(dataTypeName(to)) + " from bit " +
                               std::to_string(firstBit) + " of " +
                               std::string(dataTypeName(input.type())),
                           "the beginning of another part of a wider integer");
    Expected<Tensor *> part = context.allocate(0, to, input.shape());
    if (part)
      kernels::integerPart(input, firstBit, **part);
    return part ? Expected<void>() : propagate(part);
  }
  if (to == input.type()) {
    context.set(0, input);
    return {};
  }
  Expected<Tensor *> output = context.allocate(0, to, input.shape());
  if (!output)
    return propagate(output);
  kernels::cast(input, context.flag("saturate"), **output, context.threads());
  return {};
}

static Expected<void> evaluateBitCast(OpContext &context) {
  const Tensor &input = context.operand(0);
  // The verifier saw that tensors can hold the type.
  const DataType to = context.type("to");
  if (bitWidth(to) != bitWidth(input.type()))
    return context.error("reads " + std::string(dataTypeName(input.type())) + " as " +
                             std::string(dataTypeName(to)),
                         "types of as many bits");
  // Null memory of an empty tensor is nothing that can be borrowed.
  if (input.numElements() == 0) {
    context.set(0, Tensor(to, input.shape()));
    return {};
  }
  context.set(0, Tensor::borrow(to, input.shape(), input.rawBytes().data(),
                                std::make_shared<Tensor>(input)));
  return {};
}

static Expected<void> evaluateCopy(OpContext &context) {
  context.set(0, context.operand(0));
  return {};
}

static Expected<void> evaluateDet(OpContext &context) {
  const Tensor &input = context.operand(0);
  const Shape &shape = input.shape();
  const size_t rank = shape.rank();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2])
    return context.error("input has shape " + shape.str(), "square matrices [..., n, n]");
  Expected<Tensor *> output =
      context.allocate(0, input.type(), Shape(shape.dims().first(rank - 2)));
  if (!output)
    return propagate(output);
  kernels::determinant(input, **output, context.threads());
  return {};
}

/// To the nearest number of the type, which stays in f32.
static Expected<void> evaluateRoundTo(OpContext &context) {
  return evaluateAs(context.type("type") == DataType::F16 ? UnaryOp::RoundF16 : UnaryOp::RoundBF16,
                    {}, context);
}

std::span<const OpEvaluator> ops::unaryOps() {
  static constexpr OpEvaluator kOps[] = {
      {"Abs", evaluatePlainUnary<UnaryOp::Abs>},
      {"Arccos", evaluatePlainUnary<UnaryOp::Arccos>},
      {"Arccosh", evaluatePlainUnary<UnaryOp::Arccosh>},
      {"Arcsin", evaluatePlainUnary<UnaryOp::Arcsin>},
      {"Arcsinh", evaluatePlainUnary<UnaryOp::Arcsinh>},
      {"Arctan", evaluatePlainUnary<UnaryOp::Arctan>},
      {"Arctanh", evaluatePlainUnary<UnaryOp::Arctanh>},
      {"BitwiseNot", evaluatePlainUnary<UnaryOp::BitwiseNot>},
      {"Ceil", evaluatePlainUnary<UnaryOp::Ceil>},
      {"Cos", evaluatePlainUnary<UnaryOp::Cos>},
      {"Cosh", evaluatePlainUnary<UnaryOp::Cosh>},
      {"Erf", evaluatePlainUnary<UnaryOp::Erf>},
      {"Exp", evaluatePlainUnary<UnaryOp::Exp>},
      {"Floor", evaluatePlainUnary<UnaryOp::Floor>},
      {"HardSwish", evaluatePlainUnary<UnaryOp::HardSwish>},
      {"Log", evaluatePlainUnary<UnaryOp::Log>},
      {"LogicalNot", evaluatePlainUnary<UnaryOp::LogicalNot>},
      {"Mish", evaluatePlainUnary<UnaryOp::Mish>},
      {"Neg", evaluatePlainUnary<UnaryOp::Neg>},
      {"Reciprocal", evaluatePlainUnary<UnaryOp::Reciprocal>},
      {"Round", evaluatePlainUnary<UnaryOp::Round>},
      {"Rsqrt", evaluatePlainUnary<UnaryOp::Rsqrt>},
      {"Sign", evaluatePlainUnary<UnaryOp::Sign>},
      {"Sin", evaluatePlainUnary<UnaryOp::Sin>},
      {"Sinh", evaluatePlainUnary<UnaryOp::Sinh>},
      {"Softplus", evaluatePlainUnary<UnaryOp::Softplus>},
      {"Softsign", evaluatePlainUnary<UnaryOp::Softsign>},
      {"Sqrt", evaluatePlainUnary<UnaryOp::Sqrt>},
      {"Tan", evaluatePlainUnary<UnaryOp::Tan>},
      {"Tanh", evaluatePlainUnary<UnaryOp::Tanh>},
      {"Relu", evaluateRelu},
      {"LeakyRelu", evaluateAlpha<UnaryOp::LeakyRelu>},
      {"Elu", evaluateAlpha<UnaryOp::Elu>},
      {"Celu", evaluateAlpha<UnaryOp::Celu>},
      {"ThresholdedRelu", evaluateAlpha<UnaryOp::ThresholdedRelu>},
      {"Selu", evaluateSelu},
      {"Shrink", evaluateShrink},
      {"HardSigmoid", evaluateHardSigmoid},
      {"Sigmoid", evaluateSigmoid},
      {"SiLU", evaluateSiLU},
      {"Swish", evaluateSwish},
      {"GELU", evaluateGelu},
      {"IsNaN", evaluateIsNaN},
      {"IsInf", evaluateIsInf},
      {"Clip", evaluateClip},
      {"ClipTensor", evaluateClipTensor},
      {"Cast", evaluateCast},
      {"BitCast", evaluateBitCast},
      {"Copy", evaluateCopy},
      {"Det", evaluateDet},
      {"RoundTo", evaluateRoundTo},
  };
  return kOps;
}
