//===- LocalTensor.h - Tensors in lanes and in global memory -- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_KERNELS_LOCALTENSOR_H
#define TPUC_TARGET_CV18XX_KERNELS_LOCALTENSOR_H

#include "tpuc/Target/CV18xx/Kernels/Builder.h"

namespace tpuc::cv18xx {

/// A tensor in local memory whose channel c lies in lane c mod lanes, and there in slot c div
/// lanes. Strides are bytes: of n, of slots, of h, of w; 0 repeats an element.
struct LocalTensor {
  uint32_t address = 0;
  Extents shape = {1, 1, 1, 1};
  std::array<uint32_t, 4> strides = {};
  bool isBf16 = false;

  uint32_t elementBytes() const { return isBf16 ? 2 : 1; }
  /// Whether it lies as `alignedTensor` has it, so that commands need no strides.
  bool isAligned(const Chip &chip) const;
};

/// A tensor whose channels begin at whole lines, without other gaps.
LocalTensor alignedTensor(const Chip &chip, uint32_t address, const Extents &shape, bool isBf16);
/// What it takes in each lane.
uint32_t alignedBytes(const Chip &chip, const Extents &shape, bool isBf16);
/// One without gaps.
LocalTensor compactTensor(const Chip &chip, uint32_t address, const Extents &shape, bool isBf16);

/// A tensor in global memory: an offset to a base register; elements of a row follow each other.
/// Strides are bytes: of n, c and h; 0 repeats.
struct GlobalTensor {
  unsigned base = 0;
  uint64_t offset = 0;
  Extents shape = {1, 1, 1, 1};
  std::array<uint64_t, 3> strides = {};
  bool isBf16 = false;
};

// Transfers between tensors of the same shape and type. Extents of up to 65535 elements and strides
// of any size are taken; errors (without `where`) say what the chip refuses.

Expected<void> emitLoad(Builder &builder, const GlobalTensor &from, const LocalTensor &to);
Expected<void> emitStore(Builder &builder, const LocalTensor &from, const GlobalTensor &to);
Expected<void> emitMove(Builder &builder, const GlobalTensor &from, const GlobalTensor &to);
/// `count` elements one behind the other become one number, whose bits these are.
Expected<void> emitFill(Builder &builder, const GlobalTensor &begin, uint64_t count, uint16_t bits);
/// Gives all elements of a tensor in local memory the same bits.
Expected<void> emitFill(Builder &builder, const LocalTensor &to, uint16_t bits);
/// Within lanes, between tensors of the same shape. Integers, with a sign or without, become BF16
/// and the reverse: rounded to the nearest, ties to even, or towards 0, and saturated.
Expected<void> emitConversion(Builder &builder, const LocalTensor &from, const LocalTensor &to,
                              bool isSigned = true, bool truncates = false);

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_KERNELS_LOCALTENSOR_H
