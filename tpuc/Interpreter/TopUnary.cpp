//===- TopUnary.cpp - What the ops of UnaryOps.td compute ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/Unary.h"

using namespace tpuc;
using namespace tpuc::top;
using kernels::UnaryOp;
using kernels::UnaryParams;

static Expected<void> evaluateAs(UnaryOp kind, const UnaryParams &params, EvalContext &context) {
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::unary(kind, params, input, **output, context.threads());
  return {};
}

template <typename Op, UnaryOp kind> static Expected<void> evaluate(Op, EvalContext &context) {
  return evaluateAs(kind, {}, context);
}

static Expected<void> evaluateRelu(ReluOp op, EvalContext &context) {
  return evaluateAs(UnaryOp::Relu, {op.getReluLimit().convertToDouble()}, context);
}

/// LeakyRelu, Elu, Celu, ThresholdedRelu.
template <typename Op, UnaryOp kind>
static Expected<void> evaluateAlpha(Op op, EvalContext &context) {
  return evaluateAs(kind, {op.getAlpha().convertToDouble()}, context);
}

static Expected<void> evaluateSelu(SeluOp op, EvalContext &context) {
  return evaluateAs(UnaryOp::Selu,
                    {op.getAlpha().convertToDouble(), op.getGamma().convertToDouble()}, context);
}

static Expected<void> evaluateShrink(ShrinkOp op, EvalContext &context) {
  return evaluateAs(UnaryOp::Shrink,
                    {op.getBias().convertToDouble(), op.getLambd().convertToDouble()}, context);
}

static Expected<void> evaluateHardSigmoid(HardSigmoidOp op, EvalContext &context) {
  return evaluateAs(UnaryOp::HardSigmoid,
                    {op.getAlpha().convertToDouble(), op.getBeta().convertToDouble()}, context);
}

static Expected<void> evaluateSigmoid(SigmoidOp op, EvalContext &context) {
  return evaluateAs(op.getLog() ? UnaryOp::LogSigmoid : UnaryOp::Sigmoid,
                    {op.getScale().convertToDouble(), op.getBias().convertToDouble()}, context);
}

static Expected<void> evaluateSiLU(SiLUOp, EvalContext &context) {
  return evaluateAs(UnaryOp::Swish, {1}, context);
}

static Expected<void> evaluateSwish(SwishOp op, EvalContext &context) {
  return evaluateAs(UnaryOp::Swish, {op.getBeta().convertToDouble()}, context);
}

static Expected<void> evaluateGelu(GELUOp op, EvalContext &context) {
  return evaluateAs(op.getApproxMode() == "tanh" ? UnaryOp::GeluTanh : UnaryOp::GeluErf, {},
                    context);
}

static Expected<void> evaluateIsNaN(IsNaNOp, EvalContext &context) {
  Expected<Tensor *> output = context.allocate(0, DataType::Bool, context.operand(0).shape());
  if (!output)
    return propagate(output);
  kernels::isNaN(context.operand(0), **output, context.threads());
  return {};
}

static Expected<void> evaluateIsInf(IsInfOp op, EvalContext &context) {
  Expected<Tensor *> output = context.allocate(0, DataType::Bool, context.operand(0).shape());
  if (!output)
    return propagate(output);
  kernels::isInf(context.operand(0), op.getDetectNegative(), op.getDetectPositive(), **output,
                 context.threads());
  return {};
}

static Expected<void> evaluateClip(ClipOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::clip(input, op.getMin().convertToDouble(), op.getMax().convertToDouble(), **output,
                context.threads());
  return {};
}

