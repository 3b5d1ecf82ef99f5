//===- HeadOps.h - What is done to heads, done to rows ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_HEADOPS_H
#define TPUC_CODEGEN_DECOMPOSE_HEADOPS_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"

namespace tpuc::codegen {

/// Takes the root of the mean square of each part of rows [B, T, H * D], instead of that of the
/// heads [B, H, T, D] that are made of them for attention alone: these are made behind that. False,
/// and nothing is made, where the chip has no kernel for it, or the heads are made otherwise.
/// ```
/// rows -> Reshape [B,T,H,D] -> Permute [B,H,T,D] -> RMSNorm
/// rows -> RMSNorm of H parts -> Reshape [B,T,H,D] -> Permute [B,H,T,D]
/// ```
bool normalizeRows(tpu::RMSNormOp op, const Backend &backend);

/// The same of a product with one constant for each head, [H, 1, 1].
bool scaleRows(tpu::MulOp op, const Backend &backend);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_HEADOPS_H
