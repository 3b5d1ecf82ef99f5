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

#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"

namespace tpuc {

/// One op, once. Every value of a function, those of nested regions among them, has a slot.
struct Step {
  mlir::Operation *op = nullptr;
  /// Null for a `top.Input`, which hands its operand on.
  EvaluateInterface evaluator;
  llvm::SmallVector<unsigned> operands;
  /// The slot of result 0; the other results follow.
  unsigned firstResult = 0;
  llvm::SmallVector<std::string> names;
  /// Slots of the same block that nobody reads after this step.
  llvm::SmallVector<unsigned> dead;
  std::unique_ptr<kernels::KernelCache> cache;
};

/// The only block of a region.
struct BlockProgram {
  llvm::SmallVector<unsigned> arguments;
  std::vector<Step> steps;
  llvm::SmallVector<unsigned> yielded;
};

/// Where in the shared block of memory a slot has its room.
struct Room {
  int64_t offset = 0;
  int64_t bytes = 0;
};

struct Program {
  /// Errors: an op without a meaning, a weight that cannot be read, a region with several blocks.
  static Expected<Program> make(mlir::Region &body);

  /// Gives room to what the steps of `body` make in static shapes and what is not yielded.
  /// Tensors whose steps do not overlap share it.
  Expected<void> planMemory(mlir::Region &body);

  const BlockProgram &block(mlir::Region &region) const { return blocks.find(&region)->second; }

  llvm::DenseMap<mlir::Region *, BlockProgram> blocks;
  /// What slots hold before the first step: the weights. One entry per slot.
  std::vector<std::optional<Tensor>> constants;
  /// One entry per slot once memory is planned; no bytes where there is no room.
  std::vector<Room> rooms;
  int64_t plannedBytes = 0;

private:
  Expected<void> addRegion(mlir::Region &region);
  Expected<void> addStep(BlockProgram &block, mlir::Operation &op);
  unsigned addSlot(mlir::Value value);

  llvm::DenseMap<mlir::Value, unsigned> slots;
};

} // namespace tpuc

#endif // TPUC_INTERPRETER_PROGRAM_H
