//===- DataMovement.h - Loads, stores, copies, transposes -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_DATAMOVEMENT_H
#define TPUC_TARGET_BM1684X_KERNELS_DATAMOVEMENT_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/GlobalTensor.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

#include <span>

namespace tpuc::bm1684x {

// Transfers between tensors of any layout and strides. Extents beyond the fields' 65535 are split.
// Errors name the builder's layer: types or shapes that differ, extents below 1.

/// local = global, both of the same shape and element size.
Expected<void> emitLoad(Builder &builder, const GlobalTensor &from, const LocalTensor &to);
/// global = local.
Expected<void> emitStore(Builder &builder, const LocalTensor &from, const GlobalTensor &to);
/// global = global.
Expected<void> emitGlobalCopy(Builder &builder, const GlobalTensor &from, const GlobalTensor &to);
/// local = local through the GDMA: between any start lanes.
Expected<void> emitLocalMove(Builder &builder, const LocalTensor &from, const LocalTensor &to);
/// local = local through the TIU, with any strides, in the same lanes.
Expected<void> emitLocalCopy(Builder &builder, const LocalTensor &from, const LocalTensor &to);

/// to[n,w,1,c] = from[n,c,1,w] through the TIU, both Aligned from lane 0.
Expected<void> emitLocalTurn(Builder &builder, const LocalTensor &from, const LocalTensor &to);

/// `from` [n,1,h,w] to every channel of `to` [n,c,h,w], c <= 64 - its start lane.
Expected<void> emitLoadToLanes(Builder &builder, const GlobalTensor &from, const LocalTensor &to);
/// `length` elements of linear global memory to `address` of lanes 0 to 63.
Expected<void> emitLoadTableToLanes(Builder &builder, uint64_t from, DataType type, int64_t length,
                                    uint32_t address);

/// to[n,w,h,c] = from[n,c,h,w] while loading or storing, at full speed for whole matrices.
Expected<void> emitLoadTransposedCW(Builder &builder, const GlobalTensor &from,
                                    const LocalTensor &to);
Expected<void> emitStoreTransposedCW(Builder &builder, const LocalTensor &from,
                                     const GlobalTensor &to);
Expected<void> emitGlobalTransposeCW(Builder &builder, const GlobalTensor &from,
                                     const GlobalTensor &to);

/// to = from with dimension i of `to` being dimension axes[i] of `from`, in global memory. Shapes
/// as they are: to.shape[i] == from.shape[axes[i]].
Expected<void> emitGlobalPermute(Builder &builder, const GlobalTensor &from,
                                 const std::array<unsigned, 4> &axes, const GlobalTensor &to);

/// Every element = the low bytes of `bits`.
Expected<void> emitGlobalFill(Builder &builder, const GlobalTensor &to, uint32_t bits);
Expected<void> emitLocalFill(Builder &builder, const LocalTensor &to, uint32_t bits);

/// to[c,k,:] = from[c,indices[k],:] in global memory: `from` [1,c,rows,w], `to` [1,c,count,w],
/// `indices` u32 [1,1 or c,count,1]. An index that is out of range gives `fill`.
Expected<void> emitGlobalGather(Builder &builder, const GlobalTensor &from,
                                const GlobalTensor &indices, const GlobalTensor &to, uint32_t fill);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_DATAMOVEMENT_H
