//===- Memory.h - The memories of the simulated chip ---------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_MACHINE_MEMORY_H
#define TPUC_TARGET_BM1684_MACHINE_MEMORY_H

#include "tpuc/Target/BM1684/Machine/CommandTable.h"
#include "tpuc/Target/BM168x/Memory.h"

namespace tpuc::bm1684 {

/// Local memory (32 MiB) and L2, and global memory that the caller lends.
class Memory : public bm168x::Memory {
public:
  /// Throws std::bad_alloc. L2 begins with the tables (`fillTables`).
  Memory();

  std::span<uint8_t> l2() { return other(0); }
};

/// Where the tables in L2 begin. The vendor's programs expect them there.
inline constexpr uint32_t kTablesOffset = 0x300000;

/// Writes the tables that the chip's firmware keeps in L2: exponentials, coefficients of series,
/// integers as floats. `l2` must be kL2Bytes long. Left zero are the coefficients of the arc sine,
/// which the vendor's functional model has with other roundings, and tables of bytes.
void fillTables(std::span<uint8_t> l2);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_MACHINE_MEMORY_H
