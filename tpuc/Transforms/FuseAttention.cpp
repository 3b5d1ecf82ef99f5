//===- FuseAttention.cpp - Attention that was written out ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters write attention in two products around a softmax:
//
//   MatMul(Softmax(c * MatMul(q, Permute(k)) + mask), v)
//
// The factor c may be in front of the product, on one side or split on both, and a factor of the
// softmax. A mask is added, or chosen by a constant condition. Weights may be 0 where the mask is
// -inf for all keys, as in ONNX's definition. Keys and values may be repeated for several heads of
// queries.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/AttentionOps.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

#include <limits>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

//===----------------------------------------------------------------------===//
// What is found
//===----------------------------------------------------------------------===//

namespace {

/// A tensor whose dimensions are permuted.
struct Permuted {
  Value tensor;
  Dims order; ///< Empty: as they are.
};

/// The scores c * q k^T.
struct Scores {
  Value query;
  Permuted key; ///< [..., K, D].
  double scale = 1;
  Dims dims;
};

/// What is added to the scores. A condition says where that is 0, and `otherwise` what it is
/// elsewhere.
struct Mask {
  Value added;
  Value condition;
  bool isInverted = false;
  double otherwise = 0;
};

struct Attention {
  Scores scores;
  Mask mask;
  Value value;
};

} // namespace

/// `value` without the factors that it is multiplied with for its only reader.
static Value takeFactors(Interior &interior, Value value, double &scale) {
  while (value.hasOneUse()) {
    std::optional<WithScalar> product = interior.takeProduct(value);
    if (!product)
      break;
    scale *= product->scalar;
    value = product->tensor;
  }
  return value;
}

/// A product without a bias and with `left` as it is.
static MatMulOp takeMatMul(Interior &interior, Value value) {
  auto product = interior.take<MatMulOp>(value);
  if (!product || product.getLeftTranspose() || isPresent(product.getBias()))
    return {};
  return product;
}

/// The right operand of a product as [..., K, D]; `isTransposed`: it is that already.
static std::optional<Permuted> takeKey(Interior &interior, Value right, bool isTransposed,
                                       double &scale) {
  Value key = takeFactors(interior, right, scale);
  if (isTransposed)
    return Permuted{key, {}};
  // Another order of what a permutation reads costs nothing; one of any other tensor, a copy.
  auto permute = key.hasOneUse() ? interior.take<PermuteOp>(key) : PermuteOp();
  if (!permute)
    return std::nullopt;
  Dims order = toInts(permute.getOrder());
  if (order.size() < 2)
    return std::nullopt;
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return Permuted{takeFactors(interior, permute.getInput(), scale), order};
}

static std::optional<Scores> takeScores(Interior &interior, Value value) {
  Scores scores;
  MatMulOp product = takeMatMul(interior, takeFactors(interior, value, scores.scale));
  std::optional<Dims> dims = product ? dimsOf(product.getOutput()) : std::nullopt;
  if (!dims || !isF32(product.getOutput()))
    return std::nullopt;
  scores.query = takeFactors(interior, product.getInput(), scores.scale);
  std::optional<Permuted> key =
      takeKey(interior, product.getRight(), product.getRightTranspose(), scores.scale);
  if (!key)
    return std::nullopt;
  scores.key = *key;
  scores.dims = *dims;
  return scores;
}

/// Scores and what is added to them; `interior` is that of the attempt that succeeds.
static std::optional<Attention> takeMasked(Interior &interior, Value value) {
  Interior before = interior;
  if (std::optional<Scores> scores = takeScores(interior, value))
    return Attention{*scores, {}, {}};
  auto attempt = [&](Value masked, const Mask &mask) -> std::optional<Attention> {
    interior = before;
    if (!interior.takeOp(value.getDefiningOp()))
      return std::nullopt;
    std::optional<Scores> scores = takeScores(interior, masked);
    if (!scores || dimsOf(value) != std::optional(scores->dims))
      return std::nullopt;
    return Attention{*scores, mask, {}};
  };
  if (auto sum = value.getDefiningOp<AddOp>(); sum && sum.getInputs().size() == 2)
    for (unsigned index : {0, 1})
      if (auto found = attempt(sum.getInputs()[index], {sum.getInputs()[1 - index], {}, false, 0}))
        return found;
  if (auto where = value.getDefiningOp<WhereOp>())
    for (bool isInverted : {false, true}) {
      std::optional<double> otherwise = constantScalar(isInverted ? where.getX() : where.getY());
      if (!otherwise)
        continue;
      Mask mask{{}, where.getCond(), isInverted, *otherwise};
      if (auto found = attempt(isInverted ? where.getY() : where.getX(), mask))
        return found;
    }
  return std::nullopt;
}

