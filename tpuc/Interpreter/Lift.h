//===- Lift.h - Lowered modules in the ops that the interpreter computes ----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_LIFT_H
#define TPUC_INTERPRETER_LIFT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Value.h"

namespace tpuc {

/// A copy of a module with tpu ops that is made for evaluation; null if `module` has none.
///
/// Ops on stored integers that are requantized, and those with steps of their own
/// (`tpu::hasIntegerFusion`) stay. All others become the ops of top that mean the same: on integers
/// as they lie, and in f32 for f16 and bf16, followed by a `tpu.RoundTo` unless they only move
/// elements. Arguments and results of `main` keep their types.
mlir::OwningOpRef<mlir::ModuleOp> liftDeviceOps(mlir::ModuleOp module);

/// Whether what `op` makes is no tensor of the module but a step on the way to one.
bool isIntermediate(mlir::Operation *op);

} // namespace tpuc

#endif // TPUC_INTERPRETER_LIFT_H
