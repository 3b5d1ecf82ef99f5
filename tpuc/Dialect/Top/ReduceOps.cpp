//===- ReduceOps.cpp - Reductions, searches ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

static Type indexElement(Operation *op) { return IntegerType::get(op->getContext(), 64); }

/// Removes `axis` or makes its extent 1.
static void reduceAxis(Dims &dims, int64_t axis, bool keepDims) {
  if (keepDims)
    dims[axis] = 1;
  else
    dims.erase(dims.begin() + axis);
}

LogicalResult ReduceOp::verify() {
  if (isPresent(getAxesTensor()) && getAxes())
    return emitOpError("has axes as attribute and as operand; expected at most one");
  return verifyChoice(*this, "mode", getMode(),
                      {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin",
                       "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum",
                       "ReduceLogSumExp"});
}

LogicalResult ReduceOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> dims = dimsOf(getInput());
  if (!dims)
    return setResult(*this, 0, element, std::nullopt);
  std::optional<Dims> axes = intsOf(getAxes(), getAxesTensor());
  if (!axes && isPresent(getAxesTensor())) {
    if (!getKeepdims())
      return setResult(*this, 0, element, std::nullopt);
    return setResult(*this, 0, element, Dims(dims->size(), kDynamic));
  }
  if (!axes || axes->empty()) {
    if (getNoopWithEmptyAxes())
      return setResult(*this, 0, element, dims);
    axes = llvm::to_vector(llvm::seq<int64_t>(0, dims->size()));
  }
  llvm::SmallBitVector reduced(dims->size());
  for (int64_t axis : *axes) {
    FailureOr<int64_t> normal = normalizeAxis(*this, axis, dims->size());
    if (failed(normal))
      return failure();
    if (reduced.test(*normal))
      return emitOpError("reduces axis ") << axis << " twice; expected each axis once";
    reduced.set(*normal);
  }
  for (int64_t axis = dims->size(); axis-- > 0;)
    if (reduced.test(axis))
      reduceAxis(*dims, axis, getKeepdims());
  return setResult(*this, 0, element, dims);
}

int64_t ReduceOp::flops() { return staticElements(getInput()); }

LogicalResult ArgOp::verify() {
  return verifyChoice(*this, "mode", getMode(), {"ArgMax", "ArgMin"});
}

LogicalResult ArgOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  if (dims) {
    FailureOr<int64_t> axis = normalizeAxis(*this, getAxis(), dims->size());
    if (failed(axis))
      return failure();
    if ((*dims)[*axis] == 0)
      return emitOpError("searches axis ")
             << static_cast<int64_t>(getAxis()) << " of extent 0; expected an element";
    reduceAxis(*dims, *axis, getKeepdims());
  }
  if (failed(setResult(*this, 0, indexElement(*this), dims)))
    return failure();
  return isPresent(getValues()) ? setResult(*this, 1, elementTypeOf(getInput()), dims) : success();
}

int64_t ArgOp::flops() { return staticElements(getInput()); }

LogicalResult TopKOp::verify() {
  if (isPresent(getKTensor()) == getK().has_value())
    return emitOpError("has k as ")
           << (getK() ? "attribute and as operand" : "neither attribute nor operand")
           << "; expected one of both";
  return success();
}

LogicalResult TopKOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  if (dims) {
    FailureOr<int64_t> axis = normalizeAxis(*this, getAxis(), dims->size());
    if (failed(axis))
      return failure();
    int64_t size = kDynamic;
    if (getK()) {
      size = *getK();
    } else if (std::optional<Dims> constant = constantInts(getKTensor())) {
      if (constant->size() != 1 || constant->front() < 0)
        return emitOpError("k has ")
               << constant->size() << " elements or is negative; expected one number from 0";
      size = constant->front();
    }
    int64_t extent = (*dims)[*axis];
    if (size != kDynamic && extent != kDynamic && size > extent)
      return emitOpError("takes ")
             << size << " elements of axis " << static_cast<int64_t>(getAxis())
             << "; expected at most its extent, " << extent;
    (*dims)[*axis] = size;
  }
  if (failed(setResult(*this, 0, elementTypeOf(getInput()), dims)))
    return failure();
  return setResult(*this, 1, indexElement(*this), dims);
}

int64_t TopKOp::flops() { return staticElements(getInput()); }

template <typename Op> static LogicalResult inferCumulative(Op op) {
  std::optional<Dims> dims = dimsOf(op.getInput());
  if (dims && op.getAxis() &&
      failed(normalizeAxis(op, static_cast<int64_t>(*op.getAxis()), dims->size())))
    return failure();
  return setResult(op, 0, elementTypeOf(op.getInput()), dims);
}

LogicalResult CumSumOp::inferShape() { return inferCumulative(*this); }
int64_t CumSumOp::flops() { return staticElements(getInput()); }

LogicalResult CumProdOp::inferShape() { return inferCumulative(*this); }
int64_t CumProdOp::flops() { return staticElements(getInput()); }

LogicalResult NonZeroOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  return setResult(*this, 0, indexElement(*this),
                   Dims{dims ? static_cast<int64_t>(dims->size()) : kDynamic, kDynamic});
}

int64_t NonZeroOp::flops() { return 0; }

LogicalResult UniqueOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  int64_t length = kDynamic;
  std::optional<Dims> values;
  if (!getAxis()) {
    values = Dims{kDynamic};
    if (auto type = dyn_cast<RankedTensorType>(getInput().getType()); type && type.hasStaticShape())
      length = type.getNumElements();
  } else if (dims) {
    FailureOr<int64_t> axis = normalizeAxis(*this, static_cast<int64_t>(*getAxis()), dims->size());
    if (failed(axis))
      return failure();
    length = (*dims)[*axis];
    values = dims;
    (*values)[*axis] = kDynamic;
  }
  if (failed(setResult(*this, 0, elementTypeOf(getInput()), values)))
    return failure();
  for (unsigned index : {1, 2, 3})
    if (isPresent(getResult(index)) &&
        failed(setResult(*this, index, indexElement(*this), Dims{index == 2 ? length : kDynamic})))
      return failure();
  return success();
}

int64_t UniqueOp::flops() { return 0; }

LogicalResult NmsOp::inferShape() {
  std::optional<Dims> boxes = dimsOf(getBoxes());
  std::optional<Dims> scores = dimsOf(getScores());
  if (boxes && (boxes->size() != 3 || (boxes->back() != 4 && boxes->back() != kDynamic)))
    return emitOpError("boxes are ") << getBoxes().getType() << "; expected [batch, n, 4]";
  if (scores && scores->size() != 3)
    return emitOpError("scores are ") << getScores().getType() << "; expected [batch, classes, n]";
  auto differ = [](int64_t a, int64_t b) { return a != kDynamic && b != kDynamic && a != b; };
  if (boxes && scores && (differ((*boxes)[0], (*scores)[0]) || differ((*boxes)[1], (*scores)[2])))
    return emitOpError("boxes are ") << getBoxes().getType() << " and scores "
                                     << getScores().getType() << "; expected as many of both";
  return setResult(*this, 0, indexElement(*this), Dims{kDynamic, 3});
}

int64_t NmsOp::flops() { return 0; }
