//===- FuseMixedHeads.cpp - Attention whose heads are not apart ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some networks do more to scores and weights than a softmax of each head. What they do is linear,
// so it can be done to the rows in front of the attention and behind it. These are much smaller,
// and heads need not be moved behind the keys and back.
//
// Talking heads mix scores and weights of all heads by constants l and w:
//
//   sum over h of l[g, h] q_h k_h^T  =  (q of all heads, columns of h times l[g, h]) k^T
//   sum over g of w[h, g] p_g v_h    =  columns of h of: sum over g of w[h, g] (p_g v)
//
// So each g is attention of one head that is as wide as all of them.
//
// Weights with constants, (a * softmax(s) + c) v, are attention and a product: softmax(s) (a * v) +
// c v. Divided by their sums they are the same with other constants, as a softmax has a sum of 1.
//
// Blocks of pixels may be a dimension behind the heads, [B, H, T, S, D]. They are samples.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/AttentionOps.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/HeadViews.h"
#include "tpuc/Transforms/Matching.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

static constexpr int64_t kHeadsAndRows[] = {0, 2, 1, 3}; ///< [B, H, S, D] and [B, S, H, D]

/// The static dimensions of `value`, `rank` of them; none if it has others.
static std::optional<Dims> knownDims(Value value, size_t rank) {
  std::optional<Dims> dims = dimsOf(value);
  return dims && dims->size() == rank && !ShapedType::isDynamicShape(*dims) ? dims : std::nullopt;
}

namespace {

/// scale * query key^T
struct PlainScores {
  Value query, key;
  double scale = 1;
};

/// Names of what one rewrite makes, all behind the name of its root.
struct Maker {
  PatternRewriter &rewriter;
  Operation *root;

  Location named(const Twine &suffix) const { return locWith(rewriter, root, suffix.str()); }
  Value times(const Twine &suffix, Value value, ArrayRef<int64_t> dims, const Doubles &factors) {
    const Value weight = makeWeight(rewriter, root, (suffix + "_factors").str(), dims, factors);
    return rewriter.create<MulOp>(named(suffix), TypeRange(value.getType()),
                                  ValueRange{value, weight});
  }
  Value plus(Location loc, Value a, Value b) {
    return rewriter.create<AddOp>(loc, TypeRange(a.getType()), ValueRange{a, b});
  }
  Value product(const Twine &suffix, Type type, Value left, Value right) {
    return rewriter
        .create<MatMulOp>(named(suffix), TypeRange(type),
                          ValueRange{left, right, makeNone(rewriter, root->getLoc())})
        .getOutput();
  }
  /// softmax(scale * q k^T) v of heads [B, H, S, D].
  Value attention(Location loc, Value query, Value key, Value value, double scale) {
    Dims dims = *dimsOf(query);
    dims.back() = dimsOf(value)->back();
    const Type none = rewriter.getNoneType();
    const Value nothing = makeNone(rewriter, root->getLoc());
    return rewriter
        .create<ScaleDotProductAttentionOp>(
            loc, TypeRange{RankedTensorType::get(dims, elementTypeOf(query)), none, none, none},
            ValueRange{query, key, value, nothing, nothing, nothing, nothing},
            ArrayRef{rewriter.getNamedAttr("scale", rewriter.getF64FloatAttr(scale))})
        .getOutput();
  }
};

} // namespace

/// A product of two computed matrices without a bias.
static MatMulOp takeProductOf(Interior &interior, Value value, bool isRightTransposed) {
  auto product = interior.take<MatMulOp>(value);
  return product && !product.getLeftTranspose() && !isPresent(product.getBias()) &&
                 product.getRightTranspose() == isRightTransposed
             ? product
             : MatMulOp();
}

static std::optional<PlainScores> takePlainScores(Interior &interior, Value value) {
  PlainScores scores;
  MatMulOp product = takeProductOf(interior, interior.takeFactors(value, scores.scale), true);
  if (!product || !isF32(product.getOutput()))
    return std::nullopt;
  scores.query = interior.takeFactors(product.getInput(), scores.scale);
  scores.key = interior.takeFactors(product.getRight(), scores.scale);
  return scores;
}

