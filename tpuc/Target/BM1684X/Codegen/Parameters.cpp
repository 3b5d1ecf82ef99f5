//===- Parameters.cpp - What integer kernels read beside constants -------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/Parameters.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Support/Requant.h"
#include "tpuc/Target/BM1684X/Codegen/Constants.h"
#include "tpuc/Target/BM1684X/Codegen/OpWindows.h"

using namespace mlir;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

static int64_t numElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// The integers of an attribute: one, or an array.
static SmallVector<int64_t> integersOf(Operation *op, StringRef name) {
  if (auto array = op->getAttrOfType<ArrayAttr>(name))
    return top::toInts(array);
  if (auto one = op->getAttrOfType<IntegerAttr>(name))
    return {one.getInt()};
  return {};
}

static size_t numIntegersOf(Operation *op, StringRef name) {
  if (auto array = op->getAttrOfType<ArrayAttr>(name))
    return array.size();
  return op->getAttrOfType<IntegerAttr>(name) ? 1 : 0;
}

/// The bounds that a fused ReLU sets.
static tpu::StoredRange rangeOfResult(Operation *op) {
  const auto relu = op->getAttrOfType<BoolAttr>("do_relu");
  const auto limit = op->getAttrOfType<FloatAttr>("relu_limit");
  return tpu::reluRange(tpu::quantizedType(op->getResult(0)), relu && relu.getValue(),
                        limit ? limit.getValueAsDouble() : -1);
}

Roundings roundingsOf(Operation *op) {
  const auto mode = op->getAttrOfType<StringAttr>("quant_mode");
  if (!mode || !isa<tpu::ConvOp, tpu::DeconvOp, tpu::MatMulOp, tpu::MulOp, tpu::ReduceOp>(op))
    return op->hasAttr("as_stored") ? Roundings::OnceAway : Roundings::Once;
  const std::optional<RequantMode> parsed = parseRequantMode(mode.getValue());
  if (parsed == kernels::fixedPointMode(/*shiftsLeft=*/false))
    return Roundings::Twice;
  return parsed == kernels::fixedPointMode(/*shiftsLeft=*/true) ? Roundings::TwiceAfterLeftShift
                                                                : Roundings::Once;
}

Expected<Requantize> resultBounds(Operation *op) {
  if (!tpu::isQuantized(op->getResult(0)))
    return makeError("", "a result that is not quantized", "stored integers");
  const tpu::StoredRange range = rangeOfResult(op);
  Requantize bounds;
  bounds.zeroPoint = static_cast<int32_t>(tpu::zeroPointOf(op->getResult(0)));
  bounds.lowest = static_cast<int32_t>(range.low);
  bounds.highest = static_cast<int32_t>(range.high);
  return bounds;
}

/// Zero point and bounds of the result, and no scaling.
static Expected<Requantize> unscaled(Operation *op) {
  const auto mode = op->getAttrOfType<StringAttr>("quant_mode");
  if (mode && mode.getValue() != "MultiplierShift" && roundingsOf(op) == Roundings::Once)
    return makeError("", "quant_mode " + mode.str(), "MultiplierShift");
  const Roundings roundings = roundingsOf(op);
  const auto rounding = op->getAttrOfType<StringAttr>("round_mode");
  const StringRef wanted = roundings == Roundings::OnceAway ? "HalfAwayFromZero" : "HalfUp";
  if (rounding && rounding.getValue() != wanted)
    return makeError("", "round_mode " + rounding.str(), wanted.str());
  Expected<Requantize> bounds = resultBounds(op);
  if (bounds)
    bounds->roundings = roundings;
  return bounds;
}

Expected<Requantize> shiftOf(Operation *op) {
  Expected<Requantize> requantize = unscaled(op);
  const SmallVector<int64_t> shifts = integersOf(op, "rshift");
  if (requantize && shifts.size() != 1)
    return makeError("", std::to_string(shifts.size()) + " shifts", "one");
  if (requantize)
    requantize->shift = static_cast<int32_t>(shifts.front());
  return requantize;
}

Expected<Requantize> requantizationBounds(Operation *op) {
  Expected<Requantize> common = unscaled(op);
  const size_t count = numIntegersOf(op, "rshift");
  if (common && (count == 0 || numIntegersOf(op, "multiplier") != count))
    return makeError("", "no multiplier and shift for each factor", "a requantization");
  return common;
}

