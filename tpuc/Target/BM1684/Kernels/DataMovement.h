//===- DataMovement.h - Transfers of the BM1684 --------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_DATAMOVEMENT_H
#define TPUC_TARGET_BM1684_KERNELS_DATAMOVEMENT_H

#include "tpuc/Target/BM1684/Kernels/Commands.h"
#include "tpuc/Target/BM168x/GlobalTensor.h"

namespace tpuc::bm1684 {

using bm168x::GlobalTensor;
using bm168x::globalTensor;

// Both sides have one shape and elements of one size: words in local memory, elements of 1, 2 or 4
// bytes in global memory. Extents that no field holds are cut.

Expected<void> emitLoad(Builder &builder, const GlobalTensor &from, const LocalTensor &to);
Expected<void> emitStore(Builder &builder, const LocalTensor &from, const GlobalTensor &to);
Expected<void> emitGlobalCopy(Builder &builder, const GlobalTensor &from, const GlobalTensor &to);
/// Between lanes.
Expected<void> emitLocalMove(Builder &builder, const LocalTensor &from, const LocalTensor &to);

/// `to` [n,c,h,w] = `from` [n,w,h,c], and the other way round.
Expected<void> emitLoadTurned(Builder &builder, const GlobalTensor &from, const LocalTensor &to);
Expected<void> emitStoreTurned(Builder &builder, const LocalTensor &from, const GlobalTensor &to);

/// Every element = the low bytes of `bits`.
Expected<void> emitGlobalFill(Builder &builder, const GlobalTensor &to, uint32_t bits);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_DATAMOVEMENT_H
