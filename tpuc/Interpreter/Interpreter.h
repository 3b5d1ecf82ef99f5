//===- Interpreter.h - Runs a network over tensors -----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_INTERPRETER_H
#define TPUC_INTERPRETER_INTERPRETER_H

#include "tpuc/Support/Tensor.h"

#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <map>

namespace tpuc {

using TensorMap = std::map<std::string, Tensor>;

/// Told of every tensor that an op of `main` makes, in the order of the ops, while it is there. An
/// Error ends the run. Called from several threads at once if several samples run at once.
using TensorProbe = std::function<Expected<void>(const std::string &name, const Tensor &tensor)>;

/// Told the same, and gives what the ops that read the tensor are to read in its place, in its type
/// and shape; nothing: what was made. The function's results are replaced, too.
using TensorSubstitute =
    std::function<Expected<std::optional<Tensor>>(const std::string &name, const Tensor &tensor)>;

/// Told how long each step of `main` took: the name of the tensor that it makes, the op (of several
/// that run as one the last; `to blocks` and `from blocks` for a change of layout), milliseconds.
using StepTimer =
    std::function<void(const std::string &name, const std::string &op, double milliseconds)>;

struct InterpreterOptions {
  /// Threads in all; 0: one for each processor.
  unsigned numThreads = 0;
  /// Give all tensors that ops of `main` make, not only the outputs. What the bodies of branches
  /// and loops make is not among them.
  bool keepAll = false;
  /// Give quantized tensors as the f32 numbers that they stand for; as inputs, both are taken.
  bool expressed = false;
  TensorProbe probe = nullptr;
  /// What the results of ops are replaced with. Nothing is compiled then.
  TensorSubstitute substitute = nullptr;
  StepTimer timer = nullptr;
};

/// One input or output of `main`.
struct TensorInfo {
  std::string name;
  /// As the module states it: ranked or not, extents possibly dynamic.
  mlir::TensorType type;
  DataType dataType;
};

/// Attaches what all ops compute; needed once per context, before `Interpreter::create`.
void registerEvaluators(mlir::MLIRContext &context);
/// The same in every context of `registry`, as soon as it loads the dialects.
void registerEvaluators(mlir::DialectRegistry &registry);

/// Runs the function `main` of a module, lowered or not. 16-bit floats of a lowered one are held as
/// f32, except inputs and outputs: tensors of its inside are given as such.
///
/// Convolutions, products with weights and element-wise ops around them on f32 of static shapes are
/// compiled when the interpreter is made: weights are packed, tensors between convolutions lie in
/// blocks of 16 channels, and element-wise ops join the kernel before them unless all tensors are
/// asked for (keepAll, probe), so that results then differ by rounding. Weights that are not packed
/// are views of the weight file. Tensors of static shape share one block of memory, planned when
/// the interpreter is made; others are allocated as they come and freed after their last use.
///
/// All `run` functions may be called from several threads at once, and give the same bits with any
/// number of threads.
class Interpreter {
public:
  /// `module` must outlive the interpreter and stay as it is. Errors: no `main`, an op without a
  /// meaning, a weight that cannot be read.
  static Expected<std::unique_ptr<Interpreter>> create(mlir::ModuleOp module,
                                                       InterpreterOptions options = {});
  ~Interpreter();

  /// In the order of the function's signature. An input is called as its `top.Input`, an output as
  /// the tensor it is.
  const std::vector<TensorInfo> &inputs() const;
  const std::vector<TensorInfo> &outputs() const;
  /// The size of the shared block of memory.
  int64_t plannedBytes() const;

  /// The outputs by name (with keepAll: all tensors). Errors: inputs that are missing, that there
  /// are not, or that have another type or shape; what an op says of its operands.
  Expected<TensorMap> run(const TensorMap &inputs) const;
  /// The same with the inputs in their order.
  Expected<TensorMap> run(std::span<const Tensor> inputs) const;
  /// One result per sample, several at once. Errors: the first in the order of the samples.
  Expected<std::vector<TensorMap>> runSamples(std::span<const TensorMap> samples) const;

private:
  struct State;
  class Frame;
  explicit Interpreter(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace tpuc

#endif // TPUC_INTERPRETER_INTERPRETER_H
