//===- TpuNorms.cpp - What norms and attention on stored integers compute ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Kernels/IntegerNorm.h"
#include "tpuc/Interpreter/StoredRequant.h"
#include "tpuc/Support/BitExactMath.h"

#include <cmath>

using namespace tpuc;

static QuantParams paramsOf(mlir::Value value) { return tpu::paramsOf(tpu::quantizedType(value)); }

/// An error unless parameter `index` is left out or has `length` elements of f32.
static Expected<void> checkParameter(EvalContext &context, unsigned index, int64_t length) {
  const Tensor *parameter = context.optional(index);
  if (!parameter || (parameter->type() == DataType::F32 && parameter->numElements() == length))
    return {};
  return context.error("parameter " + std::to_string(index) + " has the shape " +
                           parameter->shape().str() + " and the type " +
                           std::string(dataTypeName(parameter->type())),
                       std::to_string(length) + " elements of f32");
}

static Expected<void> evaluateTpuLayerNorm(tpu::LayerNormOp op, EvalContext &context) {
  const Shape &shape = context.operand(0).shape();
  const auto rank = static_cast<int64_t>(shape.rank());
  const auto given = static_cast<int64_t>(op.getAxis());
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank)
    return context.error("axis " + std::to_string(given), "an axis of " + shape.str());
  int64_t length = 1;
  for (int64_t i = axis; i < rank; ++i)
    length *= shape[static_cast<size_t>(i)];
  if (!tpu::isQuantized(op.getInput()) || length > steps::kLongestNorm)
    return context.error("rows of " + std::to_string(length) + " elements",
                         "at most " + std::to_string(steps::kLongestNorm) + " stored integers");
  if (context.wants(1) || context.wants(2))
    return context.error("mean or rstd of stored integers", "the output alone");
  for (unsigned index : {1U, 2U})
    if (Expected<void> checked = checkParameter(context, index, length); !checked)
      return checked;
  Expected<Tensor *> output = context.allocate(0, DataType::F32, shape);
  if (!output)
    return propagate(output);
  kernels::integerLayerNorm(context.operand(0), paramsOf(op.getInput()).scale, context.optional(1),
                            context.optional(2), static_cast<size_t>(axis),
                            op.getEps().convertToDouble(), **output, context.threads());
  return {};
}

static Expected<void> evaluateTpuSoftmax(tpu::SoftmaxOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  const auto rank = static_cast<int64_t>(input.shape().rank());
  const auto axis = static_cast<int64_t>(op.getAxis());
  if (!tpu::isQuantized(op.getOutput()) || input.type() != DataType::F32 || op.getLog() ||
      (axis != rank - 1 && axis != -1))
    return context.error("a softmax of " + std::string(dataTypeName(input.type())) +
                             " along axis " + std::to_string(axis),
                         "one of f32 along the last axis, without log, to stored integers");
  if (const int64_t length = input.shape()[input.shape().rank() - 1];
      length > steps::kLongestSoftmax)
    return context.error(std::to_string(length) + " elements in a row",
                         "at most " + std::to_string(steps::kLongestSoftmax));
  Expected<Tensor *> output = context.allocate(0, resultType(op), input.shape());
  if (!output)
    return propagate(output);
  kernels::integerSoftmax(input, op.getBeta().convertToDouble(), paramsOf(op.getOutput()), **output,
                          context.threads());
  return {};
}

/// What attention on stored integers has no form of; empty if there is nothing.
static std::string unsupported(tpu::ScaleDotProductAttentionOp op, EvalContext &context) {
  for (unsigned index = 3; index < context.numOperands(); ++index)
    if (context.has(index))
      return "a mask, lengths or what is kept";
  for (unsigned index : {1U, 2U, 3U})
    if (context.wants(index))
      return "a second result";
  if (op.getIsCausal() || static_cast<int64_t>(op.getLeftWindow()) >= 0 ||
      static_cast<int64_t>(op.getRightWindow()) >= 0)
    return "hidden keys";
  if (op.getSoftcap().convertToDouble() != 0)
    return "a cap";
  for (mlir::Value value : {op.getQuery(), op.getKey(), op.getValue(), op.getOutput()})
    if (!tpu::isQuantized(value))
      return "a tensor of floats";
  return "";
}

static Expected<void> evaluateTpuAttention(tpu::ScaleDotProductAttentionOp op,
                                           EvalContext &context) {
  if (const std::string what = unsupported(op, context); !what.empty())
    return context.error(what, "queries, keys and values of stored integers alone");
  const Tensor &query = context.operand(0);
  const Tensor &key = context.operand(1);
  const Tensor &value = context.operand(2);
  kernels::IntegerAttentionParams params;
  params.query = paramsOf(op.getQuery());
  params.key = paramsOf(op.getKey());
  params.value = paramsOf(op.getValue());
  params.output = paramsOf(op.getOutput());
  params.queryHeads = static_cast<int64_t>(op.getQNumHeads().value_or(0));
  params.keyHeads = static_cast<int64_t>(op.getKvNumHeads().value_or(0));
  const bool isPacked = params.queryHeads > 0;
  if (const int64_t keys = key.shape()[isPacked ? 1 : 2]; keys > steps::kLongestSoftmax)
    return context.error(std::to_string(keys) + " keys",
                         "at most " + std::to_string(steps::kLongestSoftmax));
  const int64_t width = isPacked ? query.shape()[2] / params.queryHeads : query.shape()[3];
  params.scale =
      op.getScale() ? op.getScale()->convertToDouble() : 1 / std::sqrt(static_cast<double>(width));
  Shape shape = query.shape();
  if (isPacked)
    shape[2] = value.shape()[2] / params.keyHeads * params.queryHeads;
  else
    shape[3] = value.shape()[3];
  Expected<Tensor *> output = context.allocate(0, resultType(op), shape);
  if (!output)
    return propagate(output);
  kernels::integerAttention(query, key, value, params, **output, context.threads());
  return {};
}

void tpuc::attachTpuNorms(mlir::MLIRContext *context) {
  attachEvaluate<tpu::LayerNormOp, evaluateTpuLayerNorm>(context);
  attachEvaluate<tpu::SoftmaxOp, evaluateTpuSoftmax>(context);
  attachEvaluate<tpu::ScaleDotProductAttentionOp, evaluateTpuAttention>(context);
}
