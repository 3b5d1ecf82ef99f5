//===- Fold.h - Constants computed ahead of time ----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_FOLD_H
#define TPUC_INTERPRETER_FOLD_H

#include "tpuc/Interpreter/Evaluate.h"

namespace tpuc {

/// How large the tensors may be that are computed ahead of time.
struct FoldLimits {
  /// Elements of each operand and result; 0: nothing is computed.
  int64_t maxElements;
  /// Larger ones too, where the results together have no more elements than the operands. Rows of
  /// a table, what is computed element by element, products, and integers of 64 bits have at most
  /// 64 times `maxElements`. So have others where all that is made of them is constant, and no
  /// larger than what they are made of.
  bool ifNotGrowing = false;
};

/// The results of `op`, where all its operands are constant (weights, or left out) and within
/// `limits`; so is the shape of a tensor whose shape is known. A result of type none has no
/// meaning. None where `op` is not constant, has regions, or cannot be computed: whoever runs the
/// network tells why.
std::optional<llvm::SmallVector<Tensor>> foldConstant(mlir::Operation *op, const FoldLimits &limits,
                                                      ThreadPool &threads);

} // namespace tpuc

#endif // TPUC_INTERPRETER_FOLD_H
