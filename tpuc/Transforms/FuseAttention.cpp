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
// softmax. One for each head, as cosines have it, is multiplied with the queries. Masks are added,
// or chosen by a condition. Weights may be 0 where the mask is -inf for all keys, as in ONNX's
// definition. Keys and values may be repeated for several heads of queries. Samples and heads may
// be one dimension, and stand apart where a mask is added; windows, too.
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
  /// A constant that has one factor for each head or sample; null without.
  Value factors = {};
  Dims dims;
};

/// What is added to the scores. A condition says where that is 0, and `otherwise` what it is
/// elsewhere.
struct Mask {
  Value added;
  Value condition;
  bool isInverted = false;
  double otherwise = 0;
  /// Those of the scores where it is added.
  Dims scores = {};

  Value tensor() const { return added ? added : condition; }
};

struct Attention {
  Scores scores;
  SmallVector<Mask, 2> masks;
  Value value;
  /// Those of the scores in the op: samples and heads are apart.
  Dims dims = {};
};

} // namespace

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
  Value key = interior.takeFactors(right, scale);
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
  return Permuted{interior.takeFactors(permute.getInput(), scale), order};
}

/// `value` without a constant that it is multiplied with, one factor for all of its rows and
/// columns, which `factors` becomes.
static Value takeHeadFactors(Interior &interior, Value value, Value &factors) {
  auto product = value.getDefiningOp<MulOp>();
  if (!product || !value.hasOneUse() || !isPlain(product) || product.getInputs().size() != 2)
    return value;
  for (unsigned index : {0, 1}) {
    Value constant = product.getInputs()[1 - index];
    Value scores = product.getInputs()[index];
    std::optional<Dims> dims = dimsOf(constant);
    const bool isOfHeads =
        constant.getDefiningOp<WeightOp>() && dims && dims->size() > 2 && isF32(constant) &&
        llvm::all_of(ArrayRef(*dims).take_back(2), [](int64_t extent) { return extent == 1; });
    if (!isOfHeads || dimsOf(scores) != dimsOf(value) || !interior.takeOp(product))
      continue;
    factors = constant;
    return scores;
  }
  return value;
}

static std::optional<Scores> takeScores(Interior &interior, Value value) {
  Scores scores;
  value = interior.takeFactors(value, scores.scale);
  value = interior.takeFactors(takeHeadFactors(interior, value, scores.factors), scores.scale);
  MatMulOp product = takeMatMul(interior, value);
  std::optional<Dims> dims = product ? dimsOf(product.getOutput()) : std::nullopt;
  if (!dims || !isF32(product.getOutput()))
    return std::nullopt;
  scores.query = interior.takeFactors(product.getInput(), scores.scale);
  std::optional<Permuted> key =
      takeKey(interior, product.getRight(), product.getRightTranspose(), scores.scale);
  if (!key)
    return std::nullopt;
  scores.key = *key;
  scores.dims = *dims;
  return scores;
}

/// The lowest number of f32: the larger one of it and a finite score is that score.
static constexpr double kLowest = -3.4028234663852886e38;

/// `value` under other dimensions in front of its rows, or limited to finite numbers; null if it is
/// something else.
static Value takeSame(Interior &interior, Value value) {
  if (Operation *reshape = value.getDefiningOp(); isReshape(reshape)) {
    std::optional<Dims> to = dimsOf(value);
    std::optional<Dims> from = dimsOf(reshape->getOperand(0));
    bool keepsRows = to && from && to->size() >= 2 && from->size() >= 2 &&
                     ArrayRef(*to).take_back(2) == ArrayRef(*from).take_back(2);
    return keepsRows && interior.takeOp(reshape) ? reshape->getOperand(0) : Value();
  }
  if (std::optional<WithScalar> limit = interior.takeMaximum(value))
    return limit->scalar <= kLowest ? limit->tensor : Value();
  return {};
}

/// A condition, or that of which it repeats dimensions.
static Value beforeRepeats(Value condition) {
  auto expand = condition.getDefiningOp<ExpandOp>();
  return expand && dimsOf(expand.getInput()) ? expand.getInput() : condition;
}

