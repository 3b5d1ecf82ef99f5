//===- ConvertLstm.cpp - LSTM cells of all kinds, step by step ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Frontend/TFLite/Hybrid.h"
#include "tpuc/Frontend/TFLite/Recurrent.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;
using fb::ActivationFunction;
using fb::BuiltinOperator;

namespace {

/// Where the constants of a cell stand among the inputs of an op: the first of those that have one
/// for each gate, in the order input, forget, cell, output. 0: the op has none.
struct CellPlaces {
  unsigned filter = 1, recurrence = 5, peephole = 9, bias = 12, projection = 16, norm = 0;
  /// The filters of the auxiliary input.
  unsigned auxiliary = 0;
};

/// What limits a cell.
struct CellLimits {
  ActivationFunction activation = ActivationFunction::TANH;
  /// 0: none.
  float cell = 0, projection = 0;
  /// Beside weights of integers, whether floats are rounded to integers without a zero point.
  bool symmetric = true;
};

/// What a cell multiplies with: floats, or integers.
struct CellFilter {
  Value floats;
  std::optional<HybridWeights> integers;

  explicit operator bool() const { return floats || integers; }
};

/// The input of a cell: [steps, samples, elements], or with the samples first.
struct CellInput {
  Value value;
  Value auxiliary;
  int64_t steps = 0;
  bool timeMajor = true;
};

/// The gates of a cell in the order of the format.
enum Gate : unsigned { kIn, kForget, kCell, kOut };

/// An LSTM cell, whose steps become ops one by one. States begin with zeros.
///
///     i = s(n(Wi x + Ri h + Pi * c))    f = s(n(Wf x + Rf h + Pf * c))    without i: 1 - f
///     c' = limit(f * c + i * t(n(Wc x + Rc h)))
///     o = s(n(Wo x + Ro h + Po * c'))    h' = limit(V (o * t(c')) + v)
///
/// s is the sigmoid, t the activation. n adds the bias; of a cell with norms, it normalizes and
/// scales first. V and v, the projection, may be left out.
class Cell {
public:
  Cell(TFLiteLayer &layer, StringRef name, const CellPlaces &places, const CellLimits &limits)
      : layer(layer), name(name.str()), places(places), limits(limits) {}

  /// h' of each step, in the order of the input; empty where the layer has failed.
  SmallVector<Value> run(const CellInput &input, bool reversed) {
    if (!prepare(input))
      return {};
    Value ofInput = product("input", input.value, filter, normed ? layer.none() : bias);
    if (auxiliary)
      ofInput = layer.temp<top::AddOp>(
          named("inputs"),
          {ofInput, product("auxiliary", input.auxiliary, auxiliary, layer.none())});
    SmallVector<Value> made(static_cast<size_t>(input.steps));
    Value hidden;
    Value cell;
    for (int64_t count = 0; count < input.steps && !layer.failed(); ++count) {
      const int64_t at = reversed ? input.steps - 1 - count : count;
      step = at;
      made[static_cast<size_t>(at)] = hidden = next(ofStep(ofInput, input), hidden, cell);
    }
    return layer.failed() ? SmallVector<Value>() : made;
  }

private:
  std::string named(StringRef what) const { return name + what.str(); }
  std::string ofThisStep(StringRef what) const {
    return fmt::format("{}{}_{}", name, what.str(), step);
  }
  bool has(unsigned place, Gate gate) const { return place != 0 && layer.has(place + gate); }

  /// The gates that have filters.
  SmallVector<unsigned, 4> gatesFrom(unsigned place) const {
    SmallVector<unsigned, 4> all;
    for (unsigned gate = coupled ? kForget : kIn; gate <= kOut; ++gate)
      all.push_back(place + gate);
    return all;
  }

