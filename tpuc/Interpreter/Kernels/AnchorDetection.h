//===- AnchorDetection.h - Boxes around anchors and in regions - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What top.Proposal, top.YoloDetection, top.RetinaFaceDetection and top.FrcnDetection compute;
// their texts give the formulas. All tensors are f32. The callers have checked the shapes.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_ANCHORDETECTION_H
#define TPUC_INTERPRETER_KERNELS_ANCHORDETECTION_H

#include "tpuc/Support/Tensor.h"

#include <span>
#include <vector>

namespace tpuc::kernels {

struct ProposalParams {
  int64_t stride = 16;
  int64_t baseSize = 16;
  std::vector<double> ratios;
  std::vector<double> scales;
  double minSize = 16;      ///< In pixels, times the scale of the picture.
  int64_t beforeNms = 6000; ///< -1: all.
  int64_t afterNms = 300;
  double nmsThreshold = 0.7;
  double scoreThreshold = 0;
  /// What the picture is where no tensor says it.
  double imageHeight = 0;
  double imageWidth = 0;
};

/// `scores`: N x 2A x H x W, `deltas`: N x 4A x H x W, `info`: (N or 1) x 3 or null. Gives N *
/// afterNms rows of 5 in `rois`, and their scores.
void propose(const Tensor &scores, const Tensor &deltas, const Tensor *info,
             const ProposalParams &params, std::span<float> rois, std::span<float> roiScores);

struct YoloParams {
  int64_t classes = 1;
  std::vector<double> anchors; ///< Width and height for each map and anchor.
  int64_t inputHeight = 0;     ///< 0: anchors are in pixels of the map.
  int64_t inputWidth = 0;
  double scoreThreshold = 0.5;
  double nmsThreshold = 0.5;
  int64_t keep = 200;
  bool acrossClasses = false;
  bool corners = false;
};

/// Gives N * keep rows of 6, or of 7 with corners.
void detectYolo(std::span<const Tensor> maps, const YoloParams &params, std::span<float> rows);

struct FaceParams {
  double scoreThreshold = 0.5;
  double nmsThreshold = 0.4;
  int64_t keep = 50;
};

/// `maps`: scores, deltas and landmarks for the strides 8, 16 and 32. Gives N * keep rows of 15.
void detectFaces(std::span<const Tensor> maps, const FaceParams &params, std::span<float> rows);

struct RegionParams {
  int64_t classes = 2;
  double scoreThreshold = 0.5;
  double nmsThreshold = 0.3;
  int64_t keep = 100;
};

/// `items` x R x classes x 4 deltas, as many scores for each, R regions for each item. Gives
/// items * keep rows of 6.
void detectInRegions(const Tensor &deltas, const Tensor &scores, const Tensor &rois, int64_t items,
                     const RegionParams &params, std::span<float> rows);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_ANCHORDETECTION_H
