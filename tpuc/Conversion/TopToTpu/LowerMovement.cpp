//===- LowerMovement.cpp - Ops that move elements, on integers --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/IntegerForms.h"
#include "tpuc/Conversion/TopToTpu/LowerInteger.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Tpu/CastOps.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;

Expected<void> tpuc::lowerMover(Operation *op, Lowering &lowering) {
  quant::UniformQuantizedType type = lowering.plan.quantized(op->getResult(0));
  const SmallVector<OpOperand *> moved = integerOperands(op);
  SmallVector<Value> operands;
  // Indices and conditions are what the network has there.
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(llvm::is_contained(moved, &operand) ? lowering.as(operand.get(), type)
                                                           : lowering.plainOperand(operand.get()));
  Operation *made = lowering.mirrored(op, operands);
  // What is padded with is one of the stored integers, too (manual 6.3.6).
  if (auto pad = dyn_cast<top::PadOp>(op); pad && pad.getMode() == "constant") {
    const int64_t stored =
        quantize(pad.getVal().convertToDouble(), tpu::paramsOf(type), tpu::rangeOf(type));
    made->setAttr("val", lowering.builder.getF64FloatAttr(double(stored)));
  }
  lowering.replace(op, made);
  return {};
}

/// Whether `op` can give its integers with another scale, for its only reader: all but what has to
/// have the scale of its operands.
static bool takesScale(Operation *op, const Lowering &lowering) {
  return op && op->getNumResults() == 1 && op->getResult(0).hasOneUse() &&
         lowering.plan.isInteger(op) && integerForm(op) != IntegerForm::Moves;
}

/// What was made to multiply by a number: the integers that there are, with another scale, or one
/// requantization.
static Expected<void> lowerRescaling(top::MulConstOp op, Lowering &lowering) {
  // A factor this close to 1 leaves every integer of at most 16 bits as it is.
  constexpr double kNearlyOne = 0x1p-20;
  Value input = op.getInput();
  quant::UniformQuantizedType from = lowering.plan.quantized(input);
  quant::UniformQuantizedType to = lowering.plan.quantized(op.getOutput());
  const double scale = op.getConstVal().convertToDouble() * from.getScale() / to.getScale();
  Value stored = lowering.asIntegers(input);
  const bool isSame = std::abs(scale - 1) < kNearlyOne && from.getStorage() == to.getStorage() &&
                      from.getZeroPoint() == to.getZeroPoint();
  if (isSame && takesScale(input.getDefiningOp(), lowering)) {
    stored.setType(lowering.integerResult(op));
    renameTensor(cast<OpResult>(stored), layerName(op));
    lowering.replace(op, stored.getDefiningOp());
    return {};
  }
  Expected<MultiplierShift> factor = lowering.factor(scale, op);
  if (!factor)
    return propagate(factor);
  OperationState state(op->getLoc(), tpu::RequantIntOp::getOperationName(), stored,
                       lowering.integerResult(op));
  Operation *made = lowering.builder.create(state);
  lowering.setFactors(made, *factor);
  lowering.replace(op, made);
  return {};
}

Expected<void> tpuc::lowerInteger(Operation *op, Lowering &lowering) {
  // The table of what nobody else reads takes it in.
  if (lowering.plan.rescales(op) &&
      !(op->getOperand(0).hasOneUse() && isTabulated(op->getOperand(0).getDefiningOp())))
    return lowerRescaling(cast<top::MulConstOp>(op), lowering);
  if (isTabulated(op))
    return lowerTable(op, lowering);
  return llvm::TypeSwitch<Operation *, Expected<void>>(op)
      .Case([&](top::ConvOp conv) { return lowerConv(conv, lowering); })
      .Case([&](top::DeconvOp conv) { return lowerDeconv(conv, lowering); })
      .Case([&](top::MatMulOp product) { return lowerMatMul(product, lowering); })
      .Case<top::AddOp, top::SubOp>([&](Operation *sum) { return lowerAddSub(sum, lowering); })
      .Case([&](top::MulOp product) { return lowerMul(product, lowering); })
      .Case<top::MaxOp, top::MinOp>([&](Operation *most) { return lowerMinMax(most, lowering); })
      .Case([&](top::CopyOp copy) { return lowerCopy(copy, lowering); })
      .Case([&](top::LeakyReluOp relu) { return lowerLeakyRelu(relu, lowering); })
      .Case([&](top::PReluOp relu) { return lowerPRelu(relu, lowering); })
      .Case([&](top::CompareOp compare) { return lowerCompare(compare, lowering); })
      .Case([&](top::CompareConstOp compare) { return lowerCompareConst(compare, lowering); })
      .Case([&](top::AvgPoolOp pool) { return lowerAvgPool(pool, lowering); })
      .Case([&](top::ReduceOp reduce) { return lowerReduce(reduce, lowering); })
      .Case([&](top::InterpOp resize) { return lowerInterp(resize, lowering); })
      .Default([&](Operation *mover) { return lowerMover(mover, lowering); });
}
