//===- ConvertRecurrent.cpp - LSTM and RNN --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Caffe's recurrent layers have an input `cont` of [T, N]: where it is 0 a sequence begins anew,
// and the state before it counts as 0. The ops of the dialect know no such input, so the steps are
// written out, as Caffe does it.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/CaffeLayer.h"

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::caffe;

namespace {

/// A recurrent layer: its operands, and the extents that they have.
struct Recurrence {
  int64_t steps = 0;
  int64_t items = 0;
  int64_t hidden = 0;
  bool isStatic = false; ///< Has an input that is the same in all steps.
  SmallVector<Value> states;
  /// What the inputs add to the gates: [T * N, gates].
  Value driven;
};

Value product(CaffeLayer &layer, StringRef suffix, Value left, Value matrix, Value bias) {
  return layer.temp<top::MatMulOp>(suffix, {left, matrix, bias},
                                   layer.attrs().setBool("right_transpose", true));
}

/// Reads the bottoms: x, cont, then the static input, then with `expose_hidden` the states. The
/// matrix of x is blob 0, that of the static input `staticBlob`.
Recurrence recurrenceOf(CaffeLayer &layer, int64_t gates, unsigned numStates, size_t staticBlob) {
  const proto::RecurrentParameter &p = layer.parameters().recurrent_param();
  Recurrence cell;
  Ints dims = layer.shape(0);
  Ints cont = layer.shape(1);
  cell.hidden = p.num_output();
  if (cell.hidden < 1)
    layer.fail(fmt::format("its num_output is {}", cell.hidden), "1 or more");
  else if (dims.size() < 2 || cont.size() != 2 || cont[0] != dims[0] || cont[1] != dims[1])
    layer.fail("its bottoms do not fit each other", "[T, N, ...] and a cont of [T, N]");
  unsigned states = p.expose_hidden() ? numStates : 0;
  cell.isStatic = layer.numInputs() == 3 + states;
  if (!cell.isStatic && layer.numInputs() != 2 + states)
    layer.fail(fmt::format("has {} bottoms", layer.numInputs()),
               fmt::format("{}, and one more for a static input", 2 + states));
  if (layer.numOutputs() != 1 + states)
    layer.fail(fmt::format("has {} tops", layer.numOutputs()), fmt::format("{}", 1 + states));
  if (layer.failed())
    return cell;
  cell.steps = dims[0];
  cell.items = dims[1];
  for (unsigned index = 0; index < numStates; ++index)
    cell.states.push_back(
        states > 0 ? layer.reshaped(fmt::format("state{}", index),
                                    layer.in(layer.numInputs() - states + index),
                                    {cell.items, cell.hidden})
                   : layer.filled(fmt::format("state{}", index), {cell.items, cell.hidden}, 0));
  int64_t features = 1;
  for (int64_t dim : ArrayRef(dims).drop_front(2))
    features *= dim;
  gates *= cell.hidden;
  cell.driven = product(layer, "driven",
                        layer.reshaped("frames", layer.in(0), {cell.steps * cell.items, features}),
                        layer.blobWeight(0, "weights of the input", {gates, features}),
                        layer.blobWeight(1, "bias", {gates}));
  if (!cell.isStatic)
    return cell;
  Ints fixed = layer.shape(2);
  int64_t fixedFeatures = 1;
  for (int64_t dim : ArrayRef(fixed).drop_front())
    fixedFeatures *= dim;
  Value always = product(
      layer, "static", layer.reshaped("static_input", layer.in(2), {fixed[0], fixedFeatures}),
      layer.blobWeight(staticBlob, "weights of the static input", {gates, fixedFeatures}),
      layer.none());
  Value frames = layer.reshaped("driven_frames", cell.driven, {cell.steps, cell.items, gates});
  Value sum = layer.temp<top::AddOp>("driven_sum", {frames, always});
  cell.driven = layer.reshaped("driven_all", sum, {cell.steps * cell.items, gates});
  return cell;
}

struct Step {
  /// What the inputs add, and the product of the weights with the state, or with 0 where a sequence
  /// begins.
  Value sum;
  /// 0 where a sequence begins, otherwise 1: [N, 1].
  Value cont;
};

/// Step `step` from the state `hidden`; `what` names its sum.
Step stepOf(CaffeLayer &layer, const Recurrence &cell, int64_t step, StringRef what, Value hidden,
            Value recurrent) {
  auto named = [&](StringRef part) { return fmt::format("{}{}", part.str(), step); };
  Value driven =
      layer.part(named("driven"), cell.driven, 0, step * cell.items, (step + 1) * cell.items);
  Value cont =
      layer.reshaped(named("cont") + "_column",
                     layer.part(named("cont"), layer.in(1), 0, step, step + 1), {cell.items, 1});
  Value kept = layer.temp<top::MulOp>(named("kept"), {hidden, cont});
  Value fed = product(layer, named("fed"), kept, recurrent, layer.none());
  return {layer.temp<top::AddOp>(named(what), {driven, fed}), cont};
}

/// The results of all steps as output 0, the last states as the outputs behind it.
void emitSteps(CaffeLayer &layer, const Recurrence &cell, ArrayRef<Value> results,
               ArrayRef<Value> states) {
  SmallVector<Value> frames;
  for (auto [index, result] : llvm::enumerate(results))
    frames.push_back(
        layer.reshaped(fmt::format("frame{}", index), result, {1, cell.items, cell.hidden}));
  layer.emit<top::ConcatOp>(frames, layer.attrs().setInt("axis", 0));
  for (auto [index, state] : llvm::enumerate(states))
    if (layer.wants(static_cast<unsigned>(index) + 1))
      layer.emitAs<top::ReshapeOp>(
          static_cast<unsigned>(index) + 1, {state, layer.none()},
          layer.attrs().setInts("shape", Ints{1, cell.items, cell.hidden}));
}

/// i, f, o, g = the gates of W_xc x + b_c + W_hc (cont * h);
/// c = cont * sigmoid(f) * c + sigmoid(i) * tanh(g); h = sigmoid(o) * tanh(c)
void lstm(CaffeLayer &layer) {
  Recurrence cell = recurrenceOf(layer, 4, 2, 2);
  if (layer.failed())
    return;
  const int64_t h = cell.hidden;
  Value recurrent = layer.blobWeight(cell.isStatic ? 3 : 2, "weights of the state", {4 * h, h});
  Value hidden = cell.states[0];
  Value memory = cell.states[1];
  SmallVector<Value> results;
  for (int64_t step = 0; step < cell.steps && !layer.failed(); ++step) {
    auto named = [&](const char *what) { return fmt::format("{}{}", what, step); };
    const Step now = stepOf(layer, cell, step, "gates", hidden, recurrent);
    auto gate = [&](const char *what, int64_t index) {
      return layer.part(named(what), now.sum, 1, index * h, (index + 1) * h);
    };
    Value input = layer.temp<top::SigmoidOp>(named("i_gate"), gate("i", 0));
    Value forget = layer.temp<top::SigmoidOp>(named("f_gate"), gate("f", 1));
    Value output = layer.temp<top::SigmoidOp>(named("o_gate"), gate("o", 2));
    Value news = layer.temp<top::TanhOp>(named("g_gate"), gate("g", 3));
    Value remembered = layer.temp<top::MulOp>(named("f_cont"), {forget, now.cont});
    Value old = layer.temp<top::MulOp>(named("old"), {remembered, memory});
    Value added = layer.temp<top::MulOp>(named("new"), {input, news});
    memory = layer.temp<top::AddOp>(named("c"), {old, added});
    hidden = layer.temp<top::MulOp>(named("h"),
                                    {output, layer.temp<top::TanhOp>(named("c_tanh"), memory)});
    results.push_back(hidden);
  }
  emitSteps(layer, cell, results, {hidden, memory});
}

/// h = tanh(W_xh x + b_h + W_hh (cont * h)); o = tanh(W_ho h + b_o)
void rnn(CaffeLayer &layer) {
  Recurrence cell = recurrenceOf(layer, 1, 1, 2);
  if (layer.failed())
    return;
  const int64_t h = cell.hidden;
  size_t next = cell.isStatic ? 3 : 2;
  Value recurrent = layer.blobWeight(next, "weights of the state", {h, h});
  Value out = layer.blobWeight(next + 1, "weights of the output", {h, h});
  Value bias = layer.blobWeight(next + 2, "bias of the output", {h});
  Value hidden = cell.states[0];
  SmallVector<Value> results;
  for (int64_t step = 0; step < cell.steps && !layer.failed(); ++step) {
    auto named = [&](const char *what) { return fmt::format("{}{}", what, step); };
    Value sum = stepOf(layer, cell, step, "sum", hidden, recurrent).sum;
    hidden = layer.temp<top::TanhOp>(named("h"), sum);
    results.push_back(
        layer.temp<top::TanhOp>(named("o"), product(layer, named("out"), hidden, out, bias)));
  }
  emitSteps(layer, cell, results, {hidden});
}

constexpr LayerRow kRecurrentRows[] = {
    {"LSTM", 2, 5, lstm, "MatMul, Mul, Add, Sigmoid, Tanh, a step each"},
    {"RNN", 2, 4, rnn, "MatMul, Mul, Add, Tanh, a step each"},
};

} // namespace

ArrayRef<LayerRow> tpuc::caffe::recurrentRows() { return kRecurrentRows; }