/// A softmax of rows.
static SoftmaxOp takeRowSoftmax(Interior &interior, Value value) {
  auto softmax = interior.take<SoftmaxOp>(value);
  return softmax && !softmax.getLog() &&
                 frontAxis(static_cast<int64_t>(softmax.getAxis()), rankOf(value)) + 1 ==
                     rankOf(value)
             ? softmax
             : SoftmaxOp();
}

//===----------------------------------------------------------------------===//
// Talking heads
//===----------------------------------------------------------------------===//

namespace {

/// Heads that are sums of other heads.
struct Mix {
  Value heads;
  int64_t from = 0, to = 0;
  Doubles factors; ///< [from, to]
  Doubles addends; ///< [to]

  double factor(int64_t head, int64_t made) const {
    return factors[static_cast<size_t>(head * to + made)];
  }
};

} // namespace

/// More heads cost more as products of all columns than as moves.
static constexpr int64_t kMostMixed = 8;

/// Permute(MatMul(Permute(heads), c)) with the heads last in between; heads as they are for
/// anything else. None where it is of no use.
static std::optional<Mix> takeMix(Interior &interior, Value value) {
  const std::optional<Dims> dims = knownDims(value, 4);
  if (!dims || (*dims)[1] > kMostMixed)
    return std::nullopt;
  Mix mix{value, (*dims)[1], (*dims)[1], {}, {}};
  const auto isMoved = [](PermuteOp permute, ArrayRef<int64_t> order) {
    return permute && ArrayRef(toInts(permute.getOrder())) == order;
  };
  auto back = value.getDefiningOp<PermuteOp>();
  auto product =
      isMoved(back, {0, 3, 1, 2}) ? back.getInput().getDefiningOp<MatMulOp>() : MatMulOp();
  auto front = product ? product.getInput().getDefiningOp<PermuteOp>() : PermuteOp();
  if (!isMoved(front, {0, 2, 3, 1})) {
    mix.factors.assign(static_cast<size_t>(mix.from * mix.to), 0);
    for (int64_t head = 0; head < mix.from; ++head)
      mix.factors[static_cast<size_t>(head * mix.to + head)] = 1;
    mix.addends.assign(static_cast<size_t>(mix.to), 0);
    return mix;
  }
  const std::optional<Dims> before = knownDims(front.getInput(), 4);
  if (!before || (*before)[1] > kMostMixed || product.getLeftTranspose() ||
      !interior.takeOp(back) || !interior.takeOp(product) || !interior.takeOp(front))
    return std::nullopt;
  mix.heads = front.getInput();
  mix.from = (*before)[1];
  const std::optional<Doubles> matrix = constantFloats(product.getRight(), mix.from * mix.to);
  const std::optional<Doubles> addends = constantFloats(product.getBias(), mix.to, 0);
  if (!matrix || !addends || rankOf(product.getRight()) != 2)
    return std::nullopt;
  mix.addends = *addends;
  for (int64_t head = 0; head < mix.from; ++head)
    for (int64_t made = 0; made < mix.to; ++made)
      mix.factors.push_back((*matrix)[static_cast<size_t>(
          product.getRightTranspose() ? made * mix.from + head : head * mix.to + made)]);
  return mix;
}

/// [B, S, H * D] of heads [B, H, S, D].
static Value rowsOf(Maker &maker, const Twine &suffix, Value heads) {
  const Dims dims = *dimsOf(heads);
  const Dims rows = {dims[0], dims[2], dims[1] * dims[3]};
  const std::optional<HeadView> view = viewOfHeads(heads);
  if (view && ArrayRef(view->order) == ArrayRef(kHeadsAndRows))
    return columnsOf(maker.rewriter, maker.named(suffix), *view);
  return reshaped(maker.rewriter, maker.named(suffix),
                  permuted(maker.rewriter, maker.named(suffix + "_by_row"), heads, kHeadsAndRows),
                  rows);
}

