//===- SampleRows.h - Rows of one sample in front of others -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_SAMPLEROWS_H
#define TPUC_CODEGEN_DECOMPOSE_SAMPLEROWS_H

#include "mlir/IR/Value.h"

namespace tpuc::codegen {

/// Whether `value` is [rows, 1, width] or [rows, width]: the rows of one sample.
bool isSampleTurned(mlir::Value value, int64_t rows);

/// Such a value as [1, rows, width]. A product with a constant that makes it takes its rows in this
/// form, too, and what reads the old one reads a reshape:
/// ```
/// [1,T,K] -> reshape -> [T,1,K] -> product -> [T,1,N] -> reshape -> [1,T,N]
/// [1,T,K] -> product -> [1,T,N]
/// ```
mlir::Value asSample(mlir::Value value);

/// Rows [..., W] as those of so many samples, [samples, T, W].
mlir::Value asSamples(mlir::Value rows, int64_t samples);

/// Rows [B, T, W] as windows [B * windows, T / windows, W] that follow each other.
mlir::Value asWindows(mlir::Value rows, int64_t windows);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_SAMPLEROWS_H