Expected<std::vector<Requantize>> requantizationsOf(Operation *op) {
  Expected<Requantize> common = requantizationBounds(op);
  if (!common)
    return propagate(common);
  const SmallVector<int64_t> multipliers = integersOf(op, "multiplier");
  const SmallVector<int64_t> shifts = integersOf(op, "rshift");
  std::vector<Requantize> factors(shifts.size(), *common);
  for (size_t i = 0; i < factors.size(); ++i) {
    factors[i].multiplier = static_cast<int32_t>(multipliers[i]);
    factors[i].shift = static_cast<int32_t>(shifts[i]);
  }
  return factors;
}

//===--- Biases -----------------------------------------------------------===//

/// Where the elements of a filter or matrix meet channels: element i belongs to the channel
/// i / inner % channels, counted from that of its group on.
struct ChannelStrides {
  int64_t channels = 1;
  int64_t inner = 1;
  /// Elements of a group, whose channels follow those of the group before.
  int64_t group = 1;
  /// Of a transposed convolution whose phases have biases of their own: the columns of its kernel,
  /// and every how manieth row and column is of the same phase.
  int64_t columns = 1;
  std::array<int64_t, 2> phases{1, 1};

  int64_t channelOf(int64_t element) const {
    return element / group * channels + element / inner % channels;
  }
  int64_t numPhases() const { return phases[0] * phases[1]; }
  int64_t phaseOf(int64_t element) const {
    const int64_t tap = element % inner;
    return tap / columns % phases[0] * phases[1] + tap % columns % phases[1];
  }
};

/// Of a transposed convolution or a matrix product, whose zero point no bias has taken up yet.
static ChannelStrides channelStrides(Operation *op, const FilterKind &filter) {
  const auto dims = cast<RankedTensorType>(op->getOperand(1).getType()).getShape();
  const int64_t count = numElements(op->getOperand(1));
  if (auto deconv = dyn_cast<tpu::DeconvOp>(op)) {
    const int64_t taps = ShapedType::getNumElements(dims.drop_front(2));
    ChannelStrides strides{dims[1], taps, count / static_cast<int64_t>(deconv.getGroup())};
    strides.columns = dims.back();
    if (filter.isInPhases && tpu::zeroPointOf(op->getOperand(0)) != 0)
      strides.phases = strideOf(op);
    return strides;
  }
  if (cast<tpu::MatMulOp>(op).getRightTranspose())
    return {dims[0], dims[1], count};
  return {dims[1], 1, count};
}

bool hasBias(Operation *op) {
  return !isa<NoneType>(op->getOperand(2).getType()) ||
         (!isa<tpu::ConvOp>(op) && tpu::zeroPointOf(op->getOperand(0)) != 0);
}

/// How many biases of its own each channel has, one for each phase.
static int64_t numPhases(Operation *op, const FilterKind &filter) {
  return isa<tpu::DeconvOp>(op) ? channelStrides(op, filter).numPhases() : 1;
}

/// What the sums of `count` channels begin with, phase after phase.
static Expected<std::vector<int32_t>> biasesOf(Operation *op, int64_t count,
                                               const FilterKind &kind) {
  std::vector<int32_t> biases(static_cast<size_t>(count * numPhases(op, kind)));
  if (!isa<NoneType>(op->getOperand(2).getType())) {
    Expected<Tensor> bias = readConstant(op, 2);
    if (!bias)
      return propagate(bias);
    if (bias->type() != DataType::I32 || (bias->numElements() != count && bias->numElements() != 1))
      return makeError("", "a bias of another type or length", "an i32 for each channel");
    for (size_t i = 0; i < biases.size(); ++i)
      biases[i] = bias->data<int32_t>()[i % static_cast<size_t>(bias->numElements())];
  }
  const int64_t zero = tpu::zeroPointOf(op->getOperand(0));
  if (isa<tpu::ConvOp>(op) || zero == 0)
    return biases;
  Expected<Tensor> filter = readConstant(op, 1);
  if (!filter)
    return propagate(filter);
  if (filter->type() != DataType::I8)
    return makeError("", "a constant of another type", "an i8");
  const ChannelStrides strides = channelStrides(op, kind);
  const std::span<const int8_t> elements = filter->data<int8_t>();
  for (int64_t i = 0; i < std::ssize(elements); ++i)
    biases[static_cast<size_t>(strides.phaseOf(i) * count + strides.channelOf(i))] -=
        static_cast<int32_t>(zero) * elements[static_cast<size_t>(i)];
  return biases;
}

