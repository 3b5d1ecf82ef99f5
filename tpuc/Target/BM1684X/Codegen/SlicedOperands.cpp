//===- SlicedOperands.cpp - What kernels are told of a tiled op ---------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/SlicedOperands.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

LocalTensor operandOf(const TiledOp &tiled, unsigned index) {
  return layoutOf(tiled).operand(index).local(tiled.operands[index]);
}

LocalTensor resultOf(const TiledOp &tiled) { return layoutOf(tiled).result().local(tiled.result); }

uint32_t addressOf(const TiledOp &tiled, unsigned index) { return operandOf(tiled, index).address; }

uint32_t parametersOf(const TiledOp &tiled) {
  return layoutOf(tiled).operand(1).parameterAddress(tiled.operands[1]);
}

Scratch scratchRoom(const TiledOp &tiled) {
  return {static_cast<uint32_t>(tiled.scratchAddress), static_cast<uint32_t>(tiled.scratchBytes)};
}

bool isPresent(Operation *op, unsigned index) {
  return index < op->getNumOperands() && !isa<NoneType>(op->getOperand(index).getType());
}

Activation activationOf(Operation *op) {
  const auto relu = op->getAttrOfType<BoolAttr>("do_relu");
  const auto limit = op->getAttrOfType<FloatAttr>("relu_limit");
  return {.relu = relu && relu.getValue(), .limit = limit ? limit.getValueAsDouble() : -1};
}

int64_t groupOf(const TiledOp &tiled) {
  const int64_t group = tiled.op->getAttrOfType<IntegerAttr>("group").getInt();
  if (group > 1 && tiled.model->operands[0].maps[kAxisC].kind == AxisMap::Same)
    return resultOf(tiled).shape[1];
  return group;
}

} // namespace tpuc::bm1684x::backend
