//===- WideFloats.h - Networks of 16-bit floats as networks of F32 --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_WIDEFLOATS_H
#define TPUC_DRIVER_WIDEFLOATS_H

#include "tpuc/Driver/NetworkInputs.h"
#include "tpuc/Support/Error.h"

#include "mlir/IR/BuiltinOps.h"

namespace tpuc {

/// Makes F32 of the F16 and BF16 of a Top module, and `withDoubles` of its F64 (--widen-floats).
/// Then it is optimized as networks in F32 are, so that ops are fused. A module without such floats
/// stays as it is. Errors: a weight that cannot be read; `path` is what they name.
Expected<void> widenFloats(mlir::ModuleOp module, bool withDoubles, const std::string &path);

/// Gives inputs that were made F32 the types that callers give.
void restoreGivenTypes(mlir::ModuleOp module, std::vector<InputSpec> &inputs);

} // namespace tpuc

#endif // TPUC_DRIVER_WIDEFLOATS_H
