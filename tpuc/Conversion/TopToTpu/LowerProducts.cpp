//===- LowerProducts.cpp - Convolutions and matrix products on integers -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/IntegerForms.h"
#include "tpuc/Conversion/TopToTpu/LowerInteger.h"
#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/WeightRest.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;

/// The constant that `value` is, as f32; none where it is left out.
static Expected<std::optional<Tensor>> constant(Value value) {
  auto weight = value.getDefiningOp<top::WeightOp>();
  if (!weight)
    return std::optional<Tensor>();
  Expected<Tensor> tensor = weight.read();
  if (!tensor)
    return propagate(tensor);
  return std::optional(convert(*tensor, DataType::F32));
}

/// The scales that a quantized source states for a constant.
static std::vector<double> statedScales(Value value) {
  auto weight = value.getDefiningOp<top::WeightOp>();
  std::vector<double> scales;
  if (ArrayAttr stated = weight ? weight.getWeightScaleAttr() : ArrayAttr())
    for (Attribute scale : stated)
      scales.push_back(cast<FloatAttr>(scale).getValueAsDouble());
  return scales;
}

/// `what` and the type of `tensor`: `_filter_i8`.
static std::string typedSuffix(StringRef what, const Tensor &tensor) {
  return what.str() + "_" + std::string(dataTypeName(tensor.type()));
}

/// The largest magnitude that stored integers of `type` have less their zero point.
static int64_t largest(quant::UniformQuantizedType type) {
  const int64_t zero = type.getZeroPoint();
  return std::max(std::abs(type.getStorage().min - zero), std::abs(type.getStorage().max - zero));
}

/// What one unit of the results stands for; 1 for floats.
static double outputScale(Operation *op, const Lowering &lowering) {
  return lowering.plan.givesFloats(op) ? 1 : lowering.plan.quantized(op->getResult(0)).getScale();
}

/// Whether a command can stop at any channel: of convolutions all of whose filters read the same
/// channels, or one each. It computes as many channels at a time as the chip has lanes.
static bool mayShiftApart(Operation *op) {
  auto conv = dyn_cast<top::ConvOp>(op);
  return conv && (conv.getGroup() == 1 ||
                  static_cast<int64_t>(conv.getGroup()) == filterOrder(op)->numChannels());
}

bool tpuc::mayShiftTwice(Operation *op, const TargetInfo &target) {
  auto conv = dyn_cast<top::ConvOp>(op);
  const int64_t channels = conv ? filterOrder(op)->numChannels() : 0;
  return channels > 1 && channels <= int64_t{target.tiles().lanes} &&
         static_cast<int64_t>(conv.getGroup()) == channels;
}

static ProductScales scalesOf(Operation *op, Lowering &lowering, Value filter, bool foldsZero) {
  quant::UniformQuantizedType input = lowering.plan.quantized(op->getOperand(0));
  ProductScales scales;
  scales.scheme = lowering.plan.integers();
  scales.input = input.getScale();
  scales.inputZero = input.getZeroPoint();
  scales.maxInput = largest(input);
  scales.output = outputScale(op, lowering);
  scales.foldsZero = foldsZero;
  scales.keepsSums = !lowering.isForCycles;
  scales.filter = statedScales(filter);
  if (const std::optional<DataType> bias = lowering.target.requant.biasType;
      bias && bitWidth(*bias) < bitWidth(scales.scheme.accumulator))
    scales.maxBias = static_cast<int64_t>(integerRange(*bias).highest);
  if (lowering.target.requant.strategy == RequantStrategy::InConvolution)
    scales.mostFactor = 1;
  scales.sharesShift = lowering.target.requant.strategy == RequantStrategy::SharedShift;
  if (scales.sharesShift && mayShiftApart(op)) {
    scales.shiftChannels = lowering.target.tiles().lanes;
    scales.mayShiftTwice = mayShiftTwice(op, lowering.target);
  }
  return scales;
}

/// Whether sums are rounded as the source says: convolutions and products of two tensors whose
/// integers it states, twice.
static bool roundsTwice(Operation *op, const Lowering &lowering) {
  if (isa<top::MatMulOp>(op))
    return !op->getOperand(1).getDefiningOp<top::WeightOp>() && lowering.isFixedPoint(op);
  return lowering.target.requant.canRoundTwice && isa<top::ConvOp, top::DeconvOp>(op) &&
         Lowering::statedType(op->getOperand(0)) && Lowering::statedType(op->getResult(0)) &&
         !statedScales(op->getOperand(1)).empty();
}

