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

/// An error of `op` unless its operands and results have types in which a device stores values:
/// floats, integers, and `!quant.uniform` of 8 bits with one scale for all elements.
llvm::LogicalResult verifyStoredTypes(mlir::Operation *op);
/// An error of `op` unless its values have such types, and
/// the op of the top dialect with the same operands and attributes is valid.
llvm::LogicalResult verifyMirrored(mlir::Operation *op);
/// An error of `op` unless `multiplier` and `rshift` are given together and only for results of a
/// quantized type, have equally many entries, within 32 bits and [-31, 63], and the modes are ones
/// that there are. `dequant_scale` excludes these; it makes finite floats of quantized operands.
llvm::LogicalResult verifyRequantization(mlir::Operation *op);
/// The same for sums and products of several tensors, which state one shift: a sum has a multiplier
/// for each operand.
llvm::LogicalResult verifyCombination(mlir::Operation *op);

template <typename Op> struct MirrorsTop : mlir::OpTrait::TraitBase<Op, MirrorsTop> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyMirrored(op); }
};

template <typename Op> struct Requantizing : mlir::OpTrait::TraitBase<Op, Requantizing> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyRequantization(op); }
};

template <typename Op> struct Combining : mlir::OpTrait::TraitBase<Op, Combining> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyCombination(op); }
};

} // namespace tpuc::tpu

#endif // TPUC_DIALECT_TPU_TPUTRAITS_H
