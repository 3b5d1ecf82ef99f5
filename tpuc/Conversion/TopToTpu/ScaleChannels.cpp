//===- ScaleChannels.cpp - A scale for each channel that products read ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/ScaleChannels.h"
#include "tpuc/Calibration/ChannelStatistics.h"
#include "tpuc/Conversion/TopToTpu/LowerInteger.h"
#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/VectorMath.h"
#include "tpuc/Support/Convert.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tpuc;

/// How many times less the error of rounding has to be for the multiplication to be worth it, which
/// costs time and cuts off channels that were narrow in all samples and are wide in an input.
static constexpr double kLeastGain = 1.1;

namespace {

/// A tensor that is to be scaled.
struct ScaledTensor {
  SmallVector<Operation *> readers;
  int64_t axis = 0;
};

class ChannelScaler {
public:
  ChannelScaler(func::FuncOp main, const TargetInfo &target, const StoragePlan &plan,
                PlanOptions &options)
      : main(main), target(target), plan(plan), options(options), builder(main.getContext()) {}

  Expected<void> run();

private:
  void find(Operation *op);
  std::optional<Precision> precisionOf(Value value) const;
  SmallVector<double> widths(Operation *reader) const;
  SmallVector<float> factors(Operation *reader, Precision precision) const;
  quant::FloatRange scaledRange(Operation *reader, ArrayRef<float> factors) const;
  Expected<bool> pays(Value value, const ScaledTensor &tensor, ArrayRef<float> factors) const;
  Value multiply(Value value, const ScaledTensor &tensor, ArrayRef<float> factors);
  Expected<void> divideFilter(Operation *reader, ArrayRef<float> factors);

  func::FuncOp main;
  const TargetInfo &target;
  const StoragePlan &plan;
  PlanOptions &options;
  OpBuilder builder;
  llvm::MapVector<Value, ScaledTensor> tensors;
};

Expected<Tensor> readFilter(Operation *op) {
  Expected<Tensor> filter = op->getOperand(1).getDefiningOp<top::WeightOp>().read();
  if (!filter)
    return propagate(filter);
  return convert(*filter, DataType::F32);
}

std::string tensorName(Value value) {
  auto result = cast<OpResult>(value);
  return tensorNames(result.getOwner())[result.getResultNumber()];
}

/// The floats in which `value` is multiplied; none where it is not made in floats, or in none that
/// are finer than 8 bits.
std::optional<Precision> ChannelScaler::precisionOf(Value value) const {
  Operation *maker = value.getDefiningOp();
  if (!maker || isa<top::InputOp, top::WeightOp>(maker) ||
      (plan.isInteger(maker) && !plan.givesFloats(maker)))
    return std::nullopt;
  const Precision made = plan.givesFloats(maker) ? plan.of(maker).result : plan.of(maker).precision;
  if (made != Precision::BF16)
    return made;
  return target.has(Precision::F32) ? std::optional(Precision::F32) : std::nullopt;
}

void ChannelScaler::find(Operation *op) {
  const std::optional<int64_t> axis = summedAxis(op);
  if (!axis || !plan.isInteger(op) || !op->hasAttr(kInputLowest) || !op->hasAttr(kInputHighest))
    return;
  Value value = op->getOperand(0);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto filter = op->getOperand(1).getDefiningOp<top::WeightOp>();
  if (!type || !type.hasStaticShape() || filter.getWeightScaleAttr() || !precisionOf(value) ||
      !isa<quant::CalibratedQuantizedType>(type.getElementType()))
    return;
  ScaledTensor &tensor = tensors[value];
  if (tensor.readers.empty())
    tensor.axis = *axis;
  if (tensor.axis == *axis)
    tensor.readers.push_back(op);
}

/// How much of the integers each channel needs, 1 for the widest.
SmallVector<double> ChannelScaler::widths(Operation *reader) const {
  ArrayRef<float> lowest = reader->getAttrOfType<DenseF32ArrayAttr>(kInputLowest);
  ArrayRef<float> highest = reader->getAttrOfType<DenseF32ArrayAttr>(kInputHighest);
  SmallVector<double> widths;
  for (auto [low, high] : llvm::zip_equal(lowest, highest)) {
    const double below = std::max(-double(low), 0.0);
    const double above = std::max(double(high), 0.0);
    widths.push_back(options.asymmetric ? below + above : std::max(below, above));
  }
  const double widest = *llvm::max_element(widths);
  for (double &width : widths)
    width = widest > 0 ? width / widest : 1;
  return widths;
}

/// What each channel is multiplied by: numbers that `precision` holds.
SmallVector<float> ChannelScaler::factors(Operation *reader, Precision precision) const {
  constexpr double kLeastWidth = 0x1p-8;
  SmallVector<float> factors;
  for (double width : widths(reader)) {
    const auto factor = static_cast<float>(1 / std::max(width, kLeastWidth));
    factors.push_back(precision == Precision::F16 ? kernels::roundF16(factor) : factor);
  }
  return factors;
}

quant::FloatRange ChannelScaler::scaledRange(Operation *reader, ArrayRef<float> factors) const {
  ArrayRef<float> lowest = reader->getAttrOfType<DenseF32ArrayAttr>(kInputLowest);
  ArrayRef<float> highest = reader->getAttrOfType<DenseF32ArrayAttr>(kInputHighest);
  quant::FloatRange range = {0, 0};
  for (auto [low, high, factor] : llvm::zip_equal(lowest, highest, factors)) {
    range.min = std::min(range.min, double(low) * double(factor));
    range.max = std::max(range.max, double(high) * double(factor));
  }
  if (options.asymmetric)
    return range;
  const double threshold = std::max(range.max, -range.min);
  return {-threshold, threshold};
}

/// Whether rounding the scaled tensor adds so much less to what the readers sum up.
Expected<bool> ChannelScaler::pays(Value value, const ScaledTensor &tensor,
                                   ArrayRef<float> factors) const {
  const quant::FloatRange range = scaledRange(tensor.readers[0], factors);
  if (!(range.max > range.min))
    return false;
  const double step = (range.max - range.min) / 255;
  const double plainStep = plan.quantized(value).getScale();
  double plain = 0;
  double scaled = 0;
  for (Operation *reader : tensor.readers) {
    Expected<Tensor> filter = readFilter(reader);
    if (!filter)
      return propagate(filter);
    const InputChannels channels(reader);
    for (auto [index, weight] : llvm::enumerate(filter->data<float>())) {
      const size_t channel = channels.of(static_cast<int64_t>(index));
      const double square = double(weight) * double(weight);
      plain += square * plainStep * plainStep;
      scaled += square * step * step / (double(factors[channel]) * double(factors[channel]));
    }
  }
  return plain >= kLeastGain * scaled;
}

Value ChannelScaler::multiply(Value value, const ScaledTensor &tensor, ArrayRef<float> factors) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> dims(static_cast<size_t>(type.getRank()), 1);
  dims[static_cast<size_t>(tensor.axis)] = static_cast<int64_t>(factors.size());
  Tensor numbers(DataType::F32, Shape(std::span(dims.data(), dims.size())));
  llvm::copy(factors, numbers.mutableData<float>().begin());
  const std::string name = tensorName(value) + "_scaled";
  builder.setInsertionPointAfterValue(value);
  Value constant = top::WeightOp::create(builder, main->getParentOfType<ModuleOp>(),
                                         name + "_factors", std::move(numbers));
  const auto scaled = quant::CalibratedQuantizedType::get(Float32Type::get(type.getContext()),
                                                          scaledRange(tensor.readers[0], factors));
  return builder.create<top::MulOp>(NameLoc::get(builder.getStringAttr(name)), type.clone(scaled),
                                    ValueRange{value, constant});
}

