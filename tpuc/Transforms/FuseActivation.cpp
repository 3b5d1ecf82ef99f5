//===- FuseActivation.cpp - Activation functions, and into other ops ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

#include <cmath>
#include <limits>
#include <numbers>

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
  if (mul.getInputs().size() != 2 || !isPlain(mul))
    return {};
  for (unsigned index : {0, 1}) {
    auto gate = producerFor<Function>(mul.getInputs()[index], mul);
    if (gate && gate.getInput() == mul.getInputs()[1 - index])
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

/// Mul(x, Sigmoid(c * x)) -> Swish(x) {beta = c}
static LogicalResult mulToSwish(MulOp mul, PatternRewriter &rewriter) {
  if (mul.getInputs().size() != 2 || !isPlain(mul))
    return failure();
  for (unsigned index : {0, 1}) {
    Interior interior(mul);
    auto gate = interior.take<SigmoidOp>(mul.getInputs()[index]);
    if (!gate || gate.getLog() || gate.getScale().convertToDouble() != 1 ||
        !gate.getBias().isZero())
      continue;
    std::optional<WithScalar> scaled = interior.takeProduct(gate.getInput());
    if (!scaled || scaled->tensor != mul.getInputs()[1 - index] || !interior.isClosed())
      continue;
    rewriter.replaceOpWithNewOp<SwishOp>(mul, mul.getType(), scaled->tensor,
                                         rewriter.getF64FloatAttr(scaled->scalar));
    return success();
  }
  return failure();
}

/// Mul(x, HardSigmoid(x) {1/6, 1/2}) -> HardSwish(x)
static LogicalResult mulToHardSwish(MulOp mul, PatternRewriter &rewriter) {
  auto gate = gateOf<HardSigmoidOp>(mul);
  // Frameworks store 1/6 as f32.
  if (!gate || !isNear(gate.getAlpha().convertToDouble(), 1.0 / 6) ||
      gate.getBeta().convertToDouble() != 0.5)
    return failure();
  rewriter.replaceOpWithNewOp<HardSwishOp>(mul, mul.getType(), gate.getInput());
  return success();
}

/// x of max(0, min(6, x + 3)); null if `value` is something else.
static Value shiftedClip(Interior &interior, Value value) {
  Value sum;
  if (auto relu = value.getDefiningOp<ReluOp>();
      relu && relu.getReluLimit().convertToDouble() == 6 && interior.take<ReluOp>(value))
    sum = relu.getInput();
  else if (auto clip = value.getDefiningOp<ClipOp>(); clip && clip.getMin().isZero() &&
                                                      clip.getMax().convertToDouble() == 6 &&
                                                      interior.take<ClipOp>(value))
    sum = clip.getInput();
  if (!sum)
    return {};
  std::optional<WithScalar> shifted = interior.takeSum(sum);
  return shifted && shifted->scalar == 3 ? shifted->tensor : Value();
}

/// Clip(x + 3, 0, 6) / 6 -> HardSigmoid(x) {1/6, 1/2}
static LogicalResult clipToHardSigmoid(Operation *op, PatternRewriter &rewriter) {
  std::optional<WithScalar> product =
      isa<MulOp, MulConstOp, DivOp, DivConstOp>(op) ? productOf(op) : std::optional<WithScalar>();
  if (!product || !isNear(product->scalar, 1.0 / 6))
    return failure();
  Interior interior(op);
  Value input = shiftedClip(interior, product->tensor);
  if (!input || !interior.isClosed())
    return failure();
  rewriter.replaceOpWithNewOp<HardSigmoidOp>(op, op->getResult(0).getType(), input,
                                             rewriter.getF64FloatAttr(1.0 / 6),
                                             rewriter.getF64FloatAttr(0.5));
  return success();
}

/// x * Clip(x + 3, 0, 6) / 6 -> HardSwish(x)
static LogicalResult clipToHardSwish(Operation *op, PatternRewriter &rewriter) {
  std::optional<WithScalar> product =
      isa<MulOp, MulConstOp, DivOp, DivConstOp>(op) ? productOf(op) : std::optional<WithScalar>();
  if (!product || !isNear(product->scalar, 1.0 / 6))
    return failure();
  Interior interior(op);
  auto mul = interior.take<MulOp>(product->tensor);
  if (!mul || mul.getInputs().size() != 2)
    return failure();
  for (unsigned index : {0, 1}) {
    Value input = shiftedClip(interior, mul.getInputs()[index]);
    if (!input || input != mul.getInputs()[1 - index] || !interior.isClosed())
      continue;
    rewriter.replaceOpWithNewOp<HardSwishOp>(op, op->getResult(0).getType(), input);
    return success();
  }
  return failure();
}

/// 1/2 * x * gate in the three orders that this can have: calls `match(interior, x, gate)` for each
/// until it is true. `op` is the outer product.
template <typename Match> static Value matchHalved(Operation *op, Match &&match) {
  auto attempt = [&](Operation *middle, ArrayRef<Value> factors) -> Value {
    for (unsigned index : {0, 1}) {
      Interior interior(op);
      if (!interior.takeOp(middle))
        return {};
      Value input = factors[1 - index];
      if (match(interior, input, factors[index]) && interior.isClosed())
        return input;
    }
    return {};
  };
  // (x * gate) * 1/2
  if (std::optional<WithScalar> half = productOf(op); half && half->scalar == 0.5) {
    auto inner = half->tensor.getDefiningOp<MulOp>();
    if (inner && inner.getInputs().size() == 2)
      return attempt(inner, {inner.getInputs()[0], inner.getInputs()[1]});
    return {};
  }
  auto mul = dyn_cast<MulOp>(op);
  if (!mul || mul.getInputs().size() != 2 || !isPlain(mul))
    return {};
  // (x * 1/2) * gate, x * (gate * 1/2)
  for (unsigned index : {0, 1}) {
    Operation *halved = mul.getInputs()[index].getDefiningOp();
    std::optional<WithScalar> half = productOf(halved);
    if (!half || half->scalar != 0.5)
      continue;
    if (Value input = attempt(halved, {half->tensor, mul.getInputs()[1 - index]}))
      return input;
  }
  return {};
}

/// Whether `gate` is 1 + erf(x / sqrt(2)).
static bool isErfGate(Interior &interior, Value x, Value gate) {
  std::optional<WithScalar> sum = interior.takeSum(gate);
  auto erf = sum && sum->scalar == 1 ? interior.take<ErfOp>(sum->tensor) : ErfOp();
  std::optional<WithScalar> scaled = erf ? interior.takeProduct(erf.getInput()) : std::nullopt;
  return scaled && scaled->tensor == x && isNear(scaled->scalar, 1 / std::numbers::sqrt2);
}

namespace {

/// coefficient * x^degree
struct Monomial {
  double coefficient;
  int64_t degree;
};

} // namespace

/// `value` as a monomial of `x`, however its product is written; none if it is something else.
static std::optional<Monomial> takeMonomial(Interior &interior, Value value, Value x) {
  if (value == x)
    return Monomial{1, 1};
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (std::optional<WithScalar> scaled = interior.takeProduct(value)) {
    std::optional<Monomial> factor = takeMonomial(interior, scaled->tensor, x);
    return factor ? std::optional(Monomial{factor->coefficient * scaled->scalar, factor->degree})
                  : std::nullopt;
  }
  auto mul = dyn_cast<MulOp>(op);
  if (mul && mul.getInputs().size() == 2 && interior.take<MulOp>(value)) {
    std::optional<Monomial> left = takeMonomial(interior, mul.getInputs()[0], x);
    std::optional<Monomial> right = left ? takeMonomial(interior, mul.getInputs()[1], x) : left;
    return right ? std::optional(Monomial{left->coefficient * right->coefficient,
                                          left->degree + right->degree})
                 : std::nullopt;
  }
  std::optional<double> exponent;
  if (auto power = dyn_cast<PowOp>(op))
    exponent = constantScalar(power.getExponent());
  else if (auto power = dyn_cast<PowConstOp>(op))
    exponent = power.getConstVal().convertToDouble();
  if (op->getNumOperands() == 0 || op->getOperand(0) != x || (exponent != 2.0 && exponent != 3.0) ||
      !interior.takeOp(op))
    return std::nullopt;
  return Monomial{1, static_cast<int64_t>(*exponent)};
}

/// Whether `gate` is 1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)).
static bool isTanhGate(Interior &interior, Value x, Value gate) {
  std::optional<WithScalar> sum = interior.takeSum(gate);
  auto tanh = sum && sum->scalar == 1 ? interior.take<TanhOp>(sum->tensor) : TanhOp();
  std::optional<WithScalar> scaled = tanh ? interior.takeProduct(tanh.getInput()) : std::nullopt;
  if (!scaled || !isNear(scaled->scalar, std::sqrt(2 / std::numbers::pi)))
    return false;
  auto inner = interior.take<AddOp>(scaled->tensor);
  if (!inner || inner.getInputs().size() != 2)
    return false;
  for (unsigned index : {0, 1}) {
    if (inner.getInputs()[1 - index] != x)
      continue;
    std::optional<Monomial> cube = takeMonomial(interior, inner.getInputs()[index], x);
    if (cube && cube->degree == 3 && isNear(cube->coefficient, 0.044715))
      return true;
  }
  return false;
}

static LogicalResult replaceByGelu(Operation *op, Value input, StringRef mode,
                                   PatternRewriter &rewriter) {
  if (!input || dimsOf(input) != dimsOf(op->getResult(0)))
    return failure();
  rewriter.replaceOpWithNewOp<GELUOp>(op, op->getResult(0).getType(), input,
                                      rewriter.getStringAttr(mode));
  return success();
}

/// x / 2 * (1 + erf(x / sqrt(2))) -> GELU(x)
static LogicalResult erfToGelu(Operation *op, PatternRewriter &rewriter) {
  return replaceByGelu(op, matchHalved(op, isErfGate), "none", rewriter);
}

/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) -> GELU(x) {tanh}
static LogicalResult tanhToGelu(Operation *op, PatternRewriter &rewriter) {
  return replaceByGelu(op, matchHalved(op, isTanhGate), "tanh", rewriter);
}

