//===- EinsumLayout.h - In which order an einsum's dimensions are multiplied -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_EINSUMLAYOUT_H
#define TPUC_TRANSFORMS_EINSUMLAYOUT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace tpuc {

/// The dimensions of a tensor by the numbers of an equation's indices, each number once.
using Labels = llvm::SmallVector<int64_t, 6>;

/// A factor of a product of two tensors.
struct EinsumFactor {
  llvm::ArrayRef<int64_t> labels;
  bool isConstant = false;
};

/// The product of two tensors as one of matrices. The left operand is [batch, rows, sums] or, if it
/// is transposed, [batch, sums, rows]; the right one [batch, sums, columns] or
/// [batch, columns, sums]; the result [batch, rows, columns]. Dimensions `repeated` of one operand
/// stand in front of its batch; the other operand is the same for all of them.
struct ProductLayout {
  /// The second factor is the left operand.
  bool isSwapped = false;
  bool isLeftTransposed = false, isRightTransposed = false;
  Labels repeated, batch, rows, sums, columns;
  /// Whose dimensions `repeated` are.
  bool isLeftRepeated = false;

  Labels leftOrder() const;
  Labels rightOrder() const;
  Labels resultOrder() const;
};

/// `labels` but those of `others`, and those that `others` has too.
Labels without(llvm::ArrayRef<int64_t> labels, llvm::ArrayRef<int64_t> others);
Labels within(llvm::ArrayRef<int64_t> labels, llvm::ArrayRef<int64_t> others);
/// The product of the extents of `labels`.
int64_t sizeOf(llvm::ArrayRef<int64_t> labels, llvm::ArrayRef<int64_t> extents);
/// Whether a permutation from one order to the other moves elements: dimensions of one element do
/// not count.
bool isSameOrder(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
                 llvm::ArrayRef<int64_t> extents);

/// The layout that moves the least: of those for which operands and the result need the fewest and
/// longest pieces to be permuted. `kept` are the dimensions of the result, in its order if
/// `isOrdered`. Of equal layouts, the first factor is the left operand, constants are the right
/// one, and nothing is transposed.
ProductLayout chooseLayout(const EinsumFactor &first, const EinsumFactor &second,
                           llvm::ArrayRef<int64_t> kept, bool isOrdered,
                           llvm::ArrayRef<int64_t> extents);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_EINSUMLAYOUT_H
