//===- Transfers.h - Tiles between global and local memory ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_TRANSFERS_H
#define TPUC_TARGET_BM1684X_CODEGEN_TRANSFERS_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/GlobalTensor.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

namespace tpuc::bm1684x::backend {

// As emitLoad and emitStore. A small tensor of a few elements in each channel, such as one number
// for each, goes as one row of a matrix whose columns are shared out to the lanes: a transfer of
// tensors takes as long for each channel as for 256 bytes, and four times that for a tensor that
// lies in one page of global memory.

Expected<void> loadTensor(Builder &builder, const GlobalTensor &from, const LocalTensor &to);
Expected<void> storeTensor(Builder &builder, const LocalTensor &from, const GlobalTensor &to);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_TRANSFERS_H
