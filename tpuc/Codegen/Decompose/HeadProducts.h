//===- HeadProducts.h - Products of heads as products of rows ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_HEADPRODUCTS_H
#define TPUC_CODEGEN_DECOMPOSE_HEADPRODUCTS_H

#include "tpuc/Codegen/Backend.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tpuc::codegen {

/// Attention without a softmax over keys multiplies keys with values first, for each head:
///
///   heads [B, H, T, D] -> K^T V [B, H, D, D] -> Q (K^T V) [B, H, T, D] -> rows [B, T, H * D]
///
/// Where rows of a head are short, the rows of all heads are multiplied instead, and what is of two
/// heads becomes 0: no row is moved.
///
///   rows [B, T, H * D] -> K^T V [B, H * D, H * D] -> 0 between heads -> Q (K^T V) [B, T, H * D]
///
/// What lies between is done to rows, too: functions of elements, a softmax over the rows, sums
/// over rows or heads, parts of the rows, and pictures whose channels heads are. So it is where the
/// products with zeros take less by estimate than the moves.
void multiplyRowsOfHeads(mlir::func::FuncOp main, const Backend &backend);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_HEADPRODUCTS_H
