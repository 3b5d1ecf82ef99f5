//===- Evaluate.h - What an op computes -----------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_EVALUATE_H
#define TPUC_INTERPRETER_EVALUATE_H

#include "tpuc/Interpreter/Ops/OpContext.h"

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

namespace tpuc {

/// The operands and results of one op of MLIR while it is evaluated.
class EvalContext : public ops::OpContext {
public:
  /// Gives room for result `index`, which holds nothing that matters: planned memory, or new.
  using Allocate =
      std::function<Expected<Tensor>(unsigned index, DataType type, const Shape &shape)>;
  /// Runs a region of the op with the values of the surrounding ones; gives what it yields.
  using RunRegion = std::function<Expected<llvm::SmallVector<Tensor>>(
      mlir::Region &region, llvm::ArrayRef<Tensor> arguments)>;

  EvalContext(mlir::Operation *op, llvm::ArrayRef<std::optional<Tensor>> operands,
              Allocate allocate, RunRegion runRegion, ThreadPool &threads);

  mlir::Operation *op() const { return operation; }
  /// Whether somebody asks for result `index`: its type is not none.
  bool wants(unsigned index) const override;
  Expected<llvm::SmallVector<Tensor>> run(mlir::Region &region, llvm::ArrayRef<Tensor> arguments) {
    return regionRunner(region, arguments);
  }

private:
  std::optional<ops::Attribute> attribute(std::string_view name) const override;
  Expected<Tensor> room(unsigned index, DataType type, const Shape &shape) override;
  bool isConstant(unsigned index) const override;
  std::string place() const override;

  mlir::Operation *operation;
  Allocate allocator;
  RunRegion regionRunner;
};

} // namespace tpuc

#include "tpuc/Interpreter/EvaluateInterface.h.inc"

namespace tpuc {

/// Attaches `function(Op, EvalContext &) -> Expected<void>` to ops of class `Op` as their meaning.
template <typename Op, auto function> void attachEvaluate(mlir::MLIRContext *context) {
  struct Model : EvaluateInterface::ExternalModel<Model, Op> {
    Expected<void> evaluate(mlir::Operation *op, EvalContext &evalContext) const {
      return function(mlir::cast<Op>(op), evalContext);
    }
  };
  Op::template attachInterface<Model>(*context);
}

} // namespace tpuc

#endif // TPUC_INTERPRETER_EVALUATE_H