/// MatMul(Mix(Softmax(Mix(c * MatMul(q, k^T)))), v) -> sum of attention of rows of all heads
static LogicalResult mixedHeads(MatMulOp op, PatternRewriter &rewriter) {
  const std::optional<Dims> result = knownDims(op.getOutput(), 4);
  if (!result || !isPlain(op) || op.getLeftTranspose() || op.getRightTranspose() ||
      isPresent(op.getBias()) || !isF32(op.getOutput()))
    return failure();
  Interior interior(op);
  const std::optional<Mix> weights = takeMix(interior, op.getInput());
  SoftmaxOp softmax = weights ? takeRowSoftmax(interior, weights->heads) : SoftmaxOp();
  const std::optional<Mix> mixed = softmax ? takeMix(interior, softmax.getInput()) : std::nullopt;
  if (!mixed || (weights->heads == op.getInput() && mixed->heads == softmax.getInput()))
    return failure();
  std::optional<PlainScores> scores = takePlainScores(interior, mixed->heads);
  if (!scores || !interior.isClosed() || !knownDims(scores->query, 4) ||
      !knownDims(scores->key, 4) || !knownDims(op.getRight(), 4))
    return failure();
  const Dims query = *dimsOf(scores->query), key = *dimsOf(scores->key),
             value = *dimsOf(op.getRight());
  const double scale = scores->scale * softmax.getBeta().convertToDouble();
  if (query[0] != key[0] || query[0] != value[0] || query[1] != key[1] || value[1] != weights->to ||
      !(scale > 0) || !isF32(op.getRight()))
    return failure();

  Maker maker{rewriter, op};
  // One head.
  const auto asHead = [&](const Twine &suffix, Value rows) {
    const Dims dims = *dimsOf(rows);
    return reshaped(rewriter, maker.named(suffix), rows, {dims[0], 1, dims[1], dims[2]});
  };
  // A number for each column of `each` heads' `width`.
  const auto ofColumns = [](int64_t heads, int64_t width, auto &&number) {
    Doubles made;
    for (int64_t head = 0; head < heads; ++head)
      made.insert(made.end(), static_cast<size_t>(width), number(head));
    return made;
  };
  const Value queries = rowsOf(maker, "_query_rows", scores->query);
  const Value keys = asHead("_key_head", rowsOf(maker, "_key_rows", scores->key));
  const Value values = rowsOf(maker, "_value_rows", op.getRight());
  const Value valueHead = asHead("_value_head", values);
  const int64_t columns = value[1] * value[3];
  const Dims rows = {result->front(), (*result)[2], columns};
  Value sum;
  for (int64_t made = 0; made < mixed->to; ++made) {
    const std::string suffix = "_head" + std::to_string(made);
    const Doubles before =
        ofColumns(query[1], query[3], [&](int64_t head) { return mixed->factor(head, made); });
    const Doubles behind =
        ofColumns(value[1], value[3], [&](int64_t head) { return weights->factor(made, head); });
    const Value scaled = maker.times(suffix + "_query", queries, {query[1] * query[3]}, before);
    const Value attended =
        reshaped(rewriter, maker.named(suffix),
                 maker.attention(maker.named(suffix + "_4d"), asHead(suffix + "_query_4d", scaled),
                                 keys, valueHead, scale),
                 rows);
    const Value weighed = maker.times(suffix + "_weighed", attended, {columns}, behind);
    sum = sum ? maker.plus(maker.named(suffix + "_sum"), sum, weighed) : weighed;
  }
  // An addend of weights counts all values alike.
  if (llvm::any_of(weights->addends, [](double addend) { return addend != 0; })) {
    const Doubles addends = ofColumns(value[1], value[3], [&](int64_t head) {
      return weights->addends[static_cast<size_t>(head)];
    });
    const Value total =
        rewriter
            .create<ReduceOp>(
                maker.named("_value_sum"),
                TypeRange(RankedTensorType::get({rows[0], 1, columns}, elementTypeOf(values))),
                ValueRange{values, makeNone(rewriter, op.getLoc())},
                ArrayRef{rewriter.getNamedAttr("axes", rewriter.getI64ArrayAttr({1})),
                         rewriter.getNamedAttr("mode", rewriter.getStringAttr("ReduceSum"))})
            .getOutput();
    sum = maker.plus(maker.named("_with_addends"), sum,
                     maker.times("_addends", total, {columns}, addends));
  }
  const Value heads =
      reshaped(rewriter, maker.named("_by_row"), sum, {rows[0], rows[1], value[1], value[3]});
  rewriter.replaceOp(op, permuted(rewriter, op.getLoc(), heads, kHeadsAndRows));
  return success();
}

//===----------------------------------------------------------------------===//
// Weights with constants
//===----------------------------------------------------------------------===//

