//===- Compare.h - How alike two tensors are --------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_COMPARE_H
#define TPUC_SUPPORT_COMPARE_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tpuc {

/// The least similarity that passes: a tensor does when neither figure is below.
struct Tolerance {
  double cosine = 0.99;
  double euclid = 0.99;
};

/// How the shapes of two tensors are related.
enum class ShapeRelation : uint8_t {
  Same,
  Squeezed, ///< The same but for extents of 1.
  Reshaped, ///< As many elements; compared in row-major order.
  Mismatch, ///< Not comparable.
};

ShapeRelation relateShapes(const Shape &a, const Shape &b);

/// What compareTensors found. Figures are in double precision.
///
/// Pairs of which both are NaN, or both the same infinity, are equal and do not enter the figures.
/// Any other pair with a NaN or an infinity is a non-finite mismatch: it fails the tensor whatever
/// the tolerance, and does not enter the figures either.
struct TensorComparison {
  ShapeRelation relation = ShapeRelation::Same;
  DataType targetType = DataType::F32;
  DataType referenceType = DataType::F32;
  Shape targetShape;
  Shape referenceShape;

  /// Every pair is equal; 64-bit integers are compared with all their digits.
  bool isEqual = false;

  /// <x, y> / (|x| |y|), -1 to 1. 1 when both are zero or empty, 0 when only one is zero.
  double cosine = 1;
  /// 1 - |x - y| / |(x + y) / 2|, as in the paper on TPU-MLIR: 1 when equal, else less than 1,
  /// without a lower bound: -inf when x = -y.
  double euclid = 1;
  /// 10 log10(|y|^2 / |x - y|^2) in dB, y the reference: inf when equal, -inf when only y is zero.
  double snr = 0;

  /// The largest |x - y| among the finite pairs, the row-major index where it is first met (-1 if
  /// no finite pair differs), and the two values there with all their digits.
  double maxDifference = 0;
  int64_t maxIndex = -1;
  std::string maxDifferenceText;
  std::string targetText;
  std::string referenceText;

  int64_t nonFiniteMismatches = 0;
  /// Row-major index of the first of them, -1 for none, and the two values there.
  int64_t firstNonFinite = -1;
  std::string nonFiniteTarget;
  std::string nonFiniteReference;

  bool isComparable() const { return relation != ShapeRelation::Mismatch; }
  bool passes(const Tolerance &tolerance) const;
  /// Why `passes` is false, in a phrase; empty when it is true.
  std::string failure(const Tolerance &tolerance) const;
};

/// Compares element by element in one pass, converting a block at a time. With a shape mismatch
/// only types, shapes and `relation` are set. The result does not depend on `threads`: sums are
/// taken in blocks of fixed size, and those of the blocks pairwise.
TensorComparison compareTensors(const Tensor &target, const Tensor &reference,
                                ThreadPool *threads = nullptr);

/// Whether `a` is worse than `b`: a shape mismatch is worse than a non-finite mismatch, which is
/// worse than any figures; then the euclidean similarity decides, then the cosine.
bool isLessAlike(const TensorComparison &a, const TensorComparison &b);

/// A similarity with six digits, rounded down, so that a figure below a tolerance never looks like
/// it.
std::string similarityText(double value);

/// The position of a row-major index: `[0, 2, 17, 3]`.
std::string indexText(const Shape &shape, int64_t index);

} // namespace tpuc

#endif // TPUC_SUPPORT_COMPARE_H
