//===- CpuOps.h - Layers of the CPU that mean anything ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_MEANING_CPUOPS_H
#define TEST_FUZZ_MEANING_CPUOPS_H

#include "test/fuzz/meaning/Choices.h"

namespace tpuc::fuzz {

/// What came of an op.
enum class OpEnd : uint8_t { RefusedByRules, RefusedByOp, Computed };

/// An op that a model file could hold, with operands and attributes that `choices` decide: most of
/// the right kind, few that fit together. It is checked by the rules and, where these let it pass,
/// computed. Results have at most a million elements.
OpEnd runAnyOp(Choices &choices);

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_MEANING_CPUOPS_H
