//===- IntegerForms.h - What ops have a form on stored integers -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_INTEGERFORMS_H
#define TPUC_CONVERSION_TOPTOTPU_INTEGERFORMS_H

#include "tpuc/Dialect/Top/IntegerForm.h"

namespace tpuc {

/// How a top op can be computed on integers: by a table, or as it says itself.
IntegerForm integerForm(mlir::Operation *op);

/// A function of one tensor, element by element, that a table with an entry for each stored integer
/// holds well: also one from 8-bit integers of a source to such.
bool isTabulated(mlir::Operation *op);

/// The tensors of numbers that the form of `op` reads as stored integers: no weights that it packs,
/// no indices or shapes.
llvm::SmallVector<mlir::OpOperand *> integerOperands(mlir::Operation *op);

/// The scale next to `scale`, a positive number, that a type which stands for f32 can have.
double storableScale(double scale);

/// Whether no element of a tensor can be below 0, whatever the input of the network.
bool isNonNegative(mlir::Value value);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_INTEGERFORMS_H
