//===- StoredType.cpp - What stored integers stand for ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"

#include "mlir/IR/TypeUtilities.h"

using namespace tpuc;

quant::UniformQuantizedType tpu::quantizedType(mlir::Type type) {
  return mlir::dyn_cast<quant::UniformQuantizedType>(mlir::getElementTypeOrSelf(type));
}

int64_t tpu::zeroPointOf(mlir::Value value) {
  quant::UniformQuantizedType type = quantizedType(value);
  return type ? type.getZeroPoint() : 0;
}

QuantParams tpu::paramsOf(quant::UniformQuantizedType type) {
  return {type.getScale(), type.getZeroPoint()};
}

IntegerRange tpu::rangeOf(quant::UniformQuantizedType type) {
  return {type.getStorage().min, static_cast<uint64_t>(type.getStorage().max)};
}

bool tpu::hasIntegerFusion(mlir::Operation *op) {
  if (mlir::isa<SoftmaxOp>(op))
    return isQuantized(op->getResult(0));
  return mlir::isa<LayerNormOp, ScaleDotProductAttentionOp>(op) && isQuantized(op->getOperand(0));
}

tpu::StoredRange tpu::reluRange(quant::UniformQuantizedType type, bool doRelu, double limit) {
  StoredRange range{type.getStorage().min, type.getStorage().max};
  if (!doRelu)
    return range;
  range.low = std::max(range.low, type.getZeroPoint());
  if (limit >= 0)
    range.high = std::min(range.high, quantize(limit, paramsOf(type), rangeOf(type)));
  return range;
}
