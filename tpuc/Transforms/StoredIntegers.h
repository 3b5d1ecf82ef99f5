//===- StoredIntegers.h - Tensors that say how a source stores them --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_STOREDINTEGERS_H
#define TPUC_TRANSFORMS_STOREDINTEGERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tpuc {

/// Has tensors say as `!quant.uniform` types how a quantized source stores them, in integers of 8
/// bits with one constant scale and zero point:
///
///   QuantizeLinear(x)                  x, of that type; a copy of it where x is read otherwise
///   DequantizeLinear(x)                x, where that is its type
///   op that moves QuantizeLinear(x)    the same op on x
///   DequantizeLinear(input)            the input, of that type
///
/// Tensors take over the names of the integers that store them. Quantizations that somebody else
/// reads stay beside that, and outputs that were floats stay floats. Returns whether any tensor
/// says so now.
bool takeStoredIntegers(mlir::func::FuncOp main);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_STOREDINTEGERS_H
