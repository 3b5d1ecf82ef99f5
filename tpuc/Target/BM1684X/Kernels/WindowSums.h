//===- WindowSums.h - Sums and maxima of whole rows and images --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_WINDOWSUMS_H
#define TPUC_TARGET_BM1684X_KERNELS_WINDOWSUMS_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"

namespace tpuc::bm1684x {

/// A reduction by windows as large as what they reduce, in the type of its operands.
struct WindowSum {
  LocalTensor input;  ///< [n,c,h,w] Aligned
  LocalTensor output; ///< [n,c,1,1], with overWidth [n,c,h,1], Aligned
  bool overWidth = false;
  bool isMaximum = false;
  double scale = 1; ///< Of sums.
};

/// Takes the scratch of `addWindowSum` from `space`. A long image is folded to a rectangle whose
/// columns are reduced first, all at once, and then their results: a window alone would keep one
/// of the arithmetic units busy. What lies behind a row up to the end of its line may be
/// overwritten.
LocalTensor takeWindowScratch(const WindowSum &sum, ScratchAllocator &space);
void addWindowSum(Builder &builder, const WindowSum &sum, const LocalTensor &scratch);

/// output [1,c,1,1] F32 = the sums over h and w of input [1,c,h,w] of 16 bits: a product with ones.
void addOnesProduct(Builder &builder, const LocalTensor &output, const LocalTensor &input);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_WINDOWSUMS_H
