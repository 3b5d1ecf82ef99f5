//===- ElementwiseKernels.h - Kernels of element-wise functions of floats -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_ELEMENTWISEKERNELS_H
#define TPUC_TARGET_BM1684X_CODEGEN_ELEMENTWISEKERNELS_H

#include "tpuc/Target/BM1684X/Codegen/KernelTable.h"

namespace tpuc::bm1684x::backend {

/// Of functions of one or two operands without numbers of their own.
const KernelTable &plainKernels();
/// Of functions with numbers among their attributes, and slopes.
const KernelTable &numberedKernels();

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_ELEMENTWISEKERNELS_H
