//===- FuseActivation.cpp - Activation functions, and into other ops ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Transforms/Fusions.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// Relu(op(x)) -> op(x) {do_relu}
static LogicalResult reluIntoProducer(ReluOp relu, PatternRewriter &rewriter) {
  Operation *producer = relu.getInput().getDefiningOp();
  if (!producer || producer->getNumResults() != 1 || !relu.getInput().hasOneUse() ||
      producer->getBlock() != relu->getBlock())
    return failure();
  ArrayRef<StringAttr> known = producer->getName().getAttributeNames();
  if (llvm::none_of(known, [](StringAttr name) { return name == "do_relu"; }))
    return failure();
  if (auto done = producer->getAttrOfType<BoolAttr>("do_relu"); done && done.getValue())
    return failure();
  rewriter.modifyOpInPlace(producer, [&] {
    producer->setAttr("do_relu", rewriter.getBoolAttr(true));
    producer->setAttr("relu_limit", relu.getReluLimitAttr());
    producer->setLoc(relu.getLoc());
  });
  rewriter.replaceOp(relu, producer->getResults());
  return success();
}

/// Clip(x) {min = 0, max = m} -> Relu(x) {relu_limit = m}
static LogicalResult clipToRelu(ClipOp clip, PatternRewriter &rewriter) {
  double max = clip.getMax().convertToDouble();
  if (clip.getMin().convertToDouble() != 0 || !(max > 0) ||
      !isa<FloatType>(elementTypeOf(clip.getInput())))
    return failure();
  double limit = max >= std::numeric_limits<float>::max() ? -1 : max;
  rewriter.replaceOpWithNewOp<ReluOp>(clip, clip.getType(), clip.getInput(),
                                      rewriter.getF64FloatAttr(limit));
  return success();
}

/// The operand of `Mul(x, function(x))` that is `function(x)`; null if there is none.
template <typename Function> static Function gateOf(MulOp mul) {
  if (mul.getInputs().size() != 2 || mul.getDoRelu() || mul.getMultiplier() != 1 ||
      mul.getRshift() != 0)
    return {};
  for (unsigned index : {0, 1}) {
    auto gate = mul.getInputs()[index].template getDefiningOp<Function>();
    if (gate && gate->hasOneUse() && gate.getInput() == mul.getInputs()[1 - index])
      return gate;
  }
  return {};
}

/// Mul(x, Sigmoid(x)) -> SiLU(x)
static LogicalResult mulToSilu(MulOp mul, PatternRewriter &rewriter) {
  auto gate = gateOf<SigmoidOp>(mul);
  if (!gate || gate.getLog() || gate.getScale().convertToDouble() != 1 ||
      gate.getBias().convertToDouble() != 0)
    return failure();
  rewriter.replaceOpWithNewOp<SiLUOp>(mul, mul.getType(), gate.getInput());
  return success();
}

/// Mul(x, HardSigmoid(x) {1/6, 1/2}) -> HardSwish(x)
static LogicalResult mulToHardSwish(MulOp mul, PatternRewriter &rewriter) {
  auto gate = gateOf<HardSigmoidOp>(mul);
  // Frameworks store 1/6 as f32.
  if (!gate || std::abs(gate.getAlpha().convertToDouble() - 1.0 / 6) > 1e-7 ||
      gate.getBeta().convertToDouble() != 0.5)
    return failure();
  rewriter.replaceOpWithNewOp<HardSwishOp>(mul, mul.getType(), gate.getInput());
  return success();
}

void tpuc::addActivationFusions(RewritePatternSet &patterns) {
  addFusion(patterns, "relu-into-producer", reluIntoProducer);
  addFusion(patterns, "clip-to-relu", clipToRelu);
  addFusion(patterns, "mul-to-silu", mulToSilu);
  addFusion(patterns, "mul-to-hardswish", mulToHardSwish);
}
