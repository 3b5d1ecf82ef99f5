//===- TpuTraits.h - What ops of the tpu dialect have in common -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_TPUTRAITS_H
#define TPUC_DIALECT_TPU_TPUTRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace tpuc::tpu {

/// An error of `op` unless its operands and results have types in which a device stores values, and
/// the op of the top dialect with the same operands and attributes is valid.
llvm::LogicalResult verifyTwin(mlir::Operation *op);
/// An error of `op` unless `multiplier` and `rshift` are given together and only for results of a
/// quantized type, have equally many entries, within 32 bits and [-31, 63], and the modes are ones
/// that there are.
llvm::LogicalResult verifyRequantization(mlir::Operation *op);

template <typename Op> struct TwinOfTop : mlir::OpTrait::TraitBase<Op, TwinOfTop> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyTwin(op); }
};

template <typename Op> struct Requantizing : mlir::OpTrait::TraitBase<Op, Requantizing> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyRequantization(op); }
};

} // namespace tpuc::tpu

#endif // TPUC_DIALECT_TPU_TPUTRAITS_H
