//===- NullBackend.h - Null as the code generator sees it -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_NULL_CODEGEN_NULLBACKEND_H
#define TPUC_TARGET_NULL_CODEGEN_NULLBACKEND_H

#include "tpuc/Codegen/Backend.h"

namespace tpuc::Null {

/// A chip without tricks: each op has one way to be computed. The host computes what has no kernel,
/// recurrent layers among them, and windows beyond `TargetInfo::window` (strides of 32, pads of
/// 16). Both engines run side by side in what a run costs (EngineClocks); the machine itself runs
/// op by op.
class NullBackend : public codegen::Backend {
public:
  using Backend::Backend;

  SchemeSet schemes() const override;
  Expected<codegen::Place> placeOf(mlir::Operation *op) const override;
  Expected<std::optional<codegen::PackedLayout>>
  packedLayout(mlir::OpOperand &operand) const override;
  std::shared_ptr<const codegen::OpLayout> layoutOf(mlir::Operation *op,
                                                    const codegen::TileModel &model) const override;
  Expected<int64_t> scratchBytes(const codegen::TiledOp &tiled) const override;
  Expected<codegen::Cost> cost(codegen::Commands emit) const override;
  Expected<llvm::SmallVector<int64_t>> runCycles(codegen::Commands emit) const override;
  int64_t tileUnit(mlir::Operation *op, unsigned axis) const override;
  Expected<void> assignAddresses(codegen::AddressPlan &plan) const override;
  std::unique_ptr<codegen::Emitter> createEmitter() const override;

private:
  Expected<void> checkTypes(mlir::Operation *op) const;
  Expected<void> checkWindows(mlir::Operation *op) const;
};

} // namespace tpuc::Null

#endif // TPUC_TARGET_NULL_CODEGEN_NULLBACKEND_H
