//===- RoundedSteps.h - Steps that are rounded to their type ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ONNX defines a softmax and attention by ops on tensors of one type, so in f16 and bf16 each of
// these rounds. Elements are held in a compute type T here.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_ROUNDEDSTEPS_H
#define TPUC_INTERPRETER_KERNELS_ROUNDEDSTEPS_H

#include "tpuc/Support/Float.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace tpuc::kernels {

/// `value` as an element of the float `type`, of 16 bits or more, holds it.
template <typename T> T rounded(T value, DataType type) {
  if (type == DataType::F16)
    return static_cast<T>(f16ToF32(f32ToF16(static_cast<float>(value))));
  if (type == DataType::BF16)
    return static_cast<T>(bf16ToF32(f32ToBF16(static_cast<float>(value))));
  return type == DataType::F32 ? static_cast<T>(static_cast<float>(value)) : value;
}

/// Replaces each value by rounded(function(value)).
template <typename Values, typename Function>
void step(Values &&values, DataType type, Function &&function) {
  if (type == DataType::F16 || type == DataType::BF16) {
    for (auto &value : values)
      value = rounded(function(value), type);
    return;
  }
  for (auto &value : values)
    value = function(value);
}

/// The sum of bf16 elements, rounded after each addition: halves of a long row are added first, so
/// that small elements do not vanish in a large sum.
template <typename T> T pairwiseSumBf16(std::span<const T> values) {
  constexpr size_t kInOrder = 8;
  if (values.size() >= kInOrder) {
    size_t half = values.size() / 2;
    return rounded(pairwiseSumBf16(values.first(half)) + pairwiseSumBf16(values.subspan(half)),
                   DataType::BF16);
  }
  T sum = 0;
  for (T value : values)
    sum = rounded(sum + value, DataType::BF16);
  return sum;
}

/// The sum of elements of `type`: of bf16 rounded after each addition, of others at the end, which
/// is what numpy does and so what ONNX expects.
template <typename T> T roundedSum(std::span<const T> values, DataType type) {
  if (type == DataType::BF16)
    return pairwiseSumBf16(values);
  double sum = 0;
  for (T value : values)
    sum += static_cast<double>(value);
  return rounded(static_cast<T>(sum), type);
}

/// exp(x - largest) / sum of these, in place, rounded to `type` at every step. NaN where all are
/// -inf.
template <typename T> void softmaxInSteps(std::span<T> row, DataType type) {
  T most = -std::numeric_limits<T>::infinity();
  for (T value : row)
    most = std::max(most, value);
  step(row, type, [&](T value) { return value - most; });
  step(row, type, [](T value) { return std::exp(value); });
  T sum = roundedSum(std::span<const T>(row), type);
  step(row, type, [&](T value) { return value / sum; });
}

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_ROUNDEDSTEPS_H
