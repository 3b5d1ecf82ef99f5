//===- SortChannels.h - Channels in the order of their shifts ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_SORTCHANNELS_H
#define TPUC_CONVERSION_TOPTOTPU_SORTCHANNELS_H

#include "tpuc/Conversion/TopToTpu/StoragePlan.h"

namespace tpuc {

/// Sorts the channels of tensors between convolutions, for chips on which so many channels as there
/// are lanes share one shift: those that need coarse filters stand together then.
///
/// A channel needs filter steps of its largest element over the largest integer, or of its bias
/// over the largest bias. All channels of a shift get the steps of the one that needs the coarsest.
/// A tensor qualifies that a convolution without groups makes and only such convolutions read, with
/// depthwise ones between; all have constant filters. Their filters, biases and what calibration
/// found of the channels move. Of the orders by what each convolution needs, and by what all need
/// together, the one is taken that leaves the finest steps; none where that is no finer by
/// `kLeastGain` than what there was. Tensors whose channels moved are called `NAME_sorted`; layers
/// of `options` stay where they are. A plan has to be made anew. Errors: a filter or a bias that
/// cannot be read.
Expected<void> sortChannels(mlir::func::FuncOp main, const TargetInfo &target,
                            const StoragePlan &plan, PlanOptions &options);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_SORTCHANNELS_H
