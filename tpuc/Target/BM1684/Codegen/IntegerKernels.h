//===- IntegerKernels.h - Kernels of stored integers for ops -- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_CODEGEN_INTEGERKERNELS_H
#define TPUC_TARGET_BM1684_CODEGEN_INTEGERKERNELS_H

#include "tpuc/Target/BM1684/Codegen/KernelTable.h"

namespace tpuc::bm1684::backend {

/// Ops with tensors of 8-bit integers whose zero point is 0, and casts to and from them.
const KernelTable &integerKernels();

} // namespace tpuc::bm1684::backend

#endif // TPUC_TARGET_BM1684_CODEGEN_INTEGERKERNELS_H
