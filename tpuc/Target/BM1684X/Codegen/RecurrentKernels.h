//===- RecurrentKernels.h - Kernels of recurrent cells ------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_RECURRENTKERNELS_H
#define TPUC_TARGET_BM1684X_CODEGEN_RECURRENTKERNELS_H

#include "tpuc/Target/BM1684X/Codegen/KernelTable.h"

namespace tpuc::bm1684x::backend {

/// The kernel of an LSTM, a GRU or an RNN; as `kernelsOf`.
Kernels recurrentKernels(const codegen::TiledOp &tiled);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_RECURRENTKERNELS_H
