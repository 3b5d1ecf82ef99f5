//===- ConstantIndices.h - Indices that a network states --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_CONSTANTINDICES_H
#define TPUC_DRIVER_CONSTANTINDICES_H

#include "tpuc/Support/Error.h"

#include "mlir/IR/BuiltinOps.h"

namespace tpuc {

/// Errors: an op of the Top module that gathers or scatters by constant indices, one of which is
/// beyond the extent that it counts along. No input makes such a network run.
Expected<void> checkConstantIndices(mlir::ModuleOp module);

} // namespace tpuc

#endif // TPUC_DRIVER_CONSTANTINDICES_H
