//===- FamilyEmitter.h - Commands of a network for a chip of the family ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_CODEGEN_FAMILYEMITTER_H
#define TPUC_TARGET_BM168X_CODEGEN_FAMILYEMITTER_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/BM168x/CommandBuilder.h"
#include "tpuc/Target/BM168x/Timing.h"

namespace tpuc::bm168x::backend {

/// Collects what the builder of a chip makes of layers. How tiles are loaded, computed, stored and
/// moved is the chip's.
class FamilyEmitter : public codegen::Emitter {
public:
  /// `table` is that of the builder's chip, and `info` describes it. All three must live as long.
  FamilyEmitter(CommandBuilder &builder, const mc::CommandTable &table, const TargetInfo &info)
      : builder(builder), table(table), info(info) {}

  void beginLayer(mlir::Operation *op) override;
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

protected:
  /// `done`, with the layer's name where the error has none.
  static Expected<void> named(mlir::Operation *op, Expected<void> done);

  /// Whether the results of a layer are in global memory as their types say.
  virtual bool isInMemory(mlir::Operation *op) const = 0;
  /// By the vendor's parameters.
  virtual Expected<CommandCost> costOf(const mc::Command &command) const = 0;
  /// What a group takes by the vendor's parameters and by the conservative ones.
  virtual Expected<std::array<int64_t, 2>> cyclesOf(const CommandStreams &group) const = 0;

private:
  CommandBuilder &builder;
  const mc::CommandTable &table;
  const TargetInfo &info;
  /// The groups of commands of each sub-network that has ended.
  std::vector<std::vector<CommandStreams>> subNets;
  int64_t numEnded = 0;
  /// Each with the number of its sub-network among those of the TPU.
  std::vector<model::InnerTensor> tensors;
};

} // namespace tpuc::bm168x::backend

#endif // TPUC_TARGET_BM168X_CODEGEN_FAMILYEMITTER_H
