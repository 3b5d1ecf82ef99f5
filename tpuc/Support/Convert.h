//===- Convert.h - Tensors from one element type to another -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_CONVERT_H
#define TPUC_SUPPORT_CONVERT_H

#include "tpuc/Support/Float.h"
#include "tpuc/Support/Rounding.h"
#include "tpuc/Support/Tensor.h"

#include <span>

namespace tpuc {

/// What becomes of an integer that the target integer type cannot hold.
enum class IntegerOverflow : uint8_t {
  Saturate, ///< The nearest end of the range, as chips do.
  Wrap,     ///< The low bits, as C and numpy do. Applies to integer sources only.
};

struct ConvertOptions {
  /// Floats and integers to floats.
  RoundingMode floatRounding = RoundingMode::HalfToEven;
  Overflow floatOverflow = Overflow::Infinity;
  /// Floats to integers.
  RoundingMode integerRounding = RoundingMode::TowardZero;
  IntegerOverflow integerOverflow = IntegerOverflow::Saturate;
};

/// The elements of `tensor` as `to`, each rounded at most once:
///   float -> float     rounded and overflowing as in Float.h;
///   integer -> float   the same;
///   float -> integer   rounded toward zero unless asked otherwise, saturated, NaN to 0;
///   integer -> integer saturated, or wrapped on request;
///   anything -> bool   whether it is not 0 (so NaN is true);
///   bool -> number     0 or 1; any stored byte but 0 is read as 1.
/// Values that `to` can hold come out as from numpy's astype. When the type is `to` already, the
/// result is the same handle, elements shared. Elements need no alignment. Throws std::bad_alloc.
Tensor convert(const Tensor &tensor, DataType to, const ConvertOptions &options = {});

/// Two elements per byte, the first in the low nibble; of each value the low four bits are taken.
/// `to` must hold (from.size() + 1) / 2 bytes; a last upper nibble is 0.
void pack4(std::span<const uint8_t> from, std::span<uint8_t> to);
inline void pack4(std::span<const int8_t> from, std::span<uint8_t> to) {
  pack4(std::span(reinterpret_cast<const uint8_t *>(from.data()), from.size()), to);
}
/// The reverse: `from` must hold (to.size() + 1) / 2 bytes. The signed form extends the sign.
void unpack4(std::span<const uint8_t> from, std::span<uint8_t> to);
void unpack4(std::span<const uint8_t> from, std::span<int8_t> to);

} // namespace tpuc

#endif // TPUC_SUPPORT_CONVERT_H
