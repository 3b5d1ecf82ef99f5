//===- Generate.h - Random legal commands --------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_BM1684_GENERATE_H
#define TEST_CONFORMANCE_BM1684_GENERATE_H

#include "test/conformance/bm168x/Comparison.h"
#include "tpuc/Target/BM1684/Machine/Operands.h"

namespace tpuc::bm1684::conformance {

using bm168x::conformance::Case;
using bm168x::conformance::ElementAt;
using bm168x::conformance::fill;
using bm168x::conformance::Kind;
using bm168x::conformance::Random;
using bm168x::conformance::Recipe;
using bm168x::conformance::u;

/// Global memory that cases may use, from kGlobalBase.
inline constexpr uint64_t kGlobalSize = 4 << 20;

/// Every operation, type, layout and form that the simulator supports.
std::vector<Recipe> allRecipes();

namespace detail {
/// A command of the TIU with id 1, and the vendor's values in fields that are not used.
Command make(unsigned opcode, unsigned sub);
void setResultShape(Command &command, Random &random, int64_t maxC = 150);
/// Chooses addresses for all operands in local memory that do not overlap, and sets the fields. Of
/// a command of the TIU it also chooses the bits that repeat an operand, which few operations read.
Case placed(Case one, Random &random, bool anyLane = false);

void addElementwiseRecipes(std::vector<Recipe> &recipes);
void addWindowRecipes(std::vector<Recipe> &recipes);
void addGdmaRecipes(std::vector<Recipe> &recipes);
} // namespace detail

} // namespace tpuc::bm1684::conformance

#endif // TEST_CONFORMANCE_BM1684_GENERATE_H
