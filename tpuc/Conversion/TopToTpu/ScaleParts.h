//===- ScaleParts.h - A scale for each part of a concatenation ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_SCALEPARTS_H
#define TPUC_CONVERSION_TOPTOTPU_SCALEPARTS_H

#include "tpuc/Conversion/TopToTpu/StoragePlan.h"

namespace tpuc {

/// How many times narrower than the widest a part has to be to get a scale of its own.
inline constexpr double kLeastPartRatio = 2;

/// Gives the parts of concatenations on integers scales of their own, where products with constant
/// filters on integers are all that reads the result, and sum over the axis of the parts.
///
/// A part of width w joins others of which the widest has W. It is multiplied by f = W / w, at most
/// as many times as the integers have steps, and the filters are divided by f where they meet its
/// channels: the sum of w[c] * x[c] is that of (w[c] / f) * (f * x[c]), exact in float. The width
/// is the length of the range with 0 in it; symmetric, it is the largest magnitude. It is done
/// where a part is `kLeastPartRatio` times narrower, and rounding the parts then adds less to the
/// sums: the sum of w² * step² over the elements of the filters falls.
///
/// On integers a number times a tensor is another scale of the same integers. So the ops that are
/// made, top.MulConst `PART_widened`, cost what requantizing to a shared scale costs, at most.
/// Their ops are added to `options`, those that `plan` was made with; a plan has to be made anew.
/// The result is called `NAME_widened`. Errors: a filter that cannot be read.
Expected<void> scaleParts(mlir::func::FuncOp main, const StoragePlan &plan, PlanOptions &options);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_SCALEPARTS_H
