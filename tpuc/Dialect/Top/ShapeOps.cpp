//===- ShapeOps.cpp - Shapes as values -----------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/SliceRange.h"

#include "mlir/IR/Builders.h"
#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

int64_t ShapeOp::flops() { return 0; }
int64_t SizeOp::flops() { return 0; }
int64_t ConstantFillOp::flops() { return 0; }
/// A multiplication and an addition for each element.
int64_t RangeOp::flops() { return 2 * staticElements(getOutput()); }
int64_t EyeLikeOp::flops() { return 0; }

static Type i64(Operation *op) { return IntegerType::get(op->getContext(), 64); }

LogicalResult ShapeOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  if (!dims)
    return setResult(*this, 0, i64(*this), Dims{kDynamic});
  auto rank = static_cast<int64_t>(dims->size());
  int64_t end = getEnd() ? static_cast<int64_t>(*getEnd()) : rank;
  return setResult(*this, 0, i64(*this),
                   Dims{sliceRange(rank, static_cast<int64_t>(getStart()), end, 1).count});
}

LogicalResult SizeOp::inferShape() { return setResult(*this, 0, i64(*this), Dims{}); }

LogicalResult ConstantFillOp::verify() {
  if (failed(verifyForms(*this, "shape", getShapeTensor(), Forms::One)) ||
      failed(verifyIndexType(*this, "shape_tensor", getShapeTensor())))
    return failure();
  if (!isa<IntegerAttr, FloatAttr>(getValue()))
    return emitOpError("attribute 'value' is ") << getValue() << "; expected a number";
  return success();
}

LogicalResult ConstantFillOp::inferShape() {
  Type element = cast<TypedAttr>(getValue()).getType();
  std::optional<Dims> shape = intsOf(getShape(), getShapeTensor());
  if (!shape) {
    FailureOr<std::optional<int64_t>> rank = numDimensions(*this, "shape_tensor", getShapeTensor());
    if (failed(rank))
      return failure();
    return setResult(*this, 0, element, *rank ? std::optional(unknownDims(**rank)) : std::nullopt);
  }
  for (int64_t extent : *shape)
    if (extent < 0)
      return emitOpError("has an extent of ") << extent << "; expected at least 0";
  return setResult(*this, 0, element, shape);
}

LogicalResult RangeOp::verify() { return verifySameElements(*this, getOperands()); }

/// How many numbers a constant range has.
static FailureOr<int64_t> rangeCount(RangeOp op) {
  std::optional<Tensor> start = constantTensor(op.getStart());
  std::optional<Tensor> limit = constantTensor(op.getLimit());
  std::optional<Tensor> delta = constantTensor(op.getDelta());
  if (!start || !limit || !delta)
    return kDynamic;
  for (const std::optional<Tensor> *each : {&start, &limit, &delta})
    if ((*each)->numElements() != 1)
      return op.emitOpError("has an operand of ")
             << (*each)->numElements() << " elements; expected one";
  auto number = [](const Tensor &tensor) {
    return convert(tensor, DataType::F64).data<double>()[0];
  };
  double count = std::ceil((number(*limit) - number(*start)) / number(*delta));
  if (number(*delta) == 0 || !(std::abs(count) < 0x1p53))
    return op.emitOpError("has no end; expected a delta that leads to the limit");
  return static_cast<int64_t>(std::max(count, 0.0));
}

LogicalResult RangeOp::inferShape() {
  FailureOr<int64_t> count = rangeCount(*this);
  if (failed(count))
    return failure();
  return setResult(*this, 0, elementTypeOf(getStart()), Dims{*count});
}

LogicalResult EyeLikeOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  if (dims && dims->size() != 2)
    return emitOpError("input has rank ") << dims->size() << "; expected 2";
  return setResult(*this, 0, getTo().value_or(elementTypeOf(getInput())),
                   dims ? dims : std::optional(Dims{kDynamic, kDynamic}));
}