Expected<void> ChannelScaler::divideFilter(Operation *reader, ArrayRef<float> factors) {
  Expected<Tensor> filter = readFilter(reader);
  if (!filter)
    return propagate(filter);
  Tensor divided(DataType::F32, filter->shape());
  auto at = divided.mutableData<float>().begin();
  const InputChannels channels(reader);
  for (auto [index, weight] : llvm::enumerate(filter->data<float>()))
    *at++ = weight / factors[channels.of(static_cast<int64_t>(index))];
  builder.setInsertionPoint(reader);
  reader->setOperand(1, top::WeightOp::create(builder, main->getParentOfType<ModuleOp>(),
                                              layerName(reader) + "_filter_scaled",
                                              std::move(divided)));
  if (auto means = reader->getAttrOfType<DenseF32ArrayAttr>(kInputMeans)) {
    SmallVector<float> scaled;
    for (auto [mean, factor] : llvm::zip_equal(means.asArrayRef(), factors))
      scaled.push_back(mean * factor);
    reader->setAttr(kInputMeans, builder.getDenseF32ArrayAttr(scaled));
  }
  return {};
}

Expected<void> ChannelScaler::run() {
  for (Operation &op : main.front().without_terminator())
    find(&op);
  for (const auto &[value, tensor] : tensors) {
    const Precision precision = *precisionOf(value);
    const SmallVector<float> numbers = factors(tensor.readers[0], precision);
    Expected<bool> paying = pays(value, tensor, numbers);
    if (!paying)
      return propagate(paying);
    if (!*paying)
      continue;
    Value scaled = multiply(value, tensor, numbers);
    for (Operation *reader : tensor.readers) {
      reader->setOperand(0, scaled);
      if (Expected<void> divided = divideFilter(reader, numbers); !divided)
        return propagate(divided);
    }
    options.scalings[scaled.getDefiningOp()] = precision;
  }
  return {};
}

} // namespace

Expected<void> tpuc::scaleChannels(func::FuncOp main, const TargetInfo &target,
                                   const StoragePlan &plan, PlanOptions &options) {
  return ChannelScaler(main, target, plan, options).run();
}
