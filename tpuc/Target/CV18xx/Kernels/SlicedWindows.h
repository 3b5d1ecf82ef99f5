//===- SlicedWindows.h - Convolutions by slices of input channels -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A command adds up all products of its input channels. Where these and a row of the filter do not
// fit the lanes, slices of the channels come one after the other: the first command leaves sums of
// 32 bits in planes, the next ones add to them, and the last one makes the result.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_KERNELS_SLICEDWINDOWS_H
#define TPUC_TARGET_CV18XX_KERNELS_SLICEDWINDOWS_H

#include "tpuc/Target/CV18xx/Kernels/Windows.h"

namespace tpuc::cv18xx {

/// A convolution of one group between tensors of global memory. Of the window `padEnd` and `insert`
/// are not read: the extent of the result says where it ends.
struct SlicedConvolution {
  GlobalTensor input, result;
  Window window;
  /// The rows of the output channels without gaps, as `Convolution` has them.
  GlobalTensor filter;
  /// What the channels carry, in the region of the filter: packed parameters of integers, or the
  /// upper halves of float32 biases; then `halfDistance` bytes behind them the lower ones.
  std::optional<uint64_t> parameters;
  uint64_t halfDistance = 0;
  bool hasRelu = false;
  /// What no element of the result exceeds, as bits.
  std::optional<uint16_t> limit = std::nullopt;
};

/// What the lanes hold at a time: so many input channels, output channels, rows and columns.
struct SlicePlan {
  uint32_t inputs = 1, outputs = 1, rows = 1, columns = 1;
};

/// The plan that takes the least time by the first set of timing parameters; none where no slice
/// fits, or where windows lie in the padding alone.
std::optional<SlicePlan> bestSlices(const Chip &chip, const SlicedConvolution &convolution);

/// Whether the lanes hold the slices of a plan.
bool isPlanOf(const Chip &chip, const SlicedConvolution &convolution, const SlicePlan &plan);

/// Computes it with all of local memory; the next slice is loaded beside the products of one. Sums
/// of integers are those of one command; those of BF16 are in the order of the slices. Errors
/// (without `where`): what the chip refuses.
Expected<void> emitSliced(Builder &builder, const SlicedConvolution &convolution,
                          const SlicePlan &plan);

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_KERNELS_SLICEDWINDOWS_H
