//===- Matching.h - What the patterns of --top-fuse share --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_MATCHING_H
#define TPUC_TRANSFORMS_MATCHING_H

#include "tpuc/Dialect/Top/ShapeInference.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tpuc {

using Doubles = std::vector<double>;

//===--- Constants ----------------------------------------------------------===//

/// The elements of a constant f32 tensor, `count` of them (any number if it is negative).
std::optional<Doubles> constantFloats(mlir::Value value, int64_t count = -1);
/// The same for an operand that may be left out: then `count` times `otherwise`.
std::optional<Doubles> constantFloats(mlir::Value value, int64_t count, double otherwise);
/// The element of a constant floating-point tensor that has one only.
std::optional<double> constantScalar(mlir::Value value);
/// The elements of a constant that broadcasts along dimension `axis` of `rank` only, `count` of
/// them: one for all repeats.
std::optional<Doubles> constantAlong(mlir::Value value, int64_t axis, int64_t rank, int64_t count);

/// A new constant, named like `op` with `suffix`; `values` are rounded to f32.
mlir::Value makeWeight(mlir::PatternRewriter &rewriter, mlir::Operation *op, llvm::StringRef suffix,
                       llvm::ArrayRef<int64_t> dims, const Doubles &values);
/// A vector.
mlir::Value makeWeight(mlir::PatternRewriter &rewriter, mlir::Operation *op, llvm::StringRef suffix,
                       const Doubles &values);
mlir::Value makeNone(mlir::PatternRewriter &rewriter, mlir::Location loc);

//===--- Ops ----------------------------------------------------------------===//

/// Whether an op computes what its name says and nothing on top of it: no activation, no
/// coefficients, no scaling.
bool isPlain(mlir::Operation *op);
/// Whether a terminator reads `value`: what the network, or a body, gives.
bool isOutput(mlir::Value value);
/// Whether the two have one known shape and element type.
bool haveSameType(mlir::Value a, mlir::Value b);
bool isF32(mlir::Value value);

/// The plain op of class `Op` that makes `value` for `reader` alone; null if there is none.
template <typename Op> Op producerFor(mlir::Value value, mlir::Operation *reader) {
  auto op = value.getDefiningOp<Op>();
  if (!op || !value.hasOneUse() || op->getBlock() != reader->getBlock() || !isPlain(op))
    return {};
  return op;
}

/// A tensor and a constant that is combined with each of its elements.
struct WithScalar {
  mlir::Value tensor;
  double scalar;
};

/// The ops that a pattern found behind a root and that go with it.
class Interior {
public:
  explicit Interior(mlir::Operation *root) : root(root) {}

  /// The plain op of class `Op` in the root's block that makes `value`; null if there is none.
  template <typename Op> Op take(mlir::Value value) {
    auto op = value.getDefiningOp<Op>();
    return op && takeOp(op) ? op : Op();
  }
  /// Whether `op` is plain and in the root's block.
  bool takeOp(mlir::Operation *op);
  /// `value = tensor + scalar`, in any of the forms that it can have.
  std::optional<WithScalar> takeSum(mlir::Value value);
  /// `value = tensor * scalar`, or a quotient.
  std::optional<WithScalar> takeProduct(mlir::Value value);
  /// x of `value = x * x` or `x^2`; null if it is neither.
  mlir::Value takeSquare(mlir::Value value);

  /// Whether nobody but the root and these ops reads what they make.
  bool isClosed() const;

private:
  mlir::Operation *root;
  llvm::SmallPtrSet<mlir::Operation *, 8> ops;
};

/// Whether `a` is `b` up to the rounding of a constant to f32.
bool isNear(double a, double b);

/// The tensor and the scalar of a sum, difference, product or quotient that `op` computes.
std::optional<WithScalar> sumOf(mlir::Operation *op);
std::optional<WithScalar> productOf(mlir::Operation *op);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_MATCHING_H
