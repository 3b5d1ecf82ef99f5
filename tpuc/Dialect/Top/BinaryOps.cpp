//===- BinaryOps.cpp - Element by element, several operands ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

static LogicalResult verifyInputs(Operation *op) {
  if (op->getNumOperands() == 0)
    return op->emitOpError("has no operand; expected at least one");
  return verifySameElements(op, op->getOperands());
}

static LogicalResult verifyCoefficients(Operation *op, std::optional<ArrayAttr> coeff) {
  if (coeff && coeff->size() != op->getNumOperands())
    return op->emitOpError("attribute 'coeff' has ")
           << coeff->size() << " elements; expected one per operand: " << op->getNumOperands();
  return verifyInputs(op);
}

static LogicalResult verifyScaling(Operation *op, int64_t multiplier, int64_t rshift) {
  if (failed(verifyInputs(op)))
    return failure();
  if (isa<IntegerType>(elementTypeOf(op->getOperand(0))) && (multiplier != 1 || rshift != 0))
    return op->emitOpError("scales integers by ")
           << multiplier << " / 2^" << rshift << "; expected multiplier 1 and rshift 0";
  return success();
}

static LogicalResult verifyComparison(Operation *op, StringRef mode) {
  return verifyChoice(op, "mode", mode,
                      {"Equal", "NotEqual", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"});
}

LogicalResult AddOp::verify() { return verifyCoefficients(*this, getCoeff()); }
LogicalResult SubOp::verify() { return verifyCoefficients(*this, getCoeff()); }
LogicalResult MulOp::verify() { return verifyScaling(*this, getMultiplier(), getRshift()); }
LogicalResult DivOp::verify() { return verifyScaling(*this, getMultiplier(), getRshift()); }
LogicalResult MinOp::verify() { return verifyInputs(*this); }
LogicalResult MaxOp::verify() { return verifyInputs(*this); }
LogicalResult MeanOp::verify() { return verifyInputs(*this); }
LogicalResult ModOp::verify() { return verifyInputs(*this); }

LogicalResult CompareOp::verify() {
  if (failed(verifyComparison(*this, getMode())))
    return failure();
  return verifyInputs(*this);
}

LogicalResult CompareConstOp::verify() { return verifyComparison(*this, getMode()); }

LogicalResult LogicalBinaryOp::verify() {
  return verifyChoice(*this, "mode", getMode(), {"And", "Or", "Xor"});
}

LogicalResult BitwiseBinaryOp::verify() {
  if (failed(verifyChoice(*this, "mode", getMode(), {"And", "Or", "Xor"})))
    return failure();
  return verifyInputs(*this);
}

LogicalResult BitShiftOp::verify() {
  if (failed(verifyChoice(*this, "direction", getDirection(), {"LEFT", "RIGHT"})))
    return failure();
  return verifyInputs(*this);
}

LogicalResult WhereOp::verify() { return verifySameElements(*this, {getX(), getY()}); }
LogicalResult PReluOp::verify() { return verifyInputs(*this); }
