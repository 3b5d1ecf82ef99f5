//===- LocalTensor.h - Tensors in local memory ------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_LOCALTENSOR_H
#define TPUC_TARGET_BM1684X_KERNELS_LOCALTENSOR_H

#include "tpuc/Support/DataType.h"
#include "tpuc/Target/BM1684X/Machine/Operands.h"

namespace tpuc::bm1684x {

/// The code of an element type in commands: signed and unsigned integers share one, bool is i8.
/// None for types that the chip does not compute with.
std::optional<Prec> precOf(DataType type);

/// `value` in the bits of a type that `precOf` knows, rounded to nearest even; integers saturate.
uint32_t immediateBits(DataType type, double value);
/// Whether F32, F16 or BF16 `type` holds `value` as nearly as F32 does.
bool holds(DataType type, double value);

/// A tensor [n,c,h,w] in local memory: channel c lies in lane (startLane + c) mod 64.
struct LocalTensor {
  DataType type = DataType::F32;
  Extents shape{1, 1, 1, 1};
  Layout layout = Layout::Aligned;
  /// Byte offset in each lane, below kLaneBytes. Aligned tensors begin at multiples of 64.
  uint32_t address = 0;
  uint32_t startLane = 0;
  /// In elements, the c stride from one slot of 64 lanes to the next; for Layout::Explicit only.
  Extents explicitStride{};

  /// `precOf(type)`, which there must be.
  Prec prec() const { return *precOf(type); }
  unsigned elementBytes() const { return precBytes(prec()); }
  /// The strides of whichever layout.
  Extents strides() const;
  View view() const;
  /// Address and start lane in one, as TIU commands have it.
  uint32_t tiuAddress() const { return startLane * kLaneBytes + address; }
  /// The absolute address for the GDMA.
  uint64_t gdmaAddress() const { return kLocalBase + tiuAddress(); }
  /// Bytes from `address` to the last one used in any lane.
  uint32_t bytesPerLane() const;
  /// Whether the elements lie as `regular` (not Explicit) would put them: a tile may still do so.
  bool liesAs(Layout regular) const;

  /// Elements [first, first + count) of an axis, where they are: no copy. A slice of c moves the
  /// start lane. The layout is Aligned where that is still true, else Explicit.
  LocalTensor slice(unsigned axis, int64_t first, int64_t count) const;
  /// The same bytes under another shape; the elements must lie without gaps in h and w.
  LocalTensor withShape(const Extents &newShape) const;
  LocalTensor at(uint32_t newAddress) const;
  /// The same bits as another type of the same size.
  LocalTensor as(DataType newType) const;
};

/// A tensor with a regular layout.
LocalTensor localTensor(DataType type, const Extents &shape, uint32_t address = 0,
                        Layout layout = Layout::Aligned, uint32_t startLane = 0);

/// What a tensor takes in each lane, to the next multiple of 64 bytes.
uint32_t laneBytes(DataType type, const Extents &shape, Layout layout = Layout::Aligned,
                   uint32_t startLane = 0);

/// Local memory for what only one kernel sees: bytes [address, address + bytes) of every lane.
/// Kernels ask for it with their `...Scratch` function; `address` is a multiple of 64.
struct Scratch {
  uint32_t address = 0;
  uint32_t bytes = 0;
};

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_LOCALTENSOR_H
