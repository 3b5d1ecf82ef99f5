//===- UnaryOps.cpp - Element by element, one operand ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/TypeUtils.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult CeluOp::verify() {
  if (getAlpha().isZero())
    return emitOpError("attribute 'alpha' is 0; expected another number");
  return success();
}

LogicalResult GELUOp::verify() {
  return verifyChoice(*this, "approx_mode", getApproxMode(), {"none", "tanh"});
}

LogicalResult ClipTensorOp::verify() {
  for (Value bound : {getMin(), getMax()}) {
    if (!isPresent(bound))
      continue;
    if (failed(verifySameElements(*this, {getInput(), bound})))
      return failure();
    auto type = dyn_cast<RankedTensorType>(bound.getType());
    if (type && type.hasStaticShape() && type.getNumElements() != 1)
      return emitOpError("has a bound of type ") << type << "; expected a tensor of one element";
  }
  return success();
}

/// Bits that are skipped are whole results, of an integer that has as many and one more.
static LogicalResult verifyFromBit(CastOp op) {
  const auto first = static_cast<int64_t>(op.getFromBit());
  if (first == 0)
    return success();
  const std::optional<DataType> from = storageDataType(op.getInput().getType());
  const std::optional<DataType> to = storageDataType(op.getTo());
  const auto isOfBytes = [](std::optional<DataType> type) {
    return type && !isFloat(*type) && *type != DataType::Bool && bitWidth(*type) % 8 == 0;
  };
  if (isOfBytes(from) && isOfBytes(to) && first % bitWidth(*to) == 0 &&
      first + bitWidth(*to) <= bitWidth(*from))
    return success();
  return op.emitOpError("takes ")
         << op.getTo() << " from bit " << first << " of " << elementTypeOf(op.getInput())
         << "; expected bit 0, or the beginning of another part of a wider integer";
}

LogicalResult CastOp::verify() {
  if (!storageDataType(getTo()))
    return emitOpError("attribute 'to' is ") << getTo() << "; expected an element type of tensors";
  return verifyFromBit(*this);
}

LogicalResult CastOp::inferShape() { return setResult(*this, 0, getTo(), dimsOf(getInput())); }
int64_t CastOp::flops() { return 0; }

LogicalResult BitCastOp::verify() {
  std::optional<DataType> from = storageDataType(getInput().getType());
  std::optional<DataType> to = storageDataType(getTo());
  if (!to)
    return emitOpError("attribute 'to' is ") << getTo() << "; expected an element type of tensors";
  if (!from || bitWidth(*from) != bitWidth(*to))
    return emitOpError("reads ") << elementTypeOf(getInput()) << " as " << getTo()
                                 << "; expected types of as many bits";
  return success();
}

LogicalResult BitCastOp::inferShape() { return setResult(*this, 0, getTo(), dimsOf(getInput())); }
int64_t BitCastOp::flops() { return 0; }

LogicalResult CopyOp::inferShape() { return inferLikeFirst(*this); }
int64_t CopyOp::flops() { return 0; }

LogicalResult DetOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  if (dims) {
    size_t rank = dims->size();
    if (rank < 2)
      return emitOpError("input has rank ") << rank << "; expected at least 2";
    int64_t rows = (*dims)[rank - 2];
    int64_t columns = (*dims)[rank - 1];
    if (rows != kDynamic && columns != kDynamic && rows != columns)
      return emitOpError("input has matrices of ")
             << rows << " x " << columns << "; expected square ones";
    dims->truncate(rank - 2);
  }
  return setResult(*this, 0, elementTypeOf(getInput()), dims);
}

int64_t DetOp::flops() {
  int64_t size = staticElements(getInput()) ? dimsOf(getInput())->back() : 0;
  // Elimination: a multiplication and an addition for each of n^3 / 3 places.
  return staticElements(getInput()) * size * 2 / 3;
}
