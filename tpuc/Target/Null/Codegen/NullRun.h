//===- NullRun.h - Runs compiled networks -----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_NULL_CODEGEN_NULLRUN_H
#define TPUC_TARGET_NULL_CODEGEN_NULLRUN_H

#include "tpuc/Interpreter/Interpreter.h"

namespace tpuc::Null {

/// Emits the commands of a network that is compiled for null, and runs them on its machine; the
/// host's layers are computed in between. `inputs` are named as the network's, in their types.
/// Memories begin as bytes `poison`. Gives the outputs by name. Errors: what is not compiled,
/// inputs that are missing or have another type, what the machine says of a command.
Expected<TensorMap> runCompiled(mlir::ModuleOp compiled, const TensorMap &inputs, std::byte poison);

} // namespace tpuc::Null

#endif // TPUC_TARGET_NULL_CODEGEN_NULLRUN_H
