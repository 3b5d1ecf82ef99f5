//===- Evaluate.cpp - What an op computes -------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Interpreter/OpAttributes.h"

#include "mlir/IR/Location.h"

#include "tpuc/Interpreter/EvaluateInterface.cpp.inc"

using namespace tpuc;

EvalContext::EvalContext(mlir::Operation *op, llvm::ArrayRef<std::optional<Tensor>> operands,
                         Allocate allocate, RunRegion runRegion, ThreadPool &threads)
    : OpContext(operands, op->getNumResults(), threads), operation(op),
      allocator(std::move(allocate)), regionRunner(std::move(runRegion)) {}

bool EvalContext::wants(unsigned index) const {
  return top::isPresent(operation->getResult(index));
}

Expected<Tensor> EvalContext::room(unsigned index, DataType type, const Shape &shape) {
  return allocator(index, type, shape);
}

bool EvalContext::isConstant(unsigned index) const {
  return operation->getOperand(index).getDefiningOp<top::WeightOp>();
}

std::optional<ops::Attribute> EvalContext::attribute(std::string_view name) const {
  const mlir::Attribute found = operation->getAttr(name);
  return found ? opAttribute(found) : std::nullopt;
}

std::string EvalContext::place() const {
  return "layer '" + layerName(operation) + "' (" + operation->getName().getStringRef().str() + ")";
}
