//===- ConstantPool.h - Short constants that stay in local memory ---*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_CONSTANTPOOL_H
#define TPUC_CODEGEN_CONSTANTPOOL_H

#include "tpuc/Codegen/Backend.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tpuc::codegen {

/// Biases and small filters have rows so short that loading them takes many times as long as their
/// bytes would. They are loaded together, once, each lane's rows one after the other, and stay.
struct ConstantPool {
  /// The operands that are such constants.
  llvm::DenseSet<mlir::OpOperand *> operands;
  /// By packed constant: the offset in the row of each lane.
  llvm::DenseMap<mlir::Value, int64_t> offsets;
  /// Of the row.
  int64_t bytes = 0;
};

/// The constants of `layers` that the chip keeps as short rows, as many as a small part of local
/// memory holds.
ConstantPool poolConstants(llvm::ArrayRef<mlir::Operation *> layers, const Backend &backend);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_CONSTANTPOOL_H
