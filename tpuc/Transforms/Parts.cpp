//===- Parts.cpp - Parts of the last dimension --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Transforms/Parts.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Interpreter/Evaluate.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

std::optional<int64_t> tpuc::lastExtent(Value value) {
  std::optional<Dims> dims = dimsOf(value);
  if (!dims || dims->empty() || dims->back() == kDynamic)
    return std::nullopt;
  return dims->back();
}

bool tpuc::isLastAxis(int64_t axis, Value value) { return axis == -1 || axis == rankOf(value) - 1; }

/// What a slice of the last dimension alone takes of it.
static std::optional<Part> partOf(SliceOp slice) {
  std::optional<int64_t> extent = lastExtent(slice.getInput());
  std::optional<Dims> offset = intsOf(slice.getOffset(), slice.getOffsetTensor());
  std::optional<Dims> axes = intsOf(slice.getAxes(), slice.getAxesTensor());
  std::optional<Dims> steps = intsOf(slice.getSteps(), slice.getStepsTensor());
  std::optional<int64_t> count = lastExtent(slice.getOutput());
  if (!extent || !count || !offset || offset->size() != 1 || !axes || axes->size() != 1 ||
      !isLastAxis(axes->front(), slice.getInput()))
    return std::nullopt;
  int64_t begin = offset->front() < 0 ? offset->front() + *extent : offset->front();
  int64_t step = steps ? steps->front() : 1;
  if (step < 1 || begin < 0 || begin > *extent)
    return std::nullopt;
  return Part{slice.getInput(), begin, *count, step};
}

static std::optional<Part> partOf(SplitOp split, Value result) {
  if (!isLastAxis(static_cast<int64_t>(split.getAxis()), split.getInput()))
    return std::nullopt;
  int64_t begin = 0;
  for (Value output : split.getOutputs()) {
    std::optional<int64_t> count = lastExtent(output);
    if (!count)
      return std::nullopt;
    if (output == result)
      return Part{split.getInput(), begin, *count};
    begin += *count;
  }
  return std::nullopt;
}

/// One element, which is no dimension any more.
static std::optional<Part> partOf(GatherOp gather) {
  std::optional<Tensor> index = constantTensor(gather.getIndices());
  std::optional<int64_t> extent = lastExtent(gather.getInput());
  if (!index || index->type() != DataType::I64 || index->numElements() != 1 || !extent ||
      !isLastAxis(static_cast<int64_t>(gather.getAxis()), gather.getInput()))
    return std::nullopt;
  int64_t begin = index->data<int64_t>()[0];
  return Part{gather.getInput(), begin < 0 ? begin + *extent : begin, 1};
}

std::optional<Part> tpuc::takePart(Interior &interior, Value value) {
  Interior extended = interior;
  Value inner = extended.takeReshapes(value);
  std::optional<Part> part;
  if (auto slice = extended.take<SliceOp>(inner))
    part = partOf(slice);
  else if (auto split = extended.take<SplitOp>(inner))
    part = partOf(split, inner);
  else if (auto gather = extended.take<GatherOp>(inner))
    part = partOf(gather);
  if (!part)
    return std::nullopt;
  std::optional<int64_t> count = lastExtent(value);
  if (inner == value && count == part->count) {
    interior = extended;
    return part;
  }
  Value whole = extended.takeReshapes(part->whole);
  std::optional<int64_t> extent = lastExtent(whole);
  if (part->count != 1 || lastExtent(part->whole) != 2 || whole == part->whole || !extent ||
      !count || 2 * *count != *extent)
    return std::nullopt;
  interior = extended;
  return Part{whole, part->begin, *count, 2};
}
