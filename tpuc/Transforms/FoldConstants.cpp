//===- FoldConstants.cpp - Constants into the weights of other ops -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x * scale[c] + shift[c], in whichever op it comes, goes into the op that makes x. All constants
// are computed in f64 and rounded once.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

//===----------------------------------------------------------------------===//
// x * scale[c] + shift[c]
//===----------------------------------------------------------------------===//

namespace {

struct Affine {
  Doubles scale;
  Doubles shift;

  bool isShift() const {
    return llvm::all_of(scale, [](double factor) { return factor == 1; });
  }
};

} // namespace

static Doubles repeat(int64_t count, double value) {
  return Doubles(static_cast<size_t>(count), value);
}

/// The index of the operand that varies, the others are constants; none if there are more than one
/// besides it, or if the result has another shape.
static std::optional<unsigned> variableOperand(Operation *op) {
  if (!isa<ScaleOp>(op) && op->getNumOperands() > 2)
    return std::nullopt;
  unsigned index = op->getNumOperands() == 2 && op->getOperand(0).getDefiningOp<WeightOp>() ? 1 : 0;
  Value variable = op->getOperand(index);
  if (!dimsOf(variable) || dimsOf(variable) != dimsOf(op->getResult(0)))
    return std::nullopt;
  return index;
}

static double coefficient(std::optional<ArrayAttr> coefficients, unsigned index) {
  return coefficients ? cast<FloatAttr>((*coefficients)[index]).getValueAsDouble() : 1;
}

/// Add and Sub: each operand but the first counts `sign` times.
template <typename Op>
static std::optional<Affine> affineSum(Op op, unsigned variable, const Doubles &constant,
                                       double sign) {
  auto factor = [&](unsigned index) {
    return coefficient(op.getCoeff(), index) * (index == 0 ? 1 : sign);
  };
  Affine affine{Doubles(constant.size(), factor(variable)), constant};
  for (double &value : affine.shift)
    value *= factor(1 - variable);
  return affine;
}

static int64_t intOr(Operation *op, StringRef name, int64_t otherwise) {
  auto attribute = op->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : otherwise;
}

/// What `op` makes of its operand `variable` with `count` channels along `axis` of `rank`.
static std::optional<Affine> affineOf(Operation *op, unsigned variable, int64_t axis, int64_t rank,
                                      int64_t count) {
  if (auto sum = dyn_cast<AddConstOp>(op))
    return Affine{repeat(count, 1), repeat(count, sum.getConstVal().convertToDouble())};
  if (auto difference = dyn_cast<SubConstOp>(op)) {
    double sign = difference.getIsReverse() ? -1 : 1;
    return Affine{repeat(count, sign),
                  repeat(count, -sign * difference.getConstVal().convertToDouble())};
  }
  if (auto product = dyn_cast<MulConstOp>(op))
    return Affine{repeat(count, product.getConstVal().convertToDouble()), repeat(count, 0)};
  if (auto quotient = dyn_cast<DivConstOp>(op)) {
    if (quotient.getIsReverse())
      return std::nullopt;
    return Affine{repeat(count, 1 / quotient.getConstVal().convertToDouble()), repeat(count, 0)};
  }
  if (auto scale = dyn_cast<ScaleOp>(op)) {
    std::optional<Doubles> factors = constantFloats(scale.getScale(), count);
    std::optional<Doubles> shifts = constantFloats(scale.getBias(), count, 0);
    // The channels of a vector are no axis of it.
    if (axis != 1 || !factors || !shifts)
      return std::nullopt;
    return Affine{*factors, *shifts};
  }
  std::optional<Doubles> constant = constantAlong(op->getOperand(1 - variable), axis, rank, count);
  if (!constant)
    return std::nullopt;
  if (auto sum = dyn_cast<AddOp>(op))
    return affineSum(sum, variable, *constant, 1);
  if (auto difference = dyn_cast<SubOp>(op))
    return affineSum(difference, variable, *constant, -1);
  if (!isa<MulOp, DivOp>(op) || (isa<DivOp>(op) && variable != 0))
    return std::nullopt;
  double extra = std::ldexp(static_cast<double>(intOr(op, "multiplier", 1)),
                            -static_cast<int>(intOr(op, "rshift", 0)));
  for (double &value : *constant)
    value = (isa<DivOp>(op) ? 1 / value : value) * extra;
  return Affine{*constant, repeat(count, 0)};
}