static Expected<void> evaluateClipTensor(ClipTensorOp, EvalContext &context) {
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

static Expected<void> evaluateCast(CastOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  // The verifier saw that tensors can hold the type.
  const DataType to = *storageDataType(op.getTo());
  if (to == input.type()) {
    context.set(0, input);
    return {};
  }
  Expected<Tensor *> output = context.allocate(0, to, input.shape());
  if (!output)
    return propagate(output);
  kernels::cast(input, op.getSaturate(), **output, context.threads());
  return {};
}

static Expected<void> evaluateBitCast(BitCastOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  // The verifier saw that tensors can hold the type.
  const DataType to = *storageDataType(op.getTo());
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

static Expected<void> evaluateCopy(CopyOp, EvalContext &context) {
  context.set(0, context.operand(0));
  return {};
}

static Expected<void> evaluateDet(DetOp, EvalContext &context) {
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

template <typename Op, UnaryOp kind> static void attach(mlir::MLIRContext *context) {
  attachEvaluate<Op, evaluate<Op, kind>>(context);
}

void tpuc::attachUnary(mlir::MLIRContext *context) {
  attach<AbsOp, UnaryOp::Abs>(context);
  attach<ArccosOp, UnaryOp::Arccos>(context);
  attach<ArccoshOp, UnaryOp::Arccosh>(context);
  attach<ArcsinOp, UnaryOp::Arcsin>(context);
  attach<ArcsinhOp, UnaryOp::Arcsinh>(context);
  attach<ArctanOp, UnaryOp::Arctan>(context);
  attach<ArctanhOp, UnaryOp::Arctanh>(context);
  attach<BitwiseNotOp, UnaryOp::BitwiseNot>(context);
  attach<CeilOp, UnaryOp::Ceil>(context);
  attach<CosOp, UnaryOp::Cos>(context);
  attach<CoshOp, UnaryOp::Cosh>(context);
  attach<ErfOp, UnaryOp::Erf>(context);
  attach<ExpOp, UnaryOp::Exp>(context);
  attach<FloorOp, UnaryOp::Floor>(context);
  attach<HardSwishOp, UnaryOp::HardSwish>(context);
  attach<LogOp, UnaryOp::Log>(context);
  attach<LogicalNotOp, UnaryOp::LogicalNot>(context);
  attach<MishOp, UnaryOp::Mish>(context);
  attach<NegOp, UnaryOp::Neg>(context);
  attach<ReciprocalOp, UnaryOp::Reciprocal>(context);
  attach<RoundOp, UnaryOp::Round>(context);
  attach<RsqrtOp, UnaryOp::Rsqrt>(context);
  attach<SignOp, UnaryOp::Sign>(context);
  attach<SinOp, UnaryOp::Sin>(context);
  attach<SinhOp, UnaryOp::Sinh>(context);
  attach<SoftplusOp, UnaryOp::Softplus>(context);
  attach<SoftsignOp, UnaryOp::Softsign>(context);
  attach<SqrtOp, UnaryOp::Sqrt>(context);
  attach<TanOp, UnaryOp::Tan>(context);
  attach<TanhOp, UnaryOp::Tanh>(context);
  attachEvaluate<ReluOp, evaluateRelu>(context);
  attachEvaluate<LeakyReluOp, evaluateAlpha<LeakyReluOp, UnaryOp::LeakyRelu>>(context);
  attachEvaluate<EluOp, evaluateAlpha<EluOp, UnaryOp::Elu>>(context);
  attachEvaluate<CeluOp, evaluateAlpha<CeluOp, UnaryOp::Celu>>(context);
  attachEvaluate<ThresholdedReluOp, evaluateAlpha<ThresholdedReluOp, UnaryOp::ThresholdedRelu>>(
      context);
  attachEvaluate<SeluOp, evaluateSelu>(context);
  attachEvaluate<ShrinkOp, evaluateShrink>(context);
  attachEvaluate<HardSigmoidOp, evaluateHardSigmoid>(context);
  attachEvaluate<SigmoidOp, evaluateSigmoid>(context);
  attachEvaluate<SiLUOp, evaluateSiLU>(context);
  attachEvaluate<SwishOp, evaluateSwish>(context);
  attachEvaluate<GELUOp, evaluateGelu>(context);
  attachEvaluate<IsNaNOp, evaluateIsNaN>(context);
  attachEvaluate<IsInfOp, evaluateIsInf>(context);
  attachEvaluate<ClipOp, evaluateClip>(context);
  attachEvaluate<ClipTensorOp, evaluateClipTensor>(context);
  attachEvaluate<CastOp, evaluateCast>(context);
  attachEvaluate<BitCastOp, evaluateBitCast>(context);
  attachEvaluate<CopyOp, evaluateCopy>(context);
  attachEvaluate<DetOp, evaluateDet>(context);
}