/// log(1 + exp(x)) -> Softplus(x)
static LogicalResult logToSoftplus(LogOp log, PatternRewriter &rewriter) {
  Interior interior(log);
  std::optional<WithScalar> sum = interior.takeSum(log.getInput());
  auto exp = sum && sum->scalar == 1 ? interior.take<ExpOp>(sum->tensor) : ExpOp();
  if (!exp || !interior.isClosed())
    return failure();
  rewriter.replaceOpWithNewOp<SoftplusOp>(log, log.getType(), exp.getInput());
  return success();
}

/// Mul(x, Tanh(Softplus(x))) -> Mish(x)
static LogicalResult mulToMish(MulOp mul, PatternRewriter &rewriter) {
  if (mul.getInputs().size() != 2 || !isPlain(mul))
    return failure();
  for (unsigned index : {0, 1}) {
    Interior interior(mul);
    auto tanh = interior.take<TanhOp>(mul.getInputs()[index]);
    auto softplus = tanh ? interior.take<SoftplusOp>(tanh.getInput()) : SoftplusOp();
    if (!softplus || softplus.getInput() != mul.getInputs()[1 - index] || !interior.isClosed())
      continue;
    rewriter.replaceOpWithNewOp<MishOp>(mul, mul.getType(), softplus.getInput());
    return success();
  }
  return failure();
}

