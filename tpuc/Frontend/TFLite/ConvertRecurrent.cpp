//===- ConvertRecurrent.cpp - Recurrent layers ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/RecurrentOps.h"
#include "tpuc/Frontend/TFLite/TFLiteLayer.h"
#include "tpuc/Support/Convert.h"

#include <array>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;
using fb::BuiltinOperator;

namespace {

/// The constants `indices` of `dims` elements each, in f32 and one behind the other, as `shape`.
std::optional<Tensor> joinedConstants(TFLiteLayer &layer, ArrayRef<unsigned> indices,
                                      const Ints &dims, const Shape &shape, StringRef what) {
  Tensor all(DataType::F32, shape);
  float *to = all.mutableData<float>().data();
  for (unsigned index : indices) {
    if (!layer.has(index)) {
      layer.fail(fmt::format("has no input {}", index), what.str());
      return std::nullopt;
    }
    std::optional<Tensor> one = layer.needConstant(index, what);
    if (!one)
      return std::nullopt;
    if (!llvm::equal(one->shape().dims(), dims)) {
      layer.fail(fmt::format("has {} {}", what.str(), one->shape().str()),
                 Shape(std::span(dims.data(), dims.size())).str());
      return std::nullopt;
    }
    const Tensor numbers = convert(*one, DataType::F32);
    to = std::ranges::copy(numbers.data<float>(), to).out;
  }
  return all;
}

/// The extents of filter and recurrence of one gate.
struct Extents {
  int64_t hidden = 0, inputs = 0;
};

/// Of the constant `index`, a filter [hidden, inputs]; an error where it, or the input, is none.
Extents extentsOf(TFLiteLayer &layer, unsigned index, int64_t rank) {
  const Ints filter = layer.shape(index);
  const Ints input = layer.shape(0);
  if (layer.failed())
    return {};
  if (std::ssize(input) != rank || filter.size() != 2 || filter[0] < 1 ||
      filter[1] != input.back()) {
    layer.fail(fmt::format("has an input of {} dimensions and a filter of {}", input.size(),
                           filter.size()),
               fmt::format("{} dimensions, and a filter [units, elements of the input]", rank));
    return {};
  }
  return {filter[0], filter[1]};
}

/// Refuses inputs from `first` to `last`, which are there for `what`.
void refuse(TFLiteLayer &layer, unsigned first, unsigned last, StringRef what) {
  for (unsigned index = first; index <= last; ++index)
    if (layer.has(index))
      return layer.fail("has " + what.str(), "none, which is not supported");
}

// Inputs of an LSTM, in the order of its gates i f c o.
constexpr unsigned kFilter = 1, kRecurrence = 5, kPeephole = 9, kBias = 12, kProjection = 16,
                   kNorm = 20;

/// Gates in the order i o f c, states that begin with zeros.
void sequenceLstm(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::UnidirectionalSequenceLSTMOptions>();
  refuse(layer, kProjection, kProjection + 1, "a projection");
  refuse(layer, kNorm, kNorm + 3, "layer norms");
  if (!layer.failed() && (options.cell_clip() != 0 || options.diagonal_recurrent_tensors()))
    layer.fail("limits its cells, or has diagonal recurrences", "neither, which is not supported");
  if (!layer.failed() && options.fused_activation_function() != fb::ActivationFunction::TANH)
    layer.fail(
        fmt::format("has the activation {}", static_cast<int>(options.fused_activation_function())),
        "TANH");
  if (!layer.failed() && !layer.has(kFilter))
    layer.fail("has no input gate of its own", "one, as others are not supported");
  const auto [hidden, inputs] = layer.failed() ? Extents() : extentsOf(layer, kFilter, 3);
  if (layer.failed())
    return;
  const auto gates = [](unsigned first) {
    return std::array{first, first + 3, first + 1, first + 2};
  };
  const auto filter = joinedConstants(layer, gates(kFilter), {hidden, inputs},
                                      Shape({1, 4 * hidden, inputs}), "filters");
  const auto recurrence = filter ? joinedConstants(layer, gates(kRecurrence), {hidden, hidden},
                                                   Shape({1, 4 * hidden, hidden}), "recurrences")
                                 : std::nullopt;
  // The second half, which belongs to the recurrence, is of zeros.
  const auto bias =
      recurrence ? joinedConstants(layer, gates(kBias), {hidden}, Shape({1, 8 * hidden}), "biases")
                 : std::nullopt;
  if (!bias)
    return;
  Value peephole = layer.none();
  if (layer.has(kPeephole) || layer.has(kPeephole + 1) || layer.has(kPeephole + 2)) {
    const auto weights = joinedConstants(layer, {kPeephole, kPeephole + 2, kPeephole + 1}, {hidden},
                                         Shape({1, 3 * hidden}), "peepholes");
    if (!weights)
      return;
    peephole = layer.weight("peephole", *weights);
  }
  SmallVector<Value> made = layer.temps<top::LSTMOp>(
      "steps", 3, 1,
      {layer.in(0), layer.weight("filter", *filter), layer.weight("recurrence", *recurrence),
       layer.weight("bias", *bias), layer.none(), layer.none(), layer.none(), peephole},
      layer.attrs().setInt("hidden_size", hidden).setBool("batch_first", !options.time_major()));
  layer.put<top::SqueezeOp>(Layout::Source, {made[0], layer.none()},
                            layer.attrs().setInts("axes", Ints{options.time_major() ? 1 : 2}));
}

/// The steps of a simple cell; `isOne`: of one step without a dimension for it.
void recurrentSteps(TFLiteLayer &layer, fb::ActivationFunction activation, bool isOne,
                    bool timeMajor) {
  if (activation != fb::ActivationFunction::TANH && activation != fb::ActivationFunction::RELU)
    layer.fail(fmt::format("has the activation {}", static_cast<int>(activation)), "TANH or RELU");
  const auto [hidden, inputs] = layer.failed() ? Extents() : extentsOf(layer, 1, isOne ? 2 : 3);
  if (layer.failed())
    return;
  const auto filter =
      joinedConstants(layer, {1U}, {hidden, inputs}, Shape({1, hidden, inputs}), "filters");
  const auto recurrence = filter ? joinedConstants(layer, {2U}, {hidden, hidden},
                                                   Shape({1, hidden, hidden}), "recurrences")
                                 : std::nullopt;
  const auto bias = recurrence
                        ? joinedConstants(layer, {3U}, {hidden}, Shape({1, 2 * hidden}), "biases")
                        : std::nullopt;
  if (!bias)
    return;
  Value input = layer.in(0);
  if (isOne) {
    const Ints dims = layer.shape(0);
    input = layer.reshaped("step", input, {1, dims[0], dims[1]});
  }
  Builder builder(layer.context());
  const StringRef function = activation == fb::ActivationFunction::TANH ? "Tanh" : "Relu";
  SmallVector<Value> made = layer.temps<top::RNNOp>(
      "steps", 2, 1,
      {input, layer.weight("filter", *filter), layer.weight("recurrence", *recurrence),
       layer.weight("bias", *bias), layer.none(), layer.none()},
      layer.attrs()
          .setInt("hidden_size", hidden)
          .setBool("batch_first", !timeMajor)
          .set("activations", builder.getStrArrayAttr(function)));
  layer.put<top::SqueezeOp>(
      Layout::Source, {made[0], layer.none()},
      layer.attrs().setInts("axes", isOne ? Ints{0, 1} : Ints{timeMajor ? 1 : 2}));
}

void sequenceRnn(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::SequenceRNNOptions>();
  recurrentSteps(layer, options.fused_activation_function(), /*isOne=*/false, options.time_major());
}

void rnn(TFLiteLayer &layer) {
  recurrentSteps(layer, layer.options<fb::RNNOptions>().fused_activation_function(),
                 /*isOne=*/true, /*timeMajor=*/true);
}

constexpr OpRow kRows[] = {
    {BuiltinOperator::RNN, 5, 5, rnn, "RNN"},
    {BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, 9, 24, sequenceLstm, "LSTM"},
    {BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_RNN, 5, 5, sequenceRnn, "RNN"},
};

} // namespace

ArrayRef<OpRow> tpuc::tflite::recurrentRows() { return kRows; }
