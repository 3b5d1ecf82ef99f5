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
/// The name of `op` with `suffix`, for a tensor that stands for none of the network's.
mlir::Location locWith(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                       llvm::StringRef suffix);
mlir::Value makeNone(mlir::PatternRewriter &rewriter, mlir::Location loc);
/// `value` under other extents, of which one may be open; `value` itself if it has these.
mlir::Value reshaped(mlir::PatternRewriter &rewriter, mlir::Location loc, mlir::Value value,
                     const top::Dims &dims);

//===--- Ops ----------------------------------------------------------------===//

/// Whether an op computes what its name says and nothing on top of it: no activation, no
/// coefficients, no scaling.
bool isPlain(mlir::Operation *op);
/// Whether a terminator reads `value`: what the network, or a body, gives.
bool isOutput(mlir::Value value);
/// Whether the op gives the same elements in the same order under another shape; null is no op.
bool isReshape(mlir::Operation *op);
/// Whether the two have one known shape and element type.
bool haveSameType(mlir::Value a, mlir::Value b);
bool isF32(mlir::Value value);
/// A dimension that counts from the end where it is negative, from the front.
inline int64_t frontAxis(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

/// Elements [begin, end) of a dimension.
struct ElementRange {
  int64_t begin, end;
};

/// What `op`, a slice in steps of 1, takes of dimension `axis` alone, counted from the front and
/// within the input. None of other ops, slices of other or several dimensions, and open extents.
std::optional<ElementRange> slicedAlong(mlir::Operation *op, int64_t axis);
/// The number of dimensions; 0 if it is not known.
int64_t rankOf(mlir::Value value);

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

/// What a reduction reads, and its axes, from the first one and in ascending order.
struct Reduction {
  mlir::Value input;
  top::Dims axes;

  /// Whether `value`, which has one element for each that the reduction gives, broadcasts to the
  /// input so that each element meets those that it was computed from.
  bool isAligned(mlir::Value value) const;
  /// How many elements become one; kDynamic if that is not known.
  int64_t count() const;
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
  /// `value` without the factors that it is multiplied with for its only reader; `scale` times
  /// them.
  mlir::Value takeFactors(mlir::Value value, double &scale);
  /// `value = max(tensor, scalar)`.
  std::optional<WithScalar> takeMaximum(mlir::Value value);
  /// `value` without the reshapes in front of it. Those of one element count keep their order.
  mlir::Value takeReshapes(mlir::Value value);
  /// A reduction, under whatever shape. Read it through `Reduction::isAligned`.
  std::optional<Reduction> takeReduction(mlir::Value value, llvm::StringRef mode);
  /// x of `value = x * x` or `x^2`; null if it is neither.
  mlir::Value takeSquare(mlir::Value value);

  /// Whether nobody but the root and these ops reads what they make; those for which `mayBeRead` is
  /// true may be read elsewhere.
  bool isClosed(llvm::function_ref<bool(mlir::Operation *)> mayBeRead = nullptr) const;
  bool contains(mlir::Operation *op) const { return ops.contains(op); }
  /// All of them but the root, in no order.
  llvm::SmallVector<mlir::Operation *> operations() const { return llvm::to_vector(ops); }

private:
  mlir::Operation *root;
  llvm::SmallPtrSet<mlir::Operation *, 8> ops;
};

/// Whether `a` is `b` up to the rounding of a constant to f32, or of it or its reciprocal to f16.
bool isNear(double a, double b);

/// The tensor and the scalar of a sum, difference, product or quotient that `op` computes.
std::optional<WithScalar> sumOf(mlir::Operation *op);
std::optional<WithScalar> productOf(mlir::Operation *op);
/// The same of max(tensor, scalar).
std::optional<WithScalar> maximumOf(mlir::Operation *op);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_MATCHING_H