/// The softmax of `value`, which chooses between it and 0; `hiddenBy` is the mask whose rows of
/// nothing but -inf make it 0, or null.
static SoftmaxOp takeSoftmax(Interior &interior, Value value, Value &hiddenBy) {
  auto where = value.getDefiningOp<WhereOp>();
  if (!where)
    return interior.take<SoftmaxOp>(value);
  auto compare = where.getCond().getDefiningOp<CompareOp>();
  if (constantScalar(where.getX()) != 0.0 || !compare || compare.getMode() != "Equal" ||
      constantScalar(compare.getRhs()) != -std::numeric_limits<double>::infinity())
    return {};
  std::optional<Reduction> most = interior.takeReduction(compare.getLhs(), "ReduceMax");
  std::optional<Dims> dims = most ? dimsOf(most->input) : std::nullopt;
  if (!dims || most->axes != Dims{static_cast<int64_t>(dims->size()) - 1} ||
      !most->isAligned(compare.getLhs()) || !interior.takeOp(where) || !interior.takeOp(compare) ||
      dimsOf(where.getY()) != dimsOf(value))
    return {};
  hiddenBy = most->input;
  return interior.take<SoftmaxOp>(where.getY());
}

/// k of `value`, [B, n * H, K, D], in which each head of k is repeated n times for its only reader;
/// `value` if it is something else.
static Value takeRepeated(Interior &interior, Value value) {
  Interior extended = interior;
  auto reshape = value.hasOneUse() ? extended.take<ReshapeOp>(value) : ReshapeOp();
  Operation *repeat = reshape ? reshape.getInput().getDefiningOp() : nullptr;
  if (!isa_and_nonnull<ExpandOp, TileOp>(repeat) || !repeat->getResult(0).hasOneUse() ||
      !extended.takeOp(repeat))
    return value;
  Value heads = repeat->getOperand(0);
  std::optional<Dims> repeated = dimsOf(repeat->getResult(0));
  std::optional<Dims> single = dimsOf(heads);
  std::optional<Dims> dims = dimsOf(value);
  if (!single || single->size() != 5 || (*single)[2] != 1 || staticElements(value) <= 0 ||
      !isReshape(heads.getDefiningOp()) || !extended.takeOp(heads.getDefiningOp()))
    return value;
  Value source = heads.getDefiningOp()->getOperand(0);
  Dims five = *single;
  five[2] = (*repeated)[2];
  Dims four = *single;
  four.erase(four.begin() + 2);
  if (*repeated != five || dimsOf(source) != std::optional(four) ||
      *dims != Dims{four[0], four[1] * five[2], four[2], four[3]} || !heads.hasOneUse())
    return value;
  interior = extended;
  return source;
}

/// Whether the keys lie as [B, H, K, D].
static bool areInOrder(const Permuted &key) {
  return key.order.empty() || key.order == Dims{0, 1, 2, 3};
}

/// Lets heads of queries share keys and values instead of having them repeated.
static void takeRepeats(Interior &interior, Attention &found) {
  if (!areInOrder(found.scores.key))
    return;
  Interior extended = interior;
  Value key = takeRepeated(extended, found.scores.key.tensor);
  Value value = takeRepeated(extended, found.value);
  if (key == found.scores.key.tensor || value == found.value)
    return;
  interior = extended;
  found.scores.key.tensor = key;
  found.value = value;
}

//===----------------------------------------------------------------------===//
// Whether it fits
//===----------------------------------------------------------------------===//

