//===- LowerSums.cpp - Pools, reductions and resizes on integers ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/LowerInteger.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Interpreter/Kernels/IntegerResize.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;

/// The scale of a result's integers over that of operand 0's.
static double ratio(Operation *op, const Lowering &lowering) {
  return lowering.plan.quantized(op->getOperand(0)).getScale() /
         lowering.plan.quantized(op->getResult(0)).getScale();
}

/// The factor of an average of `count` integers with few bits, if that is what the scale asks for
/// (StoragePlan::fitAverage), and the products of sums stay below 32 bits.
static std::optional<MultiplierShift> shortFactor(double scale, int64_t count,
                                                  const Lowering &lowering) {
  constexpr double kExact = 0x1p-20;
  const uint32_t bits = lowering.plan.averageBits();
  const double most = std::ldexp(static_cast<double>(count), static_cast<int>(bits + 7));
  if (bits == 0 || most >= 0x1p31)
    return std::nullopt;
  MultiplierLimits limits = MultiplierLimits::ofUnsignedBits(bits);
  limits.maxShift = 31;
  const Expected<MultiplierShift> made = quantizeMultiplier(scale, limits, "");
  if (!made || std::abs(std::ldexp(made->multiplier, -made->rshift) / scale - 1) > kExact)
    return std::nullopt;
  return *made;
}

static Expected<void> lowerWithFactors(Operation *op, Lowering &lowering, ArrayRef<double> scales,
                                       int64_t count = 0) {
  SmallVector<MultiplierShift> factors;
  for (double scale : scales) {
    if (count != 0 && scales.size() == 1)
      if (const std::optional<MultiplierShift> few = shortFactor(scale, count, lowering)) {
        factors.push_back(*few);
        break;
      }
    Expected<MultiplierShift> factor = lowering.factor(scale, op);
    if (!factor)
      return propagate(factor);
    factors.push_back(*factor);
  }
  SmallVector<Value> operands(op->getOperands());
  operands[0] = lowering.asIntegers(operands[0]);
  Operation *made = lowering.mirrored(op, operands);
  lowering.setFactors(made, factors);
  lowering.replace(op, made);
  return {};
}

/// `op` computes with stored integers themselves, whose ties go away from zero.
static void setAsStored(Operation *op, ArrayRef<MultiplierShift> factors, Lowering &lowering) {
  lowering.setFactors(op, factors);
  op->setAttr("round_mode",
              lowering.builder.getStringAttr(roundingModeName(RoundingMode::HalfAwayFromZero)));
  op->setAttr("as_stored", lowering.builder.getUnitAttr());
}

/// Whether a pool averages the integers that a source states themselves
/// (kernels::fixedAveragePool).
static bool isPlainAverage(top::AvgPoolOp op, const Lowering &lowering) {
  return lowering.isFixedPoint(op) && !op.getCountIncludePad() &&
         lowering.plan.quantized(op.getInput()) == lowering.plan.quantized(op.getOutput());
}

/// An average of `fewest` to `most` integers, ties away from zero.
static Expected<void> lowerPlainAverage(top::AvgPoolOp op, Lowering &lowering, int64_t fewest,
                                        int64_t most) {
  SmallVector<MultiplierShift> factors;
  for (int64_t count = fewest; count <= most; ++count)
    factors.push_back(kernels::averageFactor(count));
  Operation *made = lowering.mirrored(op, lowering.asIntegers(op.getInput()));
  setAsStored(made, factors, lowering);
  lowering.replace(op, made);
  return {};
}

Expected<void> tpuc::lowerAvgPool(top::AvgPoolOp op, Lowering &lowering) {
  const int64_t most = ShapedType::getNumElements(top::toInts(op.getKernelShape()));
  const bool hasPads = op.getAutoPad() != "NOTSET" || op.getCeilMode() ||
                       (op.getPads() && llvm::any_of(top::toInts(*op.getPads()),
                                                     [](int64_t pad) { return pad != 0; }));
  if (isPlainAverage(op, lowering))
    return lowerPlainAverage(op, lowering, hasPads ? 1 : most, most);
  SmallVector<double> scales;
  for (int64_t count = hasPads ? 1 : most; count <= most; ++count)
    scales.push_back(ratio(op, lowering) / double(count));
  return lowerWithFactors(op, lowering, scales, most);
}

Expected<void> tpuc::lowerReduce(top::ReduceOp op, Lowering &lowering) {
  if (op.getMode() == "ReduceMax" || op.getMode() == "ReduceMin")
    return lowerMover(op, lowering);
  double scale = ratio(op, lowering);
  int64_t count = 1;
  if (op.getMode() == "ReduceMean") {
    ArrayRef<int64_t> dims = cast<RankedTensorType>(op.getInput().getType()).getShape();
    const auto rank = static_cast<int64_t>(dims.size());
    SmallVector<int64_t> axes = op.getAxes() ? top::toInts(*op.getAxes()) : SmallVector<int64_t>();
    if (axes.empty())
      axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    for (int64_t axis : axes)
      count *= dims[axis < 0 ? axis + rank : axis];
  }
  if (lowering.isFixedPoint(op) && (op.getMode() == "ReduceMean" || op.getMode() == "ReduceSum")) {
    SmallVector<Value> operands(op->getOperands());
    operands[0] = lowering.asIntegers(op.getInput());
    Operation *made = lowering.mirrored(op, operands);
    lowering.setFixedFactors(made, kernels::meanFactor(scale, count));
    lowering.replace(op, made);
    return {};
  }
  scale /= double(count);
  return lowerWithFactors(op, lowering, scale, op.getMode() == "ReduceMean" ? count : 0);
}

/// Whether a source resizes signed integers themselves (kernels::fixedResize).
static bool isFixedResize(top::InterpOp op, const Lowering &lowering) {
  auto type = dyn_cast<RankedTensorType>(op.getOutput().getType());
  quant::UniformQuantizedType stored = lowering.plan.quantized(op.getInput());
  return lowering.isFixedPoint(op) && stored.getStorage().isSigned &&
         stored == lowering.plan.quantized(op.getOutput()) && op.getMode() == "linear" &&
         llvm::is_contained({"half_pixel", "align_corners", "asymmetric"}, op.getCoordMode()) &&
         type && type.hasStaticShape() && type.getRank() == 4 && op.getAxes() &&
         top::toInts(*op.getAxes()) == SmallVector<int64_t>{2, 3};
}

Expected<void> tpuc::lowerInterp(top::InterpOp op, Lowering &lowering) {
  if (op.getMode() == "nearest")
    return lowerMover(op, lowering);
  if (isFixedResize(op, lowering)) {
    SmallVector<Value> operands(op->getOperands());
    operands[0] = lowering.asIntegers(op.getInput());
    Operation *made = lowering.mirrored(op, operands);
    setAsStored(made, MultiplierShift{1, 2 * kernels::kResizeWeightBits}, lowering);
    lowering.replace(op, made);
    return {};
  }
  return lowerWithFactors(op, lowering,
                          std::ldexp(ratio(op, lowering), -2 * kernels::kResizeWeightBits));
}
