//===- ScaleParts.cpp - A scale for each part of a concatenation ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/ScaleParts.h"
#include "tpuc/Calibration/ChannelStatistics.h"
#include "tpuc/Conversion/TopToTpu/FloatsByNeed.h"
#include "tpuc/Conversion/TopToTpu/IntegerForms.h"
#include "tpuc/Conversion/TopToTpu/Lowering.h"
#include "tpuc/Conversion/TopToTpu/ScaleChannels.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

#include <set>

using namespace mlir;
using namespace tpuc;

namespace {

struct Part {
  OpOperand *operand = nullptr;
  int64_t channels = 0;
  quant::FloatRange range = {0, 0};
  double factor = 1;
};

class PartScaler {
public:
  PartScaler(const StoragePlan &plan, PlanOptions &options)
      : plan(plan), options(options), integers(plan.integers()) {}

  Expected<void> scale(top::ConcatOp concat);

private:
  bool canScale(top::ConcatOp concat) const;
  std::optional<SmallVector<Part>> partsOf(top::ConcatOp concat) const;
  double widthOf(const quant::FloatRange &range) const;
  Expected<bool> helps(top::ConcatOp concat, ArrayRef<Part> parts) const;
  void widen(const Part &part);

  const StoragePlan &plan;
  PlanOptions &options;
  QuantScheme integers;
  /// Of the ops that were made.
  std::set<std::string> names;
};

/// The range that calibration found for `value`, with 0 in it; none of others.
std::optional<quant::FloatRange> calibratedRange(Value value) {
  auto type = dyn_cast<quant::CalibratedQuantizedType>(getElementTypeOrSelf(value.getType()));
  if (!type)
    return std::nullopt;
  return quant::FloatRange{std::min(type.getRange().min, 0.0), std::max(type.getRange().max, 0.0)};
}

/// The axis of `concat`, from the front; none of an unknown shape.
std::optional<int64_t> axisOf(top::ConcatOp concat) {
  auto type = dyn_cast<RankedTensorType>(concat.getOutput().getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  const auto axis = static_cast<int64_t>(concat.getAxis());
  return axis < 0 ? axis + type.getRank() : axis;
}

/// Whether it is on integers, or would be but for the need that scales of the parts do away with.
bool isOrWouldBeInteger(const Decision &decision) {
  return decision.scheme.isQuantized() || StringRef(decision.reason).starts_with(kByNeed);
}

/// Only products on integers read the result, each along the axis of the parts.
bool PartScaler::canScale(top::ConcatOp concat) const {
  const std::optional<int64_t> axis = axisOf(concat);
  if (!axis || concat->use_empty() || concat.getDoRelu() || tpu::isQuantized(concat.getOutput()) ||
      options.exceptions.contains(layerName(concat)) || !isOrWouldBeInteger(plan.of(concat)))
    return false;
  return llvm::all_of(concat->getUses(), [&](OpOperand &use) {
    Operation *reader = use.getOwner();
    if (use.getOperandNumber() != 0 || summedAxis(reader) != axis || !plan.isInteger(reader))
      return false;
    return !reader->getOperand(1).getDefiningOp<top::WeightOp>().getWeightScaleAttr();
  });
}

double PartScaler::widthOf(const quant::FloatRange &range) const {
  return integers.zeroPoint ? range.max - range.min : std::max(range.max, -range.min);
}

/// None where a part is not made on integers, or where all are about as wide.
std::optional<SmallVector<Part>> PartScaler::partsOf(top::ConcatOp concat) const {
  SmallVector<Part> parts;
  double widest = 0;
  for (OpOperand &operand : concat->getOpOperands()) {
    const std::optional<quant::FloatRange> range = calibratedRange(operand.get());
    Operation *maker = operand.get().getDefiningOp();
    if (!range || tpu::isQuantized(operand.get()) || !maker || !plan.isInteger(maker) ||
        !(widthOf(*range) > 0))
      return std::nullopt;
    auto type = cast<RankedTensorType>(operand.get().getType());
    parts.push_back({&operand, type.getDimSize(*axisOf(concat)), *range});
    widest = std::max(widest, widthOf(*range));
  }
  bool isWidened = false;
  for (Part &part : parts) {
    const double ratio = widest / widthOf(part.range);
    if (ratio < kLeastPartRatio)
      continue;
    const double most = std::ldexp(1.0, static_cast<int>(bitWidth(integers.activation)));
    part.factor = double(static_cast<float>(std::min(ratio, most)));
    isWidened = true;
  }
  return isWidened ? std::optional(parts) : std::nullopt;
}

/// What holds all parts, multiplied.
quant::FloatRange scaledRange(ArrayRef<Part> parts) {
  quant::FloatRange all = {0, 0};
  for (const Part &part : parts) {
    all.min = std::min(all.min, part.range.min * part.factor);
    all.max = std::max(all.max, part.range.max * part.factor);
  }
  return all;
}

/// Whether rounding the parts adds less to the sums of the readers.
Expected<bool> PartScaler::helps(top::ConcatOp concat, ArrayRef<Part> parts) const {
  SmallVector<double> before;
  SmallVector<double> after;
  const double shared = widthOf(*calibratedRange(concat.getOutput()));
  const double scaled = widthOf(scaledRange(parts));
  for (const Part &part : parts) {
    before.append(static_cast<size_t>(part.channels), shared);
    after.append(static_cast<size_t>(part.channels), scaled / part.factor);
  }
  const SmallVector<Operation *> readers(concat->user_begin(), concat->user_end());
  Expected<double> least = roundingError(readers, before);
  if (!least)
    return propagate(least);
  Expected<double> made = roundingError(readers, after);
  if (!made)
    return propagate(made);
  return *least > kLeastGain * *made;
}

/// Whether `op` only moves the elements of one tensor, so that it may as well move multiplied ones.
bool movesOne(Operation *op, const StoragePlan &plan) {
  if (op->getNumResults() != 1 || integerForm(op) != IntegerForm::Moves || isa<top::PadOp>(op) ||
      !plan.isInteger(op) || integerOperands(op).size() != 1)
    return false;
  auto relu = op->getAttrOfType<BoolAttr>("do_relu");
  Value moved = integerOperands(op)[0]->get();
  return !(relu && relu.getValue()) && moved.getDefiningOp() && calibratedRange(moved) &&
         !tpu::isQuantized(moved);
}

void rename(Operation *op) {
  renameTensor(cast<OpResult>(op->getResult(0)), layerName(op) + "_widened");
}

/// `type`, of calibrated elements, of a tensor that is `factor` times wider.
Type multiplied(Type type, double factor) {
  auto tensor = cast<TensorType>(type);
  auto element = cast<quant::CalibratedQuantizedType>(tensor.getElementType());
  const quant::FloatRange range = element.getRange();
  return tensor.clone(quant::CalibratedQuantizedType::get(
      element.getExpressedType(), {range.min * factor, range.max * factor}));
}

/// Multiplies a part, before what only moves its elements and for nobody else.
void PartScaler::widen(const Part &part) {
  OpOperand *use = part.operand;
  for (Operation *maker = use->get().getDefiningOp();
       use->get().hasOneUse() && movesOne(maker, plan); maker = use->get().getDefiningOp()) {
    use->get().setType(multiplied(use->get().getType(), part.factor));
    rename(maker);
    use = integerOperands(maker)[0];
  }
  Value narrow = use->get();
  OpBuilder builder(use->getOwner()->getContext());
  builder.setInsertionPointAfterValue(narrow);
  const auto result = cast<OpResult>(narrow);
  const std::string plain = tensorNames(result.getOwner())[result.getResultNumber()] + "_widened";
  // Several Concats may read it, with factors of their own.
  std::string name = plain;
  for (int count = 2; !names.insert(name).second; ++count)
    name = plain + "_" + std::to_string(count);
  auto made = builder.create<top::MulConstOp>(
      NameLoc::get(builder.getStringAttr(name)),
      TypeRange{multiplied(narrow.getType(), part.factor)}, ValueRange{narrow},
      ArrayRef{builder.getNamedAttr("const_val", builder.getF64FloatAttr(part.factor))});
  options.rescalings.insert(made);
  use->set(made.getOutput());
}

Expected<void> PartScaler::scale(top::ConcatOp concat) {
  if (!canScale(concat))
    return {};
  const std::optional<SmallVector<Part>> parts = partsOf(concat);
  if (!parts)
    return {};
  Expected<bool> isBetter = helps(concat, *parts);
  if (!isBetter)
    return propagate(isBetter);
  if (!*isBetter)
    return {};
  ChannelMap map;
  for (const Part &part : *parts)
    map.factors.append(static_cast<size_t>(part.channels), static_cast<float>(part.factor));
  llvm::SmallSetVector<Operation *, 4> readers(concat->user_begin(), concat->user_end());
  for (Operation *reader : readers)
    if (Expected<void> done = readAfter(map, reader); !done)
      return done;
  for (const Part &part : *parts)
    if (part.factor != 1)
      widen(part);
  auto type = cast<TensorType>(concat.getOutput().getType());
  auto element = cast<quant::CalibratedQuantizedType>(type.getElementType());
  concat.getOutput().setType(type.clone(
      quant::CalibratedQuantizedType::get(element.getExpressedType(), scaledRange(*parts))));
  rename(concat);
  return {};
}

} // namespace

Expected<void> tpuc::scaleParts(func::FuncOp main, const StoragePlan &plan, PlanOptions &options) {
  PartScaler scaler(plan, options);
  for (auto concat : llvm::to_vector(main.front().getOps<top::ConcatOp>()))
    if (Expected<void> done = scaler.scale(concat); !done)
      return done;
  return {};
}
