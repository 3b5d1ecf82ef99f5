//===- FuseRope.cpp - Rotary embeddings that were written out -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With (x1, x2) the halves of the last dimension of x, or its even and odd elements, exporters
// write
//
//   x * cos + join(-x2, x1) * sin                          where cos and sin have all elements
//   join(x1 * cos - x2 * sin, x1 * sin + x2 * cos)         where they have one for each pair
//
// of [B, H, S, D] or [B, S, H, D]. The rest of a dimension of which only the first elements are
// turned is joined behind.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/AttentionOps.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Parts.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

namespace {

/// Two tensors joined along their last dimension: one behind the other, or element by element.
struct Joined {
  Value first;
  Value second;
  bool isInterleaved;
};

} // namespace

static std::optional<Joined> takeJoined(Interior &interior, Value value) {
  auto concat = interior.take<ConcatOp>(value);
  bool isInterleaved = !concat;
  if (isInterleaved)
    concat = interior.take<ConcatOp>(interior.takeReshapes(value));
  if (!concat || concat.getInputs().size() != 2 ||
      !isLastAxis(static_cast<int64_t>(concat.getAxis()), concat.getOutput()))
    return std::nullopt;
  Value first = concat.getInputs()[0];
  Value second = concat.getInputs()[1];
  if (!isInterleaved)
    return Joined{first, second, false};
  // [..., D / 2, 1] twice, then [..., D].
  if (lastExtent(first) != 1 || lastExtent(second) != 1)
    return std::nullopt;
  first = interior.takeReshapes(first);
  second = interior.takeReshapes(second);
  std::optional<int64_t> extent = lastExtent(value);
  std::optional<int64_t> pairs = lastExtent(first);
  if (!extent || !pairs || 2 * *pairs != *extent || lastExtent(second) != pairs)
    return std::nullopt;
  return Joined{first, second, true};
}

//===----------------------------------------------------------------------===//
// The two forms
//===----------------------------------------------------------------------===//

namespace {

struct Rotation {
  Value input;
  Value cos;
  Value sin;
  bool isInterleaved;
};

} // namespace

/// Whether `half` has the dimensions of `whole`, the last one halved.
static bool isHalfOf(Value half, Value whole) {
  std::optional<Dims> dims = dimsOf(half);
  if (!dims || dims->empty() || dims->back() == kDynamic)
    return false;
  dims->back() *= 2;
  return dims == dimsOf(whole);
}

/// Whether these are the first and the second elements of all pairs of `input`.
static bool arePairs(const Part &first, const Part &second, Value input, bool isInterleaved) {
  std::optional<int64_t> extent = lastExtent(input);
  if (!extent || *extent < 2 || *extent % 2 != 0)
    return false;
  int64_t pairs = *extent / 2;
  return isInterleaved ? first.is(input, 0, pairs, 2) && second.is(input, 1, pairs, 2)
                       : first.is(input, 0, pairs, 1) && second.is(input, pairs, pairs, 1);
}

/// x of `value = -x`.
static Value takeNegated(Interior &interior, Value value) {
  if (auto negation = interior.take<NegOp>(value))
    return negation.getInput();
  std::optional<WithScalar> product = interior.takeProduct(value);
  return product && product->scalar == -1 ? product->tensor : Value();
}

/// x of join(-x2, x1).
static std::optional<Rotation> takeTurned(Interior &interior, Value value) {
  std::optional<Joined> joined = takeJoined(interior, value);
  Value negated = joined ? takeNegated(interior, joined->first) : Value();
  std::optional<Part> second = negated ? takePart(interior, negated) : std::nullopt;
  std::optional<Part> first = second ? takePart(interior, joined->second) : std::nullopt;
  if (!first || !arePairs(*first, *second, first->whole, joined->isInterleaved))
    return std::nullopt;
  return Rotation{first->whole, {}, {}, joined->isInterleaved};
}

