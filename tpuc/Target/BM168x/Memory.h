//===- Memory.h - The memories of a simulated chip ------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_MEMORY_H
#define TPUC_TARGET_BM168X_MEMORY_H

#include "tpuc/Support/Error.h"
#include "tpuc/Target/BM168x/LocalMemory.h"

#include <memory>
#include <span>
#include <vector>

namespace tpuc::bm168x {

/// A memory on the chip beside the lanes.
struct ChipMemory {
  uint64_t base;
  uint32_t bytes;
};

/// Local memory and the other memories on the chip, owned, and the global memory, which consists of
/// regions that the caller lends: a model's weights can stay where they are mapped.
class Memory {
public:
  /// Throws std::bad_alloc. Local memory begins with the bytes EF BE AD DE, which the vendor's
  /// functional models have there, the other memories with zeros. Global memory is at `globalBase`
  /// and above.
  Memory(const LocalMemory &lanes, std::span<const ChipMemory> others, uint64_t globalBase);

  /// Lane l begins at byte l * laneBytes.
  std::span<uint8_t> local() { return {localBytes.get(), lanes.bytes()}; }
  std::span<const uint8_t> local() const { return {localBytes.get(), lanes.bytes()}; }
  /// The memory `others[index]`.
  std::span<uint8_t> other(size_t index) { return otherBytes[index]; }

  /// Lends `bytes` as global memory at `address`, which must be at least `globalBase`; no two
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
  LocalMemory lanes;
  std::vector<ChipMemory> others;
  uint64_t globalBase;
  std::unique_ptr<uint8_t, Free> localBytes;
  std::vector<std::vector<uint8_t>> otherBytes;
  std::vector<Region> regions;
};

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_MEMORY_H
