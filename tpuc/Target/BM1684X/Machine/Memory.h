//===- Memory.h - The memories of the simulated chip ---------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_MEMORY_H
#define TPUC_TARGET_BM1684X_MACHINE_MEMORY_H

#include "tpuc/Support/Error.h"
#include "tpuc/Target/BM1684X/Machine/CommandTable.h"

#include <memory>
#include <span>
#include <vector>

namespace tpuc::bm1684x {

/// Local memory (16 MiB), static memory and L2, owned, and the global memory, which consists of
/// regions that the caller lends: a model's weights can stay where they are mapped.
class Memory {
public:
  /// Throws std::bad_alloc. Local memory begins with the words that the vendor's functional model
  /// has there (bytes EF BE AD DE), static memory with the tables (`fillStaticTables`), L2 with
  /// zeros.
  Memory();

  /// Lane l begins at byte l * kLaneBytes.
  std::span<uint8_t> local() { return {localBytes.get(), kLocalBytes}; }
  std::span<const uint8_t> local() const { return {localBytes.get(), kLocalBytes}; }
  std::span<uint8_t> staticMemory() { return staticBytes; }
  std::span<uint8_t> l2() { return l2Bytes; }

  /// Lends `bytes` as global memory at `address`, which must be at least kGlobalBase; no two
  /// regions may overlap. The caller keeps the bytes alive until `unmapAll`.
  Expected<void> mapGlobal(uint64_t address, std::span<uint8_t> bytes);
  /// The same for bytes that commands must not write.
  Expected<void> mapGlobalReadOnly(uint64_t address, std::span<const uint8_t> bytes);
  void unmapAll() { regions.clear(); }

  /// The bytes at an absolute address of any memory; null unless all `size` of them are in one
  /// region (and writable, if `forWriting`).
  uint8_t *resolve(uint64_t address, uint64_t size, bool forWriting);

private:
  struct Region {
    uint64_t address;
    uint64_t size;
    uint8_t *bytes;
    bool isWritable;
  };
  Expected<void> map(Region region);

  struct Free {
    void operator()(uint8_t *bytes) const;
  };
  std::unique_ptr<uint8_t, Free> localBytes;
  std::vector<uint8_t> staticBytes;
  std::vector<uint8_t> l2Bytes;
  std::vector<Region> regions;
};

/// Writes the tables of constants that the chip's firmware keeps in static memory: exponentials,
/// coefficients of series, the numbers 0 to 63. `bytes` must be kStaticBytes long. The table for
/// the tangent is left zero: its values are not known.
void fillStaticTables(std::span<uint8_t> bytes);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_MEMORY_H
