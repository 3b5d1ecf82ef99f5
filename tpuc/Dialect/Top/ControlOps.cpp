//===- ControlOps.cpp - Branches and loops -------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ControlOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/TypeUtils.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// The yield that ends a region; an error of `op` if it gives another number of values.
static FailureOr<YieldOp> yieldOf(Operation *op, Region &region, size_t count) {
  auto yield = region.front().empty() ? YieldOp() : dyn_cast<YieldOp>(region.front().back());
  if (!yield)
    return op->emitOpError("has a region without top.Yield at its end");
  if (yield->getNumOperands() != count)
    return op->emitOpError("has a region that yields ")
           << yield->getNumOperands() << " values; expected " << count;
  return yield;
}

/// What two values that stand for one have in common; none if their ranks differ.
static std::optional<Dims> common(Value a, Value b) {
  std::optional<Dims> x = dimsOf(a);
  std::optional<Dims> y = dimsOf(b);
  if (!x || !y || x->size() != y->size())
    return std::nullopt;
  for (auto [extent, other] : llvm::zip_equal(*x, *y))
    if (extent != other)
      extent = kDynamic;
  return x;
}

static LogicalResult setCommon(Operation *op, unsigned index, Value a, Value b) {
  if (storageDataType(a.getType()) != storageDataType(b.getType()))
    return op->emitOpError("result #") << index << " may have type " << a.getType() << " or "
                                       << b.getType() << "; expected one element type";
  return setResult(op, index, elementTypeOf(b), common(a, b));
}

static LogicalResult verifyScalar(Operation *op, StringRef name, Value value, DataType type) {
  if (!isPresent(value))
    return success();
  auto ranked = dyn_cast<RankedTensorType>(value.getType());
  bool single = !ranked || !ranked.hasStaticShape() || ranked.getNumElements() == 1;
  if (single && storageDataType(value.getType()) == type)
    return success();
  return op->emitOpError("operand '") << name << "' has type " << value.getType()
                                      << "; expected one element of type " << dataTypeName(type);
}

//===--- If -----------------------------------------------------------------===//

LogicalResult IfOp::verify() {
  for (Region *region : {&getThenBranch(), &getElseBranch()})
    if (failed(yieldOf(*this, *region, getNumResults())))
      return failure();
  return verifyScalar(*this, "cond", getCond(), DataType::Bool);
}

LogicalResult IfOp::inferShape() {
  FailureOr<YieldOp> thenYield = yieldOf(*this, getThenBranch(), getNumResults());
  FailureOr<YieldOp> elseYield = yieldOf(*this, getElseBranch(), getNumResults());
  if (failed(thenYield) || failed(elseYield))
    return failure();
  for (unsigned index = 0; index < getNumResults(); ++index)
    if (failed(setCommon(*this, index, (*thenYield)->getOperand(index),
                         (*elseYield)->getOperand(index))))
      return failure();
  return success();
}

//===--- Loop ---------------------------------------------------------------===//

LogicalResult LoopOp::verify() {
  size_t carried = getInitial().size();
  if (getBody().getNumArguments() != carried + 2)
    return emitOpError("has a body of ")
           << getBody().getNumArguments() << " arguments; expected " << carried + 2;
  if (getNumResults() < carried)
    return emitOpError("has ") << getNumResults() << " results; expected at least " << carried
                               << ", the carried values";
  if (failed(yieldOf(*this, getBody(), getNumResults() + 1)) ||
      failed(verifyScalar(*this, "trip_count", getTripCount(), DataType::I64)))
    return failure();
  return verifyScalar(*this, "cond", getCond(), DataType::Bool);
}

LogicalResult LoopOp::inferShape() {
  FailureOr<YieldOp> yield = yieldOf(*this, getBody(), getNumResults() + 1);
  if (failed(yield))
    return failure();
  for (unsigned index = 0; index < getNumResults(); ++index) {
    Value given = (*yield)->getOperand(index + 1);
    if (index < getInitial().size()) {
      if (failed(setCommon(*this, index, getInitial()[index], given)))
        return failure();
      continue;
    }
    // How often the body runs is known when it has run.
    std::optional<Dims> dims = dimsOf(given);
    if (dims)
      dims->insert(dims->begin(), kDynamic);
    if (failed(setResult(*this, index, elementTypeOf(given), dims)))
      return failure();
  }
  return success();
}

//===--- Scan ---------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  auto count = static_cast<int64_t>(getInputs().size());
  auto scanned = static_cast<int64_t>(getNumScanInputs());
  if (scanned < 1 || scanned > count)
    return emitOpError("attribute 'num_scan_inputs' is ") << scanned << "; expected 1 to " << count;
  if (getBody().getNumArguments() != count)
    return emitOpError("has a body of ")
           << getBody().getNumArguments() << " arguments; expected " << count;
  auto results = static_cast<int64_t>(getNumResults());
  if (results < count - scanned)
    return emitOpError("has ") << results << " results; expected at least " << count - scanned
                               << ", the states";
  if (failed(yieldOf(*this, getBody(), getNumResults())))
    return failure();
  auto lengthIs = [](std::optional<ArrayAttr> attribute, int64_t wanted) {
    return !attribute || static_cast<int64_t>(attribute->size()) == wanted;
  };
  int64_t gathered = results - (count - scanned);
  if (!lengthIs(getInputAxes(), scanned) || !lengthIs(getInputDirections(), scanned))
    return emitOpError("has an axis or direction for another number of inputs; expected ")
           << scanned;
  if (!lengthIs(getOutputAxes(), gathered) || !lengthIs(getOutputDirections(), gathered))
    return emitOpError("has an axis or direction for another number of outputs; expected ")
           << gathered;
  return success();
}

LogicalResult ScanOp::inferShape() {
  FailureOr<YieldOp> yield = yieldOf(*this, getBody(), getNumResults());
  if (failed(yield))
    return failure();
  size_t states = getInputs().size() - static_cast<size_t>(getNumScanInputs());
  int64_t length = kDynamic;
  for (auto [index, input] : llvm::enumerate(getInputs().drop_front(states))) {
    std::optional<Dims> dims = dimsOf(input);
    if (!dims)
      continue;
    int64_t given = getInputAxes() ? toInts(*getInputAxes())[index] : 0;
    FailureOr<int64_t> axis = normalizeAxis(*this, given, static_cast<int64_t>(dims->size()));
    if (failed(axis))
      return failure();
    int64_t extent = (*dims)[static_cast<size_t>(*axis)];
    if (!mergeExtent(length, extent))
      return emitOpError("scans ")
             << length << " and " << extent << " slices; expected as many of each input";
  }
  for (unsigned index = 0; index < getNumResults(); ++index) {
    Value given = (*yield)->getOperand(index);
    if (index < states) {
      if (failed(setCommon(*this, index, getInputs()[index], given)))
        return failure();
      continue;
    }
    std::optional<Dims> dims = dimsOf(given);
    if (dims) {
      int64_t wanted = getOutputAxes() ? toInts(*getOutputAxes())[index - states] : 0;
      FailureOr<int64_t> axis =
          normalizeAxis(*this, wanted, static_cast<int64_t>(dims->size()) + 1);
      if (failed(axis))
        return failure();
      dims->insert(dims->begin() + *axis, length);
    }
    if (failed(setResult(*this, index, elementTypeOf(given), dims)))
      return failure();
  }
  return success();
}
