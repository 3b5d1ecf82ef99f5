//===- IntegerTable.h - Functions of one 8-bit number ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERTABLE_H
#define TPUC_INTERPRETER_KERNELS_INTEGERTABLE_H

#include "tpuc/Interpreter/Kernels/IntegerRequant.h"

#include <array>
#include <span>

namespace tpuc::kernels {

/// A function of an 8-bit number: the bytes of its results, for u8 indexed by the number, for i8 by
/// the number + 128.
using ByteTable = std::array<uint8_t, 256>;

/// The table of what `value(q)` gives for each number q of `type` (i8 or u8); only the low byte
/// counts.
template <typename Function> ByteTable byteTable(DataType type, Function &&value) {
  ByteTable table;
  const int64_t lowest = integerRange(type).lowest;
  for (int64_t i = 0; i < 256; ++i)
    table[static_cast<size_t>(i)] = static_cast<uint8_t>(value(lowest + i));
  return table;
}

class Requantizer;

/// The table of what `requantizer` makes of q - zero with the factor of `channel`.
ByteTable requantTable(DataType type, int32_t zero, const Requantizer &requantizer,
                       int64_t channel);

/// output = table[input], element by element. Input and output are i8 or u8 of the same shape. One
/// table for all, or one for each position along `axis`.
void lookUp(const Tensor &input, std::span<const ByteTable> tables, int64_t axis, Tensor &output,
            ThreadPool &threads);

/// Leaky ReLU and PReLU: input - inputZero through `positive` (one factor) where it is at least 0,
/// else through `negative` (one factor, or one for each position along `axis`). The factors of
/// `negative` are the slope times what `positive` has. Input and output are i8 or u8.
void integerLeakyRelu(const Tensor &input, int32_t inputZero, const RequantParams &positive,
                      const RequantParams &negative, int64_t axis, Tensor &output,
                      ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERTABLE_H