//===--- Words ------------------------------------------------------------===//

/// `values`, of which one stands for all, for each of `count` channels.
template <typename T>
static Expected<std::vector<T>> forEachChannel(std::vector<T> values, int64_t count) {
  const auto wanted = static_cast<size_t>(count);
  if (values.size() == 1)
    values.assign(wanted, T(values[0]));
  if (values.size() != wanted)
    return makeError("", std::to_string(values.size()) + " factors",
                     "one for each of " + std::to_string(count) + " channels");
  return values;
}

/// Slopes have the factors behind the first one.
static Expected<std::vector<int32_t>> slopeWords(Operation *op) {
  Expected<std::vector<Requantize>> factors = requantizationsOf(op);
  if (!factors)
    return propagate(factors);
  Expected<std::vector<Requantize>> slopes = forEachChannel(
      std::vector(factors->begin() + 1, factors->end()), numElements(op->getOperand(1)));
  if (!slopes)
    return propagate(slopes);
  return packChannels(*slopes, {});
}

/// The requantization parameters of all channels, where `pack` makes those with some biases. Of
/// several phases those of the first one with the biases of the others behind them, or, where taps
/// take the place of channels, those of each.
static std::vector<int32_t>
phaseWords(const FilterKind &filter, std::span<const int32_t> biases, int64_t count,
           llvm::function_ref<std::vector<int32_t>(std::span<const int32_t>)> pack) {
  const auto channels = static_cast<size_t>(count);
  const auto ofPhase = [&](size_t phase) { return biases.subspan(phase * channels, channels); };
  const size_t phases = biases.size() / channels;
  const std::vector<int32_t> first = pack(ofPhase(0));
  std::vector<int32_t> words;
  if (phases > 1 && filter.hasTapsAsChannels) {
    for (size_t phase = 0; phase < phases; ++phase)
      llvm::append_range(words, pack(ofPhase(phase)));
    return words;
  }
  const size_t each = first.size() / channels;
  for (size_t channel = 0; channel < channels; ++channel) {
    llvm::append_range(words, std::span(first).subspan(channel * each, each));
    for (size_t phase = 1; phase < phases; ++phase)
      words.push_back(ofPhase(phase)[channel]);
  }
  return words;
}

Expected<std::vector<int32_t>> parameterWords(Operation *op, const BM1684XLayout &layout) {
  if (isa<tpu::PReluOp>(op))
    return slopeWords(op);
  const bool isProduct = isa<tpu::MatMulOp>(op);
  const auto dims = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  const int64_t count = isProduct ? dims.back() : dims[1];
  Expected<std::vector<int32_t>> biases = biasesOf(op, count, layout.filter);
  if (!biases)
    return propagate(biases);
  if (auto given = op->getAttrOfType<ArrayAttr>("dequant_scale")) {
    std::vector<float> numbers;
    for (double scale : toDoubles(given))
      numbers.push_back(static_cast<float>(scale));
    Expected<std::vector<float>> scales = forEachChannel(std::move(numbers), count);
    if (!scales)
      return propagate(scales);
    if (isProduct)
      return packColumnScales(*scales, *biases);
    return phaseWords(layout.filter, *biases, count,
                      [&](std::span<const int32_t> own) { return packScales(*scales, own); });
  }
  Expected<std::vector<Requantize>> factors = requantizationsOf(op);
  if (!factors)
    return propagate(factors);
  Expected<std::vector<Requantize>> channels = forEachChannel(std::move(*factors), count);
  if (!channels)
    return propagate(channels);
  if (isProduct)
    return packColumns(*channels, *biases);
  std::vector<int32_t> words =
      phaseWords(layout.filter, *biases, count,
                 [&](std::span<const int32_t> own) { return packChannels(*channels, own); });
  return roundingsOf(op) == Roundings::Once ? words : packFirstFactors(words, *channels);
}

} // namespace tpuc::bm1684x::backend
