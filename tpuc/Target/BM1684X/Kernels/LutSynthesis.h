//===- LutSynthesis.h - Finding arithmetic that gives a table -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_LUTSYNTHESIS_H
#define TPUC_TARGET_BM1684X_KERNELS_LUTSYNTHESIS_H

#include "tpuc/Target/BM1684X/Kernels/LutToArith.h"

namespace tpuc::bm1684x {

/// The steps with the fewest cycles that were found to give `table` for every byte of an input of
/// a type (I8 or U8), by what the chip computes (`evaluateSteps`); the results are I8. `inputZero`
/// is the input that means 0, around which functions are bent. None where no form fits, or none is
/// faster than the lookup.
///
/// Forms, all of u = input - inputZero:
///   k u + c, cut off at the least and the greatest entry
///   the larger or the smaller of k u and l u, where 0 is the input's own zero: LeakyRelu
///   k u clip(u / d + 1, 0, 2) + c: HardSwish, also multiplied and moved
///   P(u): parts of Tanh and Sigmoid; k u + P(min(u, 0)): Elu; k max(u, 0) + P(min(|u|, d)): Swish,
///   Gelu, Softplus; with polynomials P of a degree of 2 to 6, by Horner's rule in 16 bits
/// and any of them with up to kMostCorrections entries corrected.
std::optional<std::vector<LutStep>> synthesizeLut(const TableBytes &table, DataType input,
                                                  int32_t inputZero);

inline constexpr size_t kMostCorrections = 4;

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_LUTSYNTHESIS_H
