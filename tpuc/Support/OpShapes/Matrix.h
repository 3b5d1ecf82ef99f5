//===- Matrix.h - Shapes of matrix products ---------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_OPSHAPES_MATRIX_H
#define TPUC_SUPPORT_OPSHAPES_MATRIX_H

#include "tpuc/Support/OpShapes/Dims.h"

#include <string_view>

namespace tpuc::shapes {

/// The result of a matrix product of operands with these extents, as numpy.matmul defines it: rank
/// 1 on the left is a row, on the right a column, and the axis that makes it one is left out of the
/// result. Transpositions swap the last two axes of operands of rank 2 and more.
/// Errors (without `where`): operands that do not fit.
Expected<Dims> matMulShape(std::span<const int64_t> left, std::span<const int64_t> right,
                           bool transposeLeft, bool transposeRight);

/// An einsum over operands of known rank: a number for each axis of each operand and of the result;
/// axes with the same number run together.
struct EinsumIndices {
  std::vector<std::vector<int64_t>> operands;
  std::vector<int64_t> result;
  /// The extent of each number, kDynamic where it is not known.
  Dims extents;
};

/// Reads an equation like `bij,bjk->bik`. Letters of either case name axes, `...` those that have
/// no letter, right-aligned and broadcast; without an arrow the result has the axes of `...` and
/// then the letters that occur once, in alphabetical order (A before a). Blanks mean nothing.
/// Errors (without `where`): what is no equation, and operands that do not fit it.
Expected<EinsumIndices> parseEinsum(std::string_view equation, std::span<const Dims> operands);

} // namespace tpuc::shapes

#endif // TPUC_SUPPORT_OPSHAPES_MATRIX_H
