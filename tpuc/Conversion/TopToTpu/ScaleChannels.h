//===- ScaleChannels.h - A scale for each channel that products read -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_SCALECHANNELS_H
#define TPUC_CONVERSION_TOPTOTPU_SCALECHANNELS_H

#include "tpuc/Conversion/TopToTpu/StoragePlan.h"

namespace tpuc {

/// Multiplies tensors that are made in floats and read by products on integers by a factor for each
/// channel, so that all channels use the integers alike, and divides the filters by it. Where the
/// biases can take it up, a number for each channel is added, too. The numbers follow from the
/// ranges of the channels that calibration has found. The ops are of top, `NAME_scaled` and
/// `NAME_scaled_shifted`; their floats are added to `options`, those that `plan` was made with; a
/// plan has to be made anew. Errors: a filter or a bias that cannot be read.
Expected<void> scaleChannels(mlir::func::FuncOp main, const TargetInfo &target,
                             const StoragePlan &plan, PlanOptions &options);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_SCALECHANNELS_H
