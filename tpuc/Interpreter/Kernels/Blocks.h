//===- Blocks.h - Elements of any type in few C++ types ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels compute in four C++ types. A block of elements of any other type is converted on the way
// in and out, so that a kernel has four instances and not nineteen.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_BLOCKS_H
#define TPUC_INTERPRETER_KERNELS_BLOCKS_H

#include "tpuc/Support/Tensor.h"

#include <span>

namespace tpuc::kernels {

/// Elements of a block: two operands and a result stay in the first-level cache. Even, so that
/// blocks of 4-bit elements start at whole bytes.
inline constexpr int64_t kBlockElements = 512;

/// The type in which kernels compute on elements of `type`: F64 for f64, F32 for all other floats
/// (so that results are rounded once), U64 for u64, I64 for all other integers and bool (so that
/// results modulo 2^n are exact).
DataType workingType(DataType type);

template <typename T>
concept Working = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                  std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t>;

/// Elements `first` to `first + to.size()` of `tensor` as T: float, double, int64_t or uint64_t.
/// Floats become integers by truncation, saturated; integers become others modulo 2^64 and floats
/// rounded to nearest; bools are 0 or 1. `first` must be even for 4-bit types.
template <Working T> void loadBlock(const Tensor &tensor, int64_t first, std::span<T> to);

/// The reverse: floats are rounded to nearest even (overflow gives infinity, or NaN where the type
/// has none), floats become integers by truncation, saturated; integers lose their high bits.
/// Whatever is not 0 is a true bool.
template <Working T> void storeBlock(std::span<const T> from, Tensor &tensor, int64_t first);

/// `tensor` as elements of T; the same elements where it holds T already.
template <Working T> Tensor toWorking(const Tensor &tensor);

/// Calls `body(T())` with T the C++ type of `working`, which is a working type.
template <typename Body> decltype(auto) dispatchWorking(DataType working, Body &&body) {
  switch (working) {
  case DataType::F64:
    return body(double());
  case DataType::F32:
    return body(float());
  case DataType::U64:
    return body(uint64_t());
  default:
    assert(working == DataType::I64);
    return body(int64_t());
  }
}

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_BLOCKS_H
