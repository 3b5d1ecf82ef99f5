//===- FuseNorm.cpp - Normalizations that were written out --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First the part without parameters becomes a normalization, then a constant that its result is
// multiplied with or that is added becomes its weight and bias.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

//===----------------------------------------------------------------------===//
// x / sqrt(mean(x^2) + eps)
//===----------------------------------------------------------------------===//

namespace {

/// A quotient of `over.input` and the root of the mean of its square.
struct Quotient {
  Reduction over;
  double eps;
  /// Whether the square is that of the input minus its mean, written as mean(x^2) - mean(x)^2.
  bool isCentred = false;
  /// A constant that the inverse of the root was multiplied with first; null if there is none.
  Value weight = {};
};

} // namespace

/// A mean, or a sum that is divided by how many it adds.
static std::optional<Reduction> takeMean(Interior &interior, Value value) {
  Value inner = interior.takeReshapes(value);
  if (std::optional<WithScalar> scaled = interior.takeProduct(inner)) {
    std::optional<Reduction> sum = interior.takeReduction(scaled->tensor, "ReduceSum");
    if (!sum || sum->count() < 1 || !isNear(scaled->scalar * static_cast<double>(sum->count()), 1))
      return std::nullopt;
    return sum;
  }
  return interior.takeReduction(inner, "ReduceMean");
}

/// mean(x^2) - mean(x)^2, limited to what is not below 0 or not.
static std::optional<Reduction> takeVariance(Interior &interior, Value value) {
  value = interior.takeReshapes(value);
  if (std::optional<WithScalar> limited = interior.takeMaximum(value)) {
    if (limited->scalar != 0)
      return std::nullopt;
    value = interior.takeReshapes(limited->tensor);
  }
  auto difference = interior.take<SubOp>(value);
  // No broadcast: the elements meet in their order.
  if (!difference || difference.getInputs().size() != 2 ||
      dimsOf(difference.getInputs()[0]) != dimsOf(difference.getInputs()[1]))
    return std::nullopt;
  std::optional<Reduction> squares = takeMean(interior, difference.getInputs()[0]);
  Value input = squares ? interior.takeSquare(squares->input) : Value();
  Value mean = interior.takeSquare(interior.takeReshapes(difference.getInputs()[1]));
  std::optional<Reduction> sums = mean ? takeMean(interior, mean) : std::nullopt;
  if (!input || !sums || sums->input != input || sums->axes != squares->axes)
    return std::nullopt;
  return sums;
}

/// sqrt(mean(x^2) + eps), or of `isInverse` 1 / that, as quotient of x.
static std::optional<Quotient> takeRoot(Interior &interior, Value value, bool isInverse) {
  Value sum;
  if (!isInverse) {
    if (auto root = interior.take<SqrtOp>(value))
      sum = root.getInput();
  } else if (auto rsqrt = interior.take<RsqrtOp>(value)) {
    sum = rsqrt.getInput();
  } else if (auto reciprocal = interior.take<ReciprocalOp>(value)) {
    return takeRoot(interior, reciprocal.getInput(), false);
  } else if (auto quotient = interior.take<DivOp>(value)) {
    if (quotient.getInputs().size() != 2 || constantScalar(quotient.getInputs()[0]) != 1.0)
      return std::nullopt;
    return takeRoot(interior, quotient.getInputs()[1], false);
  } else if (auto quotient = interior.take<DivConstOp>(value)) {
    if (!quotient.getIsReverse() || quotient.getConstVal().convertToDouble() != 1)
      return std::nullopt;
    return takeRoot(interior, quotient.getInput(), false);
  }
  std::optional<WithScalar> shifted =
      sum ? interior.takeSum(interior.takeReshapes(sum)) : std::nullopt;
  if (!shifted)
    return std::nullopt;
  Interior before = interior;
  std::optional<Reduction> mean = takeMean(interior, shifted->tensor);
  if (Value input = mean ? interior.takeSquare(mean->input) : Value())
    return Quotient{{input, mean->axes}, shifted->scalar};
  interior = before;
  if (std::optional<Reduction> variance = takeVariance(interior, shifted->tensor))
    return Quotient{*variance, shifted->scalar, true};
  return std::nullopt;
}

