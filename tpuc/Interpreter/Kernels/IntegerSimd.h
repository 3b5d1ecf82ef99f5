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
#include "tpuc/Support/SimdLevel.h"

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

/// Whether a product with any 32-bit number, shifted by `rshift` from 0 to 62, fits in 32 bits.
constexpr bool isNarrow(MultiplierShift factor) {
  const auto multiplier = static_cast<int64_t>(factor.multiplier);
  const int64_t one = int64_t(1) << factor.rshift;
  return multiplier >= 0 ? multiplier <= one : -2 * multiplier <= one;
}

/// Where a requantization saturates, before the zero point is added: low <= high, and with it both
/// are numbers of one 8-bit type. The zero point has at most 10 bits.
struct RequantBounds {
  int32_t low, high, zeroPoint;
};

/// How the 32 bits of a word are read: a word holds terms of a sum of products, the first in the
/// low bits. Lanes are the operand of which a vector holds 16 words, factors the other.
enum class WordKind : uint8_t {
  Pairs,         ///< Two i16 in lanes and factors.
  UnsignedLanes, ///< Four u8 in lanes, four i8 in factors; with VNNI only.
  SignedLanes,   ///< Four i8 in lanes, four u8 in factors; with VNNI only.
};
inline constexpr int64_t kWordLanes = 16;
constexpr int64_t termsOfWord(WordKind kind) { return kind == WordKind::Pairs ? 2 : 4; }

/// A tile of sums of products: for each row r and lane l, of 16 times so many vectors,
///   sums[r * sumStep + l] = bias + sum over steps k of
///                           factors[k * factorStep + r * rowStep] . lanes[offsets[k] + l]
/// modulo 2^32, where . multiplies word by word and the bias is rowBias[r] or laneBias[l],
/// whichever is not null.
struct WordTileArgs {
  const uint32_t *lanes;
  const int64_t *offsets;
  int64_t steps;
  const uint32_t *factors;
  int64_t factorStep, rowStep;
  const int32_t *rowBias;
  const int32_t *laneBias;
  int32_t *sums;
  int64_t sumStep;
  /// So many tiles side by side.
  int64_t repeats = 1;
};
using WordTileFunction = void (*)(const WordTileArgs &);

inline constexpr int64_t kMaxWindowWords = 4;

/// Sixteen or fewer outputs of a window that slides over one plane of bytes: lane l of the vector
/// that begins at byte `source` belongs to output first + l.
struct WindowTile {
  int64_t source, first;
  int64_t pattern;
};

/// For each tile: sums[first + l] = bias + sum over rows y, words w of
///                                  factors[y * words + w] . word(y, w, l)
/// whose four bytes are those in the places 4 * l to 4 * l + 3 of its pattern, plus w * wordStep,
/// of the vector at plane + source + y * rowStep. Words are four u8, factors four i8.
struct WindowTileArgs {
  const uint8_t *plane;
  const WindowTile *tiles;
  int64_t count;
  const std::array<uint8_t, 64> *patterns;
  int64_t rows, rowStep;
  int64_t words, wordStep; ///< At most kMaxWindowWords words.
  bool isShort;            ///< Patterns reach no further than 32 bytes.
  const uint32_t *factors;
  int32_t bias;
  int32_t *sums;
};

/// Rows of accumulators, `sumStep` apart, that become rows of bytes, `toStep` apart.
struct RequantRows {
  const int32_t *sums;
  int64_t sumStep;
  int64_t rows, count;
  uint8_t *to;
  int64_t toStep;
};

/// A quantization of floats; low and high are integers, before the zero point is added.
struct QuantizeScale {
  double scale, low, high, zeroPoint;
};

struct IntegerSimd {
  const char *name;

  /// Tiles have 1, 2, 4 or 8 rows, up to this.
  int64_t maxRows;
  /// And 1 to so many vectors.
  int64_t maxVectors;
  /// tile[kind][log2(rows)][vectors - 1]; null where there is none.
  std::array<std::array<std::array<WordTileFunction, 3>, 4>, 3> tile;

  /// Null without VNNI.
  void (*windowTiles)(const WindowTileArgs &args);
  /// to[y * toStep + x] = from[y * fromStep + x] ^ flip.
  void (*copyPlane)(const uint8_t *from, int64_t fromStep, int64_t rows, int64_t columns,
                    uint8_t flip, uint8_t *to, int64_t toStep);

  /// to[i] = the word of the bytes sources[t][i * stride] ^ flip, t < 4. `to` has room for a
  /// multiple of 16 words; those behind the last are undefined.
  void (*packBytes)(const uint8_t *const *sources, int64_t stride, uint8_t flip, int64_t count,
                    uint32_t *to);
  /// The same for pairs of i16, (sources[t][i * stride] ^ flip) - zero with t < 2.
  void (*packPairs)(const uint8_t *const *sources, int64_t stride, uint8_t flip, int32_t zero,
                    int64_t count, uint32_t *to);

  /// to[i] = clamp(floor(sums[i] * multiplier / 2^rshift + 1/2), low, high) + zeroPoint, the low
  /// byte of it; exact products. rshift is 0 to 62. Row r has factors[r * factorStep].
  void (*requantRows)(const RequantRows &rows, const MultiplierShift *factors, int64_t factorStep,
                      const RequantBounds &bounds);
  /// The same for one row with a factor for each element. `isWide`: not all are narrow.
  void (*requantLanes)(const int32_t *sums, int64_t count, const MultiplierShift *factors,
                       bool isWide, const RequantBounds &bounds, uint8_t *to);

  /// sums[i] += row[i] * multiplier.
  void (*addRow)(const ByteRow &row, int64_t count, int32_t multiplier, int32_t *sums);
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
  /// to[i] = from[i * stride].
  void (*strideRow)(const uint8_t *from, int64_t stride, int64_t count, uint8_t *to);
  /// to[i] = clamp(round(from[i] / scale), low, high) + zeroPoint, in f64; NaN counts as 0.
  void (*quantizeRow)(const float *from, int64_t count, const QuantizeScale &scale,
                      RoundingMode mode, int32_t *to);
};

/// The loops for `level`, which the processor must have.
const IntegerSimd &integerSimd(SimdLevel level);
inline const IntegerSimd &integerSimd() { return integerSimd(bestSimdLevel()); }

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERSIMD_H
