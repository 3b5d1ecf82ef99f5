//===- Recurrent.cpp - What recurrent cells compute -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/OpShapes/Recurrent.h"
#include "tpuc/Interpreter/Kernels/Recurrent.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"

using namespace tpuc;
using namespace tpuc::ops;

static std::optional<Dims> dimsIfHeld(OpContext &context, unsigned index) {
  if (!context.has(index))
    return std::nullopt;
  return dimsOf(context, index);
}

static kernels::RecurrentParams recurrentParams(const OpContext &context, kernels::CellKind kind,
                                                std::vector<std::string> activations) {
  kernels::RecurrentParams params;
  params.kind = kind;
  params.hidden = context.integer("hidden_size");
  params.batchFirst = context.flag("batch_first");
  const std::string direction = context.text("direction");
  if (direction == "bidirectional") {
    params.reversed = {false, true};
    std::vector<std::string> forward = activations;
    activations.insert(activations.end(), forward.begin(), forward.end());
  } else {
    params.reversed = {direction == "reverse"};
  }
  if (std::optional<std::vector<std::string>> names = context.optionalTextList("activations"))
    activations = std::move(*names);
  auto parsed = kernels::parseActivations(activations, context.realList("activation_alpha"),
                                          context.realList("activation_beta"));
  if (!parsed)
    throw AttributeError{"activations that nobody knows", "those of ONNX"};
  params.activations = *parsed;
  if (const std::optional<double> clip = context.optionalReal("clip"))
    params.clip = *clip;
  params.inputForget = context.optionalFlag("input_forget");
  params.linearBeforeReset = context.optionalFlag("linear_before_reset");
  return params;
}

static Expected<void> evaluateCell(OpContext &context, int64_t gates,
                                   const kernels::RecurrentParams &params) {
  const shapes::RecurrentOperands operands{dimsIfHeld(context, 0), dimsIfHeld(context, 1),
                                           dimsIfHeld(context, 2), dimsIfHeld(context, 3),
                                           dimsIfHeld(context, 4), dimsIfHeld(context, 5),
                                           dimsIfHeld(context, 6), dimsIfHeld(context, 7)};
  const shapes::RecurrentSpec spec = {.gates = gates,
                                      .hidden = params.hidden,
                                      .isBidirectional = params.reversed.size() == 2,
                                      .batchFirst = params.batchFirst};
  Expected<shapes::RecurrentShapes> shapes = shapes::recurrentShapes(spec, operands);
  if (!shapes)
    return located(context, shapes.error());
  kernels::RecurrentResults results{nullptr, nullptr, nullptr};
  Tensor **rooms[] = {&results.y, &results.yH, &results.yC};
  for (unsigned i = 0; i < context.results().size(); ++i) {
    if (!context.wants(i))
      continue;
    const Dims &dims = i == 0 ? shapes->y : shapes->yH;
    Expected<Tensor *> room =
        context.allocate(i, context.operand(0).type(), Shape(std::span(dims.data(), dims.size())));
    if (!room)
      return propagate(room);
    *rooms[i] = *room;
  }
  kernels::RecurrentTensors tensors{&context.operand(0), &context.operand(1), &context.operand(2),
                                    context.optional(3), context.optional(4), context.optional(5),
                                    context.optional(6), context.optional(7)};
  Expected<void> done = kernels::runRecurrent(tensors, params, results, context.threads());
  if (!done)
    return located(context, done.error());
  return {};
}

static Expected<void> evaluateLSTM(OpContext &context) {
  return evaluateCell(
      context, 4, recurrentParams(context, kernels::CellKind::Lstm, {"Sigmoid", "Tanh", "Tanh"}));
}

static Expected<void> evaluateGRU(OpContext &context) {
  return evaluateCell(context, 3,
                      recurrentParams(context, kernels::CellKind::Gru, {"Sigmoid", "Tanh"}));
}

static Expected<void> evaluateRNN(OpContext &context) {
  return evaluateCell(context, 1, recurrentParams(context, kernels::CellKind::Rnn, {"Tanh"}));
}

std::span<const OpEvaluator> ops::recurrentOps() {
  static constexpr OpEvaluator kOps[] = {
      {"LSTM", evaluateLSTM},
      {"GRU", evaluateGRU},
      {"RNN", evaluateRNN},
  };
  return kOps;
}
