//===- Ungroup.h - What grouped modules compute, without the groups --*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_UNGROUP_H
#define TPUC_INTERPRETER_UNGROUP_H

#include "mlir/IR/BuiltinOps.h"

namespace tpuc {

/// Takes away what only says how a device goes about it: groups, loads and stores, packed weights,
/// addresses in types. What is left is the lowered network. A packed weight that cannot be read
/// stays as it is.
void ungroup(mlir::ModuleOp module);

} // namespace tpuc

#endif // TPUC_INTERPRETER_UNGROUP_H
