//===- IntegerSimd.h - Inner loops over integers, per instruction set ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops over 8-bit numbers and their accumulators, compiled once for each instruction set. All
// give the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERSIMD_H
#define TPUC_INTERPRETER_KERNELS_INTEGERSIMD_H

#include "tpuc/Support/Requant.h"

#include <array>
#include <cstdint>

namespace tpuc::kernels {

/// Some of the bytes of a tensor of i8 or u8, read as (byte ^ flip) - zero: with a flip of 0x80 an
/// i8 becomes an unsigned number that is 128 larger.
struct ByteRow {
  const uint8_t *data;
  uint8_t flip;
  int32_t zero;
};

/// Where a requantization saturates, before the zero point is added: low <= high.
struct RequantBounds {
  int32_t low, high, zeroPoint;
};

struct IntegerSimd {
  const char *name;

  /// to[i] = clamp(floor(sums[i] * multiplier / 2^rshift + 1/2), low, high) + zeroPoint, the low
  /// byte of it; exact products. rshift is 0 to 62.
  void (*requantRow)(const int32_t *sums, int64_t count, MultiplierShift factor,
                     const RequantBounds &bounds, uint8_t *to);
  /// The same with a factor for each element.
  void (*requantLanes)(const int32_t *sums, int64_t count, const MultiplierShift *factors,
                       const RequantBounds &bounds, uint8_t *to);

  /// sums[i] += row[i] * multiplier.
  void (*addRow)(const ByteRow &row, int64_t count, int32_t multiplier, int32_t *sums);
  /// sums[i] += row[i * stride].
  void (*addStrided)(const ByteRow &row, int64_t count, int64_t stride, int32_t *sums);
  /// The sum of the elements of a row.
  int32_t (*sumRow)(const ByteRow &row, int64_t count);
  /// sums[i] = a[i] * b[i].
  void (*multiplyRows)(const ByteRow &a, const ByteRow &b, int64_t count, int32_t *sums);
  /// to[i] = the larger (`isMax`) or smaller of to[i] and from[i], both flipped by `flip` for the
  /// comparison.
  void (*extremeRow)(const uint8_t *from, bool isMax, uint8_t flip, int64_t count, uint8_t *to);
  /// to[i] = table[from[i] ^ flip], of 256 bytes.
  void (*lookUpRow)(const uint8_t *from, const uint8_t *table, uint8_t flip, int64_t count,
                    uint8_t *to);
};

/// Avx512Vnni is AVX-512 with VNNI and VBMI.
enum class IntegerLevel : uint8_t { Generic, Avx2, Avx512, Avx512Vnni };
/// The best that this processor has.
IntegerLevel bestIntegerLevel();
/// The loops for `level`, which the processor must have.
const IntegerSimd &integerSimd(IntegerLevel level);
inline const IntegerSimd &integerSimd() { return integerSimd(bestIntegerLevel()); }

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERSIMD_H
