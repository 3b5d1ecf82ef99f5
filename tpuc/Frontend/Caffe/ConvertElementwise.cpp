//===- ConvertElementwise.cpp - Activations, sums, scales -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/CaffeLayer.h"

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::caffe;

namespace {

template <typename Op> void plain(CaffeLayer &layer) { layer.emit<Op>(layer.in(0)); }

void relu(CaffeLayer &layer) {
  double slope = layer.parameters().relu_param().negative_slope();
  if (slope == 0)
    layer.emit<top::ReluOp>(layer.in(0));
  else
    layer.emit<top::LeakyReluOp>(layer.in(0), layer.attrs().setFloat("alpha", slope));
}

void relu6(CaffeLayer &layer) {
  layer.emit<top::ClipOp>(layer.in(0), layer.attrs().setFloat("min", 0.0).setFloat("max", 6.0));
}

void clip(CaffeLayer &layer) {
  const proto::ClipParameter &clip = layer.parameters().clip_param();
  if (!clip.has_min() || !clip.has_max())
    return layer.fail("clip_param lacks min or max", "both");
  layer.emit<top::ClipOp>(layer.in(0),
                          layer.attrs().setFloat("min", clip.min()).setFloat("max", clip.max()));
}

/// One slope, or one for each channel.
void prelu(CaffeLayer &layer) {
  Ints dims = layer.shape(0);
  if (dims.size() < 2)
    return layer.fail(fmt::format("its bottom has {} dimensions", dims.size()), "2 or more");
  bool shared = layer.parameters().prelu_param().channel_shared();
  std::optional<Tensor> slope = layer.blob(0, "slope", shared ? Ints{1} : Ints{dims[1]});
  if (!slope)
    return;
  Ints wide(dims.size() - 1, 1);
  wide[0] = shared ? 1 : dims[1];
  layer.emit<top::PReluOp>(
      {layer.in(0), layer.weight("slope", slope->reshaped(Shape(std::span<const int64_t>(wide))))});
}

void elu(CaffeLayer &layer) {
  layer.emit<top::EluOp>(layer.in(0),
                         layer.attrs().setFloat("alpha", layer.parameters().elu_param().alpha()));
}

void swish(CaffeLayer &layer) {
  layer.emit<top::SwishOp>(layer.in(0),
                           layer.attrs().setFloat("beta", layer.parameters().swish_param().beta()));
}

/// (shift + scale * x) ^ power
void power(CaffeLayer &layer) {
  const proto::PowerParameter &p = layer.parameters().power_param();
  Steps(layer, layer.in(0)).multiply(p.scale()).add(p.shift()).power(p.power()).finish();
}

/// The natural logarithm of a base, of which -1 stands for e. An error unless it is positive.
double logOfBase(CaffeLayer &layer, double base) {
  if (base == -1)
    return 1;
  if (base <= 0)
    layer.fail(fmt::format("its base is {}", base), "a positive number, or -1 for e");
  return base > 0 ? std::log(base) : 1;
}

/// base ^ (shift + scale * x) = e ^ (ln(base) * (shift + scale * x))
void exponential(CaffeLayer &layer) {
  const proto::ExpParameter &p = layer.parameters().exp_param();
  double log = logOfBase(layer, p.base());
  Steps(layer, layer.in(0))
      .multiply(log * p.scale())
      .add(log * p.shift())
      .then<top::ExpOp>("exp")
      .finish();
}

/// ln(shift + scale * x) / ln(base)
void logarithm(CaffeLayer &layer) {
  const proto::LogParameter &p = layer.parameters().log_param();
  double log = logOfBase(layer, p.base());
  if (log == 0)
    return layer.fail("its base is 1", "another number");
  Steps(layer, layer.in(0))
      .multiply(p.scale())
      .add(p.shift())
      .then<top::LogOp>("log")
      .multiply(1 / log)
      .finish();
}

/// 1 where x is above the threshold, else 0.
void threshold(CaffeLayer &layer) {
  double limit = layer.parameters().threshold_param().threshold();
  Steps(layer, layer.in(0))
      .then<top::CompareConstOp>(
          "above", layer.attrs().setFloat("const_val", limit).setString("mode", "Greater"))
      .then<top::CastOp>("number", layer.attrs().setType("to", Float32Type::get(layer.context())))
      .finish();
}

/// The elements as numbers of another type. Blobs hold floats, so that is what comes out again.
void cast(CaffeLayer &layer) {
  using Cast = proto::CastParameter;
  Builder builder(layer.context());
  const Type types[] = {builder.getF32Type(),       builder.getF64Type(),
                        builder.getF16Type(),       builder.getBF16Type(),
                        builder.getIntegerType(8),  builder.getIntegerType(8, false),
                        builder.getIntegerType(16), builder.getIntegerType(16, false),
                        builder.getIntegerType(32), builder.getI64Type(),
                        builder.getI1Type()};
  const Cast::Type to = layer.parameters().cast_param().to();
  Steps steps(layer, layer.in(0));
  if (to != Cast::FLOAT)
    steps.then<top::CastOp>("number", layer.attrs().setType("to", types[to]))
        .then<top::CastOp>("float", layer.attrs().setType("to", builder.getF32Type()));
  steps.finish();
}

/// At inference the same tensor, but in networks that scale there and not while they are trained.
void dropout(CaffeLayer &layer) {
  const proto::DropoutParameter &p = layer.parameters().dropout_param();
  Steps(layer, layer.in(0)).multiply(p.scale_train() ? 1.0 : 1.0 - p.dropout_ratio()).finish();
}

void split(CaffeLayer &layer) {
  for (unsigned index = 0; index < layer.numOutputs(); ++index)
    layer.emitAs<top::CopyOp>(index, layer.in(0), layer.attrs());
}

//===----------------------------------------------------------------------===//
// Several operands
//===----------------------------------------------------------------------===//

template <typename Op> void fold(CaffeLayer &layer, ValueRange operands) {
  Steps steps(layer, operands[0]);
  for (Value operand : operands.drop_front())
    steps.then<Op>("partial", layer.attrs(), {operand});
  steps.finish();
}

void eltwise(CaffeLayer &layer) {
  using Eltwise = proto::EltwiseParameter;
  const Eltwise &p = layer.parameters().eltwise_param();
  Ints first = layer.shape(0);
  SmallVector<Value> operands = layer.inputsFrom(0);
  for (unsigned index = 1; index < operands.size(); ++index)
    if (Ints dims = layer.shape(index); dims != first)
      return layer.fail(fmt::format("bottom {} has the shape [{}]", index, fmt::join(dims, ", ")),
                        fmt::format("[{}], as bottom 0", fmt::join(first, ", ")));
  if (p.coeff_size() > 0 && p.operation() != Eltwise::SUM)
    return layer.fail("has coefficients", "none: they are for sums");
  if (p.coeff_size() > 0 && p.coeff_size() != static_cast<int>(operands.size()))
    return layer.fail(fmt::format("has {} coefficients", p.coeff_size()),
                      fmt::format("{}, one for each bottom", operands.size()));
  for (int index = 0; index < p.coeff_size(); ++index)
    if (p.coeff(index) != 1)
      operands[static_cast<size_t>(index)] = layer.temp<top::MulConstOp>(
          fmt::format("scaled{}", index), operands[static_cast<size_t>(index)],
          layer.attrs().setFloat("const_val", p.coeff(index)));
  switch (p.operation()) {
  case Eltwise::PROD:
    return fold<top::MulOp>(layer, operands);
  case Eltwise::SUM:
    return fold<top::AddOp>(layer, operands);
  case Eltwise::MAX:
    return fold<top::MaxOp>(layer, operands);
  case Eltwise::MIN:
    return fold<top::MinOp>(layer, operands);
  }
}

/// The dimensions of bottom 0 that a factor or summand covers: `covered` of them from `axis` on.
Ints coveredDims(CaffeLayer &layer, int64_t axis, int64_t covered) {
  Ints dims = layer.shape(0);
  auto rank = static_cast<int64_t>(dims.size());
  axis = layer.axis(axis, rank, /*endAllowed=*/true);
  if (covered == -1)
    covered = rank - axis;
  if (covered < 0 || axis + covered > rank) {
    layer.fail(fmt::format("covers {} dimensions from {} on", covered, axis),
               fmt::format("dimensions of its bottom, which has {}", rank));
    return {};
  }
  return {dims.begin() + axis, dims.begin() + axis + covered};
}

/// The factor or summand that bottom 1 is or that blob `index` holds, with extents of 1 behind what
/// it covers of bottom 0, so that it broadcasts. None's value after an error.
Value covering(CaffeLayer &layer, size_t index, StringRef what, int64_t axis, int64_t numAxes) {
  Ints dims = layer.shape(0);
  auto rank = static_cast<int64_t>(dims.size());
  bool given = layer.numInputs() > 1 && index == 0;
  Ints shape = given ? layer.shape(1) : coveredDims(layer, axis, numAxes);
  if (layer.failed())
    return layer.none();
  int64_t from = layer.axis(axis, rank, /*endAllowed=*/true);
  if (given && from + static_cast<int64_t>(shape.size()) > rank) {
    layer.fail(fmt::format("bottom 1 has {} dimensions", shape.size()),
               fmt::format("at most {}, from dimension {} of bottom 0 on", rank - from, from));
    return layer.none();
  }
  Ints wide(static_cast<size_t>(rank - from), 1);
  std::copy(shape.begin(), shape.end(), wide.begin());
  if (given)
    return layer.reshaped(what, layer.in(1), wide);
  std::optional<Tensor> blob = layer.blob(index, what, shape);
  if (!blob)
    return layer.none();
  return layer.weight(what, blob->reshaped(Shape(std::span<const int64_t>(wide))));
}

void scale(CaffeLayer &layer) {
  const proto::ScaleParameter &p = layer.parameters().scale_param();
  Ints dims = layer.shape(0);
  bool learned = layer.numInputs() == 1;
  if (learned && p.axis() == 1 && p.num_axes() == 1 && dims.size() >= 2) {
    Value factor = layer.blobWeight(0, "scale", {dims[1]});
    Value shift =
        p.bias_term() ? layer.blobWeight(1, "bias", {dims[1]}) : layer.filled("bias", {dims[1]}, 0);
    layer.emit<top::ScaleOp>({layer.in(0), factor, shift});
    return;
  }
  Value factor = covering(layer, 0, "scale", p.axis(), p.num_axes());
  Steps steps(layer, layer.in(0));
  steps.then<top::MulOp>("scaled", layer.attrs(), {factor});
  if (p.bias_term()) {
    // The bias covers what the factor covers, and is the last blob.
    int64_t axes = learned ? p.num_axes() : static_cast<int64_t>(layer.shape(1).size());
    Value shift = covering(layer, learned ? 1 : 0, "bias", p.axis(), axes);
    if (!learned && !layer.failed())
      return layer.fail("has two bottoms and a bias", "a Bias layer behind it");
    steps.then<top::AddOp>("shifted", layer.attrs(), {shift});
  }
  steps.finish();
}

void bias(CaffeLayer &layer) {
  const proto::BiasParameter &p = layer.parameters().bias_param();
  Value summand = covering(layer, 0, "bias", p.axis(), p.num_axes());
  layer.emit<top::AddOp>({layer.in(0), summand});
}

/// a * x + y, with a number of a for each channel of each item.
void axpy(CaffeLayer &layer) {
  Ints dims = layer.shape(1);
  Ints factors = layer.shape(0);
  if (dims.size() < 2 || factors.size() < 2 || layer.shape(2) != dims || factors[0] != dims[0] ||
      factors[1] != dims[1])
    return layer.fail("its bottoms do not fit each other",
                      "a factor for each channel, and two tensors of one shape");
  Ints wide(dims.size(), 1);
  wide[0] = dims[0];
  wide[1] = dims[1];
  Steps(layer, layer.in(1))
      .then<top::MulOp>("scaled", layer.attrs(), {layer.reshaped("factor", layer.in(0), wide)})
      .then<top::AddOp>("sum", layer.attrs(), {layer.in(2)})
      .finish();
}

constexpr LayerRow kElementwiseRows[] = {
    {"AbsVal", 1, 1, plain<top::AbsOp>, "Abs"},
    {"Axpy", 3, 3, axpy, "Mul, Add", "forks"},
    {"BNLL", 1, 1, plain<top::SoftplusOp>, "Softplus"},
    {"Bias", 1, 2, bias, "Add"},
    {"Cast", 1, 1, cast, "Cast", "forks"},
    {"Clip", 1, 1, clip, "Clip"},
    {"Dropout", 1, 1, dropout, "Copy, MulConst"},
    {"ELU", 1, 1, elu, "Elu"},
    {"Eltwise", 1, -1, eltwise, "Add, Mul, Max, Min, MulConst"},
    {"Exp", 1, 1, exponential, "Exp, MulConst, AddConst"},
    {"HardSwish", 1, 1, plain<top::HardSwishOp>, "HardSwish", "forks"},
    {"Log", 1, 1, logarithm, "Log, MulConst, AddConst"},
    {"Mish", 1, 1, plain<top::MishOp>, "Mish", "forks"},
    {"PReLU", 1, 1, prelu, "PRelu"},
    {"Power", 1, 1, power, "MulConst, AddConst, PowConst"},
    {"ReLU", 1, 1, relu, "Relu, LeakyRelu"},
    {"ReLU6", 1, 1, relu6, "Clip", "forks"},
    {"Scale", 1, 2, scale, "Scale, Mul, Add"},
    {"Sigmoid", 1, 1, plain<top::SigmoidOp>, "Sigmoid"},
    {"Split", 1, 1, split, "Copy"},
    {"Swish", 1, 1, swish, "Swish"},
    {"TanH", 1, 1, plain<top::TanhOp>, "Tanh"},
    {"Threshold", 1, 1, threshold, "CompareConst, Cast"},
};

} // namespace

ArrayRef<LayerRow> tpuc::caffe::elementwiseRows() { return kElementwiseRows; }
