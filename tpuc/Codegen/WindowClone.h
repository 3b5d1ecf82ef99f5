//===- WindowClone.h - A part of a network to try things on -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_WINDOWCLONE_H
#define TPUC_CODEGEN_WINDOWCLONE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

namespace tpuc::codegen {

/// A copy of some ops of a network, in a module of its own. A candidate for a rewriting is applied
/// to the copy and priced there. The network is only rewritten once a candidate is chosen.
///
/// Layers, costs and kernels give the same answers for a copied op as for the op:
/// - The module has the attributes of the network's module, so the same chip and weights.
/// - What makes an operand is copied, too. What that reads becomes an argument of `main`, or is
///   copied where it is a constant.
/// - `main` returns what other ops of the network read, once for each use.
///
///     %a = Input                     main(%arg0):
///     %b = Relu %a                     %b = Relu %arg0
///     %c = Conv %b, %w     copy of     %c = Conv %b, %w
///     %d = Relu %c         Conv is     return %b, %c
///     %e = Add %b, %d
class WindowClone {
public:
  /// `ops` are of one block of a module, at least one. Their order and repetitions do not count.
  explicit WindowClone(llvm::ArrayRef<mlir::Operation *> ops);

  /// The copy of `op`; null for null, and for ops that were not copied.
  mlir::Operation *of(mlir::Operation *op) const { return mapping.lookupOrNull(op); }
  /// The copies in the order of the network. The last op returns.
  mlir::Block &block();
  mlir::ModuleOp module() { return *clone; }

private:
  mlir::OwningOpRef<mlir::ModuleOp> clone;
  mlir::IRMapping mapping;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_WINDOWCLONE_H
