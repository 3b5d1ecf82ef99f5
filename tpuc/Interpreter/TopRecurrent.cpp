//===- TopRecurrent.cpp - What recurrent cells compute --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/RecurrentOps.h"
#include "tpuc/Dialect/Top/RecurrentShapes.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Kernels/Recurrent.h"
#include "tpuc/Interpreter/TopWindow.h"

using namespace tpuc;
using namespace tpuc::top;

static std::optional<Dims> dimsIfHeld(EvalContext &context, unsigned index) {
  if (index >= context.numOperands() || !context.has(index))
    return std::nullopt;
  return Dims(extents(context.operand(index)));
}

static const Tensor *optionalOperand(EvalContext &context, unsigned index) {
  return index < context.numOperands() ? context.optional(index) : nullptr;
}

template <typename Op>
static kernels::RecurrentParams recurrentParams(Op op, kernels::CellKind kind,
                                                std::vector<std::string> activations) {
  kernels::RecurrentParams params;
  params.kind = kind;
  params.hidden = op.getHiddenSize();
  params.batchFirst = op.getBatchFirst();
  llvm::StringRef direction = op.getDirection();
  if (direction == "bidirectional") {
    params.reversed = {false, true};
    std::vector<std::string> forward = activations;
    activations.insert(activations.end(), forward.begin(), forward.end());
  } else {
    params.reversed = {direction == "reverse"};
  }
  if (mlir::ArrayAttr names = op.getActivationsAttr()) {
    activations.clear();
    for (mlir::Attribute name : names)
      activations.push_back(mlir::cast<mlir::StringAttr>(name).str());
  }
  auto parsed = kernels::parseActivations(activations, toDoubles(op.getActivationAlpha()),
                                          toDoubles(op.getActivationBeta()));
  assert(parsed && "the verifier knows the names");
  params.activations = *parsed;
  if (op.getClip())
    params.clip = op.getClip()->convertToDouble();
  if constexpr (requires { op.getInputForget(); })
    params.inputForget = op.getInputForget();
  if constexpr (requires { op.getLinearBeforeReset(); })
    params.linearBeforeReset = op.getLinearBeforeReset();
  return params;
}

static Expected<void> evaluate(EvalContext &context, int64_t gates,
                               const kernels::RecurrentParams &params) {
  RecurrentOperands operands{dimsIfHeld(context, 0), dimsIfHeld(context, 1), dimsIfHeld(context, 2),
                             dimsIfHeld(context, 3), dimsIfHeld(context, 4), dimsIfHeld(context, 5),
                             dimsIfHeld(context, 6), dimsIfHeld(context, 7)};
  Expected<RecurrentShapes> shapes = recurrentShapes(context.op(), gates, operands);
  if (!shapes)
    return located(context, shapes.error());
  kernels::RecurrentResults results{nullptr, nullptr, nullptr};
  Tensor **rooms[] = {&results.y, &results.yH, &results.yC};
  for (unsigned i = 0; i < context.op()->getNumResults(); ++i) {
    if (!context.wants(i))
      continue;
    const Dims &dims = i == 0 ? shapes->y : shapes->yH;
    Expected<Tensor *> room =
        context.allocate(i, context.operand(0).type(), Shape(std::span(dims.data(), dims.size())));
    if (!room)
      return propagate(room);
    *rooms[i] = *room;
  }
  kernels::RecurrentTensors tensors{&context.operand(0),         &context.operand(1),
                                    &context.operand(2),         optionalOperand(context, 3),
                                    optionalOperand(context, 4), optionalOperand(context, 5),
                                    optionalOperand(context, 6), optionalOperand(context, 7)};
  Expected<void> done = kernels::runRecurrent(tensors, params, results, context.threads());
  if (!done)
    return located(context, done.error());
  return {};
}

static Expected<void> evaluateLSTM(LSTMOp op, EvalContext &context) {
  return evaluate(context, 4,
                  recurrentParams(op, kernels::CellKind::Lstm, {"Sigmoid", "Tanh", "Tanh"}));
}

static Expected<void> evaluateGRU(GRUOp op, EvalContext &context) {
  return evaluate(context, 3, recurrentParams(op, kernels::CellKind::Gru, {"Sigmoid", "Tanh"}));
}

static Expected<void> evaluateRNN(RNNOp op, EvalContext &context) {
  return evaluate(context, 1, recurrentParams(op, kernels::CellKind::Rnn, {"Tanh"}));
}

void tpuc::attachRecurrent(mlir::MLIRContext *context) {
  attachEvaluate<LSTMOp, evaluateLSTM>(context);
  attachEvaluate<GRUOp, evaluateGRU>(context);
  attachEvaluate<RNNOp, evaluateRNN>(context);
}
