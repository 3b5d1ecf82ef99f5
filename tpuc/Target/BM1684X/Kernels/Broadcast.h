//===- Broadcast.h - Operands that repeat -----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_BROADCAST_H
#define TPUC_TARGET_BM1684X_KERNELS_BROADCAST_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"

namespace tpuc::bm1684x {

/// Errors unless the extents of `operand` are 1 or those of `output`, and it can be read in the
/// output's lanes: it begins in the same one, or has one channel (Aligned) that is copied to all.
Expected<void> checkBroadcast(const std::string &where, const LocalTensor &operand,
                              const LocalTensor &output);

/// The bytes of the copy of one channel in all lanes; 0 where none is needed.
uint32_t broadcastBytes(const LocalTensor &operand, const LocalTensor &output);

/// The operand as a tensor of the output's shape, in the output's lanes.
LocalTensor broadcastTo(Builder &builder, const LocalTensor &operand, const LocalTensor &output,
                        ScratchAllocator &space);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_BROADCAST_H
