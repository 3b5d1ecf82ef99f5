//===- IntegerForms.cpp - What ops have a form on stored integers -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/IntegerForms.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

static bool isWeight(Value value) { return value.getDefiningOp<WeightOp>() != nullptr; }
static bool isWeightOrNone(Value value) { return !isPresent(value) || isWeight(value); }

static int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : -1;
}

bool tpuc::isTabulated(Operation *op) {
  return isa<ReluOp, ClipOp, SigmoidOp, SiLUOp, SwishOp, HardSwishOp, HardSigmoidOp, TanhOp, GELUOp,
             MishOp, EluOp, CeluOp, SeluOp, SoftplusOp, SoftsignOp, ThresholdedReluOp, ShrinkOp,
             AbsOp, NegOp, ErfOp, SignOp, SinOp, CosOp, ArctanOp, AddConstOp, SubConstOp,
             MulConstOp, MinConstOp, MaxConstOp>(op) ||
         (isa<DivConstOp>(op) && !cast<DivConstOp>(op).getIsReverse());
}

/// Add, Sub, Mul, Max, Min: tensors, of which not all are constant.
static IntegerForm combinationForm(Operation *op) {
  const bool isProduct = isa<MulOp>(op);
  if (op->getNumOperands() < 2 || (isProduct && op->getNumOperands() > 2) ||
      llvm::all_of(op->getOperands(), isWeight))
    return IntegerForm::None;
  if (auto product = dyn_cast<MulOp>(op);
      product && (product.getMultiplier() != 1 || product.getRshift() != 0))
    return IntegerForm::None;
  return IntegerForm::Computes;
}

static IntegerForm when(bool condition, IntegerForm form) {
  return condition ? form : IntegerForm::None;
}

/// Whether `slope` has one element, or one for each channel of `input`.
static bool isByChannel(Value slope, Value input) {
  auto type = dyn_cast<RankedTensorType>(slope.getType());
  const int64_t rank = rankOf(input);
  if (!type || rank < 0)
    return false;
  for (auto [axis, extent] : llvm::enumerate(type.getShape()))
    if (extent != 1 && rank - type.getRank() + static_cast<int64_t>(axis) != 1)
      return false;
  return true;
}

static IntegerForm resizeForm(InterpOp op) {
  if (op.getMode() == "nearest" && op.getCoordMode() != "tf_crop_and_resize")
    return IntegerForm::Moves;
  auto input = dyn_cast<RankedTensorType>(op.getInput().getType());
  auto output = dyn_cast<RankedTensorType>(op.getOutput().getType());
  const bool isLinear = op.getMode() == "linear" && !op.getAntialias() && !op.getExcludeOutside() &&
                        op.getCoordMode() != "tf_crop_and_resize" && !op.getAxes();
  const bool keepsChannels = input && output && input.getRank() == 4 && output.getRank() == 4 &&
                             input.getShape().take_front(2) == output.getShape().take_front(2);
  return when(isLinear && keepsChannels, IntegerForm::Computes);
}

static IntegerForm reduceForm(top::ReduceOp op) {
  auto input = dyn_cast<RankedTensorType>(op.getInput().getType());
  if (isPresent(op.getAxesTensor()) || op.getNoopWithEmptyAxes() || !input ||
      !input.hasStaticShape() || input.getNumElements() == 0)
    return IntegerForm::None;
  if (op.getMode() == "ReduceMax" || op.getMode() == "ReduceMin")
    return IntegerForm::Moves;
  return when(op.getMode() == "ReduceMean" || op.getMode() == "ReduceSum", IntegerForm::Computes);
}

