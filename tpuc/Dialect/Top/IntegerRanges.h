//===- IntegerRanges.h - What integer attributes may be ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_INTEGERRANGES_H
#define TPUC_DIALECT_TOP_INTEGERRANGES_H

#include "mlir/IR/OpDefinition.h"

namespace tpuc::top {

/// What an integer attribute of an op may be, or each entry of an array: `least` to `most`. Where
/// `axisOf` is the number of an operand of known rank, it counts dimensions: from -(rank + `more`)
/// to rank + `behind` - 1. IntegerRanges.td makes the table of each op, `Op::integerRanges()`.
struct IntegerRange {
  llvm::StringLiteral attribute;
  int64_t least;
  int64_t most;
  int axisOf;
  int more;
  int behind;
};

/// An error of `op`, which names attribute, value and range, unless its attributes are within
/// `ranges`. Attributes that `op` has not are.
llvm::LogicalResult verifyIntegers(mlir::Operation *op, llvm::ArrayRef<IntegerRange> ranges);

/// An error of `op` if `type`, that of its result `index`, is larger than checkTensorSize allows.
llvm::LogicalResult verifySize(mlir::Operation *op, unsigned index, mlir::Type type);

/// The same for all results.
llvm::LogicalResult verifySizes(mlir::Operation *op);

/// The integer attributes of the op are within their ranges, and its results are tensors that could
/// be. It is verified before what the op verifies itself, which may rely on it.
template <typename Op> struct ChecksRanges : mlir::OpTrait::TraitBase<Op, ChecksRanges> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return llvm::success(llvm::succeeded(verifyIntegers(op, Op::integerRanges())) &&
                         llvm::succeeded(verifySizes(op)));
  }
};

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_INTEGERRANGES_H
