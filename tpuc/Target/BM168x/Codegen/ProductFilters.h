//===- ProductFilters.h - Products of matrices as convolutions --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A product of rows with a constant matrix is a convolution of one window: the picture [channels,
// h, w] that each row is, with a filter for each column.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_CODEGEN_PRODUCTFILTERS_H
#define TPUC_TARGET_BM168X_CODEGEN_PRODUCTFILTERS_H

#include "tpuc/Support/Tensor.h"

#include "mlir/IR/Operation.h"

namespace tpuc::bm168x::backend {

/// Pictures [rows, C, H, W] of several channels whose elements are those of `value` in their order;
/// null where they come from elsewhere.
mlir::Value picturesOf(mlir::Value value, int64_t rows);

/// Erases a product that nothing reads, and what it alone was flattened by.
void eraseFlattening(mlir::Operation *op);

/// A matrix [inner, columns], or the other way round, as a filter `dims` [columns, channels, h, w].
Tensor filterOf(const Tensor &matrix, bool isTurned, llvm::ArrayRef<int64_t> dims);

} // namespace tpuc::bm168x::backend

#endif // TPUC_TARGET_BM168X_CODEGEN_PRODUCTFILTERS_H
