//===- Case.h - One command and what it works on, reproducibly  -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_BM1684X_CASE_H
#define TEST_CONFORMANCE_BM1684X_CASE_H

#include "test/conformance/bm168x/Case.h"
#include "tpuc/Target/BM1684X/Machine/Operands.h"

namespace tpuc::bm1684x::conformance {

using bm168x::conformance::Case;
using bm168x::conformance::ElementAt;
using bm168x::conformance::Fill;
using bm168x::conformance::fillOperands;
using bm168x::conformance::Kind;
using bm168x::conformance::Random;

/// What is at an absolute address of a machine whose local and global memory are at these places.
inline std::function<uint8_t *(uint64_t address)> placesOf(uint8_t *local, uint8_t *global) {
  return [=](uint64_t address) {
    return address >= kGlobalBase ? global + (address - kGlobalBase)
                                  : local + (address - kLocalBase);
  };
}
/// Element addresses of such a machine.
inline ElementAt elementsOf(uint8_t *local, uint8_t *global) {
  return bm168x::conformance::elementsOf(kLocalMemory, local, placesOf(local, global));
}

} // namespace tpuc::bm1684x::conformance

#endif // TEST_CONFORMANCE_BM1684X_CASE_H
