//===- Moves.cpp - Ops that only move data --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/Moves.h"
#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

#include <limits>

namespace tpuc::bm1684x::backend {

static constexpr bm168x::backend::TransferForms kForms = {
    .takes = [](DataType type) { return precOf(type).has_value(); },
    .hasTurn = true,
    .hasGather = true};

Expected<void> checkMove(mlir::Operation *op) { return bm168x::backend::checkMove(kForms, op); }

Expected<void> emitMove(Builder &builder, mlir::Operation *op) {
  const bm168x::backend::TransferEmitter transfers = {
      .forms = kForms,
      .copy = [&](const GlobalTensor &from,
                  const GlobalTensor &to) { return emitGlobalCopy(builder, from, to); },
      .turn = [&](const GlobalTensor &from,
                  const GlobalTensor &to) { return emitGlobalTransposeCW(builder, from, to); },
      .fill =
          [&](const GlobalTensor &to, double value) {
            return emitGlobalFill(builder, to, immediateBits(to.type, value));
          },
      .gather =
          [&](const GlobalTensor &from, const GlobalTensor &indices, const GlobalTensor &to) {
            constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
            return emitGlobalGather(builder, from, indices, to,
                                    immediateBits(to.type, isFloat(to.type) ? kMissing : 0));
          }};
  return bm168x::backend::emitMove(transfers, op);
}

} // namespace tpuc::bm1684x::backend
