//===- FuseSequences.cpp - Sequences whose steps come before their samples -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Networks whose rows are steps of samples, [S, B, E], see the heads of attention as dimensions of
// B * H samples: [S, B * H, D], with the first two exchanged. Heads of [B, S, E] are parts of rows,
// which a chip need not move. So rows are exchanged instead of heads, and not twice.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/AttentionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/HeadViews.h"
#include "tpuc/Transforms/Matching.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

static constexpr int64_t kRowsExchanged[] = {1, 0, 2}, kHeadsExchanged[] = {0, 2, 1, 3};

/// The static dimensions of `value`, `rank` of them; none if it has others.
static std::optional<Dims> staticDims(Value value, size_t rank) {
  std::optional<Dims> dims = dimsOf(value);
  return dims && dims->size() == rank && !ShapedType::isDynamicShape(*dims) ? dims : std::nullopt;
}

/// The permutation that makes `value`, [S, B, E], of [B, S, E]; null if it is none.
static PermuteOp rowExchange(Operation *op) {
  auto permute = dyn_cast_or_null<PermuteOp>(op);
  return permute && ArrayRef(toInts(permute.getOrder())) == ArrayRef(kRowsExchanged) &&
                 staticDims(permute.getInput(), 3)
             ? permute
             : PermuteOp();
}

/// The steps [S, B, H * D] of heads [B * H, 1, S, D]; null if they are made of something else.
static Value stepsOf(Value heads) {
  const std::optional<Dims> apart = staticDims(heads, 4);
  Operation *reshape = heads.getDefiningOp();
  PermuteOp exchange =
      isReshape(reshape) ? rowExchange(reshape->getOperand(0).getDefiningOp()) : PermuteOp();
  Operation *split = exchange ? exchange.getInput().getDefiningOp() : nullptr;
  if (!apart || !isReshape(split))
    return {};
  const Dims joined = *dimsOf(exchange.getInput());
  const std::optional<Dims> steps = staticDims(split->getOperand(0), 3);
  if (!steps || *apart != Dims{joined[1], 1, joined[0], joined[2]} || (*steps)[0] != joined[0] ||
      (*steps)[2] % joined[2] != 0)
    return {};
  return split->getOperand(0);
}

/// Whether a mask is the same for all samples and heads, or left out.
static bool isForAllHeads(Value mask) {
  if (!isPresent(mask))
    return true;
  const std::optional<Dims> dims = dimsOf(mask);
  return dims && (dims->size() <= 2 || llvm::all_of(ArrayRef(*dims).drop_back(2),
                                                    [](int64_t each) { return each == 1; }));
}

/// The op whose heads are all heads of all samples, each with one head.
static ScaleDotProductAttentionOp attentionOfSamples(Operation *op) {
  auto attention = dyn_cast_or_null<ScaleDotProductAttentionOp>(op);
  if (!attention || !attention.getOutput().hasOneUse() || attention.getQNumHeads() ||
      attention.getKvNumHeads() || !isForAllHeads(attention.getMask()) ||
      llvm::any_of(attention->getOperands().drop_front(4), isPresent) ||
      llvm::any_of(attention->getResults().drop_front(),
                   [](Value each) { return !each.use_empty(); }))
    return {};
  return attention;
}

/// Permute(Reshape(Attention(heads of [S, B, E]...))) -> the same of heads of [B, S, E]
static LogicalResult toHeadsOfRows(PermuteOp op, PatternRewriter &rewriter) {
  Operation *joined = rowExchange(op) ? op.getInput().getDefiningOp() : nullptr;
  ScaleDotProductAttentionOp attention =
      isReshape(joined) && joined->getResult(0).hasOneUse()
          ? attentionOfSamples(joined->getOperand(0).getDefiningOp())
          : ScaleDotProductAttentionOp();
  if (!attention || !staticDims(attention.getOutput(), 4))
    return failure();
  const Dims result = *dimsOf(attention.getOutput());
  const Dims moved = *dimsOf(op.getInput());
  if (result[1] != 1 || moved != Dims{result[0], result[2], result[3]})
    return failure();
  SmallVector<Value, 3> steps;
  for (Value heads : attention->getOperands().take_front(3)) {
    Value own = stepsOf(heads);
    if (!own || (*dimsOf(heads))[0] != result[0] ||
        (*dimsOf(own))[1] != (*dimsOf(steps.empty() ? own : steps.front()))[1])
      return failure();
    steps.push_back(own);
  }
  const int64_t samples = (*dimsOf(steps.front()))[1];
  const int64_t heads = result[0] / samples;
  if (heads == 1)
    return failure();

  SmallVector<Value> operands(attention->getOperands());
  static constexpr StringLiteral kSuffixes[] = {"_queries", "_keys", "_values"};
  for (unsigned index = 0; index < std::size(kSuffixes); ++index) {
    const auto named = [&](StringRef what) {
      return locWith(rewriter, attention, (kSuffixes[index] + what).str());
    };
    const Dims own = *dimsOf(attention->getOperand(index));
    Value rows = permuted(rewriter, named("_rows"), steps[index], kRowsExchanged);
    Value apart = reshaped(rewriter, named("_apart"), rows, {samples, own[2], heads, own[3]});
    operands[index] = permuted(rewriter, named(""), apart, kHeadsExchanged);
  }
  SmallVector<Type> types(attention->getResultTypes());
  types[0] = RankedTensorType::get({samples, heads, result[2], result[3]},
                                   elementTypeOf(attention.getOutput()));
  auto made = rewriter.create<ScaleDotProductAttentionOp>(attention.getLoc(), types, operands,
                                                          attention->getAttrs());
  const auto named = [&](StringRef what) { return locWith(rewriter, attention, what); };
  Value rows = permuted(rewriter, named("_apart"), made.getOutput(), kHeadsExchanged);
  rows = reshaped(rewriter, named("_rows"), rows, {samples, result[2], heads * result[3]});
  rows = permuted(rewriter, named("_steps"), rows, kRowsExchanged);
  rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), rows, *dimsOf(op.getOutput())));
  return success();
}

