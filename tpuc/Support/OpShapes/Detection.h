//===- Detection.h - Shapes of what detectors find ------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_OPSHAPES_DETECTION_H
#define TPUC_SUPPORT_OPSHAPES_DETECTION_H

#include "tpuc/Support/OpShapes/Dims.h"

namespace tpuc::shapes {

/// What limits how many boxes DetectionOutput can find; -1: no limit, or no background.
struct DetectionLimits {
  int64_t classes = 1;
  int64_t background = 0;
  int64_t topK = -1;
  int64_t keepTopK = -1;
};

/// How many rows DetectionOutput has for each item, when each has `boxes` prior boxes: kDynamic
/// where that is not known, at most Count::kMost.
int64_t detectionRows(const DetectionLimits &limits, int64_t boxes);

} // namespace tpuc::shapes

#endif // TPUC_SUPPORT_OPSHAPES_DETECTION_H