namespace {

/// factors * softmax + addends, of [1, H, Q, K].
struct GivenWeights {
  Dims dims;
  SoftmaxOp softmax;
  Doubles factors; ///< [H, Q]
  Doubles addends; ///< [H, Q, K], or empty
};

} // namespace

/// Constants of more elements are not put together.
static constexpr int64_t kMostAddends = int64_t(1) << 22;

/// The elements of a constant that broadcasts to `dims`; none where it does not.
static std::optional<Doubles> broadcastTo(Value constant, ArrayRef<int64_t> dims) {
  const std::optional<Dims> own = dimsOf(constant);
  const std::optional<Doubles> numbers =
      constant.getDefiningOp<WeightOp>() ? constantFloats(constant) : std::nullopt;
  if (!own || !numbers || own->size() > dims.size())
    return std::nullopt;
  Dims steps(dims.size(), 0);
  int64_t step = 1;
  for (size_t back = 1; back <= own->size(); ++back) {
    const int64_t extent = (*own)[own->size() - back];
    if (extent != 1 && extent != dims[dims.size() - back])
      return std::nullopt;
    steps[dims.size() - back] = extent == 1 ? 0 : step;
    step *= extent;
  }
  Doubles made;
  Dims at(dims.size(), 0);
  const int64_t count = ShapedType::getNumElements(dims);
  made.reserve(static_cast<size_t>(count));
  for (int64_t index = 0; index < count; ++index) {
    int64_t from = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      from += at[axis] * steps[axis];
    made.push_back((*numbers)[static_cast<size_t>(from)]);
    for (size_t axis = dims.size(); axis-- > 0;) {
      if (++at[axis] < dims[axis])
        break;
      at[axis] = 0;
    }
  }
  return made;
}

/// Multiplies all numbers of each row.
static void scaleRows(GivenWeights &weights, const Doubles &factors) {
  for (size_t row = 0; row < weights.factors.size(); ++row)
    weights.factors[row] *= factors[row];
  const auto keys = static_cast<size_t>(weights.dims.back());
  for (size_t index = 0; index < weights.addends.size(); ++index)
    weights.addends[index] *= factors[index / keys];
}

static std::optional<GivenWeights> takeWeights(Interior &interior, Value value) {
  const std::optional<Dims> dims = knownDims(value, 4);
  if (!dims || ShapedType::getNumElements(ArrayRef(*dims).drop_front()) > kMostAddends)
    return std::nullopt;
  if (SoftmaxOp softmax = takeRowSoftmax(interior, value))
    return GivenWeights{
        *dims, softmax, Doubles(static_cast<size_t>((*dims)[1] * (*dims)[2]), 1), {}};
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<MulOp, AddOp, DivOp>(op) || op->getNumOperands() != 2 ||
      !interior.takeOp(op))
    return std::nullopt;
  if (isa<DivOp>(op)) {
    std::optional<GivenWeights> weights = takeWeights(interior, op->getOperand(0));
    const std::optional<Reduction> sum = interior.takeReduction(op->getOperand(1), "ReduceSum");
    if (!weights || !sum || sum->input != op->getOperand(0) || sum->axes != Dims{3} ||
        !sum->isAligned(op->getOperand(1)))
      return std::nullopt;
    Doubles sums = weights->factors;
    const auto keys = static_cast<size_t>(dims->back());
    for (size_t index = 0; index < weights->addends.size(); ++index)
      sums[index / keys] += weights->addends[index];
    for (double &each : sums) {
      if (each == 0)
        return std::nullopt;
      each = 1 / each;
    }
    scaleRows(*weights, sums);
    return weights;
  }
  for (unsigned index : {0, 1}) {
    const Value constant = op->getOperand(index);
    if (!constant.getDefiningOp<WeightOp>() || dimsOf(op->getOperand(1 - index)) != dims)
      continue;
    const bool isSum = isa<AddOp>(op);
    // One factor for all keys.
    if (!isSum && rankOf(constant) > 0 && dimsOf(constant)->back() != 1)
      return std::nullopt;
    Dims to = {1, (*dims)[1], (*dims)[2], isSum ? dims->back() : 1};
    const std::optional<Doubles> numbers = broadcastTo(constant, to);
    std::optional<GivenWeights> weights =
        numbers ? takeWeights(interior, op->getOperand(1 - index)) : std::nullopt;
    if (!weights)
      return std::nullopt;
    if (!isSum) {
      scaleRows(*weights, *numbers);
      return weights;
    }
    if (weights->addends.empty())
      weights->addends.assign(numbers->size(), 0);
    for (size_t each = 0; each < numbers->size(); ++each)
      weights->addends[each] += (*numbers)[each];
    return weights;
  }
  return std::nullopt;
}

