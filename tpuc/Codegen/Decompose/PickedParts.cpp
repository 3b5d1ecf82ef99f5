//===- PickedParts.cpp - Values that are parts of others ------------------------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/PickedParts.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

#include <algorithm>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

std::optional<Picked> codegen::splitPart(Value value, int64_t axis) {
  auto split = value.getDefiningOp<tpu::SplitOp>();
  const RankedTensorType from = split ? staticType(split.getInput()) : RankedTensorType();
  if (!from)
    return std::nullopt;
  const int64_t along = split.getAxis() < 0 ? split.getAxis() + from.getRank() : split.getAxis();
  if (along != axis)
    return std::nullopt;
  Picked picked{split.getInput()};
  for (Value part : split.getOutputs()) {
    if (part == value)
      return picked;
    if (!staticType(part))
      return std::nullopt;
    picked.begin += staticType(part).getDimSize(static_cast<unsigned>(axis));
  }
  return std::nullopt;
}

std::optional<Picked> codegen::slicePart(Value value, int64_t axis) {
  auto slice = value.getDefiningOp<tpu::SliceOp>();
  const RankedTensorType from = slice ? staticType(slice.getInput()) : RankedTensorType();
  if (!from)
    return std::nullopt;
  const auto offsets = top::intsOf(slice.getOffset(), slice.getOffsetTensor());
  const auto axes = top::intsOf(slice.getAxes(), slice.getAxesTensor());
  const auto steps = top::intsOf(slice.getSteps(), slice.getStepsTensor());
  if (!offsets || offsets->size() != 1 || (!axes && axis != 0) ||
      (axes && axes->front() != axis && axes->front() != axis - from.getRank()) ||
      (steps && steps->front() != 1))
    return std::nullopt;
  const int64_t offset = offsets->front();
  const int64_t extent = from.getDimSize(static_cast<unsigned>(axis));
  return Picked{slice.getInput(),
                std::clamp<int64_t>(offset < 0 ? offset + extent : offset, 0, extent)};
}
