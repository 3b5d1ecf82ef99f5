//===- Recurrence.h - Recurrent cells over all steps on the BM1684 --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_RECURRENCE_H
#define TPUC_TARGET_BM1684_KERNELS_RECURRENCE_H

#include "tpuc/Target/BM1684/Kernels/Commands.h"
#include "tpuc/Target/BM168x/Recurrence.h"

namespace tpuc::bm1684 {

using bm168x::CellKind;

/// Tensors of F32; filters are rows of `filterRow` words for each output channel.
using Recurrence = bm168x::Recurrence<LocalTensor, Scratch>;
Expected<uint32_t> recurrenceScratch(const Recurrence &recurrence);
Expected<void> emitRecurrence(Builder &builder, const Recurrence &recurrence);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_RECURRENCE_H
