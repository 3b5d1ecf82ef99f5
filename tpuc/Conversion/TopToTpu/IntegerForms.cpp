//===- IntegerForms.cpp - What ops have a form on stored integers -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/IntegerForms.h"
#include "tpuc/Conversion/TopToTpu/Lowering.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/PreprocessOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// Whether `op` is a function of one tensor, from 8-bit integers of a source to such: a table of
/// 256 entries holds all of it.
static bool isFunctionOfSource(Operation *op) {
  const auto isByte = [](Value value) {
    quant::UniformQuantizedType stated = Lowering::statedType(value);
    return stated && stated.getStorage().width == 8;
  };
  return op->hasTrait<traits::Pointwise>() && op->getNumOperands() == 1 &&
         op->getNumResults() == 1 && !isa<CopyOp, IntegerFormInterface>(op) &&
         isByte(op->getOperand(0)) && isByte(op->getResult(0));
}

bool tpuc::isTabulated(Operation *op) {
  auto quotient = dyn_cast<DivConstOp>(op);
  return (op->hasTrait<traits::Tabulated>() && !(quotient && quotient.getIsReverse())) ||
         isFunctionOfSource(op);
}

/// Whether a source states a requantization of 8 bits: what is copied has another scale than the
/// copy.
static bool isRescaling(Operation *op) {
  if (!isa<CopyOp>(op))
    return false;
  quant::UniformQuantizedType from = tpu::quantizedType(op->getOperand(0));
  quant::UniformQuantizedType to = tpu::quantizedType(op->getResult(0));
  const auto isByte = [](quant::UniformQuantizedType type) {
    return type && type.getStorage().width == 8;
  };
  return isByte(from) && isByte(to) && from.getScale() != to.getScale();
}

IntegerForm tpuc::integerForm(Operation *op) {
  if (isTabulated(op) || isRescaling(op))
    return IntegerForm::Computes;
  auto own = dyn_cast<IntegerFormInterface>(op);
  return own ? own.integerForm() : IntegerForm::None;
}

SmallVector<OpOperand *> tpuc::integerOperands(Operation *op) {
  auto own = dyn_cast<IntegerFormInterface>(op);
  return own ? own.integerOperands() : firstOperand(op);
}

/// Whether `op`, which has the trait KeepsSign, does so with its attributes.
static bool keepsSign(Operation *op) {
  if (auto pad = dyn_cast<PadOp>(op))
    return !(pad.getVal().convertToDouble() < 0);
  if (auto resize = dyn_cast<InterpOp>(op))
    return resize.getMode() != "cubic" && resize.getCoordMode() != "tf_crop_and_resize";
  if (auto reduce = dyn_cast<top::ReduceOp>(op))
    return reduce.getMode() != "ReduceLogSum" && reduce.getMode() != "ReduceLogSumExp";
  return true;
}

double tpuc::storableScale(double scale) {
  // The type's numbers, not those that a processor may flush to 0.
  constexpr double kLeast = 0x1p-149;
  constexpr double kMost = std::numeric_limits<float>::max();
  return std::clamp(scale, kLeast, kMost);
}

bool tpuc::isNonNegative(Value value) {
  // A chain of ops that keep the sign ends soon in networks; the limit bounds the work.
  constexpr unsigned kMaxDepth = 32;
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (auto relu = op->getAttrOfType<BoolAttr>("do_relu"); relu && relu.getValue())
      return true;
    if (op->hasTrait<traits::NonNegative>())
      return true;
    if (auto softmax = dyn_cast<SoftmaxOp>(op))
      return !softmax.getLog();
    if (auto sigmoid = dyn_cast<SigmoidOp>(op))
      return !sigmoid.getLog() && sigmoid.getScale().convertToDouble() >= 0 &&
             sigmoid.getBias().convertToDouble() >= 0;
    if (auto picture = dyn_cast<PreprocessOp>(op))
      return llvm::none_of(toDoubles(picture.getMean()), [](double mean) { return mean > 0; }) &&
             llvm::all_of(toDoubles(picture.getScale()), [](double scale) { return scale >= 0; });
    if (auto clip = dyn_cast<ClipOp>(op))
      return clip.getMin().convertToDouble() >= 0;
    if (auto limit = dyn_cast<MaxConstOp>(op); limit && limit.getConstVal().convertToDouble() >= 0)
      return true;
    if (op->hasTrait<traits::KeepsCommonSign>() && !op->hasAttr("coeff"))
      return op->getNumOperands() <= 8 && llvm::all_of(op->getOperands(), [](Value operand) {
               return !operand.getDefiningOp<WeightOp>() && isNonNegative(operand);
             });
    if (!op->hasTrait<traits::KeepsSign>() || !keepsSign(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}
