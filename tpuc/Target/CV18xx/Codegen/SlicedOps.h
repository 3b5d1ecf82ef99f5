//===- SlicedOps.h - Products whose sums do not fit the lanes -- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions and products with a constant matrix of which no tile fits: they read global memory
// and write it, slice by slice of their input channels, and have all of local memory meanwhile.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_SLICEDOPS_H
#define TPUC_TARGET_CV18XX_CODEGEN_SLICEDOPS_H

#include "tpuc/Target/CV18xx/Kernels/Builder.h"

#include "mlir/IR/Operation.h"

namespace tpuc::cv18xx::backend {

/// Of such an op: its `SlicePlan`.
inline constexpr llvm::StringLiteral kSlicePlan = "slice_plan";

/// Whether an op is marked with a plan.
bool isSliced(mlir::Operation *op);

/// Marks an op with the plan that takes the least time, if it is one that slices can compute.
void planSlices(const Chip &chip, mlir::Operation *op);

/// An op that is marked, whose tensors have addresses.
Expected<void> emitSliced(Builder &builder, mlir::Operation *op);

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_SLICEDOPS_H
