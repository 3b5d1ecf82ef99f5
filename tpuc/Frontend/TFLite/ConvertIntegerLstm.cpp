//===- ConvertIntegerLstm.cpp - LSTM cells of integers --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/RecurrentOps.h"
#include "tpuc/Frontend/TFLite/Recurrent.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;

namespace {

// Inputs, in the order of the gates i f c o where there is one for each.
constexpr unsigned kFilterAt = 1, kRecurrenceAt = 5, kPeepholeAt = 9, kBiasAt = 12,
                   kProjectionAt = 16, kProjectionBiasAt = 17, kOutputStateAt = 18, kContentAt = 19,
                   kNormAt = 20;
/// Intermediate tensors: the sums of the four gates, and the hidden state.
constexpr size_t kIntermediates = 5, kHidden = 4;
/// Gates without norms have 12 fractional bits.
constexpr float kGateScale = 0x1p-12F;

/// `value`, the scale and the zero point of `stored`: the operands of a quantization.
std::array<Value, 3> withParameters(TFLiteLayer &layer, const std::string &what, Value value,
                                    const Quantization &stored) {
  return {value, layer.weight(what + "_scale", Tensor::of<float>({}, {stored.scale[0]})),
          layer.weight(what + "_zero",
                       convert(Tensor::of<int64_t>({}, {stored.zeroPoint[0]}), DataType::I8))};
}

/// Reads an LSTM cell of integers as the op that computes it.
class IntegerCell {
public:
  IntegerCell(TFLiteLayer &layer, const IntegerCellOptions &options)
      : layer(layer), options(options), attributes(layer.attrs()) {}

  /// The output, i8; no value where the layer has failed.
  Value run() {
    for (unsigned gate = layer.has(kFilterAt) ? 0 : 1; gate < 4; ++gate)
      gates.push_back(gate);
    normed = layer.has(kNormAt + 1);
    if (!checkIntermediates())
      return {};
    outputScale = scaleOf(kOutputStateAt, "output state");
    const std::array operands{
        input(),
        joined(kFilterAt, gates, DataType::I8, "filters"),
        joined(kRecurrenceAt, gates, DataType::I8, "recurrences"),
        joined(kBiasAt, gates, DataType::I32, "biases"),
        peepholes(),
        normed ? joined(kNormAt, gates, DataType::I16, "norms") : layer.none(),
        layer.has(kProjectionAt) ? joined(kProjectionAt, {0}, DataType::I8, "projection")
                                 : layer.none(),
        layer.has(kProjectionBiasAt)
            ? joined(kProjectionBiasAt, {0}, DataType::I32, "projection_bias")
            : layer.none()};
    setFactors();
    setLimits();
    return layer.failed() ? Value() : layer.temp<top::LSTMIntegerOp>("cell", operands, attributes);
  }

private:
  bool checkIntermediates() {
    if (layer.source().intermediates.size() != kIntermediates)
      layer.fail(fmt::format("has {} intermediate tensors", layer.source().intermediates.size()),
                 fmt::format("{}, of gates and the hidden state", kIntermediates));
    for (size_t index = normed ? 0 : kHidden; index < kIntermediates && !layer.failed(); ++index)
      if (const Quantization *found = layer.intermediate(index); !found || found->scale.size() != 1)
        layer.fail(fmt::format("its intermediate tensor {} has no scale", index), "one");
    return !layer.failed();
  }

  /// The one scale of input `index`; 1, and an error of the layer, where it has none.
  float scaleOf(unsigned index, StringRef what) {
    if (layer.has(index) && layer.tensor(index).quantization &&
        layer.tensor(index).quantization->scale.size() == 1)
      return layer.tensor(index).quantization->scale[0];
    layer.fail(fmt::format("its {} has no scale, or several", what.str()), "one scale");
    return 1;
  }
  int64_t zeroOf(unsigned index) const {
    return layer.failed() ? 0 : layer.tensor(index).quantization->zeroPoint[0];
  }
  float gateScale(unsigned gate) const {
    return normed ? layer.intermediate(gate)->scale[0] : kGateScale;
  }

  /// [steps, samples, elements], or with the samples first; one step has no dimension of its own.
  Value input() {
    const Ints dims = layer.shape(0);
    scaleOf(0, "input");
    if (layer.failed())
      return layer.none();
    if (dims.size() == (options.isOneStep ? 2U : 3U)) {
      // The numbers, so that an input of the network is known to hold them.
      Value integers = layer.temp<top::QuantizeLinearOp>(
          "stored", withParameters(layer, "input", layer.in(0), *layer.tensor(0).quantization));
      return options.isOneStep ? layer.reshaped("step", integers, {1, dims[0], dims[1]}) : integers;
    }
    layer.fail(fmt::format("has an input of {} dimensions", dims.size()),
               options.isOneStep ? "2" : "3");
    return layer.none();
  }