/// 1 / sqrt(...), times a constant or not.
static std::optional<Quotient> takeInverse(Interior &interior, Value value) {
  auto found = [&](Value root) -> std::optional<Quotient> {
    std::optional<Quotient> quotient = takeRoot(interior, root, /*isInverse=*/true);
    return quotient && quotient->over.isAligned(root) ? quotient : std::nullopt;
  };
  if (std::optional<Quotient> bare = found(value))
    return bare;
  auto product = value.getDefiningOp<MulOp>();
  if (!product || product.getInputs().size() != 2)
    return std::nullopt;
  for (unsigned index : {0, 1}) {
    Value weight = product.getInputs()[1 - index];
    std::optional<Quotient> weighted =
        weight.getDefiningOp<WeightOp>() ? found(product.getInputs()[index]) : std::nullopt;
    if (!weighted || !interior.takeOp(product))
      continue;
    weighted->weight = weight;
    return weighted;
  }
  return std::nullopt;
}

/// x / sqrt(mean(x^2) + eps), or x times the inverse of that. `isSame(x, quotient)` says whether x
/// outside and x in the square are the same.
template <typename IsSame>
static std::optional<Quotient> takeQuotient(Interior &interior, Operation *op, IsSame &&isSame) {
  if (!isa<MulOp, DivOp>(op) || op->getNumOperands() != 2 || !isPlain(op))
    return std::nullopt;
  for (unsigned index : {1U, 0U}) {
    if (isa<DivOp>(op) && index == 0)
      break;
    Value root = op->getOperand(index);
    std::optional<Quotient> found =
        isa<MulOp>(op) ? takeInverse(interior, root) : takeRoot(interior, root, false);
    if (found && (isa<MulOp>(op) || found->over.isAligned(root)) &&
        isSame(op->getOperand(1 - index), *found))
      return found;
  }
  return std::nullopt;
}

/// Whether `axes` are those from the first one on; `rank` dimensions.
static bool areLast(ArrayRef<int64_t> axes, int64_t rank) {
  for (auto [index, axis] : llvm::enumerate(axes))
    if (axis != rank - static_cast<int64_t>(axes.size() - index))
      return false;
  return true;
}

/// What the mean that `value` has subtracted runs over.
static std::optional<Reduction> takeCentred(Interior &interior, Value value) {
  auto difference = interior.take<SubOp>(value);
  if (!difference || difference.getInputs().size() != 2)
    return std::nullopt;
  Value subtracted = difference.getInputs()[1];
  std::optional<Reduction> mean = takeMean(interior, subtracted);
  if (!mean || mean->input != difference.getInputs()[0] || !mean->isAligned(subtracted))
    return std::nullopt;
  return mean;
}

/// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) over `axes`.
static std::optional<Quotient> takeNormalized(Interior &interior, Operation *op) {
  std::optional<Reduction> over;
  auto isSame = [&](Value outside, const Quotient &quotient) {
    over = takeCentred(interior, outside);
    // Some exporters write the difference twice.
    std::optional<Reduction> inside =
        quotient.isCentred ? quotient.over : takeCentred(interior, quotient.over.input);
    return over && inside && over->input == inside->input && over->axes == inside->axes;
  };
  std::optional<Quotient> quotient = takeQuotient(interior, op, isSame);
  if (!quotient || quotient->over.axes != over->axes || !interior.isClosed())
    return std::nullopt;
  quotient->over = *over;
  return quotient;
}

/// What ops of this folder take: a float of known rank, as the result.
static std::optional<int64_t> rankOf(Value input, Operation *op) {
  std::optional<Dims> dims = dimsOf(input);
  if (!dims || dims != dimsOf(op->getResult(0)))
    return std::nullopt;
  return static_cast<int64_t>(dims->size());
}

static LayerNormOp makeLayerNorm(PatternRewriter &rewriter, Location loc, Value input, Value weight,
                                 Value bias, IntegerAttr axis, FloatAttr eps) {
  Type none = rewriter.getNoneType();
  return rewriter.create<LayerNormOp>(loc, input.getType(), none, none, input, weight, bias, axis,
                                      eps);
}

