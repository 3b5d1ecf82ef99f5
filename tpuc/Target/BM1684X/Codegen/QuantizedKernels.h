//===- QuantizedKernels.h - Kernels of ops on integers ----------------- -*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_QUANTIZEDKERNELS_H
#define TPUC_TARGET_BM1684X_CODEGEN_QUANTIZEDKERNELS_H

#include "tpuc/Target/BM1684X/Codegen/KernelTable.h"

namespace tpuc::bm1684x::backend {

/// The kernels of ops on stored integers, and of casts to or from them.
const KernelTable &quantizedKernels();

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_QUANTIZEDKERNELS_H