/// A product of rows with a constant: it is the same in any order of the rows.
static bool isOfRows(MatMulOp op) {
  return op && !op.getLeftTranspose() && constantTensor(op.getRight()) &&
         rankOf(op.getRight()) == 2 && (!isPresent(op.getBias()) || rankOf(op.getBias()) == 1);
}

static Value productOfRows(PatternRewriter &rewriter, Location loc, MatMulOp op, Value rows) {
  Dims dims = *dimsOf(rows);
  dims.back() = dimsOf(op.getOutput())->back();
  return rewriter.create<MatMulOp>(loc, RankedTensorType::get(dims, elementTypeOf(op.getOutput())),
                                   ValueRange{rows, op.getRight(), op.getBias()}, op->getAttrs());
}

/// Some columns of rows, in whatever order these are.
static bool takesColumns(SliceOp op) {
  const std::optional<ArrayAttr> axes = op.getAxes();
  return axes && axes->size() == 1 && llvm::none_of(op->getOperands().drop_front(), isPresent) &&
         (toInts(*axes).front() == -1 || toInts(*axes).front() == 2);
}

static bool areExchanged(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [](Operation *user) { return bool(rowExchange(user)); });
}

/// Permute(MatMul(Permute(x))) -> MatMul(x), also of columns of the product
static LogicalResult exchangeNoProduct(MatMulOp op, PatternRewriter &rewriter) {
  PermuteOp exchange = rowExchange(op.getInput().getDefiningOp());
  const bool isUndone = llvm::all_of(op->getUsers(), [](Operation *user) {
    auto slice = dyn_cast<SliceOp>(user);
    return slice ? takesColumns(slice) && areExchanged(slice.getOutput()) : bool(rowExchange(user));
  });
  if (!exchange || op->use_empty() || !isUndone || !isOfRows(op))
    return failure();
  Value product = productOfRows(rewriter, locWith(rewriter, op, "_rows"), op, exchange.getInput());
  for (Operation *user : llvm::to_vector(op->getUsers())) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice) {
      rewriter.replaceOp(user, product);
      continue;
    }
    Dims dims = *dimsOf(product);
    dims.back() = dimsOf(slice.getOutput())->back();
    SmallVector<Value> operands(slice->getOperands());
    operands[0] = product;
    auto columns = rewriter.create<SliceOp>(
        locWith(rewriter, slice, "_rows"),
        RankedTensorType::get(dims, elementTypeOf(slice.getOutput())), operands, slice->getAttrs());
    for (Operation *undone : llvm::to_vector(slice->getUsers()))
      rewriter.replaceOp(undone, columns.getOutput());
  }
  return success();
}

/// Permute(Reshape(MatMul(Reshape(Permute(x))))) -> Reshape(MatMul(Reshape(x))), where the reshapes
/// join samples and steps, and take them apart
static LogicalResult exchangeNoJoinedProduct(PermuteOp op, PatternRewriter &rewriter) {
  Operation *apart = rowExchange(op) ? op.getInput().getDefiningOp() : nullptr;
  auto product = isReshape(apart) && apart->getResult(0).hasOneUse()
                     ? apart->getOperand(0).getDefiningOp<MatMulOp>()
                     : MatMulOp();
  if (!isOfRows(product) || !product.getOutput().hasOneUse() || !staticDims(product.getOutput(), 2))
    return failure();
  Operation *joined = product.getInput().getDefiningOp();
  PermuteOp exchange =
      isReshape(joined) ? rowExchange(joined->getOperand(0).getDefiningOp()) : PermuteOp();
  if (!exchange)
    return failure();
  const Dims from = *dimsOf(exchange.getOutput());
  const Dims to = *dimsOf(op.getInput());
  if (ArrayRef(from).take_front(2) != ArrayRef(to).take_front(2) ||
      from.back() != dimsOf(product.getInput())->back() ||
      to.back() != dimsOf(product.getOutput())->back())
    return failure();
  Value rows = reshaped(rewriter, locWith(rewriter, product, "_joined"), exchange.getInput(),
                        *dimsOf(product.getInput()));
  Value made = productOfRows(rewriter, locWith(rewriter, product, "_rows"), product, rows);
  rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), made, *dimsOf(op.getOutput())));
  return success();
}

ArrayRef<Fusion> tpuc::sequenceFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<toHeadsOfRows>("heads-of-rows"),
      fusion<exchangeNoProduct>("exchange-no-rows"),
      fusion<exchangeNoJoinedProduct>("exchange-no-rows"),
  };
  return kFusions;
}
