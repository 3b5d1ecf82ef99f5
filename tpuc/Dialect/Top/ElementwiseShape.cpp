//===- ElementwiseShape.cpp - Shape inference of element-wise ops ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ElementwiseShape.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult tpuc::top::inferLikeFirst(Operation *op) {
  Value input = op->getOperand(0);
  return setResult(op, 0, elementTypeOf(input), dimsOf(input));
}

LogicalResult tpuc::top::inferPredicate(Operation *op) {
  return setResult(op, 0, IntegerType::get(op->getContext(), 1), dimsOf(op->getOperand(0)));
}

static LogicalResult inferBroadcastOf(Operation *op, Type element) {
  SmallVector<Value> operands(op->getOperands());
  FailureOr<std::optional<Dims>> dims = broadcast(op, operands);
  if (failed(dims))
    return failure();
  return setResult(op, 0, element, *dims);
}

LogicalResult tpuc::top::inferBroadcast(Operation *op) {
  return inferBroadcastOf(op, elementTypeOf(op->getOperand(0)));
}

LogicalResult tpuc::top::inferComparison(Operation *op) {
  return inferBroadcastOf(op, IntegerType::get(op->getContext(), 1));
}

LogicalResult tpuc::top::inferWhere(Operation *op) {
  return inferBroadcastOf(op, elementTypeOf(op->getOperand(1)));
}

LogicalResult tpuc::top::inferPRelu(Operation *op) {
  std::optional<Dims> input = dimsOf(op->getOperand(0));
  std::optional<Dims> slope = dimsOf(op->getOperand(1));
  if (input && slope) {
    bool fits = slope->size() <= input->size();
    for (size_t i = 1; fits && i <= slope->size(); ++i) {
      int64_t extent = (*slope)[slope->size() - i];
      int64_t target = (*input)[input->size() - i];
      fits = extent == 1 || extent == target || extent == kDynamic || target == kDynamic;
    }
    if (!fits)
      return op->emitOpError("slope is ")
             << op->getOperand(1).getType() << "; expected one that broadcasts to the input, "
             << op->getOperand(0).getType();
  }
  return inferLikeFirst(op);
}

int64_t tpuc::top::elementwiseFlops(Operation *op) {
  int64_t perElement = std::max<int64_t>(1, static_cast<int64_t>(op->getNumOperands()) - 1);
  return perElement * staticElements(op->getResult(0));
}
