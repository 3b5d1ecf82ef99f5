//===- NullMachine.h - The machine of null ----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_NULL_CODEGEN_NULLMACHINE_H
#define TPUC_TARGET_NULL_CODEGEN_NULLMACHINE_H

#include "tpuc/Codegen/Place/AddressPlan.h"
#include "tpuc/Target/Null/Codegen/NullEmitter.h"
#include "tpuc/Target/Null/Codegen/OpRunner.h"

#include <map>

namespace tpuc::Null {

/// The tag of global addresses that are for one use: a base register chooses its memory.
inline int64_t tagOf(codegen::GlobalUse use) { return static_cast<int64_t>(use) + 1; }

/// Runs commands one after the other over its own memories. An op is computed as the interpreter
/// computes it, of what lies where the commands say: elements that no command has brought are
/// poison. So halos that are too small, memory that is given to two tensors, and tensors that are
/// gone too soon show as wrong numbers. Each memory space is by itself, and so is the memory of
/// each tag. An operand is read from the space that its kernel reads, whatever was planned.
class NullMachine {
public:
  /// Global memory has `regions`. All memories begin as bytes `poison`.
  NullMachine(const TargetInfo &target, std::span<const codegen::AddressRegion> regions,
              std::byte poison);

  Expected<void> run(const Stream &stream);

  /// The tensor at a global address. Errors: an address outside of memory.
  Expected<Tensor> read(int64_t address, DataType type, const Shape &shape);
  /// What the host writes.
  Expected<void> write(int64_t address, std::span<const std::byte> bytes) {
    return write(address, bytes, Access::Host);
  }

  /// For what the host computes.
  OpRunner &ops() { return runner; }

private:
  /// Commands read everything, and write neither weights nor inputs.
  enum class Access : uint8_t { Read, Write, Host };
  Expected<std::byte *> global(int64_t address, int64_t bytes, Access access);
  Expected<void> write(int64_t address, std::span<const std::byte> bytes, Access access);
  Expected<void> checkLocal(unsigned space, int64_t address, int64_t bytes) const;
  std::byte *local(unsigned space, int64_t lane, int64_t address) {
    return &spaces[space][static_cast<size_t>(lane * target.memory.spaces[space].bytes + address)];
  }

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
  std::byte poison;
  /// All lanes of each memory space, one after the other.
  std::vector<std::vector<std::byte>> spaces;
  struct Memory {
    int64_t base = 0;
    std::vector<std::byte> bytes;
  };
  /// By tag.
  std::map<int64_t, Memory> memories;
  OpRunner runner;
};

} // namespace tpuc::Null

#endif // TPUC_TARGET_NULL_CODEGEN_NULLMACHINE_H
