//===- TopAttention.cpp - What attention computes -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/AttentionOps.h"
#include "tpuc/Dialect/Top/AttentionShapes.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/EvaluateShapes.h"
#include "tpuc/Interpreter/Kernels/Attention.h"

using namespace tpuc;
using namespace tpuc::top;

/// The extents of all operands; none of those that are left out.
static llvm::SmallVector<std::optional<Dims>> operandDims(const EvalContext &context) {
  llvm::SmallVector<std::optional<Dims>> dims;
  for (unsigned i = 0; i < context.numOperands(); ++i)
    dims.push_back(context.has(i) ? std::optional<Dims>(dimsOf(context, i)) : std::nullopt);
  return dims;
}

/// Room for result `index`; null where nobody wants it.
static Expected<Tensor *> allocateIfWanted(EvalContext &context, unsigned index, DataType type,
                                           llvm::ArrayRef<int64_t> dims) {
  if (!context.wants(index))
    return nullptr;
  return allocateDims(context, index, type, dims);
}

/// An error unless the elements of operand 0 are floats, and those of `others` of its type.
static Expected<void> checkFloats(const EvalContext &context, llvm::ArrayRef<unsigned> others) {
  DataType type = context.operand(0).type();
  if (!isFloat(type))
    return context.error("elements of type " + std::string(dataTypeName(type)), "floats");
  for (unsigned i : others)
    if (context.has(i) && context.operand(i).type() != type)
      return context.error("operands of types " + std::string(dataTypeName(type)) + " and " +
                               std::string(dataTypeName(context.operand(i).type())),
                           "one type");
  return {};
}

static Expected<void> evaluateAttention(ScaleDotProductAttentionOp op, EvalContext &context) {
  if (Expected<void> checked = checkFloats(context, {1, 2, 4, 5}); !checked)
    return checked;
  Expected<AttentionShapes> shapes = attentionShapes(op, operandDims(context));
  if (!shapes)
    return context.error(shapes.error().found, shapes.error().expected);
  DataType type = context.operand(0).type();
  kernels::AttentionResults results{nullptr, nullptr, nullptr, nullptr};
  struct Room {
    Tensor *&tensor;
    const Dims &dims;
  };
  unsigned index = 0;
  for (const Room &each : {Room{results.output, *shapes->output},
                           {results.presentKey, shapes->presentKey},
                           {results.presentValue, shapes->presentValue},
                           {results.scores, shapes->scores}}) {
    Expected<Tensor *> room = allocateIfWanted(context, index++, type, each.dims);
    if (!room)
      return propagate(room);
    each.tensor = *room;
  }
  if (shapes->scores[1] > 0 && shapes->presentKey[1] == 0)
    return context.error("has heads of queries and none of keys");
  kernels::AttentionParams params;
  params.queryHeads = static_cast<int64_t>(op.getQNumHeads().value_or(0));
  params.keyHeads = static_cast<int64_t>(op.getKvNumHeads().value_or(0));
  if (op.getScale())
    params.scale = op.getScale()->convertToDouble();
  params.isCausal = op.getIsCausal();
  params.softcap = op.getSoftcap().convertToDouble();
  params.leftWindow = static_cast<int64_t>(op.getLeftWindow());
  params.rightWindow = static_cast<int64_t>(op.getRightWindow());
  if (std::optional<mlir::Type> softmaxType = op.getSoftmaxType())
    params.softmaxType = storageDataType(*softmaxType);
  params.scores = static_cast<kernels::AttentionScores>(op.getScoresMode());
  kernels::attention({context.optional(0), context.optional(1), context.optional(2),
                      context.optional(3), context.optional(4), context.optional(5),
                      context.optional(6)},
                     params, results, context.threads());
  return {};
}

static Expected<void> evaluateRope(RopeOp op, EvalContext &context) {
  if (Expected<void> checked = checkFloats(context, {}); !checked)
    return checked;
  if (Expected<void> checked = checkRope(op, operandDims(context)); !checked)
    return aboutLayer(context, checked);
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::RopeParams params{op.getInterleaved(), static_cast<int64_t>(op.getNumHeads()),
                             static_cast<int64_t>(op.getRotaryDim())};
  return aboutLayer(context,
                    kernels::rope(input, context.operand(1), context.operand(2),
                                  context.optional(3), params, **output, context.threads()));
}

static Expected<void> evaluateLinearAttention(LinearAttentionOp op, EvalContext &context) {
  if (Expected<void> checked = checkFloats(context, {1, 2}); !checked)
    return checked;
  Expected<LinearAttentionShapes> shapes = linearAttentionShapes(op, operandDims(context));
  if (!shapes)
    return context.error(shapes.error().found, shapes.error().expected);
  Expected<Tensor *> output = allocateDims(context, 0, context.operand(0).type(), shapes->output);
  if (!output)
    return propagate(output);
  Expected<Tensor *> state =
      allocateIfWanted(context, 1, context.operand(context.has(3) ? 3 : 0).type(), shapes->state);
  if (!state)
    return propagate(state);
  kernels::linearAttention({context.optional(0), context.optional(1), context.optional(2),
                            context.optional(3), context.optional(4), context.optional(5)},
                           static_cast<int64_t>(op.getQNumHeads()),
                           static_cast<int64_t>(op.getKvNumHeads()),
                           op.getScale().convertToDouble(), **output, *state, context.threads());
  return {};
}

static Expected<void> evaluateCausalConv(CausalConvOp op, EvalContext &context) {
  if (Expected<void> checked = checkFloats(context, {1, 2, 3}); !checked)
    return checked;
  Expected<Dims> dims = causalConvState(op, operandDims(context));
  if (!dims)
    return context.error(dims.error().found, dims.error().expected);
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  Expected<Tensor *> state = allocateIfWanted(context, 1, input.type(), *dims);
  if (!state)
    return propagate(state);
  kernels::causalConv(input, context.operand(1), context.optional(2), context.optional(3),
                      op.getActivation() == "silu", **output, *state, context.threads());
  return {};
}

void tpuc::attachAttention(mlir::MLIRContext *context) {
  attachEvaluate<ScaleDotProductAttentionOp, evaluateAttention>(context);
  attachEvaluate<RopeOp, evaluateRope>(context);
  attachEvaluate<LinearAttentionOp, evaluateLinearAttention>(context);
  attachEvaluate<CausalConvOp, evaluateCausalConv>(context);
}