static std::optional<Dims> dimsOf(const Permuted &permuted) {
  std::optional<Dims> dims = dimsOf(permuted.tensor);
  if (!dims || permuted.order.empty())
    return dims;
  Dims result;
  for (int64_t axis : permuted.order)
    result.push_back((*dims)[static_cast<size_t>(axis)]);
  return result;
}

/// Whether samples and heads meet as in the op: [B, H, rows, size], several heads of queries may
/// share one of keys and values. Without the first of these, or both, they must be equal.
static bool doHeadsFit(const Attention &found) {
  std::optional<Dims> query = dimsOf(found.scores.query);
  std::optional<Dims> key = dimsOf(found.scores.key);
  std::optional<Dims> value = dimsOf(found.value);
  if (!query || !key || !value || query->size() < 2 || query->size() > 4 ||
      key->size() != query->size() || value->size() != query->size() || !isF32(found.value))
    return false;
  size_t outer = query->size() - 2;
  if (ArrayRef(*key).take_front(outer) != ArrayRef(*value).take_front(outer))
    return false;
  for (size_t axis = 0; axis < outer; ++axis) {
    bool isShared =
        axis == 1 && (*key)[axis] > 0 && (*query)[axis] > 0 && (*query)[axis] % (*key)[axis] == 0;
    if ((*key)[axis] != (*query)[axis] && !isShared)
      return false;
  }
  // Heads that share one of keys tell by their numbers that they do.
  return outer < 2 || (*query)[1] != kDynamic;
}

/// Below this, e^x is 0 beside that of any score that a network has.
static constexpr double kHides = -1e4;

/// The numbers of a mask that a constant condition chooses; none where it hides all keys from a
/// query, whose weights would not be 0 then.
static std::optional<Doubles> numbersOf(const Mask &mask, int64_t keys) {
  std::optional<Tensor> condition = constantTensor(mask.condition);
  if (!condition || condition->type() != DataType::Bool || mask.otherwise > kHides || keys <= 0 ||
      condition->numElements() % keys != 0)
    return std::nullopt;
  Doubles numbers;
  for (auto [index, holds] : llvm::enumerate(condition->data<uint8_t>())) {
    numbers.push_back((holds != 0) != mask.isInverted ? 0 : mask.otherwise);
    auto end = static_cast<int64_t>(index) + 1;
    if (end % keys == 0 && llvm::all_of(ArrayRef(numbers).take_back(static_cast<size_t>(keys)),
                                        [](double each) { return each != 0; }))
      return std::nullopt;
  }
  return numbers;
}

/// Whether the mask has one element for each key: the op takes the keys behind the last one for
/// hidden.
static bool doesMaskFit(const Attention &found) {
  Value mask = found.mask.added ? found.mask.added : found.mask.condition;
  if (!mask)
    return true;
  std::optional<Dims> dims = dimsOf(mask);
  return dims && !dims->empty() && dims->size() <= found.scores.dims.size() &&
         dims->back() != kDynamic && dims->back() == found.scores.dims.back() &&
         (found.mask.condition || isF32(mask));
}

//===----------------------------------------------------------------------===//
// What is made of it
//===----------------------------------------------------------------------===//

/// The dimensions that [rows, size] or [N, rows, size] lack: heads, then samples.
static Dims missingAxes(size_t rank) {
  switch (rank) {
  case 2:
    return {0, 1};
  case 3:
    return {1};
  default:
    return {};
  }
}

/// `value` with more dimensions of extent 1.
static Value unsqueezed(PatternRewriter &rewriter, Location loc, Value value,
                        ArrayRef<int64_t> axes, Value none) {
  if (axes.empty())
    return value;
  Dims dims = *dimsOf(value);
  for (int64_t axis : axes)
    dims.insert(dims.begin() + axis, 1);
  return rewriter.create<UnsqueezeOp>(loc, RankedTensorType::get(dims, elementTypeOf(value)), value,
                                      none, rewriter.getI64ArrayAttr(axes));
}

