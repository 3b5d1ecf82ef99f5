//===- CV18xxEmitter.h - Commands of networks ----------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_CV18XXEMITTER_H
#define TPUC_TARGET_CV18XX_CODEGEN_CV18XXEMITTER_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/ConstantStorage.h"
#include "tpuc/Target/CV18xx/Kernels/Builder.h"

namespace tpuc::cv18xx::backend {

class CV18xxEmitter : public codegen::Emitter {
public:
  explicit CV18xxEmitter(const Chip &chip) : builder(chip) {}

  void beginLayer(mlir::Operation *op) override;
  Expected<void> load(const codegen::TiledOp &tiled, unsigned index, int64_t global) override;
  Expected<void> compute(const codegen::TiledOp &tiled) override;
  Expected<void> store(const codegen::TiledOp &tiled, int64_t global) override;
  /// These chips keep no constants for the whole network: always an error.
  Expected<void> loadPool(unsigned space, int64_t global, int64_t local, int64_t bytes) override;
  Expected<void> move(mlir::Operation *op) override;
  void endLayer(mlir::Operation *op) override;
  Expected<void> endSubNet() override;
  int64_t numCommands() const override {
    return numEnded + static_cast<int64_t>(builder.numCommands(Engine::Tiu) +
                                           builder.numCommands(Engine::Dma));
  }
  Expected<void> finish(model::CompiledModel &model) override;
  /// Errors: files for other chips, or without one area of constants.
  Expected<void> setStorage(const codegen::ConstantStorage &wanted) override;

  /// What the commands take, added up, by the first set of parameters. Nothing may follow.
  codegen::Cost cost();
  /// What the sub-networks that have ended take one after the other, by each set of parameters.
  llvm::SmallVector<int64_t> runCycles() const;

private:
  Builder builder;
  /// The commands of the sub-networks that have ended.
  std::vector<CommandStream> streams;
  int64_t numEnded = 0;
  /// Each with the number of its sub-network among those of the chip.
  std::vector<model::InnerTensor> tensors;
  codegen::ConstantStorage storage;
};

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_CV18XXEMITTER_H
