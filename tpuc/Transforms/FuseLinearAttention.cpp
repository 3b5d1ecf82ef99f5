//===- FuseLinearAttention.cpp - Linear attention in its usual form --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linear attention divides q (k^T v) by q times the sum of the keys. Some networks compute both at
// once, with a column of ones beside the values, and take the columns apart:
//
//   q (k^T [v, 1])  =  [q (k^T v), q (sum of k)^T]
//
// The code generator knows the form on the right. A row of one more element only costs.
//
// Queries, keys and values may be parts of the heads of pictures, which a permute turns to rows
// first. Parts of channels have long rows, so they are taken before that.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/HeadViews.h"
#include "tpuc/Transforms/Matching.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

namespace {

/// What a slice takes of the last dimension alone.
std::optional<ElementRange> lastRange(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  return slice ? slicedAlong(slice, rankOf(slice.getInput()) - 1) : std::nullopt;
}

/// Elements `range` of dimension `axis` of `value`, as a tensor of shape `dims`.
Value sliced(PatternRewriter &rewriter, Location loc, const Dims &dims, Value value,
             const ElementRange &range, int64_t axis) {
  const Value none = makeNone(rewriter, loc);
  const auto ints = [&](int64_t number) { return rewriter.getI64ArrayAttr(number); };
  return rewriter.create<SliceOp>(loc, RankedTensorType::get(dims, elementTypeOf(value)), value,
                                  none, none, none, none, ints(range.begin), ints(1),
                                  ints(range.end), ints(axis));
}

/// The values to which `padded` adds a column of ones; null for anything else.
Value withoutOnes(Value padded) {
  auto pad = padded.getDefiningOp<PadOp>();
  const std::optional<Dims> pads =
      pad ? intsOf(pad.getPaddings(), pad.getPaddingsTensor()) : std::nullopt;
  if (!pads || !padded.hasOneUse() || pad.getMode() != "constant" ||
      pad.getVal().convertToDouble() != 1 || isPresent(pad.getValTensor()) ||
      isPresent(pad.getAxesTensor()) || pads->size() != 8 || pads->back() != 1 ||
      llvm::any_of(ArrayRef(*pads).drop_back(), [](int64_t each) { return each != 0; }))
    return {};
  return pad.getInput();
}

bool isPlainProduct(MatMulOp op, bool isLeftTransposed) {
  return op && isPlain(op) && op.getLeftTranspose() == isLeftTransposed &&
         !op.getRightTranspose() && !isPresent(op.getBias());
}

} // namespace

