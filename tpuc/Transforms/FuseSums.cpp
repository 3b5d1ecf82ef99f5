//===- FuseSums.cpp - Sums of tensors that were joined only for that ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Networks that weigh branches (selective kernels, split attention) join them along a dimension of
// their own, multiply, and add up along it. Nothing has to be joined for that:
//
//   sum(concat(a, b) * w)  ->  a * w[0] + b * w[1]
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

namespace {

/// A sum of more parts is better one command than many.
constexpr int64_t kMostParts = 8;

ArrayRef<int64_t> staticDims(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getShape() : ArrayRef<int64_t>();
}

/// The parts of tensors along a dimension, which they have without that dimension.
class SumParts {
public:
  SumParts(PatternRewriter &rewriter, Operation *sum, size_t axis, int64_t count)
      : rewriter(rewriter), sum(sum), axis(axis), count(count) {}

  /// Whether the parts of `value` are joined or multiplied for it alone, and need not be moved.
  bool areJoined(Value value);
  Value part(Value value, int64_t index);

private:
  /// Whether the parts are the inputs of a concatenation, or follow each other in what a reshape
  /// reads.
  bool lieApart(Value value);
  bool isConcat(ConcatOp op);
  std::optional<int64_t> extentOf(Value value, size_t rank);
  Location name(int64_t index) {
    return locWith(rewriter, sum, "_part" + std::to_string(index) + "_" + std::to_string(made++));
  }

  PatternRewriter &rewriter;
  Operation *sum;
  size_t axis;
  int64_t count;
  int64_t made = 0;
};

bool SumParts::isConcat(ConcatOp op) {
  if (!op || !isPlain(op) || static_cast<int64_t>(op.getInputs().size()) != count)
    return false;
  const auto rank = static_cast<int64_t>(staticDims(op.getOutput()).size());
  const int64_t joined = op.getAxis();
  return joined + (joined < 0 ? rank : 0) == static_cast<int64_t>(axis) &&
         llvm::all_of(op.getInputs(), [&](Value input) {
           return staticDims(input).size() > axis && staticDims(input)[axis] == 1;
         });
}

bool SumParts::lieApart(Value value) {
  Operation *op = value.getDefiningOp();
  if (isConcat(dyn_cast_or_null<ConcatOp>(op)))
    return true;
  return isReshape(op) && llvm::all_of(staticDims(value).take_front(axis),
                                       [](int64_t extent) { return extent == 1; });
}

/// Of the dimension; none if `value` has another rank.
std::optional<int64_t> SumParts::extentOf(Value value, size_t rank) {
  const ArrayRef<int64_t> dims = staticDims(value);
  return dims.size() == rank ? std::optional(dims[axis]) : std::nullopt;
}

bool SumParts::areJoined(Value value) {
  if (!isF32(value))
    return false;
  if (isConcat(value.getDefiningOp<ConcatOp>()))
    return true;
  auto product = producerFor<MulOp>(value, sum);
  if (!product || product.getInputs().size() != 2)
    return false;
  const ArrayRef<int64_t> dims = staticDims(value);
  bool areApart = false;
  for (Value factor : product.getInputs()) {
    const std::optional<int64_t> extent = extentOf(factor, dims.size());
    if (!extent || !isF32(factor))
      return false;
    // Factors of whole channels are few, so their parts may be moved.
    const bool isWhole = staticDims(factor) == dims;
    areApart |= isWhole;
    if (isWhole && !lieApart(factor))
      return false;
  }
  return areApart;
}

Value SumParts::part(Value value, int64_t index) {
  Dims dims(staticDims(value));
  const int64_t extent = dims[axis];
  dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
  if (auto concat = value.getDefiningOp<ConcatOp>(); isConcat(concat))
    return reshaped(rewriter, name(index), concat.getInputs()[static_cast<size_t>(index)], dims);
  if (auto product = value.getDefiningOp<MulOp>(); product && value == sum->getOperand(0)) {
    const Value left = part(product.getInputs()[0], index);
    const Value right = part(product.getInputs()[1], index);
    return rewriter
        .create<MulOp>(name(index), TypeRange(RankedTensorType::get(dims, elementTypeOf(value))),
                       ValueRange{left, right})
        .getOutput();
  }
  if (extent == 1)
    return reshaped(rewriter, name(index), value, dims);
  Dims kept(staticDims(value));
  kept[axis] = 1;
  const auto ints = [&](int64_t number) { return rewriter.getI64ArrayAttr({number}); };
  const Value none = makeNone(rewriter, sum->getLoc());
  const Value slice = rewriter.create<SliceOp>(
      name(index), RankedTensorType::get(kept, elementTypeOf(value)), value, none, none, none, none,
      ints(index), ints(1), ints(index + 1), ints(static_cast<int64_t>(axis)));
  return reshaped(rewriter, name(index), slice, dims);
}

} // namespace

/// sum(concat(a, b) * w) -> a * w[0] + b * w[1]
static LogicalResult sumOfParts(ReduceOp op, PatternRewriter &rewriter) {
  const ArrayRef<int64_t> dims = staticDims(op.getInput());
  const std::optional<Dims> axes =
      op.getAxes() ? std::optional(toInts(*op.getAxes())) : std::nullopt;
  if (op.getMode() != "ReduceSum" || dims.empty() || !axes || axes->size() != 1 ||
      isPresent(op.getAxesTensor()))
    return failure();
  const int64_t axis = axes->front() + (axes->front() < 0 ? std::ssize(dims) : 0);
  const int64_t count = dims[static_cast<size_t>(axis)];
  if (count < 2 || count > kMostParts)
    return failure();
  SumParts parts(rewriter, op, static_cast<size_t>(axis), count);
  if (!parts.areJoined(op.getInput()))
    return failure();
  Value total = parts.part(op.getInput(), 0);
  for (int64_t index = 1; index < count; ++index)
    total = rewriter
                .create<AddOp>(
                    index + 1 == count ? op.getLoc()
                                       : locWith(rewriter, op, "_sum" + std::to_string(index)),
                    TypeRange(total.getType()), ValueRange{total, parts.part(op.getInput(), index)})
                .getOutput();
  Dims result(staticDims(op.getOutput()));
  rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), total, result));
  return success();
}

ArrayRef<Fusion> tpuc::sumFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<sumOfParts>("sum-of-parts"),
  };
  return kFusions;
}
