//===- Elements.h - Elements of a tensor of any type, a block at a time --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_ELEMENTS_H
#define TPUC_SUPPORT_ELEMENTS_H

#include "tpuc/Support/Tensor.h"

#include <span>
#include <string>

namespace tpuc {

/// Elements `first` to `first + values.size()` of the row-major order as doubles; bools are 0 or 1.
/// Exact but for 64-bit integers beyond 2^53, which are rounded to nearest. Elements need no
/// alignment. `first` must be even for 4-bit types.
void loadElements(const Tensor &tensor, int64_t first, std::span<double> values);

/// 128 bits hold every integer of every type and the difference of two of them.
__extension__ using WideInteger = __int128;

/// The same for integer and bool tensors, always exact.
void loadElements(const Tensor &tensor, int64_t first, std::span<WideInteger> values);

std::string wideIntegerText(WideInteger value);

/// The element as a user reads it: all digits of integers, the shortest digits that give the same
/// float back, `true`, `nan`, `inf`.
std::string elementText(const Tensor &tensor, int64_t index);

} // namespace tpuc

#endif // TPUC_SUPPORT_ELEMENTS_H
