//===- Kernels.h - Loops over rows, per instruction set ------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inner loops of the simulators. They are compiled three times, for any processor, AVX2 and
// AVX-512, from the same text (KernelsImpl.inc), and give the same bits each time. All of them
// expect the floating-point environment of ScopedFlush: to nearest, denormals flushed in and out.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_KERNELS_H
#define TPUC_TARGET_BM168X_KERNELS_H

#include "tpuc/Support/SimdLevel.h"
#include "tpuc/Target/BM168x/Fields.h"

#include <cstdint>

namespace tpuc::bm168x {

/// Columns of the tiles that the matrix kernels work on, and lanes of their vectors.
inline constexpr int64_t kTile = 64;
inline constexpr int64_t kVector = 16;
/// Products that a 16-bit multiply-accumulate sums exactly before it rounds.
inline constexpr int64_t kBlock = 32;

/// Element-wise operations on two rows.
enum class RowOp : uint8_t { Mul, Add, Sub, Max, Min, And, Or, Xor, AbsDiff };

struct Kernels {
  const char *name;

  /// Elements `stride` apart become f32 (f16 denormals are kept, others flushed).
  void (*loadFloat)(Prec prec, const uint8_t *src, int64_t stride, int64_t count, float *out);
  /// f32 to the type, to nearest even; NaN becomes 0x7fff in 16 bits.
  void (*storeFloat)(Prec prec, uint8_t *dst, int64_t stride, int64_t count, const float *in);
  /// Rounds f32 values to what the type can hold.
  void (*roundFloat)(Prec prec, int64_t count, float *values);
  void (*arithFloat)(RowOp op, int64_t count, const float *a, const float *b, float *out);
  /// out = round(round(a * b) + c)
  void (*mulAddFloat)(Prec prec, int64_t count, const float *a, const float *b, const float *c,
                      float *out);
  /// acc = round(acc + round(x * w)), x `stride` apart.
  void (*macFloat)(Prec prec, int64_t count, const float *x, int64_t stride, float w, float *acc);
  void (*maxFloat)(int64_t count, const float *x, int64_t stride, float *acc);

  void (*loadInt32)(Prec prec, bool isSigned, const uint8_t *src, int64_t stride, int64_t count,
                    int32_t *out);
  void (*loadInt64)(Prec prec, bool isSigned, const uint8_t *src, int64_t stride, int64_t count,
                    int64_t *out);
  void (*storeInt32)(Prec prec, bool isSigned, bool saturates, uint8_t *dst, int64_t stride,
                     int64_t count, const int32_t *in);
  void (*storeInt64)(Prec prec, bool isSigned, bool saturates, uint8_t *dst, int64_t stride,
                     int64_t count, const int64_t *in);
  void (*arithInt32)(RowOp op, int64_t count, const int32_t *a, const int32_t *b, int32_t *out);
  void (*arithInt64)(RowOp op, int64_t count, const int64_t *a, const int64_t *b, int64_t *out);
  /// values * 2^shift; a negative shift rounds in one of the seven modes. Wraps to the left.
  void (*shiftInt32)(int64_t count, int32_t *values, int shift, unsigned mode);
  void (*shiftInt64)(int64_t count, int64_t *values, int shift, unsigned mode);
  void (*macInt32)(int64_t count, const int32_t *x, int64_t stride, int32_t w, int32_t *acc);
  void (*maxInt32)(int64_t count, const int32_t *x, int64_t stride, int32_t *acc);
  /// Row kernels of the requantizations: (x - before) * factor.
  void (*scaleInt64)(int64_t count, const int32_t *x, int64_t before, int64_t factor, int64_t *out);

  /// Two sums per element, products going to them alternately. `x` is [depth][kTile], `w` is
  /// [rows][depth] with rows `wStride` apart, the sums are [rows][kTile]. `oddFirst`: the first
  /// product goes to `odd`. Only the first `vectors` * kVector columns are touched.
  void (*gemmFloat)(int64_t rows, int64_t depth, int64_t vectors, const float *w, int64_t wStride,
                    const float *x, bool oddFirst, float *even, float *odd);
  /// One block of 16-bit products: their exact sum, each truncated 24 bits below the largest
  /// one's leading bit, rounded, is added to `sums` ([rows][kTile]). `x` is [depth][kTile], depth
  /// at most kBlock. A product is zero or infinite where f32 cannot hold it.
  void (*gemmBlock)(int64_t rows, int64_t depth, int64_t vectors, const float *w, int64_t wStride,
                    const float *x, float *sums);
  /// Two rows of kTile 8-bit integers, widened and interleaved: [kTile][2].
  void (*interleave)(bool isSigned, const uint8_t *a, const uint8_t *b, int16_t *out);
  /// Pairs of 16-bit integers: `x` is [pairs][kTile][2], `w` is [rows][pairs][2] with rows
  /// `wStride` pairs apart; the sums wrap in 32 bits.
  void (*gemmInt)(int64_t rows, int64_t pairs, int64_t vectors, const int16_t *w, int64_t wStride,
                  const int16_t *x, int32_t *sums);
};

/// The kernels of a level, which the processor must have.
const Kernels &kernelsFor(SimdLevel level);

/// The chips' floating-point environment for the calling thread: to nearest, denormal operands and
/// results are zero. Restores the former one when it goes.
class ScopedFlush {
public:
  ScopedFlush();
  ~ScopedFlush();
  ScopedFlush(const ScopedFlush &) = delete;
  ScopedFlush &operator=(const ScopedFlush &) = delete;

private:
  unsigned saved;
};

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_KERNELS_H
