//===- BM1684XEmitter.h - Commands of networks on the BM1684X ----*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_BM1684XEMITTER_H
#define TPUC_TARGET_BM1684X_CODEGEN_BM1684XEMITTER_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM168x/Codegen/FamilyEmitter.h"

namespace tpuc::bm1684x::backend {

class BM1684XEmitter : public bm168x::backend::FamilyEmitter {
public:
  /// Without waits, commands can only be counted (`cost`).
  explicit BM1684XEmitter(bm168x::Waits waits = bm168x::Waits::Set);
  Expected<void> load(const codegen::TiledOp &tiled, unsigned index, int64_t global) override;
  Expected<void> compute(const codegen::TiledOp &tiled) override;
  Expected<void> store(const codegen::TiledOp &tiled, int64_t global) override;
  Expected<void> loadPool(unsigned space, int64_t global, int64_t local, int64_t bytes) override;
  Expected<void> move(mlir::Operation *op) override;

protected:
  bool isInMemory(mlir::Operation *op) const override;
  Expected<bm168x::CommandCost> costOf(const mc::Command &command) const override;
  Expected<std::array<int64_t, 2>> cyclesOf(const bm168x::CommandStreams &group) const override;

private:
  Builder builder;
};

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_BM1684XEMITTER_H
