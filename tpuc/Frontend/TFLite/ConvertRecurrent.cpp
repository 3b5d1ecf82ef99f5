//===- ConvertRecurrent.cpp - Recurrent layers ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/RecurrentOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Frontend/TFLite/Hybrid.h"
#include "tpuc/Frontend/TFLite/Recurrent.h"
#include "tpuc/Support/Convert.h"

#include <array>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;
using fb::BuiltinOperator;

std::optional<Tensor> tpuc::tflite::joinedConstants(TFLiteLayer &layer, ArrayRef<unsigned> indices,
                                                    const Ints &dims, const Shape &shape,
                                                    StringRef what) {
  Expected<Tensor> all = Tensor::create(DataType::F32, shape.dims(), layer.place());
  if (!all) {
    layer.fail(all.error().found, all.error().expected);
    return std::nullopt;
  }
  float *to = all->mutableData<float>().data();
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
  return *all;
}

bool tpuc::tflite::haveSameSteps(TFLiteLayer &layer, unsigned first, unsigned second) {
  const Ints own = layer.shape(first);
  const Ints other = layer.shape(second);
  if (layer.failed())
    return false;
  if (own.size() == 3 && other.size() == 3 && own[0] == other[0] && own[1] == other[1])
    return true;
  layer.fail("has an auxiliary input that does not fit its input",
             "3 dimensions, with as many steps and samples as the input");
  return false;
}

void tpuc::tflite::putBothDirections(TFLiteLayer &layer, Value forward, Value backward,
                                     bool merged) {
  if (merged) {
    layer.emit<top::ConcatOp>({forward, backward}, layer.attrs().setInt("axis", 2));
    return;
  }
  layer.emitAs<top::CopyOp>(0, forward, layer.attrs());
  if (layer.wants(1))
    layer.emitAs<top::CopyOp>(1, backward, layer.attrs());
}