  /// The constants at `place` of all of `which`, one below the other.
  Value joined(unsigned place, ArrayRef<unsigned> which, DataType type, StringRef what) {
    std::vector<Tensor> parts;
    Ints dims;
    for (unsigned gate : which) {
      const unsigned index = place + gate;
      if (!layer.failed() && (!layer.has(index) || !layer.tensor(index).isConstant))
        layer.fail(fmt::format("its input {} is computed, or left out", index),
                   (what + " that are constant").str());
      if (layer.failed())
        return layer.none();
      const std::optional<Tensor> part = layer.needIntegers(index, type);
      if (!part)
        return layer.none();
      const Ints own = layer.shape(index);
      if (own.empty() || (!parts.empty() && own != dims))
        layer.fail(fmt::format("has {} of different shapes", what.str()), "one shape for all");
      dims = own;
      parts.push_back(*part);
    }
    if (layer.failed())
      return layer.none();
    dims[0] *= std::ssize(parts);
    Tensor all(type, Shape(std::span(dims.data(), dims.size())));
    std::byte *to = all.mutableBytes().data();
    for (const Tensor &part : parts)
      to = std::ranges::copy(part.rawBytes(), to).out;
    return layer.weight(what, std::move(all));
  }

  Value peepholes() {
    if (!layer.has(kPeepholeAt + 1))
      return layer.none();
    SmallVector<unsigned> which;
    std::vector<double> factors;
    // The inputs are those of i, f and o.
    for (unsigned at = gates.size() == 4 ? 0 : 1; at < 3; ++at) {
      which.push_back(at);
      factors.push_back(
          static_cast<float>(std::ldexp(1.0, contentExponent()) *
                             static_cast<double>(scaleOf(kPeepholeAt + at, "peephole")) /
                             static_cast<double>(gateScale(at == 2 ? 3 : at))));
    }
    attributes.setFloats("peephole_factors", factors);
    return joined(kPeepholeAt, which, DataType::I16, "peepholes");
  }

  /// log2 of the scale of the content, which is a power of two.
  int contentExponent() {
    const float scale = scaleOf(kContentAt, "content");
    const float logarithm = std::log(scale) * (1.0F / std::log(2.0F));
    const float exponent = std::round(logarithm);
    if (std::abs(logarithm - exponent) >= 1e-3F || exponent < -15 || exponent > -9)
      layer.fail(fmt::format("its content has the scale {}", scale), "2^-15 to 2^-9");
    return layer.failed() ? -15 : static_cast<int>(exponent);
  }

  /// The factors of sums, rounded to f32 in each step as LiteRT does.
  void setFactors() {
    const float inputScale = scaleOf(0, "input");
    std::vector<double> ofInput;
    std::vector<double> ofOutput;
    std::vector<double> norms;
    for (unsigned gate : gates) {
      ofInput.push_back(scaleOf(kFilterAt + gate, "filter") * inputScale / gateScale(gate));
      ofOutput.push_back(scaleOf(kRecurrenceAt + gate, "recurrence") * outputScale /
                         gateScale(gate));
      if (normed)
        norms.push_back(scaleOf(kNormAt + gate, "norm"));
    }
    const Quantization &hidden = *layer.intermediate(kHidden);
    attributes.setFloats("input_factors", ofInput)
        .setFloats("recurrent_factors", ofOutput)
        .setFloat("hidden_factor", static_cast<double>(static_cast<float>(
                                       0x1p-15 / static_cast<double>(hidden.scale[0]) * 0x1p-15)))
        .setInt("input_zero_point", zeroOf(0))
        .setInt("hidden_zero_point", hidden.zeroPoint[0])
        .setInt("output_zero_point", zeroOf(kOutputStateAt))
        .setInt("content_bits", 15 + contentExponent())
        .setBool("batch_first", !options.timeMajor);
    if (normed)
      attributes.setFloats("norm_scales", norms);
    if (layer.has(kProjectionAt))
      attributes.setFloat("projection_factor",
                          static_cast<double>(scaleOf(kProjectionAt, "projection") *
                                              hidden.scale[0] / outputScale));
  }

  void setLimits() {
    const auto inUnits = [](float limit, float scale, float low, float high) {
      return limit > 0 ? static_cast<int64_t>(std::clamp(limit / scale, low, high)) : 0;
    };
    attributes.setInt("content_limit",
                      inUnits(options.cellClip, scaleOf(kContentAt, "content"), -32768, 32767));
    attributes.setInt("output_limit", inUnits(options.projectionClip, outputScale, -128, 127));
  }

  TFLiteLayer &layer;
  const IntegerCellOptions &options;
  Attrs attributes;
  SmallVector<unsigned, 4> gates;
  bool normed = false;
  float outputScale = 1;
};

} // namespace

bool tpuc::tflite::isIntegerCell(const TFLiteLayer &layer) {
  return layer.has(0) && layer.inputType(0) == fb::ElementType::INT8 && layer.has(kFilterAt + 1) &&
         layer.inputType(kFilterAt + 1) == fb::ElementType::INT8;
}

void tpuc::tflite::integerLstm(TFLiteLayer &layer, const IntegerCellOptions &options) {
  Value made = IntegerCell(layer, options).run();
  if (layer.failed())
    return;
  const std::optional<Quantization> &stored = layer.output(0).quantization;
  if (layer.output(0).type != fb::ElementType::INT8 || !stored || stored->scale.size() != 1)
    return layer.fail("its output holds no integers of one scale", "INT8, and one scale");
  if (options.isOneStep) {
    const std::optional<Ints> dims = frontend::LayerBuilder::dims(made);
    made = layer.reshaped("rows", made, {(*dims)[1], (*dims)[2]});
  }
  layer.emit<top::DequantizeLinearOp>(withParameters(layer, "output", made, *stored));
}