/// MatMul(a * Softmax(s) + c, v) -> MatMul(Softmax(s), a * v) + MatMul(c, v), also divided by the
/// sums of the weights
static LogicalResult constantWeights(MatMulOp op, PatternRewriter &rewriter) {
  const std::optional<Dims> result = knownDims(op.getOutput(), 4);
  const std::optional<Dims> value = knownDims(op.getRight(), 4);
  if (!result || !value || !isPlain(op) || op.getLeftTranspose() || op.getRightTranspose() ||
      isPresent(op.getBias()) || !isF32(op.getOutput()) ||
      ArrayRef(*value).take_front(2) != ArrayRef(*result).take_front(2))
    return failure();
  Interior interior(op);
  std::optional<GivenWeights> weights = takeWeights(interior, op.getInput());
  // Weights that all heads share have no factors for each of them.
  if (!weights || weights->softmax.getOutput() == op.getInput() || weights->addends.empty() ||
      weights->dims[1] != (*value)[1] || !interior.isClosed())
    return failure();
  const int64_t samples = value->front(), heads = (*value)[1], width = value->back();
  const auto queries = static_cast<size_t>(weights->dims[2]);
  if (samples * ShapedType::getNumElements(ArrayRef(weights->dims).drop_front()) > kMostAddends)
    return failure();
  // One factor for all queries of a head goes into its values.
  Doubles factors;
  bool areOfHeads = true;
  for (size_t head = 0; head < static_cast<size_t>(heads); ++head) {
    factors.push_back(weights->factors[head * queries]);
    for (size_t query = 0; query < queries; ++query)
      areOfHeads &= std::abs(weights->factors[head * queries + query] - factors.back()) <=
                    1e-6 * std::abs(factors.back());
  }

  Maker maker{rewriter, op};
  const Value rows = rowsOf(maker, "_value_rows", op.getRight());
  const int64_t columns = heads * width;
  Value values = op.getRight();
  if (areOfHeads) {
    // Rows are scaled, of which attention can take heads.
    Doubles ofColumns;
    for (double factor : factors)
      ofColumns.insert(ofColumns.end(), static_cast<size_t>(width), factor);
    const Value scaled = maker.times("_value_scaled", rows, {columns}, ofColumns);
    const Value byRow = reshaped(rewriter, maker.named("_value_by_row"), scaled,
                                 {samples, (*value)[2], heads, width});
    values = permuted(rewriter, maker.named("_value_heads"), byRow, kHeadsAndRows);
  }
  Value attended = maker.product("_attended", op.getType(), weights->softmax.getOutput(), values);
  if (!areOfHeads)
    attended =
        maker.times("_attended_scaled", attended, {1, heads, (*result)[2], 1}, weights->factors);
  // What constants make of the values of all heads, of which each head's columns count.
  const Dims rowDims = {samples, (*result)[2], columns};
  const auto perHead = weights->addends.size() / static_cast<size_t>(heads);
  Value sum;
  for (int64_t head = 0; head < heads; ++head) {
    const std::string suffix = "_given" + std::to_string(head);
    Doubles given, own(static_cast<size_t>(columns), 0);
    const auto first = weights->addends.begin() + static_cast<ptrdiff_t>(perHead) * head;
    for (int64_t sample = 0; sample < samples; ++sample)
      given.insert(given.end(), first, first + static_cast<ptrdiff_t>(perHead));
    std::fill_n(own.begin() + head * width, width, 1.0);
    const Value matrix =
        makeWeight(rewriter, op, suffix + "_weights", {samples, (*result)[2], (*value)[2]}, given);
    const Value all = maker.product(
        suffix + "_rows", RankedTensorType::get(rowDims, elementTypeOf(rows)), matrix, rows);
    const Value kept = maker.times(suffix, all, {columns}, own);
    sum = sum ? maker.plus(maker.named(suffix + "_sum"), sum, kept) : kept;
  }
  // Where heads are put back into rows, both are added there.
  auto permute = op.getOutput().hasOneUse() ? dyn_cast<PermuteOp>(*op->user_begin()) : PermuteOp();
  Operation *join = permute && permute.getOutput().hasOneUse() ? *permute->user_begin() : nullptr;
  if (permute && ArrayRef(toInts(permute.getOrder())) == ArrayRef(kHeadsAndRows) &&
      isReshape(join) && dimsOf(join->getResult(0)) == std::optional(rowDims)) {
    const Value attendedRows = reshaped(
        rewriter, maker.named("_attended_rows"),
        permuted(rewriter, maker.named("_attended_by_row"), attended, kHeadsAndRows), rowDims);
    rewriter.replaceOp(join, maker.plus(join->getLoc(), attendedRows, sum));
    rewriter.eraseOp(permute);
    rewriter.eraseOp(op);
    return success();
  }
  const Value byRow =
      reshaped(rewriter, maker.named("_given_by_row"), sum, {samples, (*result)[2], heads, width});
  rewriter.replaceOp(op,
                     maker.plus(op.getLoc(), attended,
                                permuted(rewriter, maker.named("_given"), byRow, kHeadsAndRows)));
  return success();
}

