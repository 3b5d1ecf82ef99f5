//===- ComputeType.h - The types in which kernels compute -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_COMPUTETYPE_H
#define TPUC_INTERPRETER_KERNELS_COMPUTETYPE_H

#include "tpuc/Support/Tensor.h"

#include <type_traits>

namespace tpuc::kernels {

/// The type in which a kernel computes on elements of `type`: f64 for f64, f32 for all other floats
/// (so results are rounded once), i64 for integers and bool (so results modulo 2^n are exact).
DataType computeType(DataType type);

/// `tensor` in the compute type of `result`, the type of what is computed from it; the same
/// elements if it has that already. Floats that become integers are rounded towards zero.
Tensor toCompute(const Tensor &tensor, DataType result);

/// The elements of `from` in the type of `to`: floats rounded once, integers modulo 2^n.
/// Both have the same number of elements.
void store(const Tensor &from, Tensor &to);

/// Calls `body(T())` with T the C++ type of `compute`, a compute type.
template <typename Body> void dispatchCompute(DataType compute, Body &&body) {
  switch (compute) {
  case DataType::F64:
    return body(double());
  case DataType::F32:
    return body(float());
  default:
    assert(compute == DataType::I64);
    return body(int64_t());
  }
}

/// Calls `body(T(), result)` where `result` is `output`, or stands in for it in its compute type
/// and is stored into it afterwards.
template <typename Body> void computeInto(Tensor &output, Body &&body) {
  DataType compute = computeType(output.type());
  if (compute == output.type())
    return dispatchCompute(compute, [&](auto zero) { body(zero, output); });
  Tensor result(compute, output.shape());
  dispatchCompute(compute, [&](auto zero) { body(zero, result); });
  store(result, output);
}

/// The type in which products are added: integers wrap around, which only unsigned ones may.
template <typename T>
using Accumulator = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;

/// max(value, 0), and at most `limit` unless that is negative; NaN stays.
template <typename T> T relu(T value, double limit) {
  if (value < T(0))
    return T(0);
  if (limit >= 0 && value > static_cast<T>(limit))
    return static_cast<T>(limit);
  return value;
}

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_COMPUTETYPE_H
