//===- Simd.h - Inner loops, per instruction set ----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops over f32 in which networks spend their time, compiled once for each instruction set.
// With fused multiply-add (AVX2, AVX-512) they give the same bits whichever is used.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_SIMD_H
#define TPUC_INTERPRETER_KERNELS_SIMD_H

#include "tpuc/Interpreter/Kernels/Binary.h"
#include "tpuc/Interpreter/Kernels/Unary.h"
#include "tpuc/Support/SimdLevel.h"

#include <array>

namespace tpuc::kernels {

/// Channels of a block of the blocked layout, columns of a block of a packed matrix.
inline constexpr int64_t kBlock = 16;

/// A tile of sums of products: for each pixel p, block r and column c
///   output[p][r * outputStep + c] = bias[r][c] + sum over taps t, terms k of
///                                   source[t][p][k] * weights[t][k][r][c],
/// limited to [low, high] after the last terms. Terms come in blocks of 16 that lie `steps` floats
/// apart.
struct TileArgs {
  /// [taps][pixels].
  const float *const *sources;
  /// The same for the distances between blocks of terms, `stepsPerTap` entries for each tap.
  const int64_t *steps;
  int64_t stepsPerTap;
  int64_t taps;
  int64_t blocks;    ///< Blocks of terms of each tap, at least 1.
  int64_t lastTerms; ///< Terms of the last of them, 1 to 16.
  const float *weights;
  const float *bias; ///< Null: go on from what the output holds.
  float *const *outputs;
  int64_t outputStep;
  int64_t lastColumns; ///< Columns of the last block of the output, 1 to 16.
  bool clamp;
  float low, high;
  /// So many tiles one after the other, whose sources and outputs lie so many floats further on.
  int64_t repeats = 1;
  int64_t sourceAdvance = 0;
  int64_t outputAdvance = 0;
  /// What will be read next: brought into the cache meanwhile, `prefetchStep` bytes for each term.
  const char *prefetch = nullptr;
  int64_t prefetchStep = 0;
};
using TileFunction = void (*)(const TileArgs &);

/// A row of positions of a window that slides over one block of channels, 16 floats a pixel.
struct WindowRowArgs {
  /// The input rows under the kernel's rows, null for those in the padding.
  const float *const *rows;
  int64_t kernelHeight, kernelWidth;
  int64_t inputWidth, outputWidth;
  int64_t stride, dilation, pad; ///< Along the row.
  const float *weights;          ///< [kernelHeight][kernelWidth][16].
  const float *bias;             ///< [16].
  float *output;
  bool clamp;
  float low, high;
};
using WindowRowFunction = void (*)(const WindowRowArgs &);

/// How the second operand of a row operation is read.
enum class RowOperand : uint8_t {
  Same,    ///< Element by element.
  Scalar,  ///< One element for all.
  Channel, ///< 16 elements over and over.
};

struct SimdKernels {
  const char *name;
  /// Output blocks and pixels of the largest tiles: maxPixels[blocks - 1].
  int64_t maxBlocks;
  std::array<int64_t, 4> maxPixels;
  /// Null where there is no tile of so many pixels: tile[blocks - 1][pixels - 1].
  std::array<std::array<TileFunction, 12>, 4> tile;

  WindowRowFunction depthwiseRow;
  WindowRowFunction maximumRow;
  /// The sum of the taps that lie within the input.
  WindowRowFunction sumRow;

  /// out[i] = op(in[i]); `in` may be `out`. False: there is no such loop, and nothing was done.
  bool (*unaryRow)(UnaryOp op, float a, float b, const float *in, float *out, int64_t count);
  /// out[i] = min(max(in[i], low), high); NaN stays.
  void (*clipRow)(float low, float high, const float *in, float *out, int64_t count);
  /// out[i] = op(x[i], y[i]); with `isReversed`, op(y[i], x[i]). `out` may be an operand.
  void (*binaryRow)(BinaryOp op, bool isReversed, const float *x, const float *y, RowOperand kind,
                    float *out, int64_t count);

  /// to[j * toStep + i] = from[i * fromStep + j] for i, j < 16; rows of `from` from `fromRows` on
  /// count as 0, those of `to` from `toRows` on are not written.
  void (*transpose)(const float *from, int64_t fromStep, int64_t fromRows, float *to,
                    int64_t toStep, int64_t toRows);

  /// out = exp(beta * x) / sum of exp(beta * x).
  void (*softmaxRow)(const float *in, float beta, float *out, int64_t count);
  /// out = (x - mean) / sqrt(variance + epsilon) * weight + bias; null: 1 and 0.
  void (*layerNormRow)(const float *in, const float *weight, const float *bias, double epsilon,
                       float *out, int64_t count);
  /// The mean of `count` pixels of 16 channels, each channel by itself; the sum in f64.
  void (*meanPixels)(const float *in, int64_t count, float *mean);
};

/// Whether `unaryRow` knows `op`, which is the same at each level.
bool hasUnaryRow(UnaryOp op);

/// The loops for `level`, which the processor must have.
const SimdKernels &simdKernels(SimdLevel level);
inline const SimdKernels &simdKernels() { return simdKernels(bestSimdLevel()); }

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_SIMD_H
