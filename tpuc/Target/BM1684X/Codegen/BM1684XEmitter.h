//===- BM1684XEmitter.h - Commands of networks on the BM1684X ----*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_BM1684XEMITTER_H
#define TPUC_TARGET_BM1684X_CODEGEN_BM1684XEMITTER_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/BM1684X/Kernels/Builder.h"

namespace tpuc::bm1684x::backend {

class BM1684XEmitter : public codegen::Emitter {
public:
  void beginLayer(mlir::Operation *op) override;
  Expected<void> load(const codegen::TiledOp &tiled, unsigned index, int64_t global) override;
  Expected<void> compute(const codegen::TiledOp &tiled) override;
  Expected<void> store(const codegen::TiledOp &tiled, int64_t global) override;
  Expected<void> loadPool(unsigned space, int64_t global, int64_t local, int64_t bytes) override;
  Expected<void> move(mlir::Operation *op) override;
  void endLayer(mlir::Operation *op) override;
  Expected<void> endSubNet() override;
  int64_t numCommands() const override {
    return numEnded + static_cast<int64_t>(builder.numCommands());
  }
  Expected<void> finish(model::CompiledModel &model) override;

  /// What the commands take, added up, by the vendor's parameters. Nothing may follow.
  Expected<codegen::Cost> cost();

  /// What the sub-networks that have ended take one after the other, by each set of parameters.
  Expected<llvm::SmallVector<int64_t>> runCycles() const;

private:
  Builder builder;
  /// The commands of the sub-networks that have ended.
  std::vector<std::vector<CommandStreams>> subNets;
  int64_t numEnded = 0;
  /// Each with the number of its sub-network among those of the TPU.
  std::vector<model::InnerTensor> tensors;
};

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_BM1684XEMITTER_H