/// Writes the factors as the target applies them behind products.
static Expected<void> setProductFactors(Operation *op, Operation *made, Lowering &lowering,
                                        ArrayRef<double> scales) {
  if (lowering.plan.givesFloats(op)) {
    if (llvm::all_equal(scales))
      scales = scales.take_front();
    made->setAttr("dequant_scale", lowering.builder.getF64ArrayAttr(scales));
    return {};
  }
  const RequantStrategy strategy = lowering.target.requant.strategy;
  SmallVector<MultiplierShift> factors;
  for (double scale : scales) {
    if (strategy == RequantStrategy::SharedShift) {
      factors.push_back({1, static_cast<int32_t>(std::lround(-std::log2(scale)))});
      continue;
    }
    Expected<MultiplierShift> factor = lowering.factor(scale, op);
    if (!factor)
      return propagate(factor);
    if (strategy == RequantStrategy::InConvolution) {
      factor = factor->afterShiftBy31();
      if (factor->rshift < 0)
        return makeError("layer '" + layerName(op) + "'",
                         fmt::format("its sums are to be multiplied by {}", scale),
                         fmt::format("less than 1, as {} scales them; the layer can have another "
                                     "precision in the quantize table",
                                     lowering.target.name));
    }
    factors.push_back(*factor);
  }
  const bool isTwice = roundsTwice(op, lowering);
  if (isTwice)
    llvm::transform(scales, factors.begin(), kernels::fixedPoint);
  if (llvm::all_equal(factors))
    factors.resize(1);
  if (isTwice)
    lowering.setFixedFactors(made, factors);
  else
    lowering.setFactors(made, factors);
  if (strategy == RequantStrategy::InConvolution)
    made->setAttr("quant_mode", lowering.builder.getStringAttr(requantModeName(
                                    lowering.target.requant.rounding == RoundingMode::HalfUp
                                        ? kernels::fixedPointMode(/*shiftsLeft=*/false)
                                        : RequantMode::QDM)));
  if (strategy == RequantStrategy::SharedShift)
    made->setAttr("quant_mode", lowering.builder.getStringAttr("OnlyShift"));
  return {};
}

InputChannels::InputChannels(Operation *op) {
  ArrayRef<int64_t> dims = cast<RankedTensorType>(op->getOperand(1).getType()).getShape();
  if (auto conv = dyn_cast<top::ConvOp>(op)) {
    stride = ShapedType::getNumElements(dims.drop_front(2));
    count = dims[1];
    group =
        std::max<int64_t>(stride * count * (dims[0] / static_cast<int64_t>(conv.getGroup())), 1);
  } else if (isa<top::DeconvOp>(op)) {
    stride = ShapedType::getNumElements(dims.drop_front(1));
    count = dims[0];
  } else if (dims.size() == 1 || cast<top::MatMulOp>(op).getRightTranspose()) {
    count = dims.back();
  } else {
    stride = dims.back();
    count = dims[dims.size() - 2];
  }
}

/// The mean of what each element of the filter meets, up to where they repeat; empty where
/// calibration has not found it.
static std::vector<float> inputMeans(Operation *op) {
  auto means = op->getAttrOfType<DenseF32ArrayAttr>(kInputMeans);
  std::vector<float> ofElements;
  if (!means)
    return ofElements;
  const int64_t count = cast<RankedTensorType>(op->getOperand(1).getType()).getNumElements();
  const ArrayRef<float> ofChannels = means.asArrayRef();
  const InputChannels channels(op);
  channels.forEach(channels.period(count),
                   [&](size_t channel) { ofElements.push_back(ofChannels[channel]); });
  return ofElements;
}

/// A product with the constant `filter`: `op` with integers in place of filter and bias.
static Expected<void> lowerWithFilter(Operation *op, Lowering &lowering, const ChannelOrder &order,
                                      bool foldsZero) {
  Expected<std::optional<Tensor>> filter = constant(op->getOperand(1));
  std::optional<Tensor> bias;
  if (auto sums = op->getOperand(2).getDefiningOp<top::WeightOp>()) {
    Expected<Tensor> exact = top::readExact(sums);
    if (!exact)
      return propagate(exact);
    bias = std::move(*exact);
  }
  if (!filter)
    return propagate(filter);
  ProductScales scales = scalesOf(op, lowering, op->getOperand(1), foldsZero);
  scales.means = inputMeans(op);
  if (auto pairs = op->getAttrOfType<DenseF32ArrayAttr>(kInputCovariances);
      pairs && !scales.means.empty() && scales.keepsSums)
    scales.covariances.assign(pairs.asArrayRef().begin(), pairs.asArrayRef().end());
  const Tensor *sumsBefore = bias ? &*bias : nullptr;
  QuantizedWeights weights = lowering.filters
                                 ? lowering.filters->quantized(**filter, sumsBefore, order, scales)
                                 : quantizeWeights(**filter, sumsBefore, order, scales);
  releaseMapped((*filter)->rawBytes());
  Value stored = lowering.weight(op, typedSuffix("_filter", weights.filter), weights.filter);
  Value sums = weights.bias
                   ? lowering.weight(op, typedSuffix("_bias", *weights.bias), *weights.bias)
                   : lowering.none();
  Operation *made = lowering.mirrored(op, {lowering.asIntegers(op->getOperand(0)), stored, sums});
  if (Expected<void> set = setProductFactors(op, made, lowering, weights.factors); !set)
    return set;
  lowering.replace(op, made);
  return {};
}

