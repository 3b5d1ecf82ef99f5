//===- L2.h - What series and tables find in L2 --------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_BM1684_L2_H
#define TEST_CONFORMANCE_BM1684_L2_H

#include "test/conformance/bm168x/Case.h"

#include <cstring>
#include <span>

namespace tpuc::bm1684::conformance {

/// Small floats, the same each time.
inline void fillL2(std::span<uint8_t> bytes) {
  bm168x::conformance::Random random(17);
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    // Between 2^-4 and 2^4, either sign.
    const auto bits = static_cast<uint32_t>(static_cast<uint64_t>(123 + random.range(0, 7)) << 23 |
                                            (random.next() & 0x807fffff));
    std::memcpy(&bytes[at], &bits, 4);
  }
}

} // namespace tpuc::bm1684::conformance

#endif // TEST_CONFORMANCE_BM1684_L2_H