/// x * cos + join(-x2, x1) * sin
static std::optional<Rotation> takeSum(Interior &interior, Value value) {
  auto sum = interior.take<AddOp>(value);
  if (!sum || sum.getInputs().size() != 2)
    return std::nullopt;
  Interior before = interior;
  for (unsigned turnedSide : {1, 0})
    for (unsigned turnedIndex : {0, 1})
      for (unsigned plainIndex : {0, 1}) {
        interior = before;
        auto turned = interior.take<MulOp>(sum.getInputs()[turnedSide]);
        auto plain = interior.take<MulOp>(sum.getInputs()[1 - turnedSide]);
        if (!turned || !plain || turned.getInputs().size() != 2 || plain.getInputs().size() != 2)
          continue;
        std::optional<Rotation> found = takeTurned(interior, turned.getInputs()[turnedIndex]);
        if (!found || plain.getInputs()[plainIndex] != found->input ||
            dimsOf(turned.getInputs()[turnedIndex]) != dimsOf(found->input))
          continue;
        found->cos = plain.getInputs()[1 - plainIndex];
        found->sin = turned.getInputs()[1 - turnedIndex];
        return found;
      }
  return std::nullopt;
}

/// Whether `value` is a * b.
static bool isProductOf(Interior &interior, Value value, Value a, Value b) {
  auto product = interior.take<MulOp>(value);
  if (!product || product.getInputs().size() != 2)
    return false;
  Value left = product.getInputs()[0];
  Value right = product.getInputs()[1];
  return (left == a && right == b) || (left == b && right == a);
}

/// join(x1 * cos - x2 * sin, x1 * sin + x2 * cos)
static std::optional<Rotation> takePairs(Interior &interior, Value value) {
  std::optional<Joined> joined = takeJoined(interior, value);
  auto real = joined ? interior.take<SubOp>(joined->first) : SubOp();
  auto imaginary = real ? interior.take<AddOp>(joined->second) : AddOp();
  if (!imaginary || real.getInputs().size() != 2 || imaginary.getInputs().size() != 2)
    return std::nullopt;
  auto minuend = interior.take<MulOp>(real.getInputs()[0]);
  auto subtrahend = interior.take<MulOp>(real.getInputs()[1]);
  if (!minuend || !subtrahend || minuend.getInputs().size() != 2 ||
      subtrahend.getInputs().size() != 2)
    return std::nullopt;
  Interior before = interior;
  for (unsigned i : {0, 1})
    for (unsigned j : {0, 1}) {
      interior = before;
      Value x1 = minuend.getInputs()[i];
      Value x2 = subtrahend.getInputs()[j];
      Value cos = minuend.getInputs()[1 - i];
      Value sin = subtrahend.getInputs()[1 - j];
      std::optional<Part> first = takePart(interior, x1);
      std::optional<Part> second = first ? takePart(interior, x2) : std::nullopt;
      if (!second || !arePairs(*first, *second, first->whole, joined->isInterleaved) ||
          !isHalfOf(x1, first->whole) || !isHalfOf(x2, first->whole))
        continue;
      for (unsigned k : {0, 1})
        if (isProductOf(interior, imaginary.getInputs()[k], x1, sin) &&
            isProductOf(interior, imaginary.getInputs()[1 - k], x2, cos))
          return Rotation{first->whole, cos, sin, joined->isInterleaved};
    }
  return std::nullopt;
}

