//===- ScratchAllocator.h - Handing out scratch -----------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_SCRATCHALLOCATOR_H
#define TPUC_TARGET_BM1684X_KERNELS_SCRATCHALLOCATOR_H

#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

namespace tpuc::bm1684x {

/// Hands out bytes of all lanes from `next` on. Begun at 0, it counts what a kernel needs.
struct ScratchAllocator {
  uint32_t next = 0;

  /// `count` bytes, rounded up to whole lines.
  uint32_t bytes(uint32_t count) {
    uint32_t at = next;
    next += static_cast<uint32_t>(alignUp(count, kEuBytes));
    return at;
  }
  LocalTensor take(DataType type, const Extents &shape, uint32_t startLane = 0) {
    uint32_t at = bytes(laneBytes(type, shape, Layout::Aligned, startLane));
    return localTensor(type, shape, at, Layout::Aligned, startLane);
  }
};

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_SCRATCHALLOCATOR_H
