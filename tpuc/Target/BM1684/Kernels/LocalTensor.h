//===- LocalTensor.h - Tensors in the local memory of the BM1684 ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_LOCALTENSOR_H
#define TPUC_TARGET_BM1684_KERNELS_LOCALTENSOR_H

#include "tpuc/Support/DataType.h"
#include "tpuc/Target/BM1684/Machine/Operands.h"

namespace tpuc::bm1684 {

/// The code of an element type in commands: signed and unsigned integers share one, bool is i8.
/// None for types that the chip does not compute with.
std::optional<Prec> precOf(DataType type);

/// `value` in the bits of a type that `precOf` knows, rounded to nearest even; integers saturate.
uint32_t immediateBits(DataType type, double value);

/// A tensor [n,c,h,w] in local memory: channel c lies in lane (startLane + c) mod 64. Its places
/// are words of 32 bits, which hold an element of 32 bits, two batch items of 16 bits or four of 8.
struct LocalTensor {
  DataType type = DataType::F32;
  Extents shape{1, 1, 1, 1};
  Layout layout = Layout::Aligned;
  /// Byte offset in each lane, below kLaneBytes. Aligned tensors begin at multiples of 128.
  uint32_t address = 0;
  uint32_t startLane = 0;
  /// In words, the c stride from one slot of 64 lanes to the next; for Layout::Explicit only.
  Extents explicitStride{};

  /// `precOf(type)`, which there must be.
  Prec prec() const { return *precOf(type); }
  /// Batch items that share a word.
  int64_t items() const { return itemsPerWord(prec()); }
  /// The strides of whichever layout, in words.
  Extents strides() const;
  /// The address that commands take.
  uint64_t commandAddress() const {
    return kLocalBase + uint64_t{startLane} * kLaneBytes + address;
  }
  /// Bytes from `address` to the last one used in any lane.
  uint32_t bytesPerLane() const;
  /// Whether the words lie as `regular` (Aligned or Compact) would put them.
  bool liesAs(Layout regular) const;
  /// Aligned, from a whole line on.
  bool isRegular() const { return address % kEuBytes == 0 && liesAs(Layout::Aligned); }

  /// Elements [first, first + count) of an axis, where they are: no copy. A slice of c moves the
  /// start lane; one of n begins at a whole word. The layout is Aligned where that is still true,
  /// else Explicit.
  LocalTensor slice(unsigned axis, int64_t first, int64_t count) const;
  /// Every `step`-th element of an axis, from `first` on.
  LocalTensor every(unsigned axis, int64_t first, int64_t step, int64_t count) const;
  /// The same words under another shape; they must lie without gaps in h and w.
  LocalTensor withShape(const Extents &newShape) const;
  LocalTensor at(uint32_t newAddress) const;
  /// The same words as another type of the same size.
  LocalTensor as(DataType newType) const;
};

/// A tensor with a regular layout.
LocalTensor localTensor(DataType type, const Extents &shape, uint32_t address = 0,
                        Layout layout = Layout::Aligned, uint32_t startLane = 0);

/// What a tensor takes in each lane, to the next whole line.
uint32_t laneBytes(DataType type, const Extents &shape, Layout layout = Layout::Aligned,
                   uint32_t startLane = 0);

/// The tensor as `shape` with strides that repeat it where its extent is 1 and the shape's is not.
/// Along c it must lie in all lanes: [n,64,h,w].
LocalTensor repeated(const LocalTensor &tensor, const Extents &shape);

/// Local memory for what only one kernel sees: bytes [address, address + bytes) of every lane.
/// Kernels ask for it with their `...Scratch` function; `address` is a multiple of 128.
struct Scratch {
  uint32_t address = 0;
  uint32_t bytes = 0;
};

/// Hands out bytes of all lanes from `next` on. Begun at 0, it counts what a kernel needs.
struct ScratchAllocator {
  uint32_t next = 0;

  /// `count` bytes, rounded up to whole lines.
  uint32_t bytes(uint32_t count) {
    const uint32_t at = next;
    next += static_cast<uint32_t>(alignUp(count, kEuBytes));
    return at;
  }
  LocalTensor take(DataType type, const Extents &shape, uint32_t startLane = 0) {
    const uint32_t at = bytes(laneBytes(type, shape, Layout::Aligned, startLane));
    return localTensor(type, shape, at, Layout::Aligned, startLane);
  }
};

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_LOCALTENSOR_H
