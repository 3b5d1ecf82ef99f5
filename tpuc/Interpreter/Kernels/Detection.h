//===- Detection.h - Boxes and regions of detectors ----------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_DETECTION_H
#define TPUC_INTERPRETER_KERNELS_DETECTION_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

namespace tpuc::kernels {

/// How the numbers of a network move a prior box; see top.DetectionOutput.
enum class BoxCode { Corner, CenterSize, CornerSize };

struct DetectionParams {
  int64_t classes = 1;
  int64_t background = 0; ///< -1: none.
  bool shareLocation = true;
  bool varianceInTarget = false;
  BoxCode code = BoxCode::Corner;
  float confidenceThreshold = 0;
  float nmsThreshold = 0;
  float eta = 1;
  int64_t topK = -1;     ///< Of each class; -1: all.
  int64_t keepTopK = -1; ///< Of all classes; -1: all.
};

/// Rows (item, class, score, x1, y1, x2, y2) of the boxes that are found, by item, class and
/// descending score, at the front of `output` (f32 [1, 1, rows, 7]); the others are filled with 0.
/// `location`: items x boxes x (1 or classes) x 4 elements, `confidence`: items x boxes x classes,
/// `priors`: 2 x boxes x 4, f32. `output` has room for all.
void detectionOutput(const Tensor &location, const Tensor &confidence, const Tensor &priors,
                     int64_t items, const DetectionParams &params, Tensor &output);

struct RoiPoolParams {
  double spatialScale = 1;
  bool scoreMaps = false; ///< Channels of its own for each bin, and averages.
};

/// Pools the regions `rois` ([R, 5]: item, x1, y1, x2, y2) of `input` ([N, C, H, W]) to `output`
/// ([R, channels, height, width]), all f32: see top.RoiPool. Errors: an item that there is not, a
/// corner that is no number or farther away than 2^30 pixels.
Expected<void> roiPool(const Tensor &input, const Tensor &rois, const RoiPoolParams &params,
                       Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_DETECTION_H
