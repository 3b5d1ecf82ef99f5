//===- FuseScatter.cpp - Assignments to parts of tensors -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters write x[:, 1:] = y as a scatter, with a place for each element of y: for each dimension
// a row of numbers that follow each other, repeated along the other dimensions, and joined. Such
// places need not be computed:
//
//   ScatterND(x, Concat(Expand(0..n), Expand(1..m)), y)  ->  Concat(Slice(x), y)
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// The static dimensions of `value`; none if it has others, or no element.
static std::optional<Dims> knownDims(Value value) {
  return staticElements(value) > 0 ? dimsOf(value) : std::nullopt;
}

/// Where the numbers begin that the coordinate `value` of all places `dims` counts along dimension
/// `axis` alone, one after the other; none if it is anything else.
static std::optional<int64_t> countsFrom(Value value, const Dims &dims, size_t axis) {
  Dims all = dims;
  all.push_back(1);
  if (dimsOf(value) != std::optional(all))
    return std::nullopt;
  if (Operation *view = value.getDefiningOp(); isReshape(view)) {
    if (dimsOf(view->getOperand(0)) != std::optional(dims))
      return std::nullopt;
    value = view->getOperand(0);
    all = dims;
  }
  if (auto expand = value.getDefiningOp<ExpandOp>())
    value = expand.getInput();
  std::optional<Dims> own = knownDims(value);
  const std::optional<SmallVector<int64_t>> numbers = constantInts(value);
  if (!own || !numbers)
    return std::nullopt;
  if (own->size() > all.size())
    return std::nullopt;
  own->insert(own->begin(), all.size() - own->size(), 1);
  own->resize(dims.size());
  if ((*own)[axis] != dims[axis])
    return std::nullopt;
  int64_t inner = 1;
  for (int64_t extent : ArrayRef(*own).drop_front(axis + 1))
    inner *= extent;
  for (auto [index, number] : llvm::enumerate(*numbers))
    if (number != numbers->front() + static_cast<int64_t>(index) / inner % dims[axis])
      return std::nullopt;
  return numbers->front();
}

/// Whether the constant `places` are those of all elements that have dimensions `dims` in front of
/// them, in order.
static bool areAllPlaces(Value places, const Dims &dims) {
  const std::optional<SmallVector<int64_t>> numbers =
      places.getDefiningOp<WeightOp>() ? constantInts(places) : std::nullopt;
  if (!numbers || numbers->size() != static_cast<size_t>(productOf(dims)) * dims.size())
    return false;
  Dims place(dims.size(), 0);
  for (ArrayRef<int64_t> rest = *numbers; !rest.empty(); rest = rest.drop_front(dims.size())) {
    if (rest.take_front(dims.size()) != ArrayRef(place))
      return false;
    for (size_t axis = dims.size(); axis-- > 0 && ++place[axis] == dims[axis];)
      place[axis] = 0;
  }
  return true;
}

/// Elements [begin, end) of a tensor's first dimensions.
static Value boxOf(PatternRewriter &rewriter, Location loc, Value value, const Dims &begin,
                   const Dims &end) {
  Dims dims = *dimsOf(value);
  Dims axes;
  for (size_t axis = 0; axis < begin.size(); ++axis) {
    dims[axis] = end[axis] - begin[axis];
    axes.push_back(static_cast<int64_t>(axis));
  }
  const Value none = makeNone(rewriter, loc);
  const Dims steps(begin.size(), 1);
  return rewriter.create<SliceOp>(loc, RankedTensorType::get(dims, elementTypeOf(value)), value,
                                  none, none, none, none, rewriter.getI64ArrayAttr(begin),
                                  rewriter.getI64ArrayAttr(steps), rewriter.getI64ArrayAttr(end),
                                  rewriter.getI64ArrayAttr(axes));
}

/// ScatterND(x, places of a box, y) -> y with what x has around it
static LogicalResult scatterToConcat(ScatterNDOp op, PatternRewriter &rewriter) {
  const std::optional<Dims> input = knownDims(op.getInput());
  std::optional<Dims> dims = knownDims(op.getIndices());
  auto places = op.getIndices().getDefiningOp<ConcatOp>();
  if (!input || !dims || !knownDims(op.getUpdates()) || op.getReduction() != "none" ||
      elementTypeOf(op.getUpdates()) != elementTypeOf(op.getInput()))
    return failure();
  dims->pop_back();
  const size_t depth = dims->size();
  if (depth == 0 || depth > input->size())
    return failure();
  if (dimsOf(op.getUpdates()) == input && ArrayRef(*dims) == ArrayRef(*input).take_front(depth) &&
      areAllPlaces(op.getIndices(), *dims)) {
    rewriter.replaceOpWithNewOp<CopyOp>(op, op.getType(), op.getUpdates());
    return success();
  }
  if (!places || !isPlain(places) || places.getInputs().size() != depth ||
      frontAxis(places.getAxis(), rankOf(op.getIndices())) != static_cast<int64_t>(depth))
    return failure();
  Dims begin, end;
  for (auto [axis, coordinate] : llvm::enumerate(places.getInputs())) {
    const std::optional<int64_t> from = countsFrom(coordinate, *dims, axis);
    if (!from || *from < 0 || *from + (*dims)[axis] > (*input)[axis])
      return failure();
    begin.push_back(*from);
    end.push_back(*from + (*dims)[axis]);
  }
  Value value = op.getUpdates();
  Dims made = *dimsOf(value);
  int64_t parts = 0;
  const auto named = [&](StringRef what) {
    return locWith(rewriter, op, (what + Twine(parts++)).str());
  };
  // From the last dimension on, what is made has all of the input's elements along it.
  for (size_t axis = depth; axis-- > 0;) {
    const int64_t extent = (*input)[axis];
    SmallVector<Value> joined;
    Dims from = begin, to = end;
    from[axis] = 0;
    to[axis] = begin[axis];
    if (begin[axis] > 0)
      joined.push_back(boxOf(rewriter, named("_before"), op.getInput(), from, to));
    joined.push_back(value);
    from[axis] = end[axis];
    to[axis] = extent;
    if (end[axis] < extent)
      joined.push_back(boxOf(rewriter, named("_behind"), op.getInput(), from, to));
    begin[axis] = 0;
    end[axis] = extent;
    made[axis] = extent;
    if (joined.size() > 1)
      value = rewriter
                  .create<ConcatOp>(
                      named("_joined"),
                      TypeRange(RankedTensorType::get(made, elementTypeOf(op.getInput()))), joined,
                      ArrayRef{rewriter.getNamedAttr(
                          "axis", rewriter.getI64IntegerAttr(static_cast<int64_t>(axis)))})
                  .getOutput();
  }
  if (value == op.getUpdates())
    value = rewriter.create<CopyOp>(op.getLoc(), op.getType(), value);
  else
    value.getDefiningOp()->setLoc(op.getLoc());
  rewriter.replaceOp(op, value);
  return success();
}

ArrayRef<Fusion> tpuc::scatterFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<scatterToConcat>("scatter-to-concat"),
  };
  return kFusions;
}
