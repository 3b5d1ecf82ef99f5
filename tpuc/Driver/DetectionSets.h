//===- DetectionSets.h - Detections are compared as sets ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where two scores are nearly equal, one rounding lets their rows change places, although the same
// objects were found. So rows are matched before they are compared.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_DETECTIONSETS_H
#define TPUC_DRIVER_DETECTIONSETS_H

#include "tpuc/Dialect/Tpu/DetectionRows.h"
#include "tpuc/Support/Tensor.h"

#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>

namespace tpuc {

/// The outputs of `main` that consist of detections, by their names.
using DetectionOutputs = std::map<std::string, tpu::DetectionRows>;
DetectionOutputs detectionOutputs(mlir::ModuleOp lowered);

/// The outputs of `main` that say more of detections, such as key points, row by row: the names of
/// these detections, by their own.
std::map<std::string, std::string> detectionExtras(mlir::ModuleOp lowered);

/// Rows of one tensor in the places of those of another one.
struct MatchedDetections {
  /// The overlap, area of the intersection over that of the union, from which two boxes are one.
  static constexpr double kLeastOverlap = 0.5;

  /// F32: each detection of `made` where the reference has it. Those without a match fill the
  /// places that are left.
  Tensor rows;
  /// Where each row of `rows` stood in `made`. kFromReference: it is the reference's, kNowhere: it
  /// is left over.
  std::vector<int64_t> places;
  static constexpr int64_t kFromReference = -1;
  static constexpr int64_t kNowhere = -2;
  int64_t numReference = 0;
  int64_t numFound = 0;
  /// Detections of the reference without a match that another one has the place of, where both have
  /// about the least score of their item. They count as equal.
  int64_t numAtCutoff = 0;

  int64_t numLost() const { return numReference - numFound - numAtCutoff; }

  bool isAnyMoved = false; ///< Whether any row stands elsewhere than in `made`.

  /// What `made` says of each of these rows, one for each of its first dimension, in F32. Tensors
  /// of another shape than the reference's, or of other rows, are left as they are.
  Tensor extrasOf(const Tensor &made, const Tensor &reference) const;

  /// A sentence for users about the output `name`.
  std::string sentence(const std::string &name) const;
};

/// Matches the detections of `made` with those of `reference` of the same item and class, best
/// score first: each with the one that overlaps it most, by kLeastOverlap or more.
///
/// "About the least score" is within twice what the scores of matched ones differ by at most. At
/// most one in 20 detections, and one more, count so. Tensors of other shapes, or of other shapes
/// than `layout` has columns for, are left as they are.
MatchedDetections matchDetections(const Tensor &made, const Tensor &reference,
                                  const tpu::DetectionRows &layout);

/// Puts the outputs of a detector in the order of a reference, one after the other.
class DetectionMatcher {
public:
  explicit DetectionMatcher(mlir::ModuleOp lowered)
      : outputs(detectionOutputs(lowered)), extras(detectionExtras(lowered)) {}

  /// `made` with the rows of detections where `reference` has them; what more is said of these goes
  /// with them, if they came before. Nothing for other tensors.
  std::optional<Tensor> matched(const std::string &name, const Tensor &made,
                                const Tensor &reference);
  /// How the detections `name` were matched; null if they were not.
  const MatchedDetections *find(const std::string &name) const;

private:
  DetectionOutputs outputs;
  std::map<std::string, std::string> extras;
  std::map<std::string, MatchedDetections> done;
};

} // namespace tpuc

#endif // TPUC_DRIVER_DETECTIONSETS_H
