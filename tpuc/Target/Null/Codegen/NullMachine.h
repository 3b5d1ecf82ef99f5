//===- NullMachine.h - The machine of null ----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_NULL_CODEGEN_NULLMACHINE_H
#define TPUC_TARGET_NULL_CODEGEN_NULLMACHINE_H

#include "tpuc/Target/Null/Codegen/NullEmitter.h"
#include "tpuc/Target/Null/Codegen/OpRunner.h"

namespace tpuc::Null {

/// Runs commands one after the other over its own memories. An op is computed as the interpreter
/// computes it, of what lies where the commands say: elements that no command has brought are
/// poison. So halos that are too small, memory that is given to two tensors, and tensors that are
/// gone too soon show as wrong numbers.
class NullMachine {
public:
  /// Global memory has `globalBytes` from `base` on. All memories begin as bytes `poison`.
  NullMachine(const TargetInfo &target, int64_t base, int64_t globalBytes, std::byte poison);

  Expected<void> run(const Stream &stream);

  /// The tensor at a global address. Errors: an address outside of memory.
  Expected<Tensor> read(int64_t address, DataType type, const Shape &shape) const;
  Expected<void> write(int64_t address, std::span<const std::byte> bytes);

  /// For what the host computes.
  OpRunner &ops() { return runner; }

private:
  Expected<std::byte *> global(int64_t address, int64_t bytes);
  /// The byte in lane 0 of a range that each lane has.
  Expected<void> checkLocal(int64_t address, int64_t bytes) const;
  std::byte *local(int64_t lane, int64_t address) { return &lanes[lane * laneBytes + address]; }

  Expected<void> execute(const Command &command);
  Expected<void> load(const Command &command);
  Expected<void> loadPacked(const Command &command, int64_t rowBytes);
  Expected<void> compute(const Command &command);
  Expected<void> store(const Command &command);
  Expected<void> loadPool(const Command &command);
  Expected<void> move(mlir::Operation *op);
  Expected<void> join(const codegen::TiledOp &tiled);
  Expected<void> transfer(const codegen::TiledOp &tiled, unsigned index,
                          const codegen::LocalTile &tile, std::byte *global, bool isLoad);
  Expected<std::optional<Tensor>> operandOf(const codegen::TiledOp &tiled, unsigned index);

  const TargetInfo &target;
  int64_t base, laneBytes;
  std::byte poison;
  std::vector<std::byte> lanes, memory;
  OpRunner runner;
};

} // namespace tpuc::Null

#endif // TPUC_TARGET_NULL_CODEGEN_NULLMACHINE_H
