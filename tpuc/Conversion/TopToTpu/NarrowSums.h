//===- NarrowSums.h - Sums that may be rounded at each step -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_NARROWSUMS_H
#define TPUC_CONVERSION_TOPTOTPU_NARROWSUMS_H

#include "mlir/IR/Operation.h"

namespace tpuc {

/// Marks the depthwise convolutions in F16 below `root` whose sums need not be rounded once
/// (`narrow_sums`): those whose results are all rounded to integers of at most 8 bits. Constants
/// may scale and shift them before that.
///
/// Rounding at each step of F16, which devices do in less time, adds errors of 2^-12 of the sums.
/// Rounding to 8 bits has errors of at least 2^-9 of the largest result.
void markNarrowSums(mlir::Operation *root);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_NARROWSUMS_H
