//===- BM1684Backend.h - The BM1684 as the code generator sees it --*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_CODEGEN_BM1684BACKEND_H
#define TPUC_TARGET_BM1684_CODEGEN_BM1684BACKEND_H

#include "tpuc/Codegen/Backend.h"

namespace tpuc::bm1684::backend {

/// What `module.chip` says.
inline constexpr std::string_view kChipName = "bm1684";

class BM1684Backend : public codegen::Backend {
public:
  using Backend::Backend;

  SchemeSet schemes() const override;
  llvm::ArrayRef<codegen::OptionalPass> optionalPasses() const override;
  Expected<codegen::Place> placeOf(mlir::Operation *op) const override;
  int64_t transferCycles(int64_t bytes, int64_t rows) const override;
  Expected<std::optional<codegen::PackedLayout>>
  packedLayout(mlir::OpOperand &operand) const override;
  std::shared_ptr<const codegen::OpLayout> layoutOf(mlir::Operation *op,
                                                    const codegen::TileModel &model) const override;
  Expected<int64_t> scratchBytes(const codegen::TiledOp &tiled) const override;
  Expected<codegen::Cost> cost(codegen::Commands emit) const override;
  Expected<llvm::SmallVector<int64_t>> runCycles(codegen::Commands emit) const override;
  int64_t tileUnit(mlir::Operation *op, unsigned axis) const override;
  std::unique_ptr<codegen::Emitter> createEmitter() const override;
};

} // namespace tpuc::bm1684::backend

#endif // TPUC_TARGET_BM1684_CODEGEN_BM1684BACKEND_H
