//===- DetectorHeads.h - The heads of detectors in a network -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_DETECTORHEADS_H
#define TPUC_TRANSFORMS_DETECTORHEADS_H

#include "tpuc/Support/Error.h"
#include "tpuc/Transforms/HeadMaps.h"
#include "tpuc/Transforms/PostprocessOptions.h"

namespace tpuc {

/// A detector that was found: the operands and attributes of top.ObjectDetection, by its names.
struct DetectorHeads {
  /// A tensor for each level and part, or for each part.
  llvm::SmallVector<mlir::Value> inputs;
  std::vector<int64_t> partFields;
  std::vector<int64_t> grids;
  std::vector<int64_t> anchorCounts;
  std::vector<double> anchors;
  std::vector<double> scaleXy;
  std::vector<double> variances;
  llvm::StringRef boxCode = "CENTER";
  llvm::StringRef scoreCode = "NONE";
  llvm::StringRef layout = "PLANES";
  int64_t numClasses = 0;
  int64_t bins = 1;
  int64_t extra = 0;
  int64_t keyPoints = 0;
  int64_t background = -1;
  bool objectness = false;
  bool labelled = false;
  bool boxesActivated = false;
  bool normalized = false;
  bool multiLabel = false;
  bool rotated = false;
  bool extrasDecoded = false;
  /// Where the authors' programs suppress no boxes, this is 1.
  double nmsThreshold = 0.45;
  /// [N, extra, height, width]: what masks are sums of; null without them.
  mlir::Value protos;
  /// [N, extra, places of all levels], which `inputs` leave out; null where they have all fields.
  mlir::Value joinedExtras;
  /// For users: which outputs it took, and as what.
  std::string what;
};

/// The versions that `--add_postprocess` knows.
llvm::ArrayRef<llvm::StringRef> detectorVersions();

/// The heads of a detector of `version` that stand at `outputs`, of a network with pictures of
/// `inputHeight` by `inputWidth`. Errors name --add_postprocess or --postprocess_options: an
/// unknown version; outputs that are no such heads, which are listed; options that do not fit them.
Expected<DetectorHeads> findHeads(llvm::StringRef version, const PostprocessOptions &options,
                                  llvm::ArrayRef<HeadOutput> outputs, int64_t inputHeight,
                                  int64_t inputWidth);

/// Whether the elements of `value` are shares already: a sigmoid or softmax made them.
bool isActivated(mlir::Value value);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_DETECTORHEADS_H