/// BatchNorm(x, mean, variance, gamma, beta) -> Scale(x, s, beta - mean * s),
/// s = gamma / sqrt(variance + epsilon)
static LogicalResult batchNormToScale(BatchNormOp norm, PatternRewriter &rewriter) {
  std::optional<Doubles> mean = constantFloats(norm.getMean());
  if (!mean || !isF32(norm.getOutput()))
    return failure();
  auto channels = static_cast<int64_t>(mean->size());
  std::optional<Doubles> variance = constantFloats(norm.getVariance(), channels);
  std::optional<Doubles> scale = constantFloats(norm.getGamma(), channels, 1);
  std::optional<Doubles> bias = constantFloats(norm.getBeta(), channels, 0);
  if (!variance || !scale || !bias)
    return failure();
  double epsilon = norm.getEpsilon().convertToDouble();
  for (size_t channel = 0; channel < mean->size(); ++channel) {
    (*scale)[channel] /= std::sqrt((*variance)[channel] + epsilon);
    (*bias)[channel] -= (*mean)[channel] * (*scale)[channel];
  }
  Value scaleWeight = makeWeight(rewriter, norm, "_scale", *scale);
  Value biasWeight = makeWeight(rewriter, norm, "_bias", *bias);
  rewriter.replaceOpWithNewOp<ScaleOp>(norm, norm.getType(), norm.getInput(), scaleWeight,
                                       biasWeight, norm.getDoReluAttr(), norm.getReluLimitAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Into the op before
//===----------------------------------------------------------------------===//

namespace {

/// Where the weights of an op stand and how they lie along the channels that it makes.
struct Channels {
  int64_t axis;
  int64_t rank;
  int64_t count;
  /// The operand to scale, and the channel of each of its elements.
  unsigned weight;
  std::function<int64_t(int64_t)> channelOf;
  unsigned bias;
};

} // namespace

static int64_t productFrom(ArrayRef<int64_t> dims, size_t axis) {
  int64_t product = 1;
  for (int64_t extent : dims.drop_front(axis))
    product *= extent;
  return product;
}

/// The filter is [M, C/group, kernel...].
static std::optional<Channels> channelsOf(ConvOp conv) {
  std::optional<Dims> filter = dimsOf(conv.getFilter());
  if (!filter || filter->size() < 3 || staticElements(conv.getFilter()) == 0)
    return std::nullopt;
  int64_t each = productFrom(*filter, 1);
  return Channels{1, static_cast<int64_t>(filter->size()),           (*filter)[0],
                  1, [each](int64_t index) { return index / each; }, 2};
}

/// The filter is [C, M/group, kernel...].
static std::optional<Channels> channelsOf(DeconvOp deconv) {
  std::optional<Dims> filter = dimsOf(deconv.getFilter());
  auto group = static_cast<int64_t>(deconv.getGroup());
  if (!filter || filter->size() < 3 || staticElements(deconv.getFilter()) == 0 ||
      (*filter)[0] % group != 0)
    return std::nullopt;
  int64_t each = productFrom(*filter, 2);
  int64_t made = (*filter)[1];
  int64_t read = (*filter)[0] / group;
  return Channels{1,
                  static_cast<int64_t>(filter->size()),
                  made * group,
                  1,
                  [=](int64_t index) {
                    int64_t input = index / (each * made);
                    return input / read * made + index / each % made;
                  },
                  2};
}

/// The columns of the right operand; a vector there has none.
static std::optional<Channels> channelsOf(MatMulOp product) {
  std::optional<Dims> output = dimsOf(product.getOutput());
  std::optional<Dims> right = dimsOf(product.getRight());
  if (!output || output->empty() || !right || right->size() < 2 || output->back() == kDynamic ||
      output->back() == 0)
    return std::nullopt;
  auto rank = static_cast<int64_t>(output->size());
  int64_t columns = output->back();
  int64_t rows = product.getRightTranspose() ? right->back() : 1;
  return Channels{rank - 1, rank, columns, 1, [=](int64_t index) { return index / rows % columns; },
                  2};
}

static std::optional<Channels> channelsOf(ScaleOp scale) {
  std::optional<Dims> dims = dimsOf(scale.getOutput());
  int64_t count = staticElements(scale.getScale());
  if (!dims || dims->size() < 2 || count == 0)
    return std::nullopt;
  return Channels{1, static_cast<int64_t>(dims->size()),  count,
                  1, [](int64_t index) { return index; }, 2};
}

static bool areFinite(const Doubles &values) {
  return llvm::all_of(values, [](double value) {
    return std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max());
  });
}

/// last(producer(x, weight, bias)) -> producer(x, weight * scale, bias * scale + shift), which gets
/// the name and the activation of `last`.
template <typename Producer, typename Last>
static LogicalResult intoProducer(Last last, PatternRewriter &rewriter) {
  std::optional<unsigned> variable = variableOperand(last);
  if (!variable || !isF32(last.getOutput()))
    return failure();
  auto producer = producerFor<Producer>(last->getOperand(*variable), last);
  std::optional<Channels> channels = producer ? channelsOf(producer) : std::nullopt;
  if (!channels || !isF32(producer.getOutput()))
    return failure();
  std::optional<Affine> affine =
      affineOf(last, *variable, channels->axis, channels->rank, channels->count);
  if (!affine)
    return failure();

  Value weight = producer->getOperand(channels->weight);
  Value bias = producer->getOperand(channels->bias);
  std::optional<Doubles> elements;
  if (!affine->isShift()) {
    elements = constantFloats(weight);
    if (!elements)
      return failure();
    for (auto [index, element] : llvm::enumerate(*elements))
      element *= affine->scale[channels->channelOf(static_cast<int64_t>(index))];
  }
  std::optional<Doubles> summands =
      isPresent(bias) ? constantAlong(bias, 0, 1, channels->count) : repeat(channels->count, 0);
  if (!summands)
    return failure();
  for (size_t channel = 0; channel < summands->size(); ++channel)
    (*summands)[channel] = (*summands)[channel] * affine->scale[channel] + affine->shift[channel];
  if ((elements && !areFinite(*elements)) || !areFinite(*summands))
    return failure();
  // Nothing is made before it is sure that all fits: what fails has changed nothing.
  if (elements)
    weight = makeWeight(rewriter, last, "_weight", *dimsOf(weight), *elements);
  if (isPresent(bias) || llvm::any_of(*summands, [](double value) { return value != 0; }))
    bias = makeWeight(rewriter, last, "_bias", *summands);

  auto fused = cast<Producer>(rewriter.clone(*producer));
  rewriter.modifyOpInPlace(fused, [&] {
    fused->setOperand(channels->weight, weight);
    fused->setOperand(channels->bias, bias);
    fused.setDoReluAttr(last.getDoReluAttr());
    fused.setReluLimitAttr(last.getReluLimitAttr());
    fused->setLoc(last.getLoc());
  });
  rewriter.replaceOp(last, fused->getResults());
  return success();
}

/// Scale(Reshape(MatMul(x))) -> Reshape(Add(Mul(MatMul(x), scale), bias)), where the columns are
/// the channels before and behind the reshape: so the product can take both.
static LogicalResult scaleBeforeReshape(ScaleOp scale, PatternRewriter &rewriter) {
  Operation *reshape = producerFor<ReshapeOp>(scale.getInput(), scale);
  if (!reshape)
    reshape = producerFor<FlattenTo2DOp>(scale.getInput(), scale);
  auto product = reshape ? producerFor<MatMulOp>(reshape->getOperand(0), reshape) : MatMulOp();
  std::optional<Dims> flat = dimsOf(scale.getInput());
  std::optional<Dims> dims = product ? dimsOf(product.getOutput()) : std::nullopt;
  if (!flat || !dims || flat->size() != 2 || dims->size() < 2 || flat->back() != dims->back() ||
      flat->back() == kDynamic || !isF32(scale.getOutput()))
    return failure();
  std::optional<Doubles> factors = constantFloats(scale.getScale(), flat->back());
  std::optional<Doubles> shifts = constantFloats(scale.getBias(), flat->back(), 0);
  if (!factors || !shifts)
    return failure();
  rewriter.setInsertionPoint(scale);
  auto make = [&](StringRef name, StringRef suffix, Value input, StringRef constant,
                  const Doubles &numbers) {
    OperationState state(locWith(rewriter, scale, suffix), name);
    state.addOperands({input, makeWeight(rewriter, scale, constant, numbers)});
    state.addTypes(product.getType());
    return rewriter.create(state);
  };
  Operation *scaled =
      make(MulOp::getOperationName(), "_scaled", product.getOutput(), "_factors", *factors);
  Operation *shifted =
      make(AddOp::getOperationName(), "_shifted", scaled->getResult(0), "_shifts", *shifts);
  shifted->setAttr("do_relu", scale.getDoReluAttr());
  shifted->setAttr("relu_limit", scale.getReluLimitAttr());
  Operation *moved = rewriter.clone(*reshape);
  rewriter.modifyOpInPlace(moved, [&] {
    moved->setOperand(0, shifted->getResult(0));
    moved->setLoc(scale.getLoc());
  });
  rewriter.replaceOp(scale, moved->getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Into the op behind
//===----------------------------------------------------------------------===//

/// Conv(first(x), filter, bias) -> Conv(x, filter * scale, bias + filter * shift). A shift only
/// where no window reaches beyond the input, which is 0 and not `shift` there.
template <typename First>
static LogicalResult intoNextConv(ConvOp conv, PatternRewriter &rewriter) {
  auto first = conv.getInput().getDefiningOp<First>();
  std::optional<Dims> dims = dimsOf(conv.getFilter());
  if (!first || !first->hasOneUse() || first->getBlock() != conv->getBlock() || first.getDoRelu() ||
      !isF32(conv.getOutput()) || !dims || dims->size() < 3 || conv.getAutoPad() != "NOTSET" ||
      conv.getInserts() || staticElements(conv.getFilter()) == 0)
    return failure();
  auto group = static_cast<int64_t>(conv.getGroup());
  int64_t outputs = (*dims)[0];
  int64_t inputs = (*dims)[1];
  std::optional<unsigned> variable = variableOperand(first);
  std::optional<Affine> affine =
      variable ? affineOf(first, *variable, 1, static_cast<int64_t>(dims->size()), inputs * group)
               : std::nullopt;
  bool hasPads =
      conv.getPads() && llvm::any_of(toInts(*conv.getPads()), [](int64_t pad) { return pad != 0; });
  if (!affine || outputs % group != 0 ||
      (hasPads && llvm::any_of(affine->shift, [](double shift) { return shift != 0; })))
    return failure();
  std::optional<Doubles> filter = constantFloats(conv.getFilter());
  std::optional<Doubles> bias = constantFloats(conv.getBias(), outputs, 0);
  if (!filter || !bias)
    return failure();
  int64_t each = productFrom(*dims, 2);
  for (auto [index, element] : llvm::enumerate(*filter)) {
    auto position = static_cast<int64_t>(index);
    int64_t output = position / (each * inputs);
    int64_t input = output / (outputs / group) * inputs + position / each % inputs;
    (*bias)[output] += element * affine->shift[input];
    element *= affine->scale[input];
  }
  if (!areFinite(*filter) || !areFinite(*bias))
    return failure();
  Value newFilter = makeWeight(rewriter, conv, "_weight", *dims, *filter);
  Value newBias = makeWeight(rewriter, conv, "_bias", *bias);
  rewriter.modifyOpInPlace(conv, [&] {
    conv.getInputMutable().assign(first->getOperand(*variable));
    conv.getFilterMutable().assign(newFilter);
    conv.getBiasMutable().assign(newBias);
  });
  return success();
}

/// Scale(x, scale, shift) -> Conv(x, scale, shift) with a group and a filter of one element for
/// each channel
static LogicalResult scaleToDepthwise(ScaleOp scale, PatternRewriter &rewriter) {
  std::optional<Dims> dims = dimsOf(scale.getInput());
  if (!isF32(scale.getOutput()) || !dims || dims->size() < 3 || dims->size() > 5 ||
      (*dims)[1] == kDynamic || (*dims)[1] == 0)
    return failure();
  int64_t channels = (*dims)[1];
  std::optional<Doubles> factors = constantFloats(scale.getScale(), channels);
  std::optional<Doubles> shifts = constantFloats(scale.getBias(), channels, 0);
  if (!factors || !shifts)
    return failure();
  SmallVector<int64_t> filterDims(dims->size(), 1);
  filterDims[0] = channels;
  SmallVector<int64_t> kernel(dims->size() - 2, 1);
  Value filter = makeWeight(rewriter, scale, "_weight", filterDims, *factors);
  Value bias = makeWeight(rewriter, scale, "_bias", *shifts);
  OperationState state(scale.getLoc(), ConvOp::getOperationName());
  state.addOperands({scale.getInput(), filter, bias});
  state.addTypes(scale.getType());
  state.addAttribute("kernel_shape", rewriter.getI64ArrayAttr(kernel));
  state.addAttribute("group", rewriter.getI64IntegerAttr(channels));
  state.addAttribute("do_relu", scale.getDoReluAttr());
  state.addAttribute("relu_limit", scale.getReluLimitAttr());
  rewriter.replaceOp(scale, rewriter.create(state)->getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Whether `order` swaps the last two dimensions and nothing else.
static bool swapsLastTwo(ArrayRef<int64_t> order) {
  if (order.size() < 2)
    return false;
  Dims wanted = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(order.size())));
  std::swap(wanted[wanted.size() - 1], wanted[wanted.size() - 2]);
  return ArrayRef<int64_t>(wanted) == order;
}

/// MatMul(Permute(x), y) -> MatMul(x, y) with the other `left_transpose`; the same on the right
static LogicalResult permuteIntoMatMul(MatMulOp product, PatternRewriter &rewriter) {
  for (unsigned index : {0U, 1U}) {
    auto permute = producerFor<PermuteOp>(product->getOperand(index), product);
    if (!permute || !swapsLastTwo(toInts(permute.getOrder())))
      continue;
    rewriter.modifyOpInPlace(product, [&] {
      product->setOperand(index, permute.getInput());
      if (index == 0)
        product.setLeftTranspose(!product.getLeftTranspose());
      else
        product.setRightTranspose(!product.getRightTranspose());
    });
    // Gone at once, it is no reader of its input to the patterns that look at the product next.
    rewriter.eraseOp(permute);
    return success();
  }
  return failure();
}

/// Permute(MatMul(x, y)) -> MatMul(y, x), where x is read transposed and y is no constant: the
/// product with its dimensions swapped is that of both operands the other way round, transposed.
static LogicalResult productTheOtherWayRound(PermuteOp op, PatternRewriter &rewriter) {
  auto product = producerFor<MatMulOp>(op.getInput(), op);
  if (!product || !product.getLeftTranspose() || !swapsLastTwo(toInts(op.getOrder())) ||
      isPresent(product.getBias()) || product.getRight().getDefiningOp<WeightOp>())
    return failure();
  const std::optional<Dims> left = dimsOf(product.getInput());
  const std::optional<Dims> right = dimsOf(product.getRight());
  if (!left || !right || left->size() != right->size())
    return failure();
  auto turned = rewriter.create<MatMulOp>(
      op.getLoc(), op.getType(),
      ValueRange{product.getRight(), product.getInput(), product.getBias()}, product->getAttrs());
  turned.setLeftTranspose(!product.getRightTranspose());
  turned.setRightTranspose(false);
  rewriter.replaceOp(op, turned.getOutput());
  return success();
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// Op(x, c) -> OpConst(x) where c has one element
template <typename Op, typename OpConst>
static LogicalResult scalarToConst(Op op, PatternRewriter &rewriter) {
  std::optional<unsigned> variable = variableOperand(op);
  Type element = elementTypeOf(op.getOutput());
  if (!variable || op->getNumOperands() != 2 || !element.isF32() || op->hasAttr("coeff") ||
      intOr(op, "multiplier", 1) != 1 || intOr(op, "rshift", 0) != 0)
    return failure();
  std::optional<double> scalar = constantScalar(op->getOperand(1 - *variable));
  constexpr bool canReverse = requires(OpConst other) { other.getIsReverse(); };
  if (!scalar || (std::is_same_v<OpConst, PowConstOp> && *variable == 1))
    return failure();
  OperationState state(op.getLoc(), OpConst::getOperationName());
  state.addOperands(op->getOperand(*variable));
  state.addTypes(op.getType());
  state.addAttribute("const_val", rewriter.getF64FloatAttr(*scalar));
  if (canReverse && *variable == 1)
    state.addAttribute("is_reverse", rewriter.getBoolAttr(true));
  for (StringRef name : {"do_relu", "relu_limit"})
    if (Attribute attribute = op->getAttr(name))
      state.addAttribute(name, attribute);
  rewriter.replaceOp(op, rewriter.create(state)->getResults());
  return success();
}

ArrayRef<Fusion> tpuc::constantFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<batchNormToScale>("batchnorm-to-scale"),
      fusion<intoProducer<ConvOp, ScaleOp>>("scale-into-conv"),
      fusion<intoProducer<DeconvOp, ScaleOp>>("scale-into-deconv"),
      fusion<intoProducer<MatMulOp, ScaleOp>>("scale-into-matmul"),
      fusion<scaleBeforeReshape>("scale-before-reshape"),
      fusion<intoProducer<ScaleOp, ScaleOp>>("scale-into-scale"),
      fusion<intoProducer<ConvOp, MulOp>>("mul-into-conv"),
      fusion<intoProducer<ConvOp, MulConstOp>>("mul-into-conv"),
      fusion<intoProducer<ConvOp, DivOp>>("mul-into-conv"),
      fusion<intoProducer<ConvOp, DivConstOp>>("mul-into-conv"),
      fusion<intoProducer<DeconvOp, MulOp>>("mul-into-deconv"),
      fusion<intoProducer<DeconvOp, MulConstOp>>("mul-into-deconv"),
      fusion<intoProducer<DeconvOp, DivOp>>("mul-into-deconv"),
      fusion<intoProducer<DeconvOp, DivConstOp>>("mul-into-deconv"),
      fusion<intoProducer<MatMulOp, MulOp>>("mul-into-matmul"),
      fusion<intoProducer<MatMulOp, MulConstOp>>("mul-into-matmul"),
      fusion<intoProducer<MatMulOp, DivOp>>("mul-into-matmul"),
      fusion<intoProducer<MatMulOp, DivConstOp>>("mul-into-matmul"),
      fusion<intoProducer<ScaleOp, MulOp>>("mul-into-scale"),
      fusion<intoProducer<ScaleOp, MulConstOp>>("mul-into-scale"),
      fusion<intoProducer<ConvOp, AddOp>>("add-into-conv"),
      fusion<intoProducer<ConvOp, AddConstOp>>("add-into-conv"),
      fusion<intoProducer<ConvOp, SubOp>>("add-into-conv"),
      fusion<intoProducer<ConvOp, SubConstOp>>("add-into-conv"),
      fusion<intoProducer<DeconvOp, AddOp>>("add-into-deconv"),
      fusion<intoProducer<DeconvOp, AddConstOp>>("add-into-deconv"),
      fusion<intoProducer<DeconvOp, SubOp>>("add-into-deconv"),
      fusion<intoProducer<DeconvOp, SubConstOp>>("add-into-deconv"),
      fusion<intoProducer<MatMulOp, AddOp>>("add-into-matmul"),
      fusion<intoProducer<MatMulOp, AddConstOp>>("add-into-matmul"),
      fusion<intoProducer<MatMulOp, SubOp>>("add-into-matmul"),
      fusion<intoProducer<MatMulOp, SubConstOp>>("add-into-matmul"),
      fusion<intoProducer<ScaleOp, AddOp>>("add-into-scale"),
      fusion<intoProducer<ScaleOp, AddConstOp>>("add-into-scale"),
      fusion<intoNextConv<ScaleOp>>("scale-into-next-conv"),
      fusion<intoNextConv<MulOp>>("mul-into-next-conv"),
      fusion<intoNextConv<MulConstOp>>("mul-into-next-conv"),
      fusion<intoNextConv<DivOp>>("mul-into-next-conv"),
      fusion<intoNextConv<DivConstOp>>("mul-into-next-conv"),
      fusion<intoNextConv<AddOp>>("add-into-next-conv"),
      fusion<intoNextConv<AddConstOp>>("add-into-next-conv"),
      fusion<intoNextConv<SubOp>>("add-into-next-conv"),
      fusion<intoNextConv<SubConstOp>>("add-into-next-conv"),
      fusion<permuteIntoMatMul>("permute-into-matmul"),
      fusion<productTheOtherWayRound>("permute-into-matmul"),
      fusion<scaleToDepthwise>("scale-to-depthwise", FusionStage::Finish),
      fusion<scalarToConst<AddOp, AddConstOp>>("scalar-to-const", FusionStage::Finish),
      fusion<scalarToConst<SubOp, SubConstOp>>("scalar-to-const", FusionStage::Finish),
      fusion<scalarToConst<MulOp, MulConstOp>>("scalar-to-const", FusionStage::Finish),
      fusion<scalarToConst<DivOp, DivConstOp>>("scalar-to-const", FusionStage::Finish),
      fusion<scalarToConst<MinOp, MinConstOp>>("scalar-to-const", FusionStage::Finish),
      fusion<scalarToConst<MaxOp, MaxConstOp>>("scalar-to-const", FusionStage::Finish),
      fusion<scalarToConst<PowOp, PowConstOp>>("scalar-to-const", FusionStage::Finish),
  };
  return kFusions;
}