/// Softmax(c * x) -> Softmax(x) {beta = c}, c above 0
static LogicalResult mulIntoSoftmax(SoftmaxOp softmax, PatternRewriter &rewriter) {
  Interior interior(softmax);
  std::optional<WithScalar> scaled = interior.takeProduct(softmax.getInput());
  if (!scaled || !(scaled->scalar > 0) || !interior.isClosed())
    return failure();
  rewriter.modifyOpInPlace(softmax, [&] {
    softmax.getInputMutable().assign(scaled->tensor);
    softmax.setBetaAttr(
        rewriter.getF64FloatAttr(softmax.getBeta().convertToDouble() * scaled->scalar));
  });
  return success();
}

/// The maximum along `axis` in x - max(x); none if `value` is something else.
static Value takeShifted(Interior &interior, Value value, int64_t axis) {
  auto difference = value.getDefiningOp<SubOp>();
  if (!difference || difference.getInputs().size() != 2)
    return {};
  Interior extended = interior;
  Value most = difference.getInputs()[1];
  std::optional<Reduction> reduction = extended.takeReduction(most, "ReduceMax");
  if (!reduction || reduction->input != difference.getInputs()[0] ||
      reduction->axes != Dims{axis} || !reduction->isAligned(most) || !extended.takeOp(difference))
    return {};
  interior = extended;
  return reduction->input;
}

/// Exp(x) / ReduceSum(Exp(x)) -> Softmax(x); x may have its maximum subtracted
static LogicalResult divToSoftmax(DivOp div, PatternRewriter &rewriter) {
  if (div.getInputs().size() != 2 || !isPlain(div))
    return failure();
  Interior interior(div);
  Value sum = div.getInputs()[1];
  auto exp = interior.take<ExpOp>(div.getInputs()[0]);
  std::optional<Reduction> reduction = interior.takeReduction(sum, "ReduceSum");
  if (!exp || !reduction || reduction->input != exp.getOutput() || reduction->axes.size() != 1 ||
      !reduction->isAligned(sum))
    return failure();
  int64_t axis = reduction->axes.front();
  Value shifted = takeShifted(interior, exp.getInput(), axis);
  if (!interior.isClosed())
    return failure();
  rewriter.replaceOpWithNewOp<SoftmaxOp>(div, div.getType(), shifted ? shifted : exp.getInput(),
                                         rewriter.getI64IntegerAttr(axis),
                                         rewriter.getF64FloatAttr(1), rewriter.getBoolAttr(false));
  return success();
}

ArrayRef<Fusion> tpuc::activationFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<clipToRelu>("clip-to-relu"),
      fusion<clipToHardSigmoid>("clip-to-hardsigmoid"),
      fusion<clipToHardSwish>("clip-to-hardswish"),
      fusion<mulToHardSwish>("mul-to-hardswish"),
      fusion<mulToSilu>("mul-to-silu"),
      fusion<erfToGelu>("erf-to-gelu"),
      fusion<tanhToGelu>("tanh-to-gelu"),
      fusion<logToSoftplus>("log-to-softplus"),
      fusion<mulToMish>("mul-to-mish"),
      fusion<mulToSwish>("mul-to-swish"),
      fusion<mulIntoSoftmax>("mul-into-softmax"),
      fusion<divToSoftmax>("div-to-softmax"),
      fusion<reluIntoProducer>("relu-into-producer", FusionStage::Finish),
  };
  return kFusions;
}