namespace {

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

// Inputs of an LSTM, in the order of its gates i f c o.
constexpr unsigned kFilter = 1, kRecurrence = 5, kPeephole = 9, kBias = 12, kProjection = 16,
                   kNorm = 20;

/// Gates in the order i o f c, states that begin with zeros. Cells with more than that take ops of
/// their own in each step.
void sequenceLstm(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::UnidirectionalSequenceLSTMOptions>();
  if (options.diagonal_recurrent_tensors())
    return layer.fail("has diagonal recurrences", "whole ones, as these are not supported");
  if (isIntegerCell(layer))
    return integerLstm(layer,
                       {options.time_major(), false, options.cell_clip(), options.proj_clip()});
  const bool isPlain = layer.has(kFilter) && !layer.isHybrid(kFilter + 1) &&
                       !layer.has(kProjection) && !layer.has(kNorm + 1) &&
                       options.cell_clip() == 0 &&
                       options.fused_activation_function() == fb::ActivationFunction::TANH;
  if (!isPlain)
    return unrolledLstm(layer);
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

/// What a simple cell is told.
struct SimpleCell {
  /// Where its filter stands among the inputs; recurrence and bias follow.
  unsigned place = 1;
  fb::ActivationFunction activation = fb::ActivationFunction::TANH;
  bool timeMajor = true, reversed = false;
  /// The filter of what stands behind the elements of the input, if any.
  std::optional<unsigned> more = std::nullopt;
  /// Beside weights of integers, whether floats are rounded to integers without a zero point.
  bool symmetric = true;
};

/// The steps of a cell whose weights are integers, each of which takes ops of its own. `input` has
/// three dimensions, and `elements` of the last belong to the cell's own filter.
Value hybridSteps(TFLiteLayer &layer, StringRef name, Value input, const SimpleCell &cell,
                  int64_t elements) {
  using fb::ActivationFunction;
  const auto named = [&](StringRef what) { return (name + what).str(); };
  const Ints dims = *frontend::LayerBuilder::dims(input);
  const int64_t axis = cell.timeMajor ? 0 : 1;
  const int64_t steps = dims[static_cast<size_t>(axis)];
  if (steps < 1 || steps > kMostSteps) {
    layer.fail(fmt::format("has {} steps, each of which takes ops of its own", steps),
               fmt::format("1 to {}", kMostSteps));
    return layer.none();
  }
  const auto filter = hybridWeights(layer, named("filter"), {cell.place});
  const auto recurrence =
      filter ? hybridWeights(layer, named("recurrence"), {cell.place + 1}) : std::nullopt;
  if (!recurrence)
    return layer.none();
  Value own = cell.more ? layer.part(named("own"), input, 2, 0, elements) : input;
  Value all =
      hybridProduct(layer, named("input"), own, *filter, layer.in(cell.place + 2), cell.symmetric);
  if (cell.more) {
    const auto other = hybridWeights(layer, named("other_filter"), {*cell.more});
    if (!other)
      return layer.none();
    Value rest = layer.part(named("rest"), input, 2, elements, dims[2]);
    all = layer.temp<top::AddOp>(
        named("both"),
        {all, hybridProduct(layer, named("other"), rest, *other, layer.none(), cell.symmetric)});
  }
  SmallVector<Value> rows(static_cast<size_t>(steps));
  Value hidden;
  for (int64_t count = 0; count < steps && !layer.failed(); ++count) {
    const int64_t at = cell.reversed ? steps - 1 - count : count;
    const auto ofStep = [&](StringRef what) {
      return fmt::format("{}{}_{}", name.str(), what.str(), at);
    };
    Value sum = layer.temp<top::SqueezeOp>(
        ofStep("gate"), {layer.part(ofStep("part"), all, axis, at, at + 1), layer.none()},
        layer.attrs().setInts("axes", Ints{axis}));
    if (hidden)
      sum = layer.temp<top::AddOp>(ofStep("sum"),
                                   {sum, hybridProduct(layer, ofStep("recurrent"), hidden,
                                                       *recurrence, layer.none(), cell.symmetric)});
    hidden = cell.activation == ActivationFunction::TANH
                 ? layer.temp<top::TanhOp>(ofStep("hidden"), sum)
                 : layer.temp<top::ReluOp>(ofStep("hidden"), sum);
    rows[static_cast<size_t>(at)] = hidden;
  }
  return layer.failed() ? layer.none() : stacked(layer, name, rows, cell.timeMajor);
}

/// The steps of `cell` over `input`, which has three dimensions, without that of directions; none
/// where the layer has failed.
Value simpleSteps(TFLiteLayer &layer, StringRef name, Value input, const SimpleCell &cell) {
  using fb::ActivationFunction;
  if (cell.activation != ActivationFunction::TANH && cell.activation != ActivationFunction::RELU)
    layer.fail(fmt::format("has the activation {}", static_cast<int>(cell.activation)),
               "TANH or RELU");
  const Ints filter = layer.shape(cell.place);
  const Ints more = cell.more ? layer.shape(*cell.more) : Ints();
  const std::optional<Ints> dims = frontend::LayerBuilder::dims(input);
  if (layer.failed())
    return layer.none();
  const auto isFilter = [&](const Ints &each) { return each.size() == 2 && each[0] == filter[0]; };
  const int64_t elements = (filter.empty() ? 0 : filter.back()) + (more.empty() ? 0 : more.back());
  if (!isFilter(filter) || (cell.more && !isFilter(more)) || filter[0] < 1 || !dims ||
      dims->size() != 3 || dims->back() != elements) {
    layer.fail(fmt::format("has an input of {} dimensions and a filter of {}",
                           dims ? dims->size() : 0, filter.size()),
               "one filter [units, elements of the input] for each input");
    return layer.none();
  }
  if (layer.isHybrid(cell.place))
    return hybridSteps(layer, name, input, cell, filter.back());
  const int64_t units = filter[0];
  const auto constant = [&](StringRef what, unsigned place, const Ints &shape) {
    return joinedConstants(layer, {place}, shape, Shape(std::span(shape.data(), shape.size())),
                           what);
  };
  const auto own = constant("filters", cell.place, filter);
  const auto other = own && cell.more ? constant("filters", *cell.more, more) : std::nullopt;
  const auto recurrence = own ? joinedConstants(layer, {cell.place + 1}, {units, units},
                                                Shape({1, units, units}), "recurrences")
                              : std::nullopt;
  const auto bias = recurrence ? joinedConstants(layer, {cell.place + 2}, {units},
                                                 Shape({1, 2 * units}), "biases")
                               : std::nullopt;
  if (!bias || layer.failed())
    return layer.none();
  const auto named = [&](StringRef what) { return (name + what).str(); };
  Value weights = layer.weight(named("filter"), *own);
  if (other)
    weights =
        layer.temp<top::ConcatOp>(named("filters"), {weights, layer.weight(named("other"), *other)},
                                  layer.attrs().setInt("axis", 1));
  weights = layer.reshaped(named("direction"), weights, {1, units, elements});
  Builder builder(layer.context());
  SmallVector<Value> made = layer.temps<top::RNNOp>(
      named("steps"), 2, 1,
      {input, weights, layer.weight(named("recurrence"), *recurrence),
       layer.weight(named("bias"), *bias), layer.none(), layer.none()},
      layer.attrs()
          .setInt("hidden_size", units)
          .setBool("batch_first", !cell.timeMajor)
          .setString("direction", cell.reversed ? "reverse" : "forward")
          .set("activations", builder.getStrArrayAttr(StringRef(
                                  cell.activation == ActivationFunction::TANH ? "Tanh" : "Relu"))));
  return layer.temp<top::SqueezeOp>(named("rows"), {made[0], layer.none()},
                                    layer.attrs().setInts("axes", Ints{cell.timeMajor ? 1 : 2}));
}

void sequenceRnn(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::SequenceRNNOptions>();
  Value made = simpleSteps(layer, "", layer.in(0),
                           {1, options.fused_activation_function(), options.time_major(), false,
                            std::nullopt, !options.asymmetric_quantize_inputs()});
  layer.emit<top::CopyOp>(made);
}

/// One step, without a dimension for it.
void rnn(TFLiteLayer &layer) {
  const Ints dims = layer.shape(0);
  if (layer.failed())
    return;
  if (dims.size() != 2)
    return layer.fail(fmt::format("has an input of {} dimensions", dims.size()), "2");
  const auto &options = layer.options<fb::RNNOptions>();
  Value input = layer.reshaped("step", layer.in(0), {1, dims[0], dims[1]});
  Value made = simpleSteps(layer, "", input,
                           {1, options.fused_activation_function(), true, false, std::nullopt,
                            !options.asymmetric_quantize_inputs()});
  layer.emit<top::SqueezeOp>({made, layer.none()}, layer.attrs().setInts("axes", Ints{0}));
}

/// An auxiliary input without filters of its own is what the backward cell reads. LiteRT leaves it
/// out where the samples come first.
void bidirectionalRnn(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::BidirectionalSequenceRNNOptions>();
  constexpr unsigned kAuxiliary = 9;
  SimpleCell ahead{1, options.fused_activation_function(), options.time_major()};
  SimpleCell behind{5, options.fused_activation_function(), options.time_major(), true};
  ahead.symmetric = behind.symmetric = !options.asymmetric_quantize_inputs();
  if (layer.has(kAuxiliary) && !haveSameSteps(layer, 0, kAuxiliary))
    return;
  Value input = layer.in(0);
  Value back = input;
  if (layer.has(kAuxiliary) && layer.has(kAuxiliary + 1)) {
    input = back = layer.temp<top::ConcatOp>("inputs", {input, layer.in(kAuxiliary)},
                                             layer.attrs().setInt("axis", 2));
    ahead.more = kAuxiliary + 1;
    behind.more = kAuxiliary + 2;
  } else if (layer.has(kAuxiliary) && options.time_major()) {
    back = layer.in(kAuxiliary);
  }
  Value forward = simpleSteps(layer, "forward_", input, ahead);
  Value backward = layer.failed() ? forward : simpleSteps(layer, "backward_", back, behind);
  if (!layer.failed())
    putBothDirections(layer, forward, backward, options.merge_outputs());
}

constexpr OpRow kRecurrentRows[] = {
    {BuiltinOperator::BIDIRECTIONAL_SEQUENCE_RNN, 9, 12, bidirectionalRnn, "RNN"},
    {BuiltinOperator::RNN, 5, 5, rnn, "RNN"},
    {BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, 1, 24, sequenceLstm,
     "LSTM; LSTMInteger; MatMul, LayerNorm and arithmetic of each step"},
    {BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_RNN, 5, 5, sequenceRnn, "RNN"},
};

} // namespace

ArrayRef<OpRow> tpuc::tflite::recurrentRows() { return kRecurrentRows; }
