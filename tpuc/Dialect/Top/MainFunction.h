//===- MainFunction.h - The function that is the network ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_MAINFUNCTION_H
#define TPUC_DIALECT_TOP_MAINFUNCTION_H

#include "tpuc/Support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tpuc::top {

/// The network of a module: its function `main`. Errors: there is none, or only its declaration.
Expected<mlir::func::FuncOp> mainFunction(mlir::ModuleOp module);

/// Gives a function of one block the type that its arguments and what it returns have.
void updateFunctionType(mlir::func::FuncOp function);

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_MAINFUNCTION_H
