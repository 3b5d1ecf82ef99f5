//===- ModuleChecks.h - What a module is checked for ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module may have been written by hand, by a stranger, or for another machine. What the passes
// rely on is checked when it is read, before anything is computed.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_MODULECHECKS_H
#define TPUC_DRIVER_MODULECHECKS_H

#include "tpuc/Support/Error.h"
#include "tpuc/Target/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace tpuc {

/// Checks that the types of a Top module, read from `path`, are those that its ops make, and that
/// constant operands are what these can compute with. Errors name the layer.
Expected<void> checkTypes(mlir::ModuleOp module, const std::string &path);

/// Checks that the global memory of `target` can hold what each layer of `module` reads and
/// writes. Errors name the layer.
Expected<void> checkTensorsFit(mlir::ModuleOp module, const TargetInfo &target);

} // namespace tpuc

#endif // TPUC_DRIVER_MODULECHECKS_H
