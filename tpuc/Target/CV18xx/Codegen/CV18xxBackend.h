//===- CV18xxBackend.h - The chips as the code generator sees them  -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_CV18XXBACKEND_H
#define TPUC_TARGET_CV18XX_CODEGEN_CV18XXBACKEND_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/CV18xx/Kernels/Builder.h"

namespace tpuc::cv18xx::backend {

/// One class for the four chips, which differ in lanes and in what commands there are.
class CV18xxBackend : public codegen::Backend {
public:
  CV18xxBackend(const TargetInfo &target, const Chip &chip) : Backend(target), chip(chip) {}

  SchemeSet schemes() const override { return info().schemes; }
  llvm::ArrayRef<codegen::OptionalPass> optionalPasses() const override;
  Expected<codegen::Place> placeOf(mlir::Operation *op) const override;
  Expected<std::optional<codegen::PackedLayout>>
  packedLayout(mlir::OpOperand &operand) const override;
  std::shared_ptr<const codegen::OpLayout> layoutOf(mlir::Operation *op,
                                                    const codegen::TileModel &model) const override;
  Expected<int64_t> scratchBytes(const codegen::TiledOp &tiled) const override;
  Expected<codegen::Cost> cost(codegen::Commands emit) const override;
  Expected<llvm::SmallVector<int64_t>> runCycles(codegen::Commands emit) const override;
  int64_t transferCycles(int64_t bytes, int64_t rows) const override;
  int64_t stepBytes() const override;
  bool tilesChannelsOfGroups() const override { return true; }
  int64_t tileUnit(mlir::Operation *op, unsigned axis) const override;
  Expected<void> assignAddresses(codegen::AddressPlan &plan) const override;
  bool takesLocalMemory(mlir::Operation *move) const override;
  std::unique_ptr<codegen::Emitter> createEmitter() const override;

private:
  Expected<void> checkKernel(mlir::Operation *op) const;

  const Chip &chip;
};

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_CV18XXBACKEND_H
