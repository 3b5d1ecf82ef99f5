//===- StackedRows.h - Rows under windows as channels -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_STACKEDROWS_H
#define TPUC_TARGET_BM1684X_KERNELS_STACKEDROWS_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

namespace tpuc::bm1684x {

/// output[n, k * C + c, h, w] = input[n, c, h * stride - padBegin + k, w] for k < kernel, and the
/// bits `outside` where there is no such row. The input is [n,C,h,w] of any layout, the output
/// [n, kernel * C, h', w] Aligned, of the same type, and within 64 lanes from its start lane on.
struct StackedRows {
  LocalTensor input;
  LocalTensor output;
  int64_t kernel = 1, stride = 1, padBegin = 0;
  uint32_t outside = 0;
  Scratch scratch;
};
Expected<uint32_t> stackedRowsScratch(const StackedRows &rows);
Expected<void> emitStackedRows(Builder &builder, const StackedRows &rows);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_STACKEDROWS_H
