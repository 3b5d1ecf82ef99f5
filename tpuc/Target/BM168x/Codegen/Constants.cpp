//===- Constants.cpp - Operands that are the same in every run ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Codegen/Constants.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

using namespace mlir;

namespace tpuc::bm168x::backend {

top::WeightOp constantOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto weight = dyn_cast<top::WeightOp>(op))
      return weight;
    if (!isa<tpu::UnpackOp, tpu::LoadOp>(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

std::optional<double> scalarOperand(Operation *op, unsigned index) {
  if (index >= op->getNumOperands())
    return std::nullopt;
  const Value value = op->getOperand(index);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1)
    return std::nullopt;
  top::WeightOp weight = constantOf(value);
  if (!weight)
    return std::nullopt;
  Expected<std::vector<float>> values = weight.read_as_float();
  return values ? std::optional<double>(values->front()) : std::nullopt;
}

bool isConstantOperand(Operation *op, unsigned index) {
  return constantOf(op->getOperand(index)) != nullptr;
}

Expected<Tensor> readConstant(Operation *op, unsigned index) {
  auto weight = op->getOperand(index).getDefiningOp<top::WeightOp>();
  if (!weight)
    return makeError("", "operand " + std::to_string(index) + " that is computed", "a constant");
  return weight.read();
}

} // namespace tpuc::bm168x::backend