  /// The constants of all gates from `place` on, [gates * units, extent], or [gates * units].
  Value joined(StringRef what, unsigned place, std::optional<int64_t> extent) {
    const SmallVector<unsigned, 4> gates = gatesFrom(place);
    const int64_t rows = units * std::ssize(gates);
    const Ints each = extent ? Ints{units, *extent} : Ints{units};
    const std::optional<Tensor> all =
        joinedConstants(layer, gates, each, extent ? Shape({rows, *extent}) : Shape({rows}), what);
    return all ? layer.weight(named(what), *all) : layer.none();
  }
  Value vector(StringRef what, unsigned place, int64_t extent) {
    const std::optional<Tensor> one =
        joinedConstants(layer, {place}, {extent}, Shape({extent}), what);
    return one ? layer.weight(named(what), *one) : layer.none();
  }

  bool prepare(const CellInput &input) {
    const Ints shape = layer.shape(places.filter + kForget);
    const std::optional<Ints> dims = frontend::LayerBuilder::dims(input.value);
    if (layer.failed())
      return false;
    if (shape.size() != 2 || !dims || dims->size() != 3 || shape[1] != dims->back()) {
      layer.fail("has a filter that does not fit its input", "[units, elements of the input]");
      return false;
    }
    if (!isActivation(limits.activation))
      return false;
    units = shape[0];
    coupled = !has(places.filter, kIn);
    normed = has(places.norm, kForget);
    const bool projected = layer.has(places.projection);
    const Ints projection = projected ? layer.shape(places.projection) : Ints{units, units};
    if (layer.failed())
      return false;
    if (projection.size() != 2) {
      layer.fail(fmt::format("has a projection of {} dimensions", projection.size()), "2");
      return false;
    }
    outputs = projection[0];
    filter = joinedFilter("filter", places.filter, shape[1]);
    recurrence = joinedFilter("recurrence", places.recurrence, outputs);
    bias = joined("bias", places.bias, std::nullopt);
    if (normed)
      norms = joined("norms", places.norm, std::nullopt);
    if (input.auxiliary && !layer.failed())
      auxiliary = joinedFilter("auxiliary_filter", places.auxiliary,
                               frontend::LayerBuilder::dims(input.auxiliary)->back());
    for (unsigned gate : {0U, 1U, 2U})
      if (layer.has(places.peephole + gate))
        peepholes[gate] = vector(fmt::format("peephole{}", gate), places.peephole + gate, units);
    if (projected) {
      projectionFilter = projectionOf(units);
      projectionBias = layer.has(places.projection + 1)
                           ? vector("projection_bias", places.projection + 1, outputs)
                           : layer.none();
    }
    return !layer.failed();
  }

  CellFilter projectionOf(int64_t columns) {
    if (layer.isHybrid(places.projection))
      return {{}, hybridWeights(layer, named("projection"), {places.projection})};
    const std::optional<Tensor> all = joinedConstants(
        layer, {places.projection}, {outputs, columns}, Shape({outputs, columns}), "projection");
    return {all ? layer.weight(named("projection"), *all) : layer.none(), {}};
  }

  bool isActivation(ActivationFunction activation) {
    if (llvm::is_contained({ActivationFunction::NONE, ActivationFunction::RELU,
                            ActivationFunction::RELU6, ActivationFunction::TANH},
                           activation))
      return true;
    layer.fail(fmt::format("has the activation {}", static_cast<int>(activation)),
               "NONE, RELU, RELU6 or TANH");
    return false;
  }

  /// The filters of all gates from `place` on.
  CellFilter joinedFilter(StringRef what, unsigned place, int64_t extent) {
    if (layer.isHybrid(place + kForget))
      return {{}, hybridWeights(layer, named(what), gatesFrom(place))};
    return {joined(what, place, extent), {}};
  }

  Value product(StringRef what, Value value, const CellFilter &weights, Value added) {
    if (layer.failed())
      return layer.none();
    if (weights.integers)
      return hybridProduct(layer, named(what), value, *weights.integers, added, limits.symmetric);
    return layer.temp<top::MatMulOp>(named(what), {value, weights.floats, added},
                                     layer.attrs().setBool("right_transpose", true));
  }

