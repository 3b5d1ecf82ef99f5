//===- CompileOps.h - Ops as kernels for fixed shapes -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_COMPILEOPS_H
#define TPUC_INTERPRETER_COMPILEOPS_H

#include "tpuc/Interpreter/Kernels/CompiledKernel.h"
#include "tpuc/Support/Tensor.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>

namespace tpuc {

/// A value that a kernel reads, and in which layout.
struct KernelOperand {
  mlir::Value value;
  bool isBlocked;
};

/// An op as a kernel. The post-ops' operands are among `operands`.
struct CompiledOp {
  std::unique_ptr<kernels::CompiledKernel> kernel;
  llvm::SmallVector<KernelOperand> operands;
  bool isBlocked = false; ///< The layout of the result.
};

/// What is known of values while ops are compiled.
struct CompileContext {
  /// Whether the value is at hand in the blocked layout.
  std::function<bool(mlir::Value)> isBlocked;
  /// The constant that a value is; null for all others.
  std::function<const Tensor *(mlir::Value)> constant;
};

/// The shape of an f32 value with static, positive extents.
std::optional<Shape> staticShape(mlir::Value value);

/// `op` as a kernel: on the blocked layout where an operand has it or the op is a convolution. None
/// for ops that are left to their evaluators. Constants are packed.
std::optional<CompiledOp> compileOp(mlir::Operation *op, const CompileContext &context);

/// Puts `op`, which is element-wise, behind the kernel that makes `value`, one of its operands. The
/// result has the layout of `value`. False, and nothing changed, if the op is no such op.
bool appendElementwise(mlir::Operation *op, mlir::Value value, CompiledOp &to,
                       const CompileContext &context);

} // namespace tpuc

#endif // TPUC_INTERPRETER_COMPILEOPS_H
