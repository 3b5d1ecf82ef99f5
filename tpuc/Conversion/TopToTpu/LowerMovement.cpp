//===- LowerMovement.cpp - Ops that move elements, on integers --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/IntegerForms.h"
#include "tpuc/Conversion/TopToTpu/LowerInteger.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tpuc;

Expected<void> tpuc::lowerMover(Operation *op, Lowering &lowering) {
  quant::UniformQuantizedType type = lowering.plan.quantized(op->getResult(0));
  SmallVector<Value> operands(op->getOperands());
  for (OpOperand *operand : integerOperands(op))
    operands[operand->getOperandNumber()] = lowering.as(operand->get(), type);
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

Expected<void> tpuc::lowerInteger(Operation *op, Lowering &lowering) {
  if (isTabulated(op))
    return lowerTable(op, lowering);
  return llvm::TypeSwitch<Operation *, Expected<void>>(op)
      .Case([&](top::ConvOp conv) { return lowerConv(conv, lowering); })
      .Case([&](top::DeconvOp conv) { return lowerDeconv(conv, lowering); })
      .Case([&](top::MatMulOp product) { return lowerMatMul(product, lowering); })
      .Case<top::AddOp, top::SubOp>([&](Operation *sum) { return lowerAddSub(sum, lowering); })
      .Case([&](top::MulOp product) { return lowerMul(product, lowering); })
      .Case<top::MaxOp, top::MinOp>([&](Operation *most) { return lowerMinMax(most, lowering); })
      .Case([&](top::LeakyReluOp relu) { return lowerLeakyRelu(relu, lowering); })
      .Case([&](top::PReluOp relu) { return lowerPRelu(relu, lowering); })
      .Case([&](top::CompareOp compare) { return lowerCompare(compare, lowering); })
      .Case([&](top::CompareConstOp compare) { return lowerCompareConst(compare, lowering); })
      .Case([&](top::AvgPoolOp pool) { return lowerAvgPool(pool, lowering); })
      .Case([&](top::ReduceOp reduce) { return lowerReduce(reduce, lowering); })
      .Case([&](top::InterpOp resize) { return lowerInterp(resize, lowering); })
      .Default([&](Operation *mover) { return lowerMover(mover, lowering); });
}