static Value makeMask(PatternRewriter &rewriter, Operation *op, const Attention &found,
                      Value none) {
  Value mask = found.mask.added;
  if (found.mask.condition) {
    std::optional<Doubles> numbers = numbersOf(found.mask, found.scores.dims.back());
    mask = makeWeight(rewriter, op, "_mask", *dimsOf(found.mask.condition), *numbers);
  }
  if (!mask)
    return none;
  // One of three dimensions counts the samples, which are not the heads.
  bool hasSamples = found.scores.dims.size() == 3 && dimsOf(mask)->size() == 3;
  return unsqueezed(rewriter, locWith(rewriter, op, "_mask_4d"), mask,
                    hasSamples ? Dims{1} : Dims{}, none);
}

static Value makeKey(PatternRewriter &rewriter, Operation *op, const Permuted &key) {
  if (key.order.empty())
    return key.tensor;
  auto type = RankedTensorType::get(*dimsOf(key), elementTypeOf(key.tensor));
  return rewriter.create<PermuteOp>(locWith(rewriter, op, "_key"), type, key.tensor,
                                    rewriter.getI64ArrayAttr(key.order));
}

/// MatMul(Softmax(c * MatMul(q, Permute(k)) + mask), v) -> ScaleDotProductAttention(q, k, v, mask)
static LogicalResult toAttention(MatMulOp op, PatternRewriter &rewriter) {
  if (!isPlain(op) || op.getLeftTranspose() || op.getRightTranspose() || isPresent(op.getBias()))
    return failure();
  Interior interior(op);
  Value hiddenBy;
  SoftmaxOp softmax = takeSoftmax(interior, op.getInput(), hiddenBy);
  std::optional<Dims> dims = softmax ? dimsOf(softmax.getOutput()) : std::nullopt;
  if (!dims || softmax.getLog())
    return failure();
  auto axis = static_cast<int64_t>(softmax.getAxis());
  if (axis != -1 && axis != static_cast<int64_t>(dims->size()) - 1)
    return failure();
  std::optional<Attention> found = takeMasked(interior, softmax.getInput());
  if (!found || (hiddenBy && hiddenBy != found->mask.added))
    return failure();
  found->value = op.getRight();
  takeRepeats(interior, *found);
  if (!interior.isClosed())
    return failure();
  // The softmax multiplies the mask too.
  double beta = softmax.getBeta().convertToDouble();
  bool isMasked = found->mask.added || found->mask.condition;
  found->scores.scale *= beta;
  if ((isMasked && beta != 1) || !(found->scores.scale > 0) || !doHeadsFit(*found) ||
      !doesMaskFit(*found) ||
      (found->mask.condition && !numbersOf(found->mask, found->scores.dims.back())))
    return failure();

  Value none = makeNone(rewriter, op.getLoc());
  Dims axes = missingAxes(dims->size());
  auto operand = [&](Value value, StringRef suffix) {
    return unsqueezed(rewriter, locWith(rewriter, op, suffix), value, axes, none);
  };
  Value query = operand(found->scores.query, "_query_4d");
  Value key = operand(makeKey(rewriter, op, found->scores.key), "_key_4d");
  Value value = operand(found->value, "_value_4d");
  Value mask = makeMask(rewriter, op, *found, none);
  Dims result = *dimsOf(op.getOutput());
  for (int64_t each : axes)
    result.insert(result.begin() + each, 1);
  Type noneType = rewriter.getNoneType();
  auto attention = rewriter.create<ScaleDotProductAttentionOp>(
      axes.empty() ? op.getLoc() : locWith(rewriter, op, "_4d"),
      TypeRange{RankedTensorType::get(result, elementTypeOf(op.getOutput())), noneType, noneType,
                noneType},
      ValueRange{query, key, value, mask, none, none, none},
      ArrayRef{rewriter.getNamedAttr("scale", rewriter.getF64FloatAttr(found->scores.scale))});
  if (axes.empty())
    rewriter.replaceOp(op, attention.getOutput());
  else
    rewriter.replaceOpWithNewOp<SqueezeOp>(op, op.getType(), attention.getOutput(), none,
                                           rewriter.getI64ArrayAttr(axes));
  return success();
}

ArrayRef<Fusion> tpuc::attentionFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<toAttention>("to-attention"),
  };
  return kFusions;
}