/// Replaces `op` by `make(location)`, a normalization, or that times the quotient's weight.
template <typename Make>
static void replaceByNorm(Operation *op, const Quotient &norm, PatternRewriter &rewriter,
                          Make &&make) {
  if (!norm.weight)
    return rewriter.replaceOp(op, make(op->getLoc()));
  Location loc = locWith(rewriter, op, "_norm");
  Value normalized = make(loc);
  // The other operand of this product is constant now.
  auto product = cast<MulOp>(rewriter.clone(*op));
  rewriter.modifyOpInPlace(product, [&] { product->setOperands({normalized, norm.weight}); });
  rewriter.replaceOp(op, product.getOutput());
}

/// (x - mean) / sqrt(variance + eps) over the last axes -> LayerNorm(x)
static LogicalResult toLayerNorm(Operation *op, PatternRewriter &rewriter) {
  Interior interior(op);
  std::optional<Quotient> norm = takeNormalized(interior, op);
  std::optional<int64_t> rank = norm ? rankOf(norm->over.input, op) : std::nullopt;
  if (!rank || !areLast(norm->over.axes, *rank))
    return failure();
  replaceByNorm(op, *norm, rewriter, [&](Location loc) {
    Value none = makeNone(rewriter, loc);
    return makeLayerNorm(rewriter, loc, norm->over.input, none, none,
                         rewriter.getI64IntegerAttr(norm->over.axes.front() - *rank),
                         rewriter.getF64FloatAttr(norm->eps))
        .getOutput();
  });
  return success();
}

/// (x - mean) / sqrt(variance + eps) over the channels -> PixelNorm(x)
static LogicalResult toPixelNorm(Operation *op, PatternRewriter &rewriter) {
  Interior interior(op);
  std::optional<Quotient> norm = takeNormalized(interior, op);
  std::optional<int64_t> rank = norm ? rankOf(norm->over.input, op) : std::nullopt;
  if (!rank || *rank < 3 || norm->over.axes != Dims{1})
    return failure();
  replaceByNorm(op, *norm, rewriter, [&](Location loc) -> Value {
    Value none = makeNone(rewriter, loc);
    return rewriter.create<PixelNormOp>(loc, norm->over.input.getType(), norm->over.input, none,
                                        none, rewriter.getF64FloatAttr(norm->eps));
  });
  return success();
}

/// x / sqrt(mean(x^2) + eps) over the last axes -> RMSNorm(x)
static LogicalResult toRmsNorm(Operation *op, PatternRewriter &rewriter) {
  Interior interior(op);
  auto isSame = [](Value outside, const Quotient &quotient) {
    return !quotient.isCentred && outside == quotient.over.input;
  };
  std::optional<Quotient> norm = takeQuotient(interior, op, isSame);
  std::optional<int64_t> rank = norm ? rankOf(norm->over.input, op) : std::nullopt;
  if (!rank || !areLast(norm->over.axes, *rank) || !interior.isClosed())
    return failure();
  replaceByNorm(op, *norm, rewriter, [&](Location loc) -> Value {
    return rewriter.create<RMSNormOp>(loc, norm->over.input.getType(), norm->over.input,
                                      makeNone(rewriter, loc),
                                      rewriter.getI64IntegerAttr(norm->over.axes.front() - *rank),
                                      rewriter.getF64FloatAttr(norm->eps), IntegerAttr());
  });
  return success();
}

/// max(tensor, scalar), which a clip without an upper limit is, too.
static std::optional<WithScalar> takeLeast(Interior &interior, Value value) {
  auto clip = interior.take<ClipOp>(value);
  if (!clip)
    return interior.takeMaximum(value);
  const double most = clip.getMax().convertToDouble();
  if (most < std::numeric_limits<float>::max())
    return std::nullopt;
  return WithScalar{clip.getInput(), clip.getMin().convertToDouble()};
}

