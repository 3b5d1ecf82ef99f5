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

/// Rows of one tensor in the places of those of another one.
struct MatchedDetections {
  /// The overlap, area of the intersection over that of the union, from which two boxes are one.
  static constexpr double kLeastOverlap = 0.5;

  /// F32: each detection of `made` where the reference has it. Those without a match fill the
  /// places that are left.
  Tensor rows;
  int64_t numReference = 0;
  int64_t numFound = 0;
  /// Detections of the reference without a match that another one has the place of, where both have
  /// about the least score of their item. They count as equal.
  int64_t numAtCutoff = 0;

  int64_t numLost() const { return numReference - numFound - numAtCutoff; }

  bool isAnyMoved = false; ///< Whether any row stands elsewhere than in `made`.

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

} // namespace tpuc

#endif // TPUC_DRIVER_DETECTIONSETS_H
