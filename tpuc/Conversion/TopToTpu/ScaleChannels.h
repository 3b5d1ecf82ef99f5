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

/// What is stored of the channels of a tensor that products read: of channel c
/// factors[c] * x + summands[c], which is within `range`.
struct ChannelMap {
  llvm::SmallVector<float> factors;
  /// Empty where nothing is added.
  llvm::SmallVector<float> summands = {};
  quant::FloatRange range = {0, 0};
};

/// How many times less the error of rounding has to be for scales of channels to be worth it, which
/// cost time and cut off channels that were narrow in all samples and are wide in an input.
inline constexpr double kLeastGain = 1.1;

/// What rounding a tensor adds to the sums of `readers`, products with constant filters, where
/// channel c is rounded in steps of steps[c]: the sum of w² * step² over the elements of the
/// filters. Errors: a filter that cannot be read.
Expected<double> roundingError(llvm::ArrayRef<mlir::Operation *> readers,
                               llvm::ArrayRef<double> steps);

/// Makes the product `reader`, of a constant filter, compute from its input after `map` what it did
/// from the input: new filter and bias, and what calibration has found of the input. Errors: a
/// filter or a bias that cannot be read.
Expected<void> readAfter(const ChannelMap &map, mlir::Operation *reader);

/// Multiplies tensors that are made in floats and read by products on integers by a factor for each
/// channel, so that all channels use the integers alike, and divides the filters by it. Where the
/// biases can take it up, a number for each channel is added, too. The numbers follow from the
/// ranges of the channels that calibration has found. A product on integers whose result nothing
/// else reads takes them into its own filter and bias, without ops; its result is `NAME_scaled`
/// then, too. The ops are of top, `NAME_scaled` and `NAME_scaled_shifted`; their floats are added
/// to `options`, those that `plan` was made with; a plan has to be made anew. Errors: a filter or a
/// bias that cannot be read.
Expected<void> scaleChannels(mlir::func::FuncOp main, const TargetInfo &target,
                             const StoragePlan &plan, PlanOptions &options);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_SCALECHANNELS_H
