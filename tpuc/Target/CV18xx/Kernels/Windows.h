//===- Windows.h - Convolutions and pools --------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_KERNELS_WINDOWS_H
#define TPUC_TARGET_CV18XX_KERNELS_WINDOWS_H

#include "tpuc/Target/CV18xx/Kernels/LocalTensor.h"

namespace tpuc::cv18xx {

/// A window over pictures, along h and w.
struct Window {
  std::array<uint32_t, 2> kernel = {1, 1}, stride = {1, 1}, dilation = {1, 1};
  std::array<uint32_t, 2> padBegin = {}, padEnd = {};
  /// Zeros between the values of the input.
  std::array<uint32_t, 2> insert = {};
};

/// Bytes of what the channels of integers carry: bias (i32), multiplier (u32), shift (u8).
inline constexpr uint32_t kRequantBytes = 9;

/// A convolution or depthwise convolution of tensors of one type. Filters lie without gaps as [oc,
/// kh, kw, ic], those of depthwise ones aligned as [c, kh, kw]. Integers are signed; each channel
/// has `kRequantBytes` at `parameters`: y = saturate(relu((sum + bias) * multiplier / 2^31, half
/// up, / 2^shift, half away from zero)). BF16: `parameters` has the upper halves of float32 biases,
/// and `halfDistance` bytes behind them the lower ones; none: no bias. A part of the channels of a
/// tensor, its filter and its parameters begins in any lane, if it is of one picture.
struct Convolution {
  LocalTensor input, result;
  Window window;
  uint32_t filter = 0;
  std::optional<uint32_t> parameters;
  uint32_t halfDistance = 0;
  bool isDepthwise = false;
  bool hasRelu = false;
  /// Whether it adds to sums of 32 bits that lie where the result does, and leaves such sums there,
  /// without parameters and ReLU: four planes of bytes, or the upper and the lower halves of
  /// float32, so many bytes apart.
  bool addsSums = false, leavesSums = false;
  uint32_t planeDistance = 0;
};

// Errors (without `where`): what the chip refuses, as inputs with gaps.
Expected<void> emitConvolution(Builder &builder, const Convolution &convolution);

struct Pool {
  LocalTensor input, result;
  Window window;
};
/// Padding never wins.
Expected<void> emitMaxPool(Builder &builder, const Pool &pool);
/// Padding counts as 0. BF16: sums of products with `factor`, whose bits it is. Signed integers:
/// the sum times `factor`, of 8 bits without sign, / 2^shift, half up.
Expected<void> emitAveragePool(Builder &builder, const Pool &pool, uint16_t factor,
                               unsigned shift = 0);

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_KERNELS_WINDOWS_H