  /// The row of this step, [samples, gates * units].
  Value ofStep(Value all, const CellInput &input) {
    const int64_t axis = input.timeMajor ? 0 : 1;
    Value part = input.steps == 1 ? all : layer.part(ofThisStep("part"), all, axis, step, step + 1);
    return layer.temp<top::SqueezeOp>(ofThisStep("gates"), {part, layer.none()},
                                      layer.attrs().setInts("axes", Ints{axis}));
  }

  Value times(StringRef what, Value left, Value right) {
    return layer.temp<top::MulOp>(ofThisStep(what), {left, right});
  }
  Value plus(StringRef what, Value left, Value right) {
    return layer.temp<top::AddOp>(ofThisStep(what), {left, right});
  }

  /// The columns of `gate` among those of all, of a vector or of rows.
  Value columns(const std::string &what, Value all, Gate gate) {
    const int64_t first = (gate - (coupled ? kForget : kIn)) * units;
    const int64_t last = *frontend::LayerBuilder::rank(all) - 1;
    return layer.part(what, all, last, first, first + units);
  }

  /// Gate `gate`, before its function. `cell`: of which peephole `index` gets a part, if any.
  Value open(Value gates, Gate gate, Value cell, std::optional<unsigned> index) {
    static constexpr StringRef kNames[] = {"in", "forget", "cell", "out"};
    const StringRef what = kNames[gate];
    Value value = columns(ofThisStep(what), gates, gate);
    if (cell && index && peepholes[*index])
      value = plus((what + "_seen").str(), value,
                   times((what + "_peephole").str(), cell, peepholes[*index]));
    if (!normed)
      return value;
    return layer.temps<top::LayerNormOp>(ofThisStep((what + "_normed").str()), 3, 1,
                                         {value,
                                          columns(ofThisStep((what + "_norm").str()), norms, gate),
                                          columns(ofThisStep((what + "_bias").str()), bias, gate)},
                                         layer.attrs().setInt("axis", 1).setFloat("eps", 1e-8))[0];
  }

  Value sigmoid(StringRef what, Value value) {
    return layer.temp<top::SigmoidOp>(ofThisStep(what), value);
  }
  Value activated(StringRef what, Value value) {
    switch (limits.activation) {
    case ActivationFunction::TANH:
      return layer.temp<top::TanhOp>(ofThisStep(what), value);
    case ActivationFunction::RELU:
      return layer.temp<top::ReluOp>(ofThisStep(what), value);
    case ActivationFunction::RELU6:
      return layer.temp<top::ReluOp>(ofThisStep(what), value,
                                     layer.attrs().setFloat("relu_limit", 6));
    default:
      return value;
    }
  }
  Value limited(StringRef what, Value value, float limit) {
    if (limit <= 0)
      return value;
    return layer.temp<top::ClipOp>(ofThisStep(what), value,
                                   layer.attrs().setFloat("min", -limit).setFloat("max", limit));
  }

  /// One step: `cell` becomes c', the result is h'. Both are left out in the first step.
  Value next(Value gates, Value hidden, Value &cell) {
    if (hidden)
      gates = plus("sum", gates,
                   product(fmt::format("recurrent_{}", step), hidden, recurrence, layer.none()));
    Value forget;
    if (cell || coupled)
      forget = sigmoid("forgotten", open(gates, kForget, cell, 1));
    Value in = coupled ? layer.temp<top::SubConstOp>(
                             ofThisStep("taken"), forget,
                             layer.attrs().setFloat("const_val", 1).setBool("is_reverse", true))
                       : sigmoid("taken", open(gates, kIn, cell, 0));
    Value made = times("new", in, activated("candidate", open(gates, kCell, {}, {})));
    if (cell)
      made = plus("kept_and_new", times("kept", forget, cell), made);
    cell = limited("limited", made, limits.cell);
    Value out = sigmoid("opened", open(gates, kOut, cell, 2));
    Value shown = times("shown", out, activated("content", cell));
    if (!projectionFilter)
      return shown;
    return limited(
        "output",
        product(fmt::format("projected_{}", step), shown, projectionFilter, projectionBias),
        limits.projection);
  }

