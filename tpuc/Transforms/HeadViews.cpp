//===- HeadViews.cpp - Heads as columns of rows ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Transforms/HeadViews.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

namespace {

/// One of the first dimension of a tensor, without that dimension.
struct PickedOne {
  Value from;
  int64_t index;
};

std::optional<PickedOne> pickedOne(Value value) {
  if (auto gather = value.getDefiningOp<GatherOp>()) {
    const std::optional<Dims> indices = constantInts(gather.getIndices());
    const std::optional<Dims> from = dimsOf(gather.getInput());
    if (gather.getAxis() != 0 || !indices || indices->size() != 1 || !from ||
        from->size() != static_cast<size_t>(rankOf(value)) + 1)
      return std::nullopt;
    return PickedOne{gather.getInput(), frontAxis(indices->front(), from->front())};
  }
  Operation *view = value.getDefiningOp();
  const std::optional<Dims> dims = dimsOf(value);
  const std::optional<Dims> one = isReshape(view) ? dimsOf(view->getOperand(0)) : std::nullopt;
  if (!dims || !one || one->size() != dims->size() + 1 || one->front() != 1 ||
      ArrayRef(*one).drop_front() != ArrayRef(*dims))
    return std::nullopt;
  const Value kept = view->getOperand(0);
  if (auto split = kept.getDefiningOp<SplitOp>()) {
    int64_t before = 0;
    for (Value part : split.getOutputs()) {
      if (part == kept)
        break;
      const std::optional<Dims> own = dimsOf(part);
      if (!own)
        return std::nullopt;
      before += own->front();
    }
    return split.getAxis() == 0 ? std::optional(PickedOne{split.getInput(), before}) : std::nullopt;
  }
  Operation *slice = kept.getDefiningOp();
  const std::optional<ElementRange> range = slicedAlong(slice, 0);
  return range ? std::optional(PickedOne{slice->getOperand(0), range->begin}) : std::nullopt;
}

} // namespace

std::optional<HeadView> tpuc::viewOfHeads(Value heads) {
  const std::optional<PickedOne> picked = pickedOne(heads);
  auto permute = (picked ? picked->from : heads).getDefiningOp<PermuteOp>();
  Operation *reshape = permute ? permute.getInput().getDefiningOp() : nullptr;
  if (!isReshape(reshape))
    return std::nullopt;
  std::optional<Dims> split = dimsOf(permute.getInput());
  const std::optional<Dims> rows = dimsOf(reshape->getOperand(0));
  const size_t inner = picked ? 3 : 2; // the dimensions that a row becomes
  if (!split || !rows || split->size() < inner + 1 || ShapedType::isDynamicShape(*split) ||
      ShapedType::isDynamicShape(*rows) || rows->size() + inner != split->size() + 1 ||
      ArrayRef(*rows).drop_back() != ArrayRef(*split).drop_back(inner))
    return std::nullopt;
  HeadView view{reshape->getOperand(0), 0, *split, toInts(permute.getOrder())};
  if (!picked)
    return view;
  const auto part = static_cast<int64_t>(split->size() - inner);
  if (view.order.front() != part || picked->index < 0 ||
      picked->index >= (*split)[static_cast<size_t>(part)])
    return std::nullopt;
  view.split.erase(view.split.begin() + part);
  view.order.erase(view.order.begin());
  for (int64_t &axis : view.order)
    axis -= axis > part ? 1 : 0;
  view.begin = picked->index * view.width();
  return view;
}

Value tpuc::columnsOf(PatternRewriter &rewriter, Location loc, const HeadView &view) {
  Dims dims = *dimsOf(view.rows);
  if (dims.back() == view.width())
    return view.rows;
  dims.back() = view.width();
  const Value none = makeNone(rewriter, loc);
  const auto ints = [&](int64_t value) { return rewriter.getI64ArrayAttr(value); };
  return rewriter.create<SliceOp>(loc, RankedTensorType::get(dims, elementTypeOf(view.rows)),
                                  view.rows, none, none, none, none, ints(view.begin), ints(1),
                                  ints(view.begin + view.width()),
                                  ints(static_cast<int64_t>(dims.size()) - 1));
}

Value tpuc::permuted(PatternRewriter &rewriter, Location loc, Value value,
                     ArrayRef<int64_t> order) {
  const Dims from = *dimsOf(value);
  Dims to;
  for (int64_t axis : order)
    to.push_back(from[static_cast<size_t>(axis)]);
  return rewriter.create<PermuteOp>(loc, RankedTensorType::get(to, elementTypeOf(value)), value,
                                    rewriter.getI64ArrayAttr(order));
}