IntegerForm tpuc::integerForm(Operation *op) {
  if (isTabulated(op))
    return IntegerForm::Computes;
  return llvm::TypeSwitch<Operation *, IntegerForm>(op)
      .Case<ConvOp, DeconvOp>([](auto conv) {
        return when(isWeight(conv.getFilter()) && isWeightOrNone(conv.getBias()) &&
                        !conv.getInserts(),
                    IntegerForm::Computes);
      })
      .Case([](MatMulOp product) {
        return when(isWeightOrNone(product.getBias()) && !isWeight(product.getInput()),
                    IntegerForm::Computes);
      })
      .Case<AddOp, SubOp, MulOp, MaxOp, MinOp>([](auto sum) { return combinationForm(sum); })
      .Case<LeakyReluOp>([](auto) { return IntegerForm::Computes; })
      .Case([](PReluOp relu) {
        return when(isWeight(relu.getSlope()) && isByChannel(relu.getSlope(), relu.getInput()),
                    IntegerForm::Computes);
      })
      .Case([](AvgPoolOp pool) { return when(pool.getPadValue() == 0, IntegerForm::Computes); })
      .Case([](top::ReduceOp reduce) { return reduceForm(reduce); })
      .Case([](InterpOp resize) { return resizeForm(resize); })
      .Case([](CompareConstOp) { return IntegerForm::Computes; })
      .Case([](top::CompareOp op) {
        return when(!isWeight(op->getOperand(0)) && !isWeight(op->getOperand(1)),
                    IntegerForm::Computes);
      })
      .Case<MaxPoolOp, UpsampleOp>([](Operation *) { return IntegerForm::Moves; })
      .Case([](ConcatOp concat) {
        return when(llvm::none_of(concat.getInputs(), isWeight), IntegerForm::Moves);
      })
      .Case([](PadOp pad) { return when(!isPresent(pad.getValTensor()), IntegerForm::Moves); })
      .Case<ReshapeOp, FlattenOp, FlattenTo2DOp, SqueezeOp, UnsqueezeOp, PermuteOp, SliceOp,
            SplitOp, ExpandOp, TileOp, Depth2SpaceOp, ShuffleChannelOp, ReverseSequenceOp, CopyOp>(
          [](Operation *mover) {
            return when(!isWeight(mover->getOperand(0)), IntegerForm::Moves);
          })
      .Case<GatherOp, GatherElementsOp, GatherNDOp>([](Operation *mover) {
        return when(!isWeight(mover->getOperand(0)), IntegerForm::Moves);
      })
      .Default(IntegerForm::None);
}

SmallVector<OpOperand *> tpuc::integerOperands(Operation *op) {
  SmallVector<OpOperand *> operands;
  const auto add = [&](unsigned index) { operands.push_back(&op->getOpOperand(index)); };
  if (isa<AddOp, SubOp, MulOp, MaxOp, MinOp, ConcatOp, top::CompareOp>(op)) {
    for (unsigned index = 0; index < op->getNumOperands(); ++index)
      add(index);
  } else {
    add(0);
    if (auto product = dyn_cast<MatMulOp>(op); product && !isWeight(product.getRight()))
      add(1);
  }
  return operands;
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
    if (isa<ReluOp, HardSigmoidOp, AbsOp, ExpOp, SqrtOp, SoftplusOp>(op))
      return true;
    if (auto softmax = dyn_cast<SoftmaxOp>(op))
      return !softmax.getLog();
    if (auto sigmoid = dyn_cast<SigmoidOp>(op))
      return !sigmoid.getLog() && sigmoid.getScale().convertToDouble() >= 0 &&
             sigmoid.getBias().convertToDouble() >= 0;
    if (auto clip = dyn_cast<ClipOp>(op))
      return clip.getMin().convertToDouble() >= 0;
    if (auto limit = dyn_cast<MaxConstOp>(op); limit && limit.getConstVal().convertToDouble() >= 0)
      return true;
    if (auto pad = dyn_cast<PadOp>(op); pad && pad.getVal().convertToDouble() < 0)
      return false;
    if (auto resize = dyn_cast<InterpOp>(op);
        resize && (resize.getMode() == "cubic" || resize.getCoordMode() == "tf_crop_and_resize"))
      return false;
    if (isa<AddOp, MulOp, ConcatOp, MaxOp>(op) && !op->hasAttr("coeff"))
      return op->getNumOperands() <= 8 && llvm::all_of(op->getOperands(), [](Value operand) {
               return !isWeight(operand) && isNonNegative(operand);
             });
    const bool keepsSign =
        isa<MaxPoolOp, AvgPoolOp, ReshapeOp, FlattenOp, SqueezeOp, UnsqueezeOp, PermuteOp, SliceOp,
            SplitOp, ExpandOp, TileOp, Depth2SpaceOp, ShuffleChannelOp, CopyOp, UpsampleOp,
            InterpOp, PadOp>(op) ||
        (isa<top::ReduceOp>(op) && cast<top::ReduceOp>(op).getMode() != "ReduceLogSum" &&
         cast<top::ReduceOp>(op).getMode() != "ReduceLogSumExp");
    if (!keepsSign)
      return false;
    value = op->getOperand(0);
  }
  return false;
}