/// x / max(sqrt(sum(x^2)), e) over the last axes -> RMSNorm(x, c), c = 1 / sqrt(elements). The norm
/// adds e^2 / elements where this takes the larger one: for a small e, results differ only where
/// those of a row are about as small, and both keep zeros.
static LogicalResult lengthToRmsNorm(DivOp op, PatternRewriter &rewriter) {
  constexpr double kLeast = 1e-15, kMost = 1e-6;
  if (op.getInputs().size() != 2 || !isPlain(op) || !isF32(op.getOutput()))
    return failure();
  Interior interior(op);
  Value divisor = op.getInputs()[1];
  if (auto expand = interior.take<ExpandOp>(divisor))
    divisor = expand.getInput();
  const std::optional<WithScalar> limited = takeLeast(interior, divisor);
  const std::optional<Reduction> length =
      limited ? interior.takeReduction(limited->tensor, "ReduceL2") : std::nullopt;
  const std::optional<int64_t> rank =
      length && length->input == op.getInputs()[0] ? rankOf(length->input, op) : std::nullopt;
  if (!rank || limited->scalar < kLeast || limited->scalar > kMost ||
      !areLast(length->axes, *rank) || !length->isAligned(divisor) || !interior.isClosed())
    return failure();
  const int64_t count = length->count();
  if (count == kDynamic)
    return failure();
  const auto elements = static_cast<double>(count);
  const int64_t axis = length->axes.front();
  const Dims dims = *dimsOf(op.getOutput());
  const Value factors =
      makeWeight(rewriter, op, "_weight", ArrayRef<int64_t>(dims).drop_front(axis),
                 Doubles(static_cast<size_t>(count), 1 / std::sqrt(elements)));
  rewriter.replaceOpWithNewOp<RMSNormOp>(
      op, op.getType(), length->input, factors, rewriter.getI64IntegerAttr(axis - *rank),
      rewriter.getF64FloatAttr(limited->scalar * limited->scalar / elements), IntegerAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Whether `value` is left out, or a constant of `wanted` in each element.
static bool isAll(Value value, double wanted) {
  if (!isPresent(value))
    return true;
  std::optional<Doubles> elements = constantFloats(value);
  return elements && llvm::all_of(*elements, [=](double each) { return each == wanted; });
}

/// Reshape(InstanceNorm(Reshape(x) to [N, G, rest])) to the shape of x -> GroupNorm(x) of G groups
static LogicalResult toGroupNorm(ReshapeOp op, PatternRewriter &rewriter) {
  Interior interior(op);
  Value grouped;
  FloatAttr eps;
  if (auto norm = interior.take<InstanceNormOp>(op.getInput())) {
    if (!isAll(norm.getWeight(), 1) || !isAll(norm.getBias(), 0))
      return failure();
    grouped = norm.getInput();
    eps = norm.getEpsAttr();
  } else if (auto norm = interior.take<LayerNormOp>(op.getInput())) {
    std::optional<Dims> dims = dimsOf(norm.getInput());
    if (!dims || !isAll(norm.getWeight(), 1) || !isAll(norm.getBias(), 0) ||
        isPresent(norm.getMean()) || isPresent(norm.getRstd()) ||
        (norm.getAxis() != 2 &&
         static_cast<int64_t>(norm.getAxis()) + static_cast<int64_t>(dims->size()) != 2))
      return failure();
    grouped = norm.getInput();
    eps = norm.getEpsAttr();
  }
  auto reshape = grouped ? interior.take<ReshapeOp>(grouped) : ReshapeOp();
  std::optional<Dims> dims = reshape ? dimsOf(reshape.getInput()) : std::nullopt;
  std::optional<Dims> groups = reshape ? dimsOf(grouped) : std::nullopt;
  if (!dims || dims->size() < 3 || !haveSameType(reshape.getInput(), op.getOutput()) || !groups ||
      groups->size() < 3 || (*groups)[0] != (*dims)[0] || (*groups)[1] < 1 ||
      (*dims)[1] % (*groups)[1] != 0 || !interior.isClosed())
    return failure();
  Value none = makeNone(rewriter, op.getLoc());
  rewriter.replaceOpWithNewOp<GroupNormOp>(op, op.getType(), reshape.getInput(), none, none,
                                           rewriter.getI64IntegerAttr((*groups)[1]), eps);
  return success();
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

namespace {

/// A plain product or sum of a normalization, for this op alone, and a constant.
template <typename Norm> struct Parameter {
  Norm norm;
  Value constant;
};

} // namespace

template <typename Norm> static std::optional<Parameter<Norm>> parameterOf(Operation *op) {
  if (op->getNumOperands() != 2 || !isPlain(op) || !isF32(op->getResult(0)))
    return std::nullopt;
  for (unsigned index : {0U, 1U}) {
    Value constant = op->getOperand(1 - index);
    auto norm = producerFor<Norm>(op->getOperand(index), op);
    if (norm && constant.getDefiningOp<WeightOp>() &&
        dimsOf(op->getOperand(index)) == dimsOf(op->getResult(0)))
      return Parameter<Norm>{norm, constant};
  }
  return std::nullopt;
}

/// `constant`, which broadcasts to `dims`, with the shape that it has along the axes from `axis`
/// on: those before it must be 1. A constant of one element is repeated.
static Value trailingWeight(PatternRewriter &rewriter, Operation *op, StringRef suffix,
                            Value constant, ArrayRef<int64_t> dims, int64_t axis) {
  std::optional<Doubles> elements = constantFloats(constant);
  std::optional<Dims> own = dimsOf(constant);
  if (!elements || !own || own->size() > dims.size())
    return {};
  own->insert(own->begin(), dims.size() - own->size(), 1);
  if (llvm::any_of(ArrayRef(*own).take_front(axis), [](int64_t extent) { return extent != 1; }))
    return {};
  Dims wanted(dims.drop_front(axis));
  Dims rest(ArrayRef(*own).drop_front(axis));
  if (elements->size() == 1 && !llvm::is_contained(wanted, kDynamic))
    elements->assign(static_cast<size_t>(productOf(wanted)), elements->front());
  else if (rest != wanted)
    return {};
  return makeWeight(rewriter, op, suffix, wanted, *elements);
}

/// Op(LayerNorm(x), c) -> LayerNorm(x, c) or LayerNorm(x, w, c), c along the last axes
template <typename Op> static LogicalResult intoLayerNorm(Op op, PatternRewriter &rewriter) {
  std::optional<Parameter<LayerNormOp>> found = parameterOf<LayerNormOp>(op);
  constexpr bool isWeight = std::is_same_v<Op, MulOp>;
  if (!found || isPresent(found->norm.getMean()) || isPresent(found->norm.getRstd()) ||
      isPresent(found->norm.getBias()) || (isWeight && isPresent(found->norm.getWeight())))
    return failure();
  LayerNormOp norm = found->norm;
  Dims dims = *dimsOf(op.getOutput());
  Value constant =
      trailingWeight(rewriter, op, isWeight ? "_weight" : "_bias", found->constant, dims,
                     frontAxis(norm.getAxis(), static_cast<int64_t>(dims.size())));
  if (!constant)
    return failure();
  auto fused =
      makeLayerNorm(rewriter, op.getLoc(), norm.getInput(), isWeight ? constant : norm.getWeight(),
                    isWeight ? norm.getBias() : constant, norm.getAxisAttr(), norm.getEpsAttr());
  rewriter.replaceOp(op, fused.getOutput());
  return success();
}

/// Mul(RMSNorm(x), c) -> RMSNorm(x, c), c along the last axes
static LogicalResult mulIntoRmsNorm(MulOp op, PatternRewriter &rewriter) {
  std::optional<Parameter<RMSNormOp>> found = parameterOf<RMSNormOp>(op);
  if (!found || isPresent(found->norm.getGamma()))
    return failure();
  RMSNormOp norm = found->norm;
  Dims dims = *dimsOf(op.getOutput());
  Value gamma = trailingWeight(rewriter, op, "_weight", found->constant, dims,
                               frontAxis(norm.getAxis(), static_cast<int64_t>(dims.size())));
  if (!gamma)
    return failure();
  rewriter.replaceOpWithNewOp<RMSNormOp>(op, op.getType(), norm.getInput(), gamma,
                                         norm.getAxisAttr(), norm.getEpsAttr(),
                                         norm.getNumHeadsAttr());
  return success();
}

/// The weight and bias of a normalization with one of each per channel once `op` is part of it.
template <typename Norm, typename Op>
static LogicalResult intoChannelNorm(Op op, PatternRewriter &rewriter) {
  std::optional<Parameter<Norm>> found = parameterOf<Norm>(op);
  if (!found)
    return failure();
  Norm norm = found->norm;
  Dims dims = *dimsOf(op.getOutput());
  if (dims.size() < 3 || dims[1] == kDynamic)
    return failure();
  std::optional<Doubles> constant =
      constantAlong(found->constant, 1, static_cast<int64_t>(dims.size()), dims[1]);
  std::optional<Doubles> weight = constantFloats(norm.getWeight(), dims[1], 1);
  std::optional<Doubles> bias = constantFloats(norm.getBias(), dims[1], 0);
  if (!constant || !weight || !bias)
    return failure();
  for (size_t channel = 0; channel < constant->size(); ++channel) {
    if (std::is_same_v<Op, MulOp>) {
      (*weight)[channel] *= (*constant)[channel];
      (*bias)[channel] *= (*constant)[channel];
    } else {
      (*bias)[channel] += (*constant)[channel];
    }
  }
  Value newWeight = makeWeight(rewriter, op, "_weight", *weight);
  Value newBias = makeWeight(rewriter, op, "_bias", *bias);
  auto fused = cast<Norm>(rewriter.clone(*norm));
  rewriter.modifyOpInPlace(fused, [&] {
    fused.getWeightMutable().assign(newWeight);
    fused.getBiasMutable().assign(newBias);
    fused->setLoc(op.getLoc());
  });
  rewriter.replaceOp(op, fused->getResults());
  return success();
}

/// Mul(LayerNorm(x) from axis 2, c) with one element per channel -> InstanceNorm(x, c)
static LogicalResult toInstanceNorm(MulOp op, PatternRewriter &rewriter) {
  std::optional<Parameter<LayerNormOp>> found = parameterOf<LayerNormOp>(op);
  if (!found || isPresent(found->norm.getWeight()) || isPresent(found->norm.getBias()) ||
      isPresent(found->norm.getMean()) || isPresent(found->norm.getRstd()))
    return failure();
  LayerNormOp norm = found->norm;
  Dims dims = *dimsOf(op.getOutput());
  auto rank = static_cast<int64_t>(dims.size());
  if (rank < 3 || frontAxis(norm.getAxis(), rank) != 2 || dims[1] == kDynamic ||
      staticElements(found->constant) == 1)
    return failure();
  std::optional<Doubles> weight = constantAlong(found->constant, 1, rank, dims[1]);
  if (!weight)
    return failure();
  Value constant = makeWeight(rewriter, op, "_weight", *weight);
  Value none = makeNone(rewriter, op.getLoc());
  rewriter.replaceOpWithNewOp<InstanceNormOp>(op, op.getType(), norm.getInput(), constant, none,
                                              norm.getEpsAttr());
  return success();
}

ArrayRef<Fusion> tpuc::normFusions() {
  // What LayerNorm and PixelNorm subtract the mean from would do for RMSNorm too.
  static constexpr Fusion kFusions[] = {
      fusion<toLayerNorm, 2>("to-layernorm"),
      fusion<toPixelNorm, 2>("to-pixelnorm"),
      fusion<toRmsNorm>("to-rmsnorm"),
      fusion<lengthToRmsNorm>("to-rmsnorm"),
      fusion<toGroupNorm>("to-groupnorm"),
      fusion<toInstanceNorm>("to-instancenorm"),
      fusion<intoLayerNorm<MulOp>>("mul-into-norm"),
      fusion<mulIntoRmsNorm>("mul-into-norm"),
      fusion<intoChannelNorm<GroupNormOp, MulOp>>("mul-into-norm"),
      fusion<intoChannelNorm<InstanceNormOp, MulOp>>("mul-into-norm"),
      fusion<intoChannelNorm<PixelNormOp, MulOp>>("mul-into-norm"),
      fusion<intoLayerNorm<AddOp>>("add-into-norm"),
      fusion<intoChannelNorm<GroupNormOp, AddOp>>("add-into-norm"),
      fusion<intoChannelNorm<InstanceNormOp, AddOp>>("add-into-norm"),
      fusion<intoChannelNorm<PixelNormOp, AddOp>>("add-into-norm"),
  };
  return kFusions;
}
