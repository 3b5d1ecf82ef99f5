//===- FuseGather.cpp - Elements that are rows ------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Detectors take the boxes of their best scores element by element, with the place of a box
// repeated for each of its numbers:
//
//   GatherElements(x, Expand(Unsqueeze(i)))  ->  Gather(x, i)
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// Whether all extents are 1.
static bool areOnes(ArrayRef<int64_t> extents) {
  return llvm::all_of(extents, [](int64_t extent) { return extent == 1; });
}

/// GatherElements(x, places of rows, repeated along these) -> Gather(x, places)
static LogicalResult elementsToRows(GatherElementsOp op, PatternRewriter &rewriter) {
  auto expand = op.getIndices().getDefiningOp<ExpandOp>();
  const std::optional<Dims> input = dimsOf(op.getInput());
  const std::optional<Dims> indices = dimsOf(op.getIndices());
  const std::optional<Dims> places = expand ? dimsOf(expand.getInput()) : std::nullopt;
  if (!input || !indices || !places || staticElements(op.getInput()) <= 0 ||
      staticElements(op.getIndices()) <= 0 || places->size() != indices->size())
    return failure();
  const auto axis = static_cast<size_t>(
      frontAxis(static_cast<int64_t>(op.getAxis()), static_cast<int64_t>(input->size())));
  const int64_t count = (*indices)[axis];
  // A row for each place: it is the same for all that lies in front and behind.
  const size_t behind = axis + 1;
  if ((*places)[axis] != count || !areOnes(ArrayRef(*places).take_front(axis)) ||
      !areOnes(ArrayRef(*places).drop_front(behind)) || behind == input->size() ||
      ArrayRef(*input).take_front(axis) != ArrayRef(*indices).take_front(axis) ||
      ArrayRef(*input).drop_front(behind) != ArrayRef(*indices).drop_front(behind))
    return failure();
  const Value rows =
      reshaped(rewriter, locWith(rewriter, op, "_places"), expand.getInput(), {count});
  rewriter.replaceOpWithNewOp<GatherOp>(op, op.getType(), op.getInput(), rows,
                                        rewriter.getI64IntegerAttr(static_cast<int64_t>(axis)));
  return success();
}

ArrayRef<Fusion> tpuc::gatherFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<elementsToRows>("elements-to-rows"),
  };
  return kFusions;
}
