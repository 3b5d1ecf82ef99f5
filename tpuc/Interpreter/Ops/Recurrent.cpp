//===- Recurrent.cpp - What recurrent cells compute -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/OpShapes/Recurrent.h"
#include "tpuc/Interpreter/Kernels/IntegerLstm.h"
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

/// The attributes of a cell; those that are lists have as many elements as it has gates that want
/// one. A damaged model file may have others.
static kernels::IntegerLstmParams integerLstmParams(const OpContext &context) {
  kernels::IntegerLstmParams params;
  params.batchFirst = context.flag("batch_first");
  params.inputFactors = context.realList("input_factors");
  params.recurrentFactors = context.realList("recurrent_factors");
  params.peepholeFactors = context.realList("peephole_factors");
  params.normScales = context.realList("norm_scales");
  params.hiddenFactor = context.real("hidden_factor");
  params.projectionFactor = context.real("projection_factor");
  const auto number = [&](std::string_view name) {
    return static_cast<int32_t>(context.integer(name));
  };
  params.inputZeroPoint = number("input_zero_point");
  params.hiddenZeroPoint = number("hidden_zero_point");
  params.outputZeroPoint = number("output_zero_point");
  params.contentBits = static_cast<int>(number("content_bits"));
  params.contentLimit = number("content_limit");
  params.outputLimit = number("output_limit");
  const size_t gates = params.inputFactors.size();
  if ((gates != 3 && gates != 4) || params.recurrentFactors.size() != gates ||
      params.peepholeFactors.size() != (context.has(4) ? gates - 1 : 0) ||
      params.normScales.size() != (context.has(5) ? gates : 0))
    throw AttributeError{"factors that do not fit each other", "one for each of 3 or 4 gates"};
  return params;
}

static Expected<void> evaluateLSTMInteger(OpContext &context) {
  static constexpr DataType kTypes[] = {DataType::I8,  DataType::I8,  DataType::I8, DataType::I32,
                                        DataType::I16, DataType::I16, DataType::I8, DataType::I32};
  const kernels::IntegerLstmParams params = integerLstmParams(context);
  for (unsigned index = 0; index < std::size(kTypes); ++index)
    if (context.has(index) && context.operand(index).type() != kTypes[index])
      return context.error("operand " + std::to_string(index) + " holds " +
                               std::string(dataTypeName(context.operand(index).type())),
                           std::string(dataTypeName(kTypes[index])));
  Expected<Dims> shape = shapes::integerLstmShape(static_cast<int64_t>(params.inputFactors.size()),
                                                  {dimsIfHeld(context, 0), dimsIfHeld(context, 1),
                                                   dimsIfHeld(context, 2), dimsIfHeld(context, 3),
                                                   dimsIfHeld(context, 4), dimsIfHeld(context, 5),
                                                   dimsIfHeld(context, 6), dimsIfHeld(context, 7)});
  if (!shape)
    return located(context, shape.error());
  Expected<Tensor *> output = allocateDims(context, 0, DataType::I8, *shape);
  if (!output)
    return propagate(output);
  kernels::integerLstm({context.operand(0), context.operand(1), context.operand(2),
                        context.operand(3), context.optional(4), context.optional(5),
                        context.optional(6), context.optional(7)},
                       params, **output, context.threads());
  return {};
}

std::span<const OpEvaluator> ops::recurrentOps() {
  static constexpr OpEvaluator kOps[] = {
      {"LSTM", evaluateLSTM},
      {"GRU", evaluateGRU},
      {"RNN", evaluateRNN},
      {"LSTMInteger", evaluateLSTMInteger},
  };
  return kOps;
}