//===----------------------------------------------------------------------===//
// Blocks of pixels
//===----------------------------------------------------------------------===//

/// MatMul(Softmax(c * MatMul(q, k^T)), v) of heads [B, H, T, S, D] that are columns of rows
/// [B, T, S, H * D] -> attention of B * T samples
static LogicalResult attentionOfBlocks(MatMulOp op, PatternRewriter &rewriter) {
  const std::optional<Dims> result = knownDims(op.getOutput(), 5);
  if (!result || !isPlain(op) || op.getLeftTranspose() || op.getRightTranspose() ||
      isPresent(op.getBias()))
    return failure();
  Interior interior(op);
  SoftmaxOp softmax = takeRowSoftmax(interior, op.getInput());
  std::optional<PlainScores> scores =
      softmax ? takePlainScores(interior, softmax.getInput()) : std::nullopt;
  if (!scores || !interior.isClosed())
    return failure();
  const double scale = scores->scale * softmax.getBeta().convertToDouble();
  if (!(scale > 0))
    return failure();
  SmallVector<HeadView, 3> views;
  for (Value heads : {scores->query, scores->key, Value(op.getRight())}) {
    const std::optional<HeadView> view = viewOfHeads(heads);
    if (!view || view->order != Dims{0, 3, 1, 2, 4} || !isF32(heads) ||
        view->split[0] != (*result)[0] || view->split[1] != (*result)[2] ||
        view->split[3] != (*result)[1])
      return failure();
    views.push_back(*view);
  }
  Maker maker{rewriter, op};
  const auto headsOf = [&](const Twine &suffix, HeadView view) {
    // Blocks are samples before parts of rows are taken.
    const Dims split = {view.split[0] * view.split[1], view.split[2], view.split[3], view.split[4]};
    view.rows = reshaped(rewriter, maker.named(suffix + "_blocks"), view.rows,
                         {split[0], split[1], dimsOf(view.rows)->back()});
    const Value rows = columnsOf(rewriter, maker.named(suffix + "_rows"), view);
    const Value apart = reshaped(rewriter, maker.named(suffix + "_by_row"), rows, split);
    return permuted(rewriter, maker.named(suffix), apart, kHeadsAndRows);
  };
  const Value query = headsOf("_query", views[0]), key = headsOf("_key", views[1]);
  const Value attended =
      maker.attention(maker.named("_blocks"), query, key, headsOf("_value", views[2]), scale);
  const Value byRow =
      reshaped(rewriter, maker.named("_by_block"),
               permuted(rewriter, maker.named("_by_row"), attended, kHeadsAndRows),
               {(*result)[0], (*result)[2], (*result)[3], (*result)[1], (*result)[4]});
  rewriter.replaceOp(op, permuted(rewriter, op.getLoc(), byRow, {0, 3, 1, 2, 4}));
  return success();
}

ArrayRef<Fusion> tpuc::mixedHeadFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<mixedHeads>("mixed-heads"),
      fusion<constantWeights>("constant-weights"),
      fusion<attentionOfBlocks>("to-attention"),
  };
  return kFusions;
}
