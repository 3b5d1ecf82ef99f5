//===- NullEmitter.h - Commands of null -------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_NULL_CODEGEN_NULLEMITTER_H
#define TPUC_TARGET_NULL_CODEGEN_NULLEMITTER_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/Null/Codegen/EngineClocks.h"

namespace tpuc::Null {

/// What the machine does next. Ops belong to the module that was compiled.
struct Command {
  enum class Kind : uint8_t {
    Load,     ///< Operand `operand` of `tiled`, whose tensor is at `global`.
    Compute,  ///< `tiled`.
    Store,    ///< The result of `tiled`, to the tensor at `global`.
    LoadPool, ///< `bytes` for each lane, lane after lane from `global` on, to `local` of `space`.
    Move,     ///< `op`, whose tensors have addresses as encodings.
  };
  Kind kind = Kind::Compute;
  codegen::TiledOp tiled = {};
  /// What `tiled.model` points to.
  std::shared_ptr<const codegen::TileModel> model = nullptr;
  unsigned operand = 0;
  unsigned space = kTileSpace;
  int64_t global = 0, local = 0, bytes = 0;
  mlir::Operation *op = nullptr;
};

/// The commands of one sub-network that null computes.
using Stream = std::vector<Command>;

/// Records commands, and adds up what they cost.
class NullEmitter : public codegen::Emitter {
public:
  /// Without `keeps` only costs are kept.
  explicit NullEmitter(const TargetInfo &target, bool keeps = true)
      : target(target), keeps(keeps) {}

  void beginLayer(mlir::Operation *) override {}
  Expected<void> load(const codegen::TiledOp &tiled, unsigned index, int64_t global) override;
  Expected<void> compute(const codegen::TiledOp &tiled) override;
  Expected<void> store(const codegen::TiledOp &tiled, int64_t global) override;
  Expected<void> loadPool(unsigned space, int64_t global, int64_t local, int64_t bytes) override;
  Expected<void> move(mlir::Operation *op) override;
  void endLayer(mlir::Operation *) override {}
  Expected<void> endSubNet() override;
  int64_t numCommands() const override { return number; }
  /// Null has no files: always an error.
  Expected<void> finish(model::CompiledModel &model) override;

  const std::vector<Stream> &streams() const { return ended; }
  /// What all commands so far take.
  const codegen::Cost &cost() const { return all; }
  /// When the last command ends, if both engines run side by side and wait for each other's data.
  int64_t runCycles() const { return clocks.end(); }

private:
  void count(EngineRole role, int64_t cycles, std::span<const LocalRange> ranges);
  std::vector<LocalRange> rangesOf(const codegen::TiledOp &tiled, unsigned index,
                                   bool isWritten) const;
  void add(Command command, const codegen::TiledOp *tiled = nullptr);

  const TargetInfo &target;
  bool keeps;
  Stream stream;
  std::vector<Stream> ended;
  codegen::Cost all;
  int64_t number = 0;
  EngineClocks clocks;
};

} // namespace tpuc::Null

#endif // TPUC_TARGET_NULL_CODEGEN_NULLEMITTER_H
