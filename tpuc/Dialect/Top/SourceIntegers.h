//===- SourceIntegers.h - How a source stores its tensors --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_SOURCEINTEGERS_H
#define TPUC_DIALECT_TOP_SOURCEINTEGERS_H

#include "tpuc/Dialect/Quant/QuantTypes.h"

#include "mlir/IR/Value.h"

namespace tpuc::top {

/// The integers of one scale and zero point that a quantization stores: of 8 bits, or up to
/// `mostBits`, signed ones of 16 with the zero point 0. Null if it is another, or its numbers are
/// none that a type can have.
quant::UniformQuantizedType storedType(mlir::Value scale, mlir::Value zeroPoint, mlir::Type integer,
                                       unsigned mostBits = 8);

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_SOURCEINTEGERS_H
