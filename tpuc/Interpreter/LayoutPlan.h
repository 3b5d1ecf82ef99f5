//===- LayoutPlan.h - Which steps are kernels, and which tensors lie in blocks -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_LAYOUTPLAN_H
#define TPUC_INTERPRETER_LAYOUTPLAN_H

#include "tpuc/Interpreter/Program.h"

namespace tpuc {

/// Replaces steps of `body`'s only block by kernels for fixed shapes. Their tensors lie in the
/// blocked layout where convolutions want it; steps between the layouts are made where a value is
/// wanted in the other one, one for each value. With `fuse`, an element-wise step whose operand
/// nobody else reads goes into the kernel that makes it. Without, every tensor of the module is
/// made in the plain layout too, in the order of the ops. Weights that only kernels read, which
/// have packed them, are dropped.
void planLayouts(Program &program, mlir::Region &body, bool fuse);

} // namespace tpuc

#endif // TPUC_INTERPRETER_LAYOUTPLAN_H
