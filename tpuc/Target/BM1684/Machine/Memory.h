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
  /// Throws std::bad_alloc. L2 begins with zeros.
  Memory();

  std::span<uint8_t> l2() { return other(0); }
};

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_MACHINE_MEMORY_H