/// Scores and what is added to them, at most `steps` ops behind them; `interior` is that of the
/// attempt that succeeds.
static std::optional<Attention> takeMasked(Interior &interior, Value value, unsigned steps = 6) {
  const Interior before = interior;
  if (std::optional<Scores> scores = takeScores(interior, value))
    return Attention{*scores, {}, {}};
  interior = before;
  if (steps == 0)
    return std::nullopt;
  if (Value same = takeSame(interior, value))
    return takeMasked(interior, same, steps - 1);
  std::optional<Dims> dims = dimsOf(value);
  auto attempt = [&](Value masked, Mask mask) -> std::optional<Attention> {
    interior = before;
    if (!dims || dimsOf(masked) != dims || !interior.takeOp(value.getDefiningOp()))
      return std::nullopt;
    std::optional<Attention> found = takeMasked(interior, masked, steps - 1);
    if (!found)
      return std::nullopt;
    mask.scores = *dims;
    found->masks.push_back(mask);
    return found;
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
      Mask mask{{}, beforeRepeats(where.getCond()), isInverted, *otherwise};
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

/// Beside a number below this, any score of f32 is nothing: their sum is the number.
static constexpr double kAbsorbs = -1e30;

/// Whether a mask is numbers, or can become such, with one element for each key: the op takes the
/// keys behind the last one for hidden. `isOnly`: nothing else is added.
static bool doesMaskFit(const Mask &mask, bool isOnly) {
  std::optional<Dims> dims = dimsOf(mask.tensor());
  if (!dims || dims->empty() || dims->size() > mask.scores.size() ||
      dims->back() == ShapedType::kDynamic || dims->back() != mask.scores.back())
    return false;
  if (mask.added)
    return isF32(mask.added);
  if (numbersOf(mask, mask.scores.back()))
    return true;
  return isOnly && mask.otherwise <= kAbsorbs && !constantTensor(mask.condition);
}

/// How many of the first dimensions are samples, and those behind them heads.
static std::optional<size_t> samplesOf(ArrayRef<int64_t> front, int64_t samples, int64_t heads) {
  int64_t product = 1;
  for (size_t count = 0; count <= front.size(); ++count) {
    if (product == samples && ShapedType::getNumElements(front.drop_front(count)) == heads)
      return count;
    if (count < front.size())
      product *= front[count];
  }
  return std::nullopt;
}

/// The dimensions of a mask over scores [B, H, Q, K]; none where it is not repeated for all samples
/// or heads alike.
static std::optional<Dims> maskDims(const Mask &mask, const Dims &scores) {
  Dims dims = *dimsOf(mask.tensor());
  if (mask.scores == scores)
    return dims;
  while (dims.size() < mask.scores.size())
    dims.insert(dims.begin(), 1);
  const ArrayRef<int64_t> rows = ArrayRef(dims).take_back(2);
  const ArrayRef<int64_t> own = ArrayRef(dims).drop_back(2);
  const ArrayRef<int64_t> front = ArrayRef(mask.scores).drop_back(2);
  if (llvm::all_of(own, [](int64_t extent) { return extent == 1; }))
    return Dims{1, 1, rows[0], rows[1]};
  if (own == front)
    return Dims{scores[0], scores[1], rows[0], rows[1]};
  std::optional<size_t> samples = samplesOf(front, scores[0], scores[1]);
  if (!samples)
    return std::nullopt;
  Dims made;
  for (bool isHead : {false, true}) {
    auto part = [&](ArrayRef<int64_t> all) {
      return isHead ? all.drop_front(*samples) : all.take_front(*samples);
    };
    const int64_t number = ShapedType::getNumElements(part(own));
    if (number != 1 && number != ShapedType::getNumElements(part(front)))
      return std::nullopt;
    made.push_back(number);
  }
  made.append({rows[0], rows[1]});
  return made;
}

/// The tensor [B, H, rows, size] that `value` [B * H, rows, size] was reshaped from; null if it is
/// another.
static Value beforeJoining(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  std::optional<Dims> to = dimsOf(value);
  std::optional<Dims> from = reshape ? dimsOf(reshape.getInput()) : std::nullopt;
  if (!from || from->size() != 4 || to->size() != 3 || from->front() < 0 ||
      (*from)[0] * (*from)[1] != (*to)[0] ||
      ArrayRef(*from).take_back(2) != ArrayRef(*to).take_back(2))
    return {};
  return reshape.getInput();
}

/// Those [B, H, Q, K] of the scores in the op, where samples and heads are apart or joined.
static Dims scoresApart(const Attention &found) {
  Dims dims = found.scores.dims;
  if (dims.size() != 3 || ShapedType::isDynamicShape(dims))
    return dims;
  for (const Mask &mask : found.masks)
    if (mask.scores.size() == 4 && mask.scores[0] * mask.scores[1] == dims[0])
      return mask.scores;
  Value query = beforeJoining(found.scores.query);
  Value value = beforeJoining(found.value);
  if (!query || !value || !beforeJoining(found.scores.key.tensor) ||
      ArrayRef(*dimsOf(query)).take_front(2) != ArrayRef(*dimsOf(value)).take_front(2))
    return dims;
  return {(*dimsOf(query))[0], (*dimsOf(query))[1], dims[1], dims[2]};
}

/// Whether all masks are such that the op can add them.
static bool doMasksFit(const Attention &found) {
  return llvm::all_of(found.masks, [&](const Mask &mask) {
    if (!doesMaskFit(mask, found.masks.size() == 1))
      return false;
    const bool isSame = mask.scores == found.dims;
    return isSame || (!ShapedType::isDynamicShape(mask.scores) && found.dims.size() == 4 &&
                      !ShapedType::isDynamicShape(found.dims) && maskDims(mask, found.dims));
  });
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

/// What one mask adds, as numbers that broadcast to the scores of the op.
static Value makeNumbers(PatternRewriter &rewriter, Operation *op, const Attention &found,
                         const Mask &mask, StringRef suffix) {
  auto named = [&](StringRef what) { return locWith(rewriter, op, (suffix + what).str()); };
  Value numbers = mask.added;
  if (!numbers) {
    if (std::optional<Doubles> chosen = numbersOf(mask, mask.scores.back())) {
      numbers = makeWeight(rewriter, op, suffix, *dimsOf(mask.condition), *chosen);
    } else {
      Value zero = makeWeight(rewriter, op, (suffix + "_zero").str(), {1}, {0});
      Value hidden = makeWeight(rewriter, op, (suffix + "_hidden").str(), {1}, {mask.otherwise});
      numbers = rewriter.create<WhereOp>(
          named(""), RankedTensorType::get(*dimsOf(mask.condition), rewriter.getF32Type()),
          mask.condition, mask.isInverted ? hidden : zero, mask.isInverted ? zero : hidden);
    }
  }
  if (mask.scores != found.dims)
    return reshaped(rewriter, named("_4d"), numbers, *maskDims(mask, found.dims));
  return numbers;
}

/// What all masks add.
static Value makeMask(PatternRewriter &rewriter, Operation *op, const Attention &found,
                      Value none) {
  Value sum;
  for (auto [index, mask] : llvm::enumerate(found.masks)) {
    const std::string suffix = index == 0 ? "_mask" : "_mask" + std::to_string(index);
    Value numbers = makeNumbers(rewriter, op, found, mask, suffix);
    if (!sum) {
      sum = numbers;
      continue;
    }
    const Dims a = *dimsOf(sum);
    const Dims b = *dimsOf(numbers);
    Dims dims(std::max(a.size(), b.size()), 1);
    for (size_t back = 1; back <= dims.size(); ++back)
      for (const Dims &each : {a, b})
        if (back <= each.size())
          dims[dims.size() - back] = std::max(dims[dims.size() - back], each[each.size() - back]);
    sum = rewriter.create<AddOp>(locWith(rewriter, op, suffix + "_sum"),
                                 RankedTensorType::get(dims, rewriter.getF32Type()),
                                 ValueRange{sum, numbers});
  }
  if (!sum)
    return none;
  // One of three dimensions counts the samples, which are not the heads.
  bool hasSamples = found.dims.size() == 3 && dimsOf(sum)->size() == 3;
  return unsqueezed(rewriter, locWith(rewriter, op, "_mask_4d"), sum, hasSamples ? Dims{1} : Dims{},
                    none);
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
  if (!found || (hiddenBy && (found->masks.size() != 1 || hiddenBy != found->masks[0].added)))
    return failure();
  found->value = op.getRight();
  takeRepeats(interior, *found);
  if (!interior.isClosed())
    return failure();
  found->dims = scoresApart(*found);
  // The softmax multiplies the mask too.
  double beta = softmax.getBeta().convertToDouble();
  found->scores.scale *= beta;
  if ((!found->masks.empty() && beta != 1) || !(found->scores.scale > 0) || !doHeadsFit(*found) ||
      !doMasksFit(*found))
    return failure();

  Value none = makeNone(rewriter, op.getLoc());
  // Samples and heads that were joined are apart in the op.
  const bool isJoined = found->dims.size() != found->scores.dims.size();
  Dims axes = isJoined ? Dims{} : missingAxes(found->dims.size());
  auto operand = [&](Value value, StringRef suffix) -> Value {
    if (!isJoined)
      return unsqueezed(rewriter, locWith(rewriter, op, suffix), value, axes, none);
    const Dims all = *dimsOf(value);
    Value apart = beforeJoining(value);
    if (apart && ArrayRef(*dimsOf(apart)).take_front(2) == ArrayRef(found->dims).take_front(2))
      return apart;
    return reshaped(rewriter, locWith(rewriter, op, suffix), value,
                    {found->dims[0], found->dims[1], all[1], all[2]});
  };
  Value scaled = found->scores.query;
  if (Value factors = found->scores.factors)
    scaled = rewriter.create<MulOp>(locWith(rewriter, op, "_query_scaled"), scaled.getType(),
                                    ValueRange{scaled, factors});
  Value query = operand(scaled, "_query_4d");
  Value key = operand(makeKey(rewriter, op, found->scores.key), "_key_4d");
  Value value = operand(found->value, "_value_4d");
  Value mask = makeMask(rewriter, op, *found, none);
  Dims result = *dimsOf(op.getOutput());
  if (isJoined)
    result = {found->dims[0], found->dims[1], result[1], result[2]};
  for (int64_t each : axes)
    result.insert(result.begin() + each, 1);
  Type noneType = rewriter.getNoneType();
  auto attention = rewriter.create<ScaleDotProductAttentionOp>(
      axes.empty() && !isJoined ? op.getLoc() : locWith(rewriter, op, "_4d"),
      TypeRange{RankedTensorType::get(result, elementTypeOf(op.getOutput())), noneType, noneType,
                noneType},
      ValueRange{query, key, value, mask, none, none, none},
      ArrayRef{rewriter.getNamedAttr("scale", rewriter.getF64FloatAttr(found->scores.scale))});
  if (isJoined)
    rewriter.replaceOp(
        op, reshaped(rewriter, op.getLoc(), attention.getOutput(), *dimsOf(op.getOutput())));
  else if (axes.empty())
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
