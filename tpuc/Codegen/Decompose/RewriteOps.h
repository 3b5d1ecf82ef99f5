//===- RewriteOps.h - Passes over the ops of one kind -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_REWRITEOPS_H
#define TPUC_CODEGEN_DECOMPOSE_REWRITEOPS_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Support/Tensor.h"

#include "mlir/IR/BuiltinOps.h"

namespace tpuc::codegen {

/// Rewrites the ops of one kind. `bool wants(op, backend)` names them; all are known before
/// `Expected<void> rewrite(op, backend)` makes and erases ops. Errors: the first of `rewrite`.
template <typename Op, typename Wants, typename Rewrite>
Expected<void> rewriteOps(mlir::ModuleOp module, const Backend &backend, Wants wants,
                          Rewrite rewrite) {
  llvm::SmallVector<Op> ops;
  module.walk([&](Op op) {
    if (wants(op, backend))
      ops.push_back(op);
  });
  for (Op op : ops)
    if (Expected<void> done = rewrite(op, backend); !done)
      return done;
  return {};
}

/// The same with the backend of the module's chip. What fails is said at the module.
template <typename Op, typename Wants, typename Rewrite>
mlir::LogicalResult rewriteOps(mlir::ModuleOp module, Wants wants, Rewrite rewrite) {
  const std::unique_ptr<Backend> backend = backendOrEmit(module);
  if (!backend)
    return mlir::failure();
  if (Expected<void> done = rewriteOps<Op>(module, *backend, wants, rewrite); !done)
    return module.emitError(done.error().message());
  return mlir::success();
}

/// Erases an op that nothing reads, and those that only it read; inputs of the network stay.
void eraseUnused(mlir::Operation *op);

/// Reads `tensor` in the place of the weight that `use` reads, which is erased where nothing else
/// reads it. The new one has the old one's element type, and its name with `suffix` behind it.
void replaceWeight(mlir::OpOperand &use, const Tensor &tensor, llvm::StringRef suffix);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_REWRITEOPS_H
