//===- IntegerFusion.h - Norms and softmaxes between stored integers ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_INTEGERFUSION_H
#define TPUC_CONVERSION_TOPTOTPU_INTEGERFUSION_H

#include "mlir/IR/BuiltinOps.h"

namespace tpuc {

/// Layer norms, softmaxes and attention on floats whose neighbours are casts from or to integers
/// take over these casts where the ops of the tpu dialect have such a form. What the casts round is
/// the same as before.
void computeOnIntegers(mlir::ModuleOp module);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_INTEGERFUSION_H
