//===- WindowOps.h - Kernels of convolutions and pools -------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_WINDOWOPS_H
#define TPUC_TARGET_CV18XX_CODEGEN_WINDOWOPS_H

#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Target/CV18xx/Codegen/Site.h"

namespace tpuc::cv18xx::backend {

// Errors (without `where`) say what the chip cannot do.

Expected<void> emitOf(tpu::ConvOp op, const Site &site);
/// A convolution of values with zeros between them.
Expected<void> emitOf(tpu::DeconvOp op, const Site &site);
Expected<void> emitOf(tpu::MatMulOp op, const Site &site);
Expected<void> emitOf(tpu::MaxPoolOp op, const Site &site);
Expected<void> emitOf(tpu::AvgPoolOp op, const Site &site);

/// Bytes that these want in each lane; none of other ops.
int64_t scratchOfWindows(const Chip &chip, const codegen::TiledOp &tiled);

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_WINDOWOPS_H