static std::optional<Rotation> takeRotation(Interior &interior, Value value) {
  Interior before = interior;
  if (std::optional<Rotation> found = takeSum(interior, value))
    return found;
  interior = before;
  return takePairs(interior, value);
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

namespace {

/// Where the dimensions of the input stand.
struct Layout {
  Dims dims; ///< [B, H, S, D] or [B, S, H, D].
  bool areHeadsFirst;

  int64_t steps() const { return areHeadsFirst ? dims[2] : dims[1]; }
  int64_t heads() const { return areHeadsFirst ? dims[1] : dims[2]; }
};

} // namespace

/// The last four extents, with 1 for those that are not there; none of more.
static std::optional<Dims> fourDims(Value value) {
  std::optional<Dims> dims = dimsOf(value);
  if (!dims || dims->size() > 4)
    return std::nullopt;
  dims->insert(dims->begin(), 4 - dims->size(), 1);
  return dims;
}

/// Cosines and sines are the same for all heads.
static std::optional<Layout> layoutOf(const Rotation &rotation) {
  std::optional<Dims> input = fourDims(rotation.input);
  std::optional<Dims> cos = fourDims(rotation.cos);
  if (!input || !cos || cos != fourDims(rotation.sin) ||
      ((*cos)[0] != 1 && (*cos)[0] != (*input)[0]))
    return std::nullopt;
  if ((*cos)[1] == 1 && (*cos)[2] == (*input)[2])
    return Layout{*input, true};
  if ((*cos)[2] == 1 && (*cos)[1] == (*input)[1])
    return Layout{*input, false};
  return std::nullopt;
}

/// One element for each pair of a constant with one for each element; none if those differ.
static std::optional<Doubles> halved(Value value, int64_t extent, bool isInterleaved) {
  std::optional<Doubles> all = constantFloats(value);
  if (!all)
    return std::nullopt;
  Doubles half;
  auto size = static_cast<size_t>(extent);
  for (size_t row = 0; row < all->size(); row += size)
    for (size_t pair = 0; pair < size / 2; ++pair) {
      size_t first = row + (isInterleaved ? 2 * pair : pair);
      half.push_back((*all)[first]);
      if ((*all)[first] != (*all)[first + (isInterleaved ? 1 : size / 2)])
        return std::nullopt;
    }
  return half;
}

/// The operand of an op that makes rows with equal halves of rows with equal halves; null for
/// others.
static Value rowsBehind(Operation *op) {
  if (isa<CosOp, SinOp, CastOp, CopyOp>(op))
    return op->getOperand(0);
  if (auto scaled = productOf(op))
    return scaled->tensor;
  bool keepsRows = isReshape(op) || isa<ExpandOp, SliceOp>(op);
  if (auto gather = dyn_cast<GatherOp>(op))
    keepsRows = !isLastAxis(static_cast<int64_t>(gather.getAxis()), gather.getInput());
  std::optional<int64_t> extent = lastExtent(op->getResult(0));
  return keepsRows && extent && lastExtent(op->getOperand(0)) == extent ? op->getOperand(0)
                                                                        : Value();
}

/// Whether the halves of each row are equal: they stem from Concat(f, f), or a constant with such.
static bool hasEqualHalves(Value value) {
  while (value) {
    if (std::optional<int64_t> extent = lastExtent(value);
        extent && halved(value, *extent, /*isInterleaved=*/false))
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumOperands() == 0)
      return false;
    if (auto concat = dyn_cast<ConcatOp>(op))
      return isPlain(concat) && concat.getInputs().size() == 2 &&
             concat.getInputs()[0] == concat.getInputs()[1] &&
             isLastAxis(static_cast<int64_t>(concat.getAxis()), concat.getOutput());
    value = rowsBehind(op);
  }
  return false;
}

/// Whether `value` has one element for each pair, or can be made to.
static bool areAngles(Value value, int64_t extent, bool isInterleaved) {
  std::optional<int64_t> own = lastExtent(value);
  if (own == extent / 2)
    return true;
  return own == extent &&
         (halved(value, extent, isInterleaved) || (!isInterleaved && hasEqualHalves(value)));
}

//===----------------------------------------------------------------------===//
// What is made of it
//===----------------------------------------------------------------------===//

/// Whether a reshape can say the extents.
static bool canReshapeTo(ArrayRef<int64_t> dims) {
  return llvm::count(dims, kDynamic) <= 1 && !llvm::is_contained(dims, 0);
}

/// [B, S, R / 2] or [1, S, R / 2] of cosines or sines.
static Value makeAngles(PatternRewriter &rewriter, Operation *op, StringRef suffix, Value value,
                        const Layout &layout, int64_t extent, bool isInterleaved) {
  Dims dims = {(*fourDims(value))[0], layout.steps(), extent / 2};
  bool isHalf = lastExtent(value) == extent / 2;
  if (std::optional<Doubles> half = isHalf ? std::nullopt : halved(value, extent, isInterleaved))
    return makeWeight(rewriter, op, suffix, dims, *half);
  if (!isHalf) {
    Dims cut = *dimsOf(value);
    int64_t last = static_cast<int64_t>(cut.size()) - 1;
    cut.back() = extent / 2;
    Value none = makeNone(rewriter, op->getLoc());
    auto ints = [&](int64_t each) { return rewriter.getI64ArrayAttr({each}); };
    value =
        rewriter.create<SliceOp>(locWith(rewriter, op, (suffix + "_half").str()),
                                 RankedTensorType::get(cut, elementTypeOf(value)), value, none,
                                 none, none, none, ints(0), ints(1), ints(extent / 2), ints(last));
  }
  return reshaped(rewriter, locWith(rewriter, op, suffix), value, dims);
}

