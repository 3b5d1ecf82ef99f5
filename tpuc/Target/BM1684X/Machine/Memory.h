//===- Memory.h - The memories of the simulated chip ---------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_MEMORY_H
#define TPUC_TARGET_BM1684X_MACHINE_MEMORY_H

#include "tpuc/Target/BM1684X/Machine/CommandTable.h"
#include "tpuc/Target/BM168x/Memory.h"

namespace tpuc::bm1684x {

/// Local memory (16 MiB), static memory and L2, and global memory that the caller lends.
class Memory : public bm168x::Memory {
public:
  /// Throws std::bad_alloc. Static memory begins with the tables (`fillStaticTables`), L2 with
  /// zeros.
  Memory();

  std::span<uint8_t> staticMemory() { return other(0); }
  std::span<uint8_t> l2() { return other(1); }
};

/// Writes the tables of constants that the chip's firmware keeps in static memory: exponentials,
/// coefficients of series, the numbers 0 to 63. `bytes` must be kStaticBytes long. The table for
/// the tangent is left zero: its values are not known.
void fillStaticTables(std::span<uint8_t> bytes);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_MEMORY_H