std::optional<ChannelOrder> tpuc::filterOrder(Operation *op) {
  if (!op->hasTrait<traits::Product>())
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  ArrayRef<int64_t> dims = type.getShape();
  if (isa<top::ConvOp>(op)) {
    const int64_t taps = ShapedType::getNumElements(dims.drop_front(2));
    return ChannelOrder{taps * dims[1], dims[0], 1, 1, taps};
  }
  if (auto deconv = dyn_cast<top::DeconvOp>(op)) {
    // [C, M/group, kernel...]: the input channels of a group lie together.
    const auto groups = static_cast<int64_t>(deconv.getGroup());
    const int64_t taps = ShapedType::getNumElements(dims.drop_front(2));
    return ChannelOrder{taps, dims[1], dims[0] / groups, groups, taps};
  }
  // [..., K, N], or [..., N, K]; several matrices share one scale for each column.
  const size_t rank = dims.size();
  if (rank == 1)
    return ChannelOrder{dims[0], 1, 1, 1, 1};
  if (cast<top::MatMulOp>(op).getRightTranspose())
    return ChannelOrder{dims[rank - 1], dims[rank - 2],
                        ShapedType::getNumElements(dims.drop_back(2)), 1, 1};
  return ChannelOrder{1, dims[rank - 1], ShapedType::getNumElements(dims.drop_back(1)), 1, 1};
}

Expected<void> tpuc::lowerConv(top::ConvOp op, Lowering &lowering) {
  return lowerWithFilter(op, lowering, *filterOrder(op), /*foldsZero=*/true);
}

Expected<void> tpuc::lowerDeconv(top::DeconvOp op, Lowering &lowering) {
  return lowerWithFilter(op, lowering, *filterOrder(op), /*foldsZero=*/false);
}

/// The integers of the left operand. Where all scaling is one shift, no filter takes up the rest of
/// it: a coarser scale of the operand does.
static quant::UniformQuantizedType leftType(top::MatMulOp op, Lowering &lowering) {
  quant::UniformQuantizedType left = lowering.plan.quantized(op.getInput());
  if (lowering.target.requant.strategy != RequantStrategy::SharedShift)
    return left;
  const double unit = lowering.plan.quantized(op.getOutput()).getScale() /
                      lowering.plan.quantized(op.getRight()).getScale();
  const double scale =
      storableScale(std::exp2(std::ceil(std::log2(left.getScale() / unit))) * unit);
  return quant::UniformQuantizedType::get(left.getStorage(), left.getExpressedType(),
                                          {scale, left.getZeroPoint()});
}

/// `bias` (f32) in units of `scale`, as far as sums may reach.
static Tensor roundedBias(const Tensor &bias, double scale, DataType accumulator) {
  const double most = maxSum(accumulator);
  Tensor rounded(DataType::F64, bias.shape());
  for (auto [from, to] : llvm::zip_equal(bias.data<float>(), rounded.mutableData<double>()))
    to = std::clamp(std::round(from / scale), -most, most);
  return convert(rounded, accumulator);
}

/// Both operands are tensors of the network.
static Expected<void> lowerTensorProduct(top::MatMulOp op, Lowering &lowering) {
  quant::UniformQuantizedType left = leftType(op, lowering);
  quant::UniformQuantizedType right = lowering.plan.quantized(op.getRight());
  const double scale = left.getScale() * right.getScale();
  Expected<std::optional<Tensor>> bias = constant(op.getBias());
  if (!bias)
    return propagate(bias);
  Value sums = lowering.none();
  if (*bias) {
    Tensor rounded = roundedBias(**bias, scale, lowering.plan.integers().accumulator);
    sums = lowering.weight(op, typedSuffix("_bias", rounded), rounded);
  }
  Operation *made = lowering.mirrored(
      op, {lowering.as(op.getInput(), left), lowering.asIntegers(op.getRight()), sums});
  const double factor = scale / outputScale(op, lowering);
  if (Expected<void> set = setProductFactors(op, made, lowering, factor); !set)
    return set;
  lowering.replace(op, made);
  return {};
}

Expected<void> tpuc::lowerMatMul(top::MatMulOp op, Lowering &lowering) {
  if (!op.getRight().getDefiningOp<top::WeightOp>())
    return lowerTensorProduct(op, lowering);
  return lowerWithFilter(op, lowering, *filterOrder(op), /*foldsZero=*/false);
}
