//===- StoredFixedPoint.h - What ops in fixed point share ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_STOREDFIXEDPOINT_H
#define TPUC_INTERPRETER_STOREDFIXEDPOINT_H

#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"

#include <algorithm>
#include <cmath>

namespace tpuc {

/// Whether all of these are of the integers of the first: at most 8 bits, or 16 with the zero point
/// 0. What is computed of them fits 32 bits.
bool areAlike(llvm::ArrayRef<quant::UniformQuantizedType> types);

/// The integers of a constant that states scales: one, or one for each channel, of which `inner`
/// elements lie together (0: all of them); none where it states others, or its numbers need more
/// than the bits of `type`: I8, I32 or I64. `rest`, where it is not empty, is added to each.
std::optional<Tensor> integersOf(const Tensor &numbers, llvm::ArrayRef<double> scales,
                                 DataType type, int64_t inner = 0,
                                 llvm::ArrayRef<int64_t> rest = {});

/// The scales that a constant states.
std::vector<double> scalesOf(mlir::Value value);

/// How result 0 is stored, with the op's ReLU.
template <typename Op> kernels::FixedResult resultOf(Op op) {
  quant::UniformQuantizedType type = tpu::quantizedType(op->getResult(0));
  kernels::FixedResult result{tpu::paramsOf(type), tpu::rangeOf(type)};
  if constexpr (requires { op.getDoRelu(); }) {
    if (!op.getDoRelu())
      return result;
    const auto high = static_cast<int64_t>(result.range.highest);
    result.range.lowest = std::max(result.range.lowest, result.params.zeroPoint);
    if (const double limit = op.getReluLimit().convertToDouble(); limit >= 0) {
      const float steps = static_cast<float>(limit) / static_cast<float>(result.params.scale);
      const auto top = static_cast<int64_t>(std::round(steps)) + result.params.zeroPoint;
      result.range.highest = static_cast<uint64_t>(std::min(high, top));
    }
  }
  return result;
}

// Products in fixed point. False where the op's numbers are to be computed instead. Errors:
// operands whose shapes do not fit each other.
Expected<bool> fixedConv(top::ConvOp op, EvalContext &context);
Expected<bool> fixedDeconv(top::DeconvOp op, EvalContext &context);
Expected<bool> fixedMatMul(top::MatMulOp op, EvalContext &context);

} // namespace tpuc

#endif // TPUC_INTERPRETER_STOREDFIXEDPOINT_H
