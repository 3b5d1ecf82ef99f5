//===- IntegerForm.cpp - How an op can be computed on stored integers ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/IntegerForm.h"
#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

using Operands = SmallVector<OpOperand *>;

static bool isWeight(Value value) { return value.getDefiningOp<WeightOp>() != nullptr; }
static bool isWeightOrNone(Value value) { return !isPresent(value) || isWeight(value); }

static IntegerForm when(bool condition, IntegerForm form) {
  return condition ? form : IntegerForm::None;
}

IntegerForm top::formOfMover(Operation *op) {
  return when(!isWeight(op->getOperand(0)), IntegerForm::Moves);
}

Operands top::firstOperand(Operation *op) { return {&op->getOpOperand(0)}; }

static Operands allOperands(Operation *op) {
  return llvm::map_to_vector(op->getOpOperands(), [](OpOperand &operand) { return &operand; });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

template <typename Op> static IntegerForm formOfConvolution(Op op) {
  return when(isWeight(op.getFilter()) && isWeightOrNone(op.getBias()) && !op.getInserts(),
              IntegerForm::Computes);
}

IntegerForm ConvOp::integerForm() {
  return getPadValue() || getPadValues() ? IntegerForm::None : formOfConvolution(*this);
}
IntegerForm DeconvOp::integerForm() { return formOfConvolution(*this); }

IntegerForm MatMulOp::integerForm() {
  return when(isWeightOrNone(getBias()) && !isWeight(getInput()), IntegerForm::Computes);
}

Operands MatMulOp::integerOperands() {
  Operands operands = firstOperand(*this);
  if (!isWeight(getRight()))
    operands.push_back(&getRightMutable());
  return operands;
}

//===----------------------------------------------------------------------===//
// Element-wise ops
//===----------------------------------------------------------------------===//

/// Two tensors or more, of which not all are constant.
static IntegerForm formOfCombination(Operation *op) {
  return when(op->getNumOperands() >= 2 && !llvm::all_of(op->getOperands(), isWeight),
              IntegerForm::Computes);
}

IntegerForm AddOp::integerForm() { return formOfCombination(*this); }
IntegerForm SubOp::integerForm() { return formOfCombination(*this); }
IntegerForm MaxOp::integerForm() { return formOfCombination(*this); }
IntegerForm MinOp::integerForm() { return formOfCombination(*this); }

IntegerForm MulOp::integerForm() {
  return getInputs().size() > 2 || getMultiplier() != 1 || getRshift() != 0
             ? IntegerForm::None
             : formOfCombination(*this);
}

Operands AddOp::integerOperands() { return allOperands(*this); }
Operands SubOp::integerOperands() { return allOperands(*this); }
Operands MaxOp::integerOperands() { return allOperands(*this); }
Operands MinOp::integerOperands() { return allOperands(*this); }
Operands MulOp::integerOperands() { return allOperands(*this); }

IntegerForm CompareOp::integerForm() {
  return when(!isWeight(getLhs()) && !isWeight(getRhs()), IntegerForm::Computes);
}

Operands CompareOp::integerOperands() { return allOperands(*this); }

IntegerForm CompareConstOp::integerForm() { return IntegerForm::Computes; }

IntegerForm LeakyReluOp::integerForm() { return IntegerForm::Computes; }

/// Whether `slope` has one element, or one for each channel of `input`.
static bool isByChannel(Value slope, Value input) {
  auto type = dyn_cast<RankedTensorType>(slope.getType());
  auto inputType = dyn_cast<RankedTensorType>(input.getType());
  if (!type || !inputType)
    return false;
  const int64_t missing = inputType.getRank() - type.getRank();
  for (auto [axis, extent] : llvm::enumerate(type.getShape()))
    if (extent != 1 && missing + static_cast<int64_t>(axis) != 1)
      return false;
  return true;
}

IntegerForm PReluOp::integerForm() {
  return when(isWeight(getSlope()) && isByChannel(getSlope(), getInput()), IntegerForm::Computes);
}

//===----------------------------------------------------------------------===//
// Pools, reductions, resized pictures
//===----------------------------------------------------------------------===//

IntegerForm AvgPoolOp::integerForm() { return when(getPadValue() == 0, IntegerForm::Computes); }

IntegerForm MaxPoolOp::integerForm() { return IntegerForm::Moves; }

IntegerForm top::ReduceOp::integerForm() {
  auto input = dyn_cast<RankedTensorType>(getInput().getType());
  if (isPresent(getAxesTensor()) || getNoopWithEmptyAxes() || !input || !input.hasStaticShape() ||
      input.getNumElements() == 0)
    return IntegerForm::None;
  if (getMode() == "ReduceMax" || getMode() == "ReduceMin")
    return IntegerForm::Moves;
  return when(getMode() == "ReduceMean" || getMode() == "ReduceSum", IntegerForm::Computes);
}

IntegerForm InterpOp::integerForm() {
  if (getMode() == "nearest" && getCoordMode() != "tf_crop_and_resize")
    return IntegerForm::Moves;
  auto input = dyn_cast<RankedTensorType>(getInput().getType());
  auto output = dyn_cast<RankedTensorType>(getOutput().getType());
  // With axes only what a source stores in integers: others lose more by them than they save.
  const auto isStored = [](Value value) {
    return isa<quant::UniformQuantizedType>(getElementTypeOrSelf(value.getType()));
  };
  const bool isLastTwo = !getAxes() || (toInts(*getAxes()) == SmallVector<int64_t>{2, 3} &&
                                        isStored(getInput()) && isStored(getOutput()));
  const bool isLinear = getMode() == "linear" && !getAntialias() && !getExcludeOutside() &&
                        getCoordMode() != "tf_crop_and_resize" && isLastTwo;
  const bool keepsChannels = input && output && input.getRank() == 4 && output.getRank() == 4 &&
                             input.getShape().take_front(2) == output.getShape().take_front(2);
  return when(isLinear && keepsChannels, IntegerForm::Computes);
}

IntegerForm UpsampleOp::integerForm() { return IntegerForm::Moves; }

//===----------------------------------------------------------------------===//
// Movement: most say what `formOfMover` says
//===----------------------------------------------------------------------===//

IntegerForm ConcatOp::integerForm() {
  return when(llvm::none_of(getInputs(), isWeight), IntegerForm::Moves);
}

Operands ConcatOp::integerOperands() { return allOperands(*this); }

IntegerForm PadOp::integerForm() { return when(!isPresent(getValTensor()), IntegerForm::Moves); }
