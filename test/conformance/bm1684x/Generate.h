//===- Generate.h - Random legal commands --------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_BM1684X_GENERATE_H
#define TEST_CONFORMANCE_BM1684X_GENERATE_H

#include "test/conformance/bm1684x/Case.h"
#include "test/conformance/bm168x/Comparison.h"

namespace tpuc::bm1684x::conformance {

/// Global memory that cases may use, from kGlobalBase.
inline constexpr uint64_t kGlobalSize = 4 << 20;

using bm168x::conformance::Recipe;

/// Every operation, precision, layout and form that the simulator supports.
std::vector<Recipe> allRecipes();

namespace detail {
inline constexpr Prec kAllPrecs[] = {Prec::I8,  Prec::I16, Prec::I32,
                                     Prec::F32, Prec::F16, Prec::BF16};

using bm168x::conformance::fill;
using bm168x::conformance::u;

/// The same command in the long form, where there is one.
Command toLong(const Command &command);
/// Chooses addresses for all operands in local memory that do not overlap, and sets the fields.
void placeLocal(Case &one, Random &random, bool anyLane);
/// Places operands, and takes the long form at times.
Case finish(Case one, Random &random, bool anyLane = false);
void addTiuRecipes(std::vector<Recipe> &recipes);
void addWindowRecipes(std::vector<Recipe> &recipes);
void addGdmaRecipes(std::vector<Recipe> &recipes);
} // namespace detail

} // namespace tpuc::bm1684x::conformance

#endif // TEST_CONFORMANCE_BM1684X_GENERATE_H