/// Slices of MatMul(q, MatMul(k^T, Pad(v, 1))) -> MatMul(q, MatMul(k^T, v)) and
/// MatMul(q, ReduceSum(k)^T)
static LogicalResult sumsOfKeysApart(MatMulOp op, PatternRewriter &rewriter) {
  auto inner = op.getRight().getDefiningOp<MatMulOp>();
  if (!isPlainProduct(op, false) || !isPlainProduct(inner, true) ||
      !inner.getOutput().hasOneUse() || op.getOutput().use_empty() || isOutput(op.getOutput()))
    return failure();
  const Value values = withoutOnes(inner.getRight());
  const Value keys = inner.getInput();
  const std::optional<Dims> keyDims = dimsOf(keys);
  const std::optional<Dims> valueDims = values ? dimsOf(values) : std::nullopt;
  const std::optional<Dims> dims = dimsOf(op.getOutput());
  const std::optional<Dims> innerDims = dimsOf(inner.getOutput());
  if (!keyDims || !valueDims || !dims || !innerDims || keyDims->size() != 4 ||
      innerDims->size() != 4 || ShapedType::isDynamicShape(*keyDims) ||
      ShapedType::isDynamicShape(*valueDims) || ShapedType::isDynamicShape(*dims) || !isF32(keys))
    return failure();
  const int64_t width = valueDims->back();
  for (Operation *user : op->getUsers()) {
    const std::optional<ElementRange> range = lastRange(user);
    if (!range || (range->begin < width && range->end > width))
      return failure();
  }
  const Type element = elementTypeOf(keys);
  const auto named = [&](StringRef what) { return locWith(rewriter, op, what); };
  const Value none = makeNone(rewriter, op.getLoc());
  const auto product = [&](StringRef what, Dims shape, Value left, Value right, StringRef turned) {
    return rewriter
        .create<MatMulOp>(named(what), TypeRange(RankedTensorType::get(shape, element)),
                          ValueRange{left, right, none},
                          ArrayRef{rewriter.getNamedAttr(turned, rewriter.getBoolAttr(true))})
        .getOutput();
  };
  const Value matrix =
      product("_keys_values", {(*innerDims)[0], (*innerDims)[1], keyDims->back(), width}, keys,
              values, "left_transpose");
  Dims attended = *dims, divisors = *dims, sums = *keyDims;
  attended.back() = width;
  divisors.back() = 1;
  sums[2] = 1;
  const Value made =
      rewriter
          .create<MatMulOp>(named("_attended"), TypeRange(RankedTensorType::get(attended, element)),
                            ValueRange{op.getInput(), matrix, none})
          .getOutput();
  const Value sum =
      rewriter
          .create<ReduceOp>(
              named("_key_sum"), TypeRange(RankedTensorType::get(sums, element)),
              ValueRange{keys, none},
              ArrayRef{rewriter.getNamedAttr("axes", rewriter.getI64ArrayAttr({2})),
                       rewriter.getNamedAttr("mode", rewriter.getStringAttr("ReduceSum"))})
          .getOutput();
  const Value divisor = product("_divisors", divisors, op.getInput(), sum, "right_transpose");
  for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
    const ElementRange range = *lastRange(user);
    const bool isWhole = range.begin == 0 && range.end == width;
    if (range.begin >= width) {
      rewriter.replaceOp(user, divisor);
    } else if (isWhole) {
      rewriter.replaceOp(user, made);
    } else {
      rewriter.setInsertionPoint(user);
      rewriter.replaceOp(
          user, sliced(rewriter, user->getLoc(), *dimsOf(user->getResult(0)), made, range, 3));
    }
  }
  rewriter.eraseOp(op);
  return success();
}

/// Slices of the last dimension of Permute(x) that exchanges the last two -> Permute(Slice(x)),
/// where nothing else reads the permuted tensor
static LogicalResult partsBeforeRows(PermuteOp op, PatternRewriter &rewriter) {
  const std::optional<Dims> dims = dimsOf(op.getInput());
  if (!dims || dims->size() != 4 || ShapedType::isDynamicShape(*dims) ||
      toInts(op.getOrder()) != Dims{0, 1, 3, 2} || !isReshape(op.getInput().getDefiningOp()) ||
      !op.getInput().hasOneUse() || isOutput(op.getOutput()))
    return failure();
  const SmallVector<Operation *> users(op->getUsers());
  if (users.size() < 2 || !llvm::all_of(users, [](Operation *user) { return lastRange(user); }))
    return failure();
  for (Operation *user : users) {
    const ElementRange range = *lastRange(user);
    rewriter.setInsertionPoint(user);
    Dims part = *dims;
    part[2] = range.end - range.begin;
    const Location loc = locWith(rewriter, user, "_channels");
    const Value slice = sliced(rewriter, loc, part, op.getInput(), range, 2);
    rewriter.replaceOp(user, permuted(rewriter, user->getLoc(), slice, {0, 1, 3, 2}));
  }
  rewriter.eraseOp(op);
  return success();
}

ArrayRef<Fusion> tpuc::linearAttentionFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<sumsOfKeysApart>("sums-of-keys"),
      fusion<partsBeforeRows>("parts-before-heads", FusionStage::Finish),
  };
  return kFusions;
}
