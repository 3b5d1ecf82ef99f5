//===- FunctionOps.h - Kernels of functions of BF16 ----------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_FUNCTIONOPS_H
#define TPUC_TARGET_CV18XX_CODEGEN_FUNCTIONOPS_H

#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Target/CV18xx/Codegen/Site.h"

namespace tpuc::cv18xx::backend {

// Errors (without `where`) say what the chip cannot do.

Expected<void> emitOf(tpu::SigmoidOp op, const Site &site);
Expected<void> emitOf(tpu::SiLUOp op, const Site &site);
Expected<void> emitOf(tpu::SwishOp op, const Site &site);
Expected<void> emitOf(tpu::GELUOp op, const Site &site);
Expected<void> emitOf(tpu::MishOp op, const Site &site);
Expected<void> emitOf(tpu::TanhOp op, const Site &site);
Expected<void> emitOf(tpu::ErfOp op, const Site &site);
Expected<void> emitOf(tpu::ExpOp op, const Site &site);
Expected<void> emitOf(tpu::LogOp op, const Site &site);
Expected<void> emitOf(tpu::ReciprocalOp op, const Site &site);
Expected<void> emitOf(tpu::SqrtOp op, const Site &site);
Expected<void> emitOf(tpu::RsqrtOp op, const Site &site);
Expected<void> emitOf(tpu::EluOp op, const Site &site);
Expected<void> emitOf(tpu::SoftplusOp op, const Site &site);
Expected<void> emitOf(tpu::SoftsignOp op, const Site &site);
Expected<void> emitOf(tpu::PowConstOp op, const Site &site);
Expected<void> emitOf(tpu::SubConstOp op, const Site &site);
Expected<void> emitOf(tpu::DivConstOp op, const Site &site);
/// A product with the reciprocal.
Expected<void> emitOf(tpu::DivOp op, const Site &site);

/// Bytes that these want in each lane for a result; none of other ops.
int64_t scratchOfFunction(const Chip &chip, mlir::Operation *op, const Extents &result);

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_FUNCTIONOPS_H
