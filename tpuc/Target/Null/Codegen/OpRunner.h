//===- OpRunner.h - Ops one by one ------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_NULL_CODEGEN_OPRUNNER_H
#define TPUC_TARGET_NULL_CODEGEN_OPRUNNER_H

#include "tpuc/Interpreter/Interpreter.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace tpuc::Null {

/// Computes single ops of a compiled module as the interpreter computes the lowered network. The
/// context has its evaluators registered.
class OpRunner {
public:
  OpRunner();
  ~OpRunner();

  /// The results of `op` of `operands`, one for each that is not left out; none for results that
  /// are left out. Errors: what the interpreter says of the op.
  Expected<std::vector<std::optional<Tensor>>>
  run(mlir::Operation *op, const std::vector<std::optional<Tensor>> &operands);

private:
  /// An op as a network of its own, with the constants that it was made for.
  struct Known {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    std::unique_ptr<Interpreter> interpreter;
    std::vector<Tensor> constants;
  };
  Expected<void> make(Known &known, mlir::Operation *op,
                      const std::vector<std::optional<Tensor>> &operands);

  llvm::DenseMap<mlir::Operation *, std::unique_ptr<Known>> known;
};

} // namespace tpuc::Null

#endif // TPUC_TARGET_NULL_CODEGEN_OPRUNNER_H
