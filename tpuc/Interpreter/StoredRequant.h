//===- StoredRequant.h - How tpu ops say that sums become stored integers ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_STOREDREQUANT_H
#define TPUC_INTERPRETER_STOREDREQUANT_H

#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/IntegerRequant.h"

namespace tpuc {

/// The factors of an op with `multiplier` and `rshift`.
std::vector<MultiplierShift> factorsOf(mlir::ArrayAttr multipliers, mlir::ArrayAttr shifts);

/// What stored results of `type` may be, as kernels take it.
IntegerRange kernelRange(const tpu::StoredRange &range);

/// Cuts off above `range` where kernels cannot: below 0.
void limitBelowZero(const tpu::StoredRange &range, Tensor &output);

/// How the results of `op`, which has the attributes of a requantization, are stored.
template <typename Op> kernels::RequantParams requantOf(Op op, const tpu::StoredRange &range) {
  kernels::RequantParams params;
  params.mode = *parseRequantMode(op.getQuantMode().value_or("MultiplierShift"));
  params.rounding = *parseRoundingMode(op.getRoundMode().value_or("HalfUp"));
  params.factors = factorsOf(*op.getMultiplier(), *op.getRshift());
  params.zeroPoint = static_cast<int32_t>(tpu::zeroPointOf(op->getResult(0)));
  params.range = kernelRange(range);
  return params;
}

/// The range of result 0 with the op's ReLU, if it has one.
template <typename Op> tpu::StoredRange storedRange(Op op) {
  quant::UniformQuantizedType type = tpu::quantizedType(op->getResult(0));
  if constexpr (requires { op.getDoRelu(); })
    return tpu::reluRange(type, op.getDoRelu(), op.getReluLimit().convertToDouble());
  return tpu::reluRange(type, false, -1);
}

/// The type in which result 0 is stored.
DataType resultType(mlir::Operation *op);

inline int32_t zeroPoint(mlir::Value value) {
  return static_cast<int32_t>(tpu::zeroPointOf(value));
}

} // namespace tpuc

#endif // TPUC_INTERPRETER_STOREDREQUANT_H