/// Replaces `op`, whose result is `whole` with the first elements turned.
static LogicalResult replaceByRope(Operation *op, const Rotation &rotation, Value whole,
                                   PatternRewriter &rewriter) {
  std::optional<Layout> layout = layoutOf(rotation);
  std::optional<int64_t> extent = lastExtent(rotation.input);
  std::optional<int64_t> size = lastExtent(whole);
  if (!layout || !extent || !size || dimsOf(op->getResult(0)) != dimsOf(whole) || !isF32(whole) ||
      !isF32(rotation.cos) || !isF32(rotation.sin) ||
      !areAngles(rotation.cos, *extent, rotation.isInterleaved) ||
      !areAngles(rotation.sin, *extent, rotation.isInterleaved))
    return failure();
  layout->dims[3] = *size;
  Dims dims = layout->dims;
  if (!layout->areHeadsFirst) {
    if (layout->heads() == kDynamic)
      return failure();
    dims = {dims[0], dims[1], dims[2] * dims[3]};
  }
  Dims angles = {(*fourDims(rotation.cos))[0], layout->steps()};
  bool isReshaped = dimsOf(whole) != std::optional(dims);
  if ((isReshaped && !canReshapeTo(dims)) || !canReshapeTo(*dimsOf(whole)) || !canReshapeTo(angles))
    return failure();
  rewriter.setInsertionPoint(op);
  Value input = reshaped(rewriter, locWith(rewriter, op, "_input"), whole, dims);
  auto angle = [&](Value value, StringRef suffix) {
    return makeAngles(rewriter, op, suffix, value, *layout, *extent, rotation.isInterleaved);
  };
  Value cos = angle(rotation.cos, "_cos");
  Value sin = angle(rotation.sin, "_sin");
  Location loc = isReshaped ? locWith(rewriter, op, "_rope") : op->getLoc();
  auto rope = rewriter.create<RopeOp>(
      loc, input.getType(), input, cos, sin, makeNone(rewriter, loc),
      rewriter.getBoolAttr(rotation.isInterleaved),
      rewriter.getI64IntegerAttr(layout->areHeadsFirst ? 0 : layout->heads()),
      rewriter.getI64IntegerAttr(*extent == *size ? 0 : *extent));
  rewriter.replaceOp(op, reshaped(rewriter, op->getLoc(), rope.getOutput(), *dimsOf(whole)));
  return success();
}

/// Concat(rotation of the first elements of x, its other elements) -> Rope(x) {rotary_dim}
static LogicalResult toPartialRope(Operation *op, ConcatOp concat, PatternRewriter &rewriter) {
  Interior interior(concat);
  std::optional<Rotation> rotation = takeRotation(interior, op->getResult(0));
  if (!rotation || !isLastAxis(static_cast<int64_t>(concat.getAxis()), concat.getOutput()))
    return failure();
  std::optional<Part> first = takePart(interior, rotation->input);
  std::optional<Part> rest = first ? takePart(interior, concat.getInputs()[1]) : std::nullopt;
  std::optional<int64_t> size = rest ? lastExtent(rest->whole) : std::nullopt;
  if (!size || !first->is(rest->whole, 0, first->count, 1) ||
      !rest->is(rest->whole, first->count, *size - first->count, 1) || !interior.isClosed())
    return failure();
  return replaceByRope(concat, *rotation, rest->whole, rewriter);
}

/// One of the forms above -> Rope(x, cos, sin)
static LogicalResult toRope(Operation *op, PatternRewriter &rewriter) {
  if (!isa<AddOp, ConcatOp, ReshapeOp>(op) || !isPlain(op))
    return failure();
  if (op->getResult(0).hasOneUse())
    if (auto concat = dyn_cast<ConcatOp>(*op->getResult(0).user_begin());
        concat && isPlain(concat) && concat.getInputs().size() == 2 &&
        concat.getInputs()[0] == op->getResult(0) && succeeded(toPartialRope(op, concat, rewriter)))
      return success();
  Interior interior(op);
  std::optional<Rotation> rotation = takeRotation(interior, op->getResult(0));
  if (!rotation || !interior.isClosed())
    return failure();
  return replaceByRope(op, *rotation, rotation->input, rewriter);
}

ArrayRef<Fusion> tpuc::ropeFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<toRope>("to-rope"),
  };
  return kFusions;
}