  TFLiteLayer &layer;
  std::string name;
  CellPlaces places;
  CellLimits limits;
  bool coupled = false, normed = false;
  int64_t units = 0, outputs = 0, step = 0;
  CellFilter filter, recurrence, auxiliary, projectionFilter;
  Value bias, norms, projectionBias;
  std::array<Value, 3> peepholes;
};

/// Input `index` of a sequence, [steps, samples, elements] or with the samples first; an error
/// where it is none.
std::optional<CellInput> sequence(TFLiteLayer &layer, unsigned index, bool timeMajor) {
  const Ints dims = layer.shape(index);
  if (layer.failed())
    return std::nullopt;
  if (dims.size() != 3 || llvm::is_contained(dims, 0)) {
    layer.fail(fmt::format("has an input of {} dimensions", dims.size()), "3 of 1 or more");
    return std::nullopt;
  }
  const int64_t steps = dims[timeMajor ? 0 : 1];
  if (steps > kMostSteps) {
    layer.fail(fmt::format("has {} steps, each of which takes ops of its own", steps),
               fmt::format("at most {}", kMostSteps));
    return std::nullopt;
  }
  return CellInput{layer.in(index), {}, steps, timeMajor};
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The older form. Inputs: elements, h, the joined filter [4 units, elements + units], the bias, c.
/// Outputs: h', c', the joined input, the gates in the order input, cell, forget, output.
void basicLstm(TFLiteLayer &layer) {
  for (unsigned index = 1; index < 5; ++index)
    if (!layer.has(index))
      return layer.fail(fmt::format("has no input {}", index), "5 of them");
  const Ints dims = layer.shape(0);
  const Ints filter = layer.shape(2);
  if (layer.failed())
    return;
  if (dims.size() != 2 || filter.size() != 2 || filter[0] % 4 != 0 ||
      filter[1] != dims[1] + filter[0] / 4 || layer.numOutputs() != 4)
    return layer.fail("has a filter that does not fit its input, or other than 4 outputs",
                      "[4 units, elements of the input and units], and 4 outputs");
  const int64_t units = filter[0] / 4;
  const Ints state = {dims[0], units};
  if (layer.shape(1) != state || layer.shape(4) != state || layer.shape(3) != Ints{filter[0]})
    return layer.fail("has states or a bias that do not fit its filter",
                      "states [samples, units] and a bias [4 units]");
  Value joined = layer.temp<top::ConcatOp>("joined", {layer.in(0), layer.in(1)},
                                           layer.attrs().setInt("axis", 1));
  Value gates = layer.temp<top::MatMulOp>("gates", {joined, layer.in(2), layer.in(3)},
                                          layer.attrs().setBool("right_transpose", true));
  const auto gate = [&](StringRef name, int64_t index) {
    return layer.part(name, gates, 1, index * units, (index + 1) * units);
  };
  Value in = layer.temp<top::SigmoidOp>("taken", gate("in", 0));
  Value candidate = layer.temp<top::TanhOp>("candidate", gate("new", 1));
  Value forget = layer.temp<top::SigmoidOp>("forgotten", gate("forget", 2));
  Value out = layer.temp<top::SigmoidOp>("opened", gate("out", 3));
  Value cell =
      layer.temp<top::AddOp>("cell", {layer.temp<top::MulOp>("added", {in, candidate}),
                                      layer.temp<top::MulOp>("kept", {forget, layer.in(4)})});
  layer.emitAs<top::MulOp>(0, {out, layer.temp<top::TanhOp>("content", cell)}, layer.attrs());
  for (auto [index, value] : {std::pair(1U, cell), std::pair(2U, joined), std::pair(3U, gates)})
    if (layer.wants(index))
      layer.emitAs<top::CopyOp>(index, value, layer.attrs());
}

/// One step of a cell: of the newer form with all its constants, or of the older one.
void lstm(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::LSTMOptions>();
  if (options.kernel_type() == fb::LstmKernel::BASIC)
    return basicLstm(layer);
  if (isIntegerCell(layer))
    return integerLstm(layer, {true, true, options.cell_clip(), options.proj_clip()});
  const Ints dims = layer.shape(0);
  if (layer.failed())
    return;
  if (dims.size() != 2)
    return layer.fail(fmt::format("has an input of {} dimensions", dims.size()), "2");
  CellPlaces places;
  places.norm = 20;
  CellInput input{layer.reshaped("steps", layer.in(0), {1, dims[0], dims[1]}), {}, 1, true};
  Cell cell(layer, "", places,
            {options.fused_activation_function(), options.cell_clip(), options.proj_clip(),
             !options.asymmetric_quantize_inputs()});
  const SmallVector<Value> made = cell.run(input, false);
  if (!layer.failed())
    layer.emit<top::CopyOp>(made[0]);
}

void bidirectionalLstm(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::BidirectionalSequenceLSTMOptions>();
  constexpr unsigned kAuxiliary = 39;
  const bool timeMajor = options.time_major();
  const CellLimits limits{options.fused_activation_function(), options.cell_clip(),
                          options.proj_clip(), !options.asymmetric_quantize_inputs()};
  std::optional<CellInput> input = sequence(layer, 0, timeMajor);
  if (!input)
    return;
  CellInput back = *input;
  const bool crossed = layer.has(kAuxiliary + 2);
  if (layer.has(kAuxiliary)) {
    std::optional<CellInput> other = sequence(layer, kAuxiliary, timeMajor);
    if (!other || !haveSameSteps(layer, 0, kAuxiliary))
      return;
    if (crossed)
      input->auxiliary = back.auxiliary = other->value;
    else
      back.value = other->value;
  }
  CellPlaces forward{1, 5, 9, 12, 16, 0, kAuxiliary + 1};
  CellPlaces backward{18, 22, 26, 29, 33, 0, kAuxiliary + 5};
  Cell first(layer, "forward_", forward, limits);
  const SmallVector<Value> ahead = first.run(*input, false);
  Cell second(layer, "backward_", backward, limits);
  const SmallVector<Value> behind = layer.failed() ? ahead : second.run(back, true);
  if (layer.failed())
    return;
  putBothDirections(layer, stacked(layer, "forward_", ahead, timeMajor),
                    stacked(layer, "backward_", behind, timeMajor), options.merge_outputs());
}

/// The same with a filter of integers: a sum is scaled before the weight in time multiplies it.
void hybridSvdf(TFLiteLayer &layer, const fb::SVDFOptions &options, int64_t memory) {
  const std::optional<HybridWeights> features = hybridWeights(layer, "features", {1});
  const std::optional<Tensor> weights =
      features ? layer.needConstant(2, "weights in time") : std::nullopt;
  if (!weights)
    return;
  const int64_t filters = weights->shape()[0];
  Tensor newest(DataType::F32, Shape({filters}));
  for (int64_t row = 0; row < filters; ++row)
    newest.mutableData<float>()[static_cast<size_t>(row)] =
        weights->data<float>()[static_cast<size_t>((row + 1) * memory - 1)];
  Value made = hybridProduct(layer, "columns", layer.in(0), *features, layer.none(),
                             !options.asymmetric_quantize_inputs());
  made = layer.temp<top::MulOp>("in_time", {made, layer.weight("newest", std::move(newest))});
  made = layer.reshaped("ranks", made, {-1, filters / options.rank(), options.rank()});
  made = layer.temp<top::ReduceOp>("units", {made, layer.none()},
                                   layer.attrs()
                                       .setInts("axes", Ints{2})
                                       .setBool("keepdims", false)
                                       .setString("mode", "ReduceSum"));
  if (layer.has(3))
    made = layer.temp<top::AddOp>("biased", {made, layer.in(3)});
  layer.putActivation(Layout::Source, options.fused_activation_function(), made);
}

/// With a state of zeros, as at the first call: the newest column of the memory alone counts. Unit
/// u adds its `rank` filters, each by the last weight in time.
void svdf(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::SVDFOptions>();
  const Ints filter = layer.shape(1);
  const Ints time = layer.shape(2);
  const Ints input = layer.shape(0);
  if (layer.failed())
    return;
  const int64_t rank = options.rank();
  if (input.size() != 2 || filter.size() != 2 || time.size() != 2 || filter[0] != time[0] ||
      filter[1] != input[1] || time[1] < 1 || rank < 1 || filter[0] % rank != 0)
    return layer.fail("has filters that do not fit its input or rank",
                      "[units * rank, elements of the input] and [units * rank, memory]");
  if (layer.isHybrid(1))
    return hybridSvdf(layer, options, time[1]);
  const std::optional<Tensor> features = layer.needConstant(1, "filter");
  const std::optional<Tensor> weights =
      features ? layer.needConstant(2, "weights in time") : std::nullopt;
  if (!weights)
    return;
  const int64_t units = filter[0] / rank;
  Tensor joined(DataType::F32, Shape({units, filter[1]}));
  for (int64_t unit = 0; unit < units; ++unit)
    for (int64_t element = 0; element < filter[1]; ++element) {
      double sum = 0;
      for (int64_t row = unit * rank; row < (unit + 1) * rank; ++row)
        sum += static_cast<double>(
                   features->data<float>()[static_cast<size_t>(row * filter[1] + element)]) *
               static_cast<double>(
                   weights->data<float>()[static_cast<size_t>((row + 1) * time[1] - 1)]);
      joined.mutableData<float>()[static_cast<size_t>(unit * filter[1] + element)] =
          static_cast<float>(sum);
    }
  layer.putActivated<top::MatMulOp>(
      Layout::Source, options.fused_activation_function(),
      {layer.in(0), layer.weight("joined", std::move(joined)), layer.in(3)},
      layer.attrs().setBool("right_transpose", true));
}

constexpr OpRow kLstmRows[] = {
    {BuiltinOperator::BIDIRECTIONAL_SEQUENCE_LSTM, 1, 48, bidirectionalLstm,
     "MatMul, LayerNorm and arithmetic of each step"},
    {BuiltinOperator::LSTM, 1, 24, lstm, "LSTMInteger; MatMul, LayerNorm and arithmetic"},
    {BuiltinOperator::SVDF, 3, 5, svdf, "MatMul"},
};

} // namespace

Value tpuc::tflite::stacked(TFLiteLayer &layer, StringRef name, ArrayRef<Value> rows,
                            bool timeMajor) {
  const int64_t axis = timeMajor ? 0 : 1;
  SmallVector<Value> parts;
  for (auto [index, row] : llvm::enumerate(rows))
    parts.push_back(layer.temp<top::UnsqueezeOp>(fmt::format("{}row_{}", name.str(), index),
                                                 {row, layer.none()},
                                                 layer.attrs().setInts("axes", Ints{axis})));
  return layer.temp<top::ConcatOp>((name + "rows").str(), parts,
                                   layer.attrs().setInt("axis", axis));
}

void tpuc::tflite::unrolledLstm(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::UnidirectionalSequenceLSTMOptions>();
  std::optional<CellInput> input = sequence(layer, 0, options.time_major());
  if (!input)
    return;
  CellPlaces places;
  places.norm = 20;
  Cell cell(layer, "", places,
            {options.fused_activation_function(), options.cell_clip(), options.proj_clip(),
             !options.asymmetric_quantize_inputs()});
  const SmallVector<Value> made = cell.run(*input, false);
  if (!layer.failed())
    layer.emit<top::CopyOp>(stacked(layer, "", made, options.time_major()));
}

ArrayRef<OpRow> tpuc::tflite::lstmRows() { return kLstmRows; }
