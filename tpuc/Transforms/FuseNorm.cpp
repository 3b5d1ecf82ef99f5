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

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

//===----------------------------------------------------------------------===//
// x / sqrt(mean(x^2) + eps)
//===----------------------------------------------------------------------===//

namespace {

/// A mean along axes, in ascending order, that stay as 1.
struct Mean {
  Value input;
  Dims axes;
};

/// A quotient of `input` and the root of the mean of its square.
struct Quotient {
  Value input;
  Dims axes;
  double eps;
};

} // namespace

static std::optional<Mean> takeMean(Interior &interior, Value value) {
  auto mean = interior.take<ReduceOp>(value);
  std::optional<Dims> dims = mean ? dimsOf(mean.getInput()) : std::nullopt;
  if (!dims || mean.getMode() != "ReduceMean" || !mean.getKeepdims())
    return std::nullopt;
  std::optional<Dims> axes = intsOf(mean.getAxes(), mean.getAxesTensor());
  if (!axes || axes->empty())
    return std::nullopt;
  for (int64_t &axis : *axes)
    axis += axis < 0 ? static_cast<int64_t>(dims->size()) : 0;
  llvm::sort(*axes);
  return Mean{mean.getInput(), *axes};
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
  std::optional<WithScalar> shifted = sum ? interior.takeSum(sum) : std::nullopt;
  std::optional<Mean> mean = shifted ? takeMean(interior, shifted->tensor) : std::nullopt;
  Value input = mean ? interior.takeSquare(mean->input) : Value();
  if (!input)
    return std::nullopt;
  return Quotient{input, mean->axes, shifted->scalar};
}

/// x / sqrt(mean(x^2) + eps), or x times the inverse of that. `sameTensor(a, b)` says whether x
/// outside and x in the square are the same.
template <typename SameTensor>
static std::optional<Quotient> takeQuotient(Interior &interior, Operation *op,
                                            SameTensor &&sameTensor) {
  if (!isa<MulOp, DivOp>(op) || op->getNumOperands() != 2 || !isPlain(op))
    return std::nullopt;
  for (unsigned index : {1U, 0U}) {
    if (isa<DivOp>(op) && index == 0)
      break;
    std::optional<Quotient> found = takeRoot(interior, op->getOperand(index), isa<MulOp>(op));
    if (found && sameTensor(op->getOperand(1 - index), found->input))
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

/// `input` minus its mean.
struct Centred {
  Value input;
  Dims axes;
};

static std::optional<Centred> takeCentred(Interior &interior, Value value) {
  auto difference = interior.take<SubOp>(value);
  if (!difference || difference.getInputs().size() != 2)
    return std::nullopt;
  std::optional<Mean> mean = takeMean(interior, difference.getInputs()[1]);
  if (!mean || mean->input != difference.getInputs()[0])
    return std::nullopt;
  return Centred{mean->input, mean->axes};
}

/// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) over `axes`.
static std::optional<Quotient> takeNormalized(Interior &interior, Operation *op) {
  std::optional<Quotient> result;
  // Some exporters write the difference twice.
  auto sameTensor = [&](Value a, Value b) {
    std::optional<Centred> first = takeCentred(interior, a);
    std::optional<Centred> second = takeCentred(interior, b);
    if (!first || !second || first->input != second->input || first->axes != second->axes)
      return false;
    result = Quotient{first->input, first->axes, 0};
    return true;
  };
  std::optional<Quotient> quotient = takeQuotient(interior, op, sameTensor);
  if (!quotient || quotient->axes != result->axes || !interior.isClosed())
    return std::nullopt;
  result->eps = quotient->eps;
  return result;
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

/// (x - mean) / sqrt(variance + eps) over the last axes -> LayerNorm(x)
static LogicalResult toLayerNorm(Operation *op, PatternRewriter &rewriter) {
  Interior interior(op);
  std::optional<Quotient> norm = takeNormalized(interior, op);
  std::optional<int64_t> rank = norm ? rankOf(norm->input, op) : std::nullopt;
  if (!rank || !areLast(norm->axes, *rank))
    return failure();
  Value none = makeNone(rewriter, op->getLoc());
  auto layerNorm = makeLayerNorm(rewriter, op->getLoc(), norm->input, none, none,
                                 rewriter.getI64IntegerAttr(norm->axes.front() - *rank),
                                 rewriter.getF64FloatAttr(norm->eps));
  rewriter.replaceOp(op, layerNorm.getOutput());
  return success();
}

/// (x - mean) / sqrt(variance + eps) over the channels -> PixelNorm(x)
static LogicalResult toPixelNorm(Operation *op, PatternRewriter &rewriter) {
  Interior interior(op);
  std::optional<Quotient> norm = takeNormalized(interior, op);
  std::optional<int64_t> rank = norm ? rankOf(norm->input, op) : std::nullopt;
  if (!rank || *rank < 3 || norm->axes != Dims{1})
    return failure();
  Value none = makeNone(rewriter, op->getLoc());
  rewriter.replaceOpWithNewOp<PixelNormOp>(op, norm->input.getType(), norm->input, none, none,
                                           rewriter.getF64FloatAttr(norm->eps));
  return success();
}

/// x / sqrt(mean(x^2) + eps) over the last axes -> RMSNorm(x)
static LogicalResult toRmsNorm(Operation *op, PatternRewriter &rewriter) {
  Interior interior(op);
  auto isSame = [](Value a, Value b) { return a == b; };
  std::optional<Quotient> norm = takeQuotient(interior, op, isSame);
  std::optional<int64_t> rank = norm ? rankOf(norm->input, op) : std::nullopt;
  if (!rank || !areLast(norm->axes, *rank) || !interior.isClosed())
    return failure();
  Value none = makeNone(rewriter, op->getLoc());
  rewriter.replaceOpWithNewOp<RMSNormOp>(op, norm->input.getType(), norm->input, none,
                                         rewriter.getI64IntegerAttr(norm->axes.front() - *rank),
                                         rewriter.getF64FloatAttr(norm->eps));
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

static int64_t frontAxis(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

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
                                         norm.getAxisAttr(), norm.getEpsAttr());
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
