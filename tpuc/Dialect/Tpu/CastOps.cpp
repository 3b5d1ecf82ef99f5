//===- CastOps.cpp - Changes of the element type ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/TpuTraits.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tpuc;

LogicalResult tpu::CastOp::verify() { return verifyStoredTypes(*this); }

LogicalResult tpu::RequantIntOp::verify() {
  const Type input = getElementTypeOrSelf(getInput().getType());
  if (!isQuantized(getInput()) && !input.isInteger())
    return emitOpError("input type is ") << getInput().getType() << "; expected integers";
  if (!getMultiplier())
    return emitOpError("has no multiplier and rshift");
  return verifyStoredTypes(*this);
}

LogicalResult tpu::RoundToOp::verify() {
  if (!getElementTypeOrSelf(getInput().getType()).isF32())
    return emitOpError("input type is ") << getInput().getType() << "; expected f32 elements";
  if (!getType().isF16() && !getType().isBF16())
    return emitOpError("type is ") << getType() << "; expected f16 or bf16";
  return success();
}

LogicalResult tpu::LutOp::verify() {
  quant::UniformQuantizedType input = quantizedType(getInput());
  if (!input || input.getStorage().width != 8)
    return emitOpError("input type is ")
           << getInput().getType() << "; expected quantized values of 8 bits";
  auto table = cast<RankedTensorType>(getTable().getType());
  if (table.getNumElements() != 256 || !table.getElementType().isInteger(8))
    return emitOpError("table type is ") << table << "; expected 256 integers of 8 bits";
  if (!isQuantized(getOutput()) ||
      failed(verifyCompatibleShape(getOutput().getType(), getInput().getType())))
    return emitOpError("result type is ")
           << getOutput().getType() << "; expected quantized values in the shape of the input";
  return verifyStoredTypes(*this);
}
