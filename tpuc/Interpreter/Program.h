//===- Program.h - A function as steps over numbered tensors --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_PROGRAM_H
#define TPUC_INTERPRETER_PROGRAM_H

#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/CompiledKernel.h"

#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tpuc {

/// One op, once, or a kernel that computes what one or several ops do. Every value of a function,
/// those of nested regions among them, has a slot for its plain tensor.
struct Step {
  /// Of several ops the last one.
  mlir::Operation *op = nullptr;
  /// Null for a `top.Input`, which hands its operand on.
  EvaluateInterface evaluator;
  llvm::SmallVector<unsigned> operands;
  /// The slot of result 0; the other results follow.
  unsigned firstResult = 0;
  llvm::SmallVector<std::string> names;
  /// Slots of the same block that nobody reads after this step; see planLives.
  llvm::SmallVector<unsigned> dead;
  std::unique_ptr<kernels::KernelCache> cache;
  /// Makes the only result in place of the evaluator, f32 of the shape `shape` as it lies.
  std::unique_ptr<kernels::CompiledKernel> kernel;
  Shape shape;
  /// Whether that is result 0 of the op, as the module states it; else it lies in blocks.
  bool isPlain = true;
  /// Whether the kernel only moves a tensor from one layout to the other.
  bool isReorder = false;

  /// The op's name, or what is done to the layout.
  std::string kind() const;
};

/// The only block of a region.
struct BlockProgram {
  llvm::SmallVector<unsigned> arguments;
  std::vector<Step> steps;
  llvm::SmallVector<unsigned> yielded;
};

/// Where in the shared block of memory a slot has its range.
struct BufferRange {
  int64_t offset = 0;
  int64_t bytes = 0;
};

struct Program {
  /// Errors: an op without a meaning, a weight that cannot be read, a region with several blocks.
  static Expected<Program> make(mlir::Region &body);

  /// States after which step of its block nobody reads a slot. To be called once all steps are
  /// there.
  void planLives();
  /// Gives range to what the steps of `body` make in static shapes and what is not yielded.
  /// Tensors whose steps do not overlap share it.
  Expected<void> planMemory(mlir::Region &body);

  /// The slot of the plain tensor that `value` is.
  unsigned slotOf(mlir::Value value) const { return slots.lookup(value); }
  /// A slot for a tensor that is no value's plain one.
  unsigned addSlot();
  /// Calls `function` for the slots that a step reads, the regions of its op among it.
  void forEachRead(const Step &step, llvm::function_ref<void(unsigned slot)> function) const;

  const BlockProgram &block(mlir::Region &region) const { return blocks.find(&region)->second; }

  llvm::DenseMap<mlir::Region *, BlockProgram> blocks;
  /// What slots hold before the first step: the weights. One entry per slot.
  std::vector<std::optional<Tensor>> constants;
  /// One entry per slot; no bytes where there is no range, and nowhere before memory is planned.
  std::vector<BufferRange> ranges;
  int64_t plannedBytes = 0;

private:
  /// The steps [lower, upper) in which so many bytes are held.
  struct Life {
    int64_t lower, upper, bytes;
  };
  Expected<void> place(const llvm::MapVector<unsigned, Life> &lives);
  Expected<void> addRegion(mlir::Region &region);
  Expected<void> addStep(BlockProgram &block, mlir::Operation &op);
  unsigned addSlot(mlir::Value value);

  llvm::DenseMap<mlir::Value, unsigned> slots;
};

} // namespace tpuc

#endif // TPUC_INTERPRETER_PROGRAM_H
