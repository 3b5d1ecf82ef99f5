//===- SelectKernels.h - Kernels of comparisons and choices -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_SELECTKERNELS_H
#define TPUC_TARGET_BM1684X_CODEGEN_SELECTKERNELS_H

#include "tpuc/Target/BM1684X/Codegen/KernelTable.h"

namespace tpuc::bm1684x::backend {

/// The kernels of ops that compare, choose, combine booleans or convert between element types, on
/// any elements of at most 32 bits.
const KernelTable &selectKernels();

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_SELECTKERNELS_H
