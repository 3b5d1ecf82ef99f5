//===- Evaluate.h - What an op computes -----------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_EVALUATE_H
#define TPUC_INTERPRETER_EVALUATE_H

#include "tpuc/Interpreter/Kernels/KernelCache.h"
#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

namespace tpuc {

/// The operands and results of one op while it is evaluated.
class EvalContext {
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
  unsigned numOperands() const { return static_cast<unsigned>(inputs.size()); }
  /// Whether operand `index` is a tensor, not a `top.None`.
  bool has(unsigned index) const { return inputs[index].has_value(); }
  const Tensor &operand(unsigned index) const { return *inputs[index]; }
  /// Null where the operand is left out: what kernels take for optional tensors.
  const Tensor *optional(unsigned index) const { return has(index) ? &*inputs[index] : nullptr; }

  /// Whether somebody asks for result `index`: its type is not none.
  bool wants(unsigned index) const;
  /// Writable room for result `index`. The elements are undefined.
  Expected<Tensor *> allocate(unsigned index, DataType type, const Shape &shape);
  /// Hands over a tensor as result `index`: a view of an operand (reshape), or what a kernel made.
  void set(unsigned index, Tensor tensor) { outputs[index] = std::move(tensor); }
  llvm::MutableArrayRef<Tensor> results() { return outputs; }

  Expected<llvm::SmallVector<Tensor>> run(mlir::Region &region, llvm::ArrayRef<Tensor> arguments) {
    return regionRunner(region, arguments);
  }
  ThreadPool &threads() { return pool; }

  /// Lends the op what its kernel kept from earlier runs, and keeps for later ones.
  void setCache(kernels::KernelCache *cache) { kept = cache; }
  /// Null unless one was lent and operand `constant` is a weight, the same in every run.
  kernels::KernelCache *cacheFor(unsigned constant) const;

  /// The integers of an attribute, or of the operand that stands in for it; none if neither is.
  std::optional<llvm::SmallVector<int64_t>> ints(std::optional<mlir::ArrayAttr> attribute,
                                                 unsigned operandIndex) const;

  /// An Error about this op: names the layer.
  tl::unexpected<Error> error(std::string found, std::string expected = "") const;

private:
  mlir::Operation *operation;
  llvm::ArrayRef<std::optional<Tensor>> inputs;
  llvm::SmallVector<Tensor> outputs;
  Allocate allocator;
  RunRegion regionRunner;
  ThreadPool &pool;
  kernels::KernelCache *kept = nullptr;
};

/// The name of the tensor that an op makes (its first result): the name in its location, else the
/// op's own name.
std::string layerName(mlir::Operation *op);
/// The names of all tensors that an op makes: those in its location, one per result.
llvm::SmallVector<std::string> tensorNames(mlir::Operation *op);

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
