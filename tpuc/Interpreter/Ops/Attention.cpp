//===- Attention.cpp - What attention computes ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/OpShapes/Attention.h"
#include "tpuc/Interpreter/Kernels/Attention.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"

using namespace tpuc;
using namespace tpuc::ops;

/// The extents of all operands; none of those that are left out.
static std::vector<std::optional<Dims>> operandDims(const OpContext &context) {
  std::vector<std::optional<Dims>> dims;
  for (unsigned i = 0; i < context.numOperands(); ++i)
    dims.push_back(context.has(i) ? std::optional<Dims>(dimsOf(context, i)) : std::nullopt);
  return dims;
}

/// Room for result `index`; null where nobody wants it.
static Expected<Tensor *> allocateIfWanted(OpContext &context, unsigned index, DataType type,
                                           std::span<const int64_t> dims) {
  if (!context.wants(index))
    return nullptr;
  return allocateDims(context, index, type, dims);
}

/// An error unless the elements of operand 0 are floats, and those of `others` of its type.
static Expected<void> checkFloats(const OpContext &context,
                                  std::initializer_list<unsigned> others) {
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

static Expected<void> evaluateAttention(OpContext &context) {
  if (Expected<void> checked = checkFloats(context, {1, 2, 4, 5}); !checked)
    return checked;
  const shapes::AttentionSpec spec = {.queryHeads = context.optionalInteger("q_num_heads"),
                                      .keyHeads = context.optionalInteger("kv_num_heads"),
                                      .hasPast = context.has(4)};
  Expected<shapes::AttentionShapes> shapes = shapes::attentionShapes(spec, operandDims(context));
  if (!shapes)
    return context.error(shapes.error().found, shapes.error().expected);
  DataType type = context.operand(0).type();
  kernels::AttentionResults results{nullptr, nullptr, nullptr, nullptr};
  struct Buffer {
    Tensor *&tensor;
    const Dims &dims;
  };
  unsigned index = 0;
  for (const Buffer &each : {Buffer{results.output, *shapes->output},
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
  params.queryHeads = spec.queryHeads.value_or(0);
  params.keyHeads = spec.keyHeads.value_or(0);
  if (const std::optional<double> scale = context.optionalReal("scale"))
    params.scale = *scale;
  params.isCausal = context.flag("is_causal");
  params.softcap = context.real("softcap");
  params.leftWindow = context.integer("left_window");
  params.rightWindow = context.integer("right_window");
  params.softmaxType = context.optionalType("softmax_type");
  params.scores = static_cast<kernels::AttentionScores>(context.integer("scores_mode"));
  kernels::attention({context.optional(0), context.optional(1), context.optional(2),
                      context.optional(3), context.optional(4), context.optional(5),
                      context.optional(6)},
                     params, results, context.threads());
  return {};
}

static Expected<void> evaluateRope(OpContext &context) {
  if (Expected<void> checked = checkFloats(context, {}); !checked)
    return checked;
  const shapes::RopeSpec spec = {.heads = context.integer("num_heads"),
                                 .rotated = context.integer("rotary_dim"),
                                 .hasPositions = context.has(3)};
  if (Expected<void> checked = shapes::checkRope(spec, operandDims(context)); !checked)
    return aboutLayer(context, checked);
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::RopeParams params{context.flag("interleaved"), context.integer("num_heads"),
                             context.integer("rotary_dim")};
  return aboutLayer(context,
                    kernels::rope(input, context.operand(1), context.operand(2),
                                  context.optional(3), params, **output, context.threads()));
}

static Expected<void> evaluateLinearAttention(OpContext &context) {
  if (Expected<void> checked = checkFloats(context, {1, 2}); !checked)
    return checked;
  Expected<shapes::LinearAttentionShapes> shapes = shapes::linearAttentionShapes(
      context.integer("q_num_heads"), context.integer("kv_num_heads"), operandDims(context));
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
                           context.integer("q_num_heads"), context.integer("kv_num_heads"),
                           context.real("scale"), **output, *state, context.threads());
  return {};
}

static Expected<void> evaluateCausalConv(OpContext &context) {
  if (Expected<void> checked = checkFloats(context, {1, 2, 3}); !checked)
    return checked;
  Expected<Dims> dims = shapes::causalConvState(operandDims(context));
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
                      context.text("activation") == "silu", **output, *state, context.threads());
  return {};
}

std::span<const OpEvaluator> ops::attentionOps() {
  static constexpr OpEvaluator kOps[] = {
      {"ScaleDotProductAttention", evaluateAttention},
      {"Rope", evaluateRope},
      {"LinearAttention", evaluateLinearAttention},
      {"CausalConv", evaluateCausalConv},
  };
  return kOps;
}
