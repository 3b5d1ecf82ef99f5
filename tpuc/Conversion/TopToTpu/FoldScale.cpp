//===- FoldScale.cpp - Mean and scale of pictures in first convolutions -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/FoldScale.h"
#include "tpuc/Conversion/TopToTpu/FoldIntoWindows.h"
#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/PreprocessOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tpuc;

namespace {

/// Mean and scale of each channel.
struct Normalization {
  std::vector<double> mean, scale;

  static Normalization of(top::PreprocessOp op, size_t channels) {
    Normalization made = {toFloats(op.getMean(), channels, 0),
                          toFloats(op.getScale(), channels, 1)};
    return made;
  }
  bool isCentred() const {
    return llvm::all_of(mean, [](double number) { return number == 0; });
  }
  bool isUnscaled() const {
    return llvm::all_of(scale, [](double number) { return number == 1; });
  }
  /// Whether filters and what stands around the input stay far from the ends of 16 bits.
  bool isModerate() const {
    constexpr double kMostMean = 1024;
    constexpr double kLeastScale = 0x1p-12;
    constexpr double kMostScale = 64;
    return llvm::all_of(mean, [](double number) { return std::abs(number) <= kMostMean; }) &&
           llvm::all_of(scale, [](double number) {
             return std::abs(number) >= kLeastScale && std::abs(number) <= kMostScale;
           });
  }

private:
  /// The numbers in f32, as the network computes with them.
  static std::vector<double> toFloats(std::optional<ArrayAttr> numbers, size_t channels,
                                      double without) {
    if (!numbers)
      return std::vector<double>(channels, without);
    std::vector<double> made = toDoubles(*numbers);
    for (double &number : made)
      number = static_cast<float>(number);
    return made;
  }
};

/// A convolution over all channels whose constants may become others.
bool takesScale(OpOperand &use) {
  auto conv = dyn_cast<top::ConvOp>(use.getOwner());
  const std::optional<Tensor> filter =
      conv && use.getOperandNumber() == 0 ? floatConstant(conv.getFilter()) : std::nullopt;
  return filter && filter->shape().rank() == 4 && conv.getGroup() == 1 && !conv.getInserts() &&
         conv.getAutoPad() == "NOTSET" && !conv.getPadValue() && !conv.getPadValues() &&
         (!top::isPresent(conv.getBias()) || floatConstant(conv.getBias()));
}

/// Has `conv` read x in place of (x - mean) * scale.
void takeScale(top::ConvOp conv, const Normalization &numbers) {
  Tensor filter = floatConstant(conv.getFilter())->clone();
  const Shape &shape = filter.shape();
  Tensor bias(DataType::F32, Shape{shape[0]});
  if (const std::optional<Tensor> given = floatConstant(conv.getBias()))
    bias = given->clone();
  const std::span<float> elements = filter.mutableData<float>();
  const auto taps = static_cast<size_t>(shape[2] * shape[3]);
  size_t at = 0;
  for (float &sum : bias.mutableData<float>()) {
    double shift = 0;
    for (size_t channel = 0; channel < numbers.mean.size(); ++channel)
      for (size_t tap = 0; tap < taps; ++tap, ++at) {
        elements[at] = static_cast<float>(elements[at] * numbers.scale[channel]);
        shift += numbers.mean[channel] * elements[at];
      }
    sum = static_cast<float>(sum - shift);
  }
  OpBuilder builder(conv);
  const auto module = conv->getParentOfType<ModuleOp>();
  const std::string name = layerName(conv);
  const auto made = [&](StringRef what, Tensor tensor) {
    return top::WeightOp::create(builder, module, name + what.str(), std::move(tensor)).getOutput();
  };
  conv.getFilterMutable().assign(made("_scaled_filter", std::move(filter)));
  conv.getBiasMutable().assign(made("_scaled_bias", std::move(bias)));
  if (llvm::any_of(numbers.mean, [](double mean) { return mean != 0; }))
    conv.setPadValuesAttr(builder.getF64ArrayAttr(numbers.mean));
  for (const char *attribute : kInputFigures)
    conv->removeAttr(attribute);
}

/// Has all readers of `op` read its bytes, or these less the mean; false: they cannot, and nothing
/// has changed.
bool foldInto(top::PreprocessOp op, const TargetInfo &target, const StoragePlan &plan) {
  const auto dims = cast<RankedTensorType>(op.getOutput().getType()).getShape();
  const auto takes = [&](OpOperand &use) {
    return takesScale(use) && !plan.of(use.getOwner()).scheme.isQuantized();
  };
  if (op.getChannelFormat() != "nchw" || op->use_empty() || !llvm::all_of(op->getUses(), takes))
    return false;
  Normalization numbers = Normalization::of(op, static_cast<size_t>(dims[1]));
  if (!numbers.isModerate())
    return false;
  // Where nothing but 0 can stand around an input, its mean stays in front: on chips without F16.
  const bool keepsMean =
      !numbers.isCentred() && !hasScheme(target, schemes::kF16) &&
      llvm::any_of(op->getUsers(), [](Operation *user) {
        const std::optional<ArrayAttr> pads = cast<top::ConvOp>(user).getPads();
        return pads && llvm::any_of(top::toInts(*pads), [](int64_t pad) { return pad != 0; });
      });
  if (keepsMean)
    std::ranges::fill(numbers.mean, 0);
  if (numbers.isCentred() && numbers.isUnscaled())
    return false;
  for (Operation *user : llvm::to_vector(op->getUsers()))
    takeScale(cast<top::ConvOp>(user), numbers);
  if (!keepsMean)
    op.removeMeanAttr();
  op.removeScaleAttr();
  op->setLoc(NameLoc::get(
      StringAttr::get(op.getContext(), layerName(op) + (keepsMean ? "_centred" : "_bytes"))));
  return true;
}

} // namespace

void tpuc::foldScale(func::FuncOp main, const TargetInfo &target, StoragePlan &plan) {
  for (auto op : main.front().getOps<top::PreprocessOp>())
    if (foldInto(op, target, plan))
      plan.keepOnFloats(op);
}
