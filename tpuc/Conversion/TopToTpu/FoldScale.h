//===- FoldScale.h - Mean and scale of pictures in first convolutions -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_FOLDSCALE_H
#define TPUC_CONVERSION_TOPTOTPU_FOLDSCALE_H

#include "tpuc/Conversion/TopToTpu/StoragePlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tpuc {

/// Of each `top.Preprocess` that only convolutions of one group read, all of them on floats by
/// `plan`: their filters, biases and `pad_values` take over mean and scale,
///
///     sum of w * (x - mean) * scale = sum of (w * scale) * x - sum of (w * scale) * mean,
///
/// with `mean` outside of the picture, where the former sum has 0. The result of the op, then on
/// floats, are the bytes' numbers, which 16 bits hold exactly; it is named NAME_bytes. Targets
/// without F32 have nothing but 0 outside: there, only convolutions without pads take over a mean.
void foldScale(mlir::func::FuncOp main, const TargetInfo &target, StoragePlan &plan);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_FOLDSCALE_H
